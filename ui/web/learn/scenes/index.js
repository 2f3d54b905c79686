// The scenes in the order of the lesson's words.

import { makeBoundScene } from "./bound.js";
import { makeCacheScene } from "./cache.js";
import { makeCheckScene } from "./check.js";
import { makeCostScene } from "./cost.js";
import { makeGuessScene } from "./guess.js";
import { makeMaskScene } from "./masks.js";
import { makeOrderScene } from "./order.js";
import { makeSingleScene } from "./single.js";
import { makeWrongScene } from "./wrong.js";
import { makeYoursScene } from "./yours.js";

/** @import { MakeScene } from "../view.js" */

/** @type {MakeScene[]} */
export const SCENES = [
  makeSingleScene,
  makeMaskScene,
  makeGuessScene,
  makeBoundScene,
  makeOrderScene,
  makeCacheScene,
  makeWrongScene,
  makeCheckScene,
  makeCostScene,
  makeYoursScene,
];
