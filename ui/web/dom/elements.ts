// Creates elements by hand, where no template draws them, and sets their text, attributes and styles if these change.
// Text is never parsed as HTML. Knows nothing of decoding.

type Attributes = Record<string, string | number | boolean>;
/** a function is called on click */
type Part = Attributes | Node | string | ((event: Event) => void);

/** Create an HTML element with a class, attributes, children (nodes or strings) and functions to call on click. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className = "",
  ...parts: Part[]
) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (node instanceof HTMLButtonElement) node.type = "button"; // the default would submit a form
  for (const part of parts) {
    if (typeof part === "string" || part instanceof Node) node.append(part);
    else if (typeof part === "function") node.addEventListener("click", part);
    else for (const [name, value] of Object.entries(part)) node.setAttribute(name, `${value}`);
  }
  return node;
}

/** Create a dialog that a click beside its content closes. */
export function makeDialog(className: string, attributes: Attributes) {
  const root = make("dialog", className, attributes);
  root.addEventListener("click", (event) => event.target === root && root.close());
  return root;
}

export function setText(node: Element, text: string) {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node: Element, name: string, value: string | number | boolean) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
}

export function setStyle(node: HTMLElement, name: string, value: string) {
  if (node.style.getPropertyValue(name) !== value) node.style.setProperty(name, value);
}

/** Return the element that is an event's target; null if the target is something else, such as the window. */
export function elementOf(event: Event) {
  return event.target instanceof Element ? event.target : null;
}

/** Return the first element that matches a selector; throw if there is none, which is a bug. */
export function find(root: ParentNode, selector: string): HTMLElement {
  const node = root.querySelector(selector);
  if (!(node instanceof HTMLElement)) throw new Error(`no ${selector} on the page`);
  return node;
}
