// Gives the views access to what is around them: the addresses of Gradio's files, the boxes and buttons of its form,
// and the tab's session storage.

type GradioConfig = { root?: string; api_prefix?: string };

/** Return the address of a file that Gradio serves. @param path below Gradio's API prefix */
export function fileAddress(path: string) {
  const config: GradioConfig = Reflect.get(window, "gradio_config") ?? {};
  return rootAddress(`${(config.api_prefix ?? "/gradio_api").replace(/^\//, "")}/${path}`);
}

/**
 * Return an address below the page's root. Gradio gives the root's path; scheme and port come from the page itself,
 * as a proxy can hide them from Gradio.
 */
export function rootAddress(path: string) {
  const config: GradioConfig = Reflect.get(window, "gradio_config") ?? {};
  const base = new URL(config.root || ".", document.baseURI);
  const origin = base.hostname === location.hostname ? location.origin : base.origin;
  return `${origin}${base.pathname.replace(/\/$/, "")}/${path}`;
}

/**
 * Write a text into a box of the form, with the event that typing sends.
 * @param detail of the event; hasSettings: whether settings that belong to the text follow
 */
export function typeInto(
  box: HTMLTextAreaElement | HTMLInputElement | null,
  text: string,
  detail?: { hasSettings: boolean },
) {
  if (!box) return;
  const kind = box instanceof HTMLInputElement ? HTMLInputElement : HTMLTextAreaElement;
  // Svelte can override the element's own `value`, so use the setter of the prototype.
  Object.getOwnPropertyDescriptor(kind.prototype, "value")?.set?.call(box, text);
  box.dispatchEvent(new CustomEvent("input", { bubbles: true, detail }));
}

/**
 * Return the prompt's text box; null while it is not on the page.
 * @param id of the form's element
 */
export function promptBox(id: string): HTMLTextAreaElement | null {
  return document.querySelector(`#${id} textarea`);
}

/**
 * Return the box of a number in the form; null while it is not on the page.
 * @param id of the form's element
 */
export function numberBox(id: string): HTMLInputElement | null {
  return document.querySelector(`#${id} input[type="number"]`);
}

const CHECK_MS = 400;

/**
 * Call `check` on every input event, and regularly, as Gradio fills in fields without an event.
 * @param check gets the event, if there was one
 */
export function pollForm(check: (event?: Event) => void, signal: AbortSignal) {
  const timer = setInterval(check, CHECK_MS);
  document.addEventListener("input", check, { signal });
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** Milliseconds within which the server has to answer Stop. */
export const STOP_MS = 2500;

/** Return the buttons Decode and Stop, each null while it is not on the page. */
export function decodeButtons() {
  const stop: HTMLButtonElement | null = document.querySelector(
    "button#sbd-stop, #sbd-stop button",
  );
  const go = [...document.querySelectorAll("#sbd-go button")].find((button) => button !== stop);
  return [(go ?? null) as HTMLButtonElement | null, stop];
}

/** Store a text for this tab, so that it outlives a reload; does nothing if the browser refuses. */
export function storeInTab(key: string, text: string) {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // The browser refuses storage.
  }
}

/** Return a text stored for this tab; null for none. */
export function readFromTab(key: string) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}
