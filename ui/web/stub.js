// The script that Gradio evaluates for every part of the page: hands the part to the bundle, which
// is one file that the browser keeps. Values that come before the bundle is there wait for it.

import { fileAddress } from "./dom/gradio.js";

/**
 * The part that is used here of what Gradio gives the script of an HTML component.
 * @typedef {object} GradioScript
 * @property {HTMLElement} element
 * @property {{ value: string, view: string, bundle: string }} props
 * @property {Trigger} trigger
 * @property {(name: string, call: () => void) => void} watch
 */

/** @typedef {(name: string, data: unknown) => void} Trigger sends an event to the server */
/** @typedef {(value: string) => void} Take */

/**
 * Arguments from which a view of the page is made.
 * @typedef {object} Place
 * @property {HTMLElement} element
 * @property {string} value the first one
 * @property {Trigger} trigger
 * @property {AbortSignal} signal the view leaves the page
 */

/** @typedef {(place: Place) => Take} Mount builds a view; what it gives takes the later values */

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
