// What the server hands over to the player: one JSON object a value, for its share sheet or, if it
// is a timing, for its numbers.

import { playerOf } from "../watch/mount.js";

/** @import { Mount } from "../stub.js" */

/** @type {Mount} */
export function mountServerMessages() {
  return (text) => {
    if (!text) return;
    const { timing, ...message } = JSON.parse(text);
    const player = playerOf(document);
    if (timing) player?.takeTiming(timing);
    else player?.share.receive(message);
  };
}
