// Small helpers to build the page. Text enters only through textContent; knows no decoding.

const SVG_SPACE = "http://www.w3.org/2000/svg";

/** @typedef {Record<string, string | number | boolean>} Attributes */
/** @typedef {Attributes | Node | string | ((event: Event) => void)} Part a function: what a click does */

/**
 * @template {Element} Filled
 * @param {Filled} node
 * @param {Part[]} parts
 */
function fill(node, parts) {
  for (const part of parts) {
    if (typeof part === "string" || part instanceof Node) node.append(part);
    else if (typeof part === "function") node.addEventListener("click", part);
    else for (const [name, value] of Object.entries(part)) node.setAttribute(name, `${value}`);
  }
  return node;
}

/**
 * An element with a class; what follows are attributes, children (nodes or strings) and what a click does.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Part[]} parts
 */
export function make(tag, className = "", ...parts) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (node instanceof HTMLButtonElement) node.type = "button"; // which submits nothing
  return fill(node, parts);
}

/**
 * An element of a drawing, with its attributes and children.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Part[]} parts
 */
export function makeSvg(tag, ...parts) {
  return fill(document.createElementNS(SVG_SPACE, tag), parts);
}

/** Set the text, if it is another one. @param {Element} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Set an attribute, if it is another one.
 * @param {Element} node
 * @param {string} name
 * @param {string | number | boolean} value
 */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
}

/**
 * Set a property of the node's own style, if it is another one.
 * @param {HTMLElement} node
 * @param {string} name
 * @param {string} value
 */
export function setStyle(node, name, value) {
  if (node.style.getPropertyValue(name) !== value) node.style.setProperty(name, value);
}

/**
 * The element of an event, or null: text nodes and windows are targets too.
 * @param {Event} event
 */
export function elementOf(event) {
  return event.target instanceof Element ? event.target : null;
}

/**
 * The first element that matches; a page without it is a fault of ours.
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {HTMLElement}
 */
export function find(root, selector) {
  const node = root.querySelector(selector);
  if (!(node instanceof HTMLElement)) throw new Error(`no ${selector} on the page`);
  return node;
}
