// Turns a run's settings into an address of the page and back, with the parameter names that Python reads.

import constants from "../constants.json" with { type: "json" };
import type { Settings } from "../core/run.ts";
import type { Form } from "../engine/session.ts";

/** each name in the address with the setting it stands for */
const LINK_FIELDS: [name: string, field: string][] = Object.entries(constants.linkFields);

const CHOICES = constants.settings.flatMap(({ kind, link }) => (kind === "choice" ? [link] : []));
const TEXTS = ["prompt", "system", "with", ...CHOICES];
/** Settings that lanes do not share. */
const OF_A_LANE = constants.settings.flatMap(({ name, strategies, solvers }) =>
  solvers || strategies.length === 1 || name === "strategy" ? [name] : [],
);
const WHOLE_OR_DECIMAL = /^-?\d*\.?\d+(e[+-]?\d+)?$/;

/** Return this page's address without the parameters of a decode or of lanes. */
export function bareAddress() {
  const address = new URL(window.location.href);
  for (const name of constants.linkNames) address.searchParams.delete(name);
  return address;
}

/**
 * Return the address that compares these lanes again.
 * @param settings of any of the lanes; only settings that the lanes share are used
 */
export function linkToLanes(lanes: string[], settings: Settings) {
  const shared = Object.entries(settings).filter(
    ([name]) => ![...OF_A_LANE, "system"].includes(name),
  );
  const address = linkTo({ ...Object.fromEntries(shared), prompt: settings.prompt, pinned: [] });
  address.searchParams.set("lanes", lanes.join());
  return address;
}

/** Return the address that decodes again with these settings. */
export function linkTo(settings: Settings) {
  const address = bareAddress();
  for (const [name, field] of LINK_FIELDS) {
    const value = settings[field];
    if (value !== undefined) address.searchParams.set(name, String(value));
  }
  const pins = settings.pinned.map((pair) => pair.join(":")).join();
  if (pins) address.searchParams.set("pins", pins);
  return address;
}

/** Show an address in the address bar, without a new entry in the browser's history. */
export function replaceAddress(address: URL) {
  window.history.replaceState(window.history.state, "", address);
}

/** Return the settings of a decode that the address holds; a number that is none stays a text, which is refused. */
export function formOfAddress() {
  const query = queryOfAddress();
  const form: Form = {};
  for (const [name, field] of LINK_FIELDS) {
    const text = query.get(name);
    if (text === null) continue;
    form[field] = !TEXTS.includes(name) && WHOLE_OR_DECIMAL.test(text) ? Number(text) : text;
  }
  const pins = query.get("pins");
  if (pins) form.pinned = pins.split(",").map((pair) => pair.split(":").map(Number));
  return form;
}

/** Whether the address asks for a decode or a comparison; one that only names a model does not. */
export function isLink() {
  const query = queryOfAddress();
  return constants.linkNames.some((name) => name !== "with" && query.has(name));
}

export function queryOfAddress() {
  return new URLSearchParams(window.location.search);
}
