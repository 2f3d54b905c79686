// The bundle of an exported run: the player on a page of its own, reading the wire lines beside
// it. Follows the system's scheme.

import { find } from "./dom/elements.js";
import { followScheme } from "./dom/screen.js";
import { Player } from "./watch/player.js";

/** @import { PlayerElement } from "./dom/views.js" */

followScheme();

/** @type {PlayerElement} */
const host = find(document, ".sbd-host");
const player = new Player(host);
host.sbdPlayer = player;
player.push(document.querySelector("#sbd-lines")?.textContent ?? "");
