// What the server hands over to the player: one JSON object a value, for its share sheet or, if it
// is a timing, for its numbers; traces are for the tab's saved runs.

import { TRACES_EVENT } from "../saved_runs/tab.js";
import { playerOf } from "../watch/mount.js";

/** @import { Mount } from "../stub.js" */

/** @type {Mount} */
export function mountServerMessages() {
  return (text) => {
    if (!text) return;
    const { timing, traces, ...message } = JSON.parse(text);
    const player = playerOf(document);
    if (timing) player?.takeTiming(timing);
    else if (traces) document.dispatchEvent(new CustomEvent(TRACES_EVENT, { detail: traces }));
    else player?.share.receive(message);
  };
}
