// The bundle of a replay page: the player alone, which reads a run's wire lines from the page. The page is light or
// dark as the visitor's system is.

import { find } from "./dom/elements.ts";
import { followScheme } from "./dom/screen.ts";
import type { PlayerElement } from "./dom/views.ts";
import { Player } from "./watch/player.ts";

followScheme();

const host: PlayerElement = find(document, ".sbd-host");
const player = new Player(host);
host.sbdPlayer = player;
player.push(document.querySelector("#sbd-lines")?.textContent ?? "");
