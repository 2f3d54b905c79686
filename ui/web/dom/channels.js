// How the parts of the page hear of each other: channels, and the player once it is there.

/** @import { Player } from "../watch/player.js" */

/**
 * A way from one part of the page to all that hear it.
 * @template Detail
 * @typedef {{ say: (detail: Detail) => void, hear: (hear: (detail: Detail) => void, signal: AbortSignal) => void }} Channel
 */

/** @param {string} name of its event @returns {Channel<any>} */
export function channel(name) {
  return {
    say: (detail) => document.dispatchEvent(new CustomEvent(name, { detail })),
    hear: (hear, signal) => {
      const own = (/** @type {Event} */ event) =>
        event instanceof CustomEvent && hear(event.detail);
      document.addEventListener(name, own, { signal });
    },
  };
}

/** @type {Channel<null>} which model decodes, or what is known of it, may be another now */
export const { say: sayModels, hear: onModels } = channel("sbd-models");

/** A visitor wants to write a prompt of their own. @type {Channel<void>} */
export const { say: askForChat, hear: onAskForChat } = channel("sbd-chat");

/** @typedef {HTMLElement & { sbdPlayer?: Player }} PlayerElement */

/** The player on the page, once it is there. @param {ParentNode} root */
export function playerOf(root) {
  /** @type {PlayerElement | null} */
  const host = root.querySelector(".sbd-host");
  return host?.sbdPlayer ?? null;
}
