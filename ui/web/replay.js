// The bundle of a replay page: the player alone, which reads a run's wire lines from the page. The page is light or
// dark as the visitor's system is.

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
