// A run's settings as an address of the page, with the names that Python reads, and back.

import constants from "../constants.json" with { type: "json" };
import { CHOICES } from "../form/fields.js";

/** @import { Form } from "../engine/session.js" */
/** @import { Settings } from "../core/run.js" */

/** @type {[name: string, field: string][]} names in the address, and fields of a decode */
const LINK_FIELDS = Object.entries(constants.linkFields);

const WHOLE_OR_DECIMAL = /^-?\d*\.?\d+(e[+-]?\d+)?$/;

/** This page's address without a decode or lanes in it; what else it says stays. */
export function bareAddress() {
  const address = new URL(window.location.href);
  for (const name of constants.linkNames) address.searchParams.delete(name);
  return address;
}

/**
 * The address that compares these lanes again.
 * @param {string[]} lanes
 * @param {Settings} settings of one of them; what they share is taken
 */
export function linkToLanes(lanes, settings) {
  const { prompt, block_size, max_new_tokens, seed, repetition_penalty, model } = settings;
  const shared = { prompt, block_size, max_new_tokens, seed, repetition_penalty, pinned: [] };
  const address = linkTo({ ...shared, ...(model === undefined ? {} : { model }) });
  address.searchParams.set("lanes", lanes.join());
  return address;
}

/**
 * The address that decodes again with these settings, see Run.settings.
 * @param {Settings} settings
 */
export function linkTo(settings) {
  const address = bareAddress();
  for (const [name, field] of LINK_FIELDS) {
    const value = settings[field];
    if (value !== undefined) address.searchParams.set(name, String(value));
  }
  const pins = settings.pinned.map((pair) => pair.join(":")).join();
  if (pins) address.searchParams.set("pins", pins);
  return address;
}

/**
 * Let the address bar follow: the run's own link while it is the one asked for, else none.
 * @param {URL} address
 */
export function keepAddress(address) {
  window.history.replaceState(window.history.state, "", address);
}

/** The fields of a decode that the address names. */
export function formOfAddress() {
  const query = askedOfAddress();
  /** @type {Form} */
  const form = {};
  for (const [name, field] of Object.entries(constants.linkFields)) {
    const text = query.get(name);
    if (text === null) continue;
    const isText = name === "prompt" || CHOICES.includes(name);
    form[field] = !isText && WHOLE_OR_DECIMAL.test(text) ? Number(text) : text;
  }
  const pins = query.get("pins");
  if (pins) form.pinned = pins.split(",").map((pair) => pair.split(":").map(Number));
  return form;
}

/** The query of the page's address. */
export function askedOfAddress() {
  return new URLSearchParams(window.location.search);
}
