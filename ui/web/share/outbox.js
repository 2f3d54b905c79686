// What the server hands over to the share sheet of the player: one JSON object a value.

import { playerOf } from "../watch/mount.js";

/** @import { Mount } from "../stub.js" */

/** @type {Mount} */
export function mountOutbox() {
  return (text) => {
    if (text) playerOf(document)?.share.receive(JSON.parse(text));
  };
}
