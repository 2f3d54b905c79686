// Small helpers to build the page. Text enters only through textContent; knows no decoding.

const SVG_SPACE = "http://www.w3.org/2000/svg";

/** @typedef {Record<string, string | number | boolean>} Attributes */

/**
 * @param {Element} node
 * @param {Attributes} attributes
 * @param {(Node | string)[]} children
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
}

/**
 * An element with a class, attributes and children (nodes or strings).
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [className]
 * @param {Attributes} [attributes]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, className = "", attributes = {}, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  fill(node, attributes, children);
  return node;
}

/**
 * An element of a drawing.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {(Node | string)[]} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function makeSvg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG_SPACE, tag);
  fill(node, attributes, children);
  return node;
}

/**
 * Set the text, if it is another one.
 * @param {Element} node
 * @param {string} text
 */
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
