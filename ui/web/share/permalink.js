// A run's settings as an address, with the names that Python reads; a race's come from there.

import constants from "../constants.json" with { type: "json" };

/** @import { Settings } from "../core/run/run.js" */

/** @type {[name: string, field: string][]} names in the address, and fields of a decode */
const LINK_FIELDS = Object.entries(constants.linkFields);

/** This page's address without a decode or a race in it; what else it says stays. */
export function bareAddress() {
  const address = new URL(window.location.href);
  for (const name of constants.linkNames) address.searchParams.delete(name);
  return address;
}

/**
 * The address that races again; `query` as ui/share/permalink.py made it.
 * @param {Record<string, string>} query
 */
export function linkToRace(query) {
  const address = bareAddress();
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
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
