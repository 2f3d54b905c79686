// Room for a text that changes: as high as the highest of what may stand there, so that nothing moves
// when it comes.

import { make } from "../../dom/elements.js";

/**
 * @param {HTMLElement} node of one class, whose style the room shares by that class and "-room"
 * @param {string[]} texts that may stand in it
 */
export function makeRoom(node, texts = []) {
  const root = make("div", `sbd-learn-room ${node.className}-room`, {}, node);
  keepRoom(root, texts);
  return root;
}

/**
 * @param {HTMLElement} room
 * @param {string[]} texts
 */
export function keepRoom(room, texts) {
  for (const old of room.querySelectorAll(":scope > .sbd-learn-ghost")) old.remove();
  // The style sheet shows the attribute: it is no text of the page.
  const ghosts = [...new Set(texts)].map((text) =>
    make("span", "sbd-learn-ghost", { "data-text": text }),
  );
  room.prepend(...ghosts);
}
