// The script that Gradio evaluates for each view: loads the page's bundle, which the browser caches, and mounts the
// view with it. Values that arrive before the bundle is loaded wait.

import { fileAddress } from "./dom/gradio.ts";

/** The part that is used here of what Gradio passes to an HTML component's script. */
interface GradioScript {
  element: HTMLElement;
  props: { value: string; view: string; bundle: string };
  trigger: Trigger;
  watch: (name: string, call: () => void) => void;
}

/** sends an event to the server */
export type Trigger = (name: string, data: unknown) => void;
/** gives a view a new value */
export type Take = (value: string) => void;

/** What a view is made from. */
export interface Place {
  element: HTMLElement;
  value: string; // the first value
  trigger: Trigger;
  signal: AbortSignal; // aborts when the view leaves the page
}

/** builds a view and returns the function that takes its later values */
export type Mount = (place: Place) => Take;

type Bundle = { mount: (view: string, place: Omit<Place, "signal">) => Take };
export async function begin({ element, props, trigger, watch }: GradioScript) {
  const { value, view, bundle } = props;
  const waiting: string[] = [];
  let take: Take = (text) => waiting.push(text);
  watch("value", () => take(props.value));
  try {
    const { mount }: Bundle = await import(fileAddress(bundle));
    take = mount(view, { element, value, trigger });
    for (const text of waiting) take(text);
  } catch (failure) {
    console.error(failure);
    document.body.setAttribute("data-sbd-ready", "");
    element.textContent = "This part of the page could not be loaded; reload the page.";
  }
}
