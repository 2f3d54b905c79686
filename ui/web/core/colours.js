// The colours of entropy, from sure to unsure: one scale for tiles, text, budget and staircase. Sequential and
// colour-blind safe (cividis); the sure end is dark, lifted on a dark page so that it does not sink into the
// background. Knows no DOM.

import constants from "../constants.json" with { type: "json" };
import { clamp } from "./numbers.js";

export const MAX_ENTROPY = constants.entropyScale.max;
export const SCALE_TICKS = constants.entropyScale.ticks;
const SHADES = 512;

/**
 * 0 for certain, 1 at MAX_ENTROPY nats and above; the root gives small entropies room.
 * @param {number} entropy
 */
export function unsureness(entropy) {
  return Math.sqrt(clamp(entropy, 0, MAX_ENTROPY) / MAX_ENTROPY);
}

/** @param {string} hex */
function parseHex(hex) {
  return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
}

/**
 * The colour at a place of the ramp, 0 to 1, as red, green and blue.
 * @param {string[]} ramp
 * @param {number} place
 */
export function rampRgb(ramp, place) {
  const low = Math.min(Math.floor(place * (ramp.length - 1)), ramp.length - 2);
  const [from, to] = [parseHex(ramp[low] ?? ""), parseHex(ramp[low + 1] ?? "")];
  const part = place * (ramp.length - 1) - low;
  return from.map((value, i) => Math.round(value + ((to[i] ?? value) - value) * part));
}

/**
 * Black or white, whichever can be read on the colour: at a luminance of 0.179 both have 4.58 : 1.
 * @param {number[]} rgb
 */
export function inkOnRgb(rgb) {
  const [red = 0, green = 0, blue = 0] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}

/** @param {string[]} ramp */
function paletteOf(ramp) {
  return Array.from({ length: SHADES + 1 }, (_, i) => {
    const rgb = rampRgb(ramp, i / SHADES);
    return { colour: `rgb(${rgb.join(" ")})`, ink: inkOnRgb(rgb) };
  });
}

// Every colour of both ramps and the ink on it: the views ask for thousands a frame.
const LIGHT = paletteOf(constants.entropyScale.ramps.light);
const DARK = paletteOf(constants.entropyScale.ramps.dark);
const UNKNOWN = { colour: "transparent", ink: "#000000" };

/** @param {number} entropy @param {boolean} isDark */
function shade(entropy, isDark) {
  return (isDark ? DARK : LIGHT)[Math.round(unsureness(entropy) * SHADES)] ?? UNKNOWN;
}

/** The colour of an entropy. @param {number} entropy @param {boolean} isDark */
export function entropyColour(entropy, isDark) {
  return shade(entropy, isDark).colour;
}

/** Black or white, as it can be read on the colour of an entropy. @param {number} entropy @param {boolean} isDark */
export function inkOn(entropy, isDark) {
  return shade(entropy, isDark).ink;
}
