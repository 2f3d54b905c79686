// The script that Gradio evaluates for each view: loads the page's bundle, which the browser caches, and mounts the
// view with it. Values that arrive before the bundle is loaded wait.

import { fileAddress } from "./dom/gradio.js";

/**
 * The part that is used here of what Gradio passes to an HTML component's script.
 * @typedef {object} GradioScript
 * @property {HTMLElement} element
 * @property {{ value: string, view: string, bundle: string }} props
 * @property {Trigger} trigger
 * @property {(name: string, call: () => void) => void} watch
 */

/** @typedef {(name: string, data: unknown) => void} Trigger sends an event to the server */
/** @typedef {(value: string) => void} Take gives a view a new value */

/**
 * What a view is made from.
 * @typedef {object} Place
 * @property {HTMLElement} element
 * @property {string} value the first value
 * @property {Trigger} trigger
 * @property {AbortSignal} signal aborts when the view leaves the page
 */

/** @typedef {(place: Place) => Take} Mount builds a view and returns the function that takes its later values */

/** @typedef {{ mount: (view: string, place: Omit<Place, "signal">) => Take }} Bundle */
/** @param {GradioScript} script */
export async function begin({ element, props, trigger, watch }) {
  const { value, view, bundle } = props;
  /** @type {string[]} */
  const waiting = [];
  /** @type {Take} */
  let take = (text) => waiting.push(text);
  watch("value", () => take(props.value));
  try {
    /** @type {Bundle} */
    const { mount } = await import(fileAddress(bundle));
    take = mount(view, { element, value, trigger });
    for (const text of waiting) take(text);
  } catch (failure) {
    console.error(failure);
    document.body.setAttribute("data-sbd-ready", "");
    element.textContent = "This part of the page could not be loaded; reload the page.";
  }
}
