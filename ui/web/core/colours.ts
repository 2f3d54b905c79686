// The colours of entropy, from low to high: one scale for tiles, text, budget and staircase. It is sequential and
// colour-blind safe (cividis). Its low end is dark, but lighter on a dark page, where it would not stand out from the
// background. Knows no DOM.

import constants from "../constants.json" with { type: "json" };
import { clamp } from "./numbers.ts";

export const MAX_ENTROPY = constants.entropyScale.max;
export const SCALE_TICKS = constants.entropyScale.ticks;
const SHADES = 512;

/** Map an entropy in nats to a value from 0 (certain) to 1 (MAX_ENTROPY and above). The root keeps small entropies apart. */
export function unsureness(entropy: number) {
  return Math.sqrt(clamp(entropy, 0, MAX_ENTROPY) / MAX_ENTROPY);
}

/** Return red, green and blue, 0 to 255. @param hex such as "#00204c" */
function parseHex(hex: string) {
  return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
}

/**
 * Interpolate between the colours of a ramp. Return red, green and blue, 0 to 255.
 * @param ramp colours such as "#00204c", evenly spaced
 * @param place from 0, the first colour, to 1, the last one
 */
export function rampRgb(ramp: string[], place: number) {
  const low = Math.min(Math.floor(place * (ramp.length - 1)), ramp.length - 2);
  const [from, to] = [parseHex(ramp[low] ?? ""), parseHex(ramp[low + 1] ?? "")];
  const part = place * (ramp.length - 1) - low;
  return from.map((value, i) => Math.round(value + ((to[i] ?? value) - value) * part));
}

/** Return black or white, whichever has more contrast on the colour; at a luminance of 0.179 both have 4.58 : 1. */
export function inkOnRgb(rgb: number[]) {
  const [red = 0, green = 0, blue = 0] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}

function paletteOf(ramp: string[]) {
  return Array.from({ length: SHADES + 1 }, (_, i) => {
    const rgb = rampRgb(ramp, i / SHADES);
    return { colour: `rgb(${rgb.join(" ")})`, ink: inkOnRgb(rgb) };
  });
}

// Computed once, as the views look up thousands of colours per frame.
const LIGHT = paletteOf(constants.entropyScale.ramps.light);
const DARK = paletteOf(constants.entropyScale.ramps.dark);
const UNKNOWN = { colour: "transparent", ink: "#000000" };

function shade(entropy: number, isDark: boolean) {
  return (isDark ? DARK : LIGHT)[Math.round(unsureness(entropy) * SHADES)] ?? UNKNOWN;
}

/** Return the colour of an entropy. @param entropy nats @param isDark whether the page is dark */
export function entropyColour(entropy: number, isDark: boolean) {
  return shade(entropy, isDark).colour;
}

/** Return the text colour, black or white, for entropyColour(). */
export function inkOn(entropy: number, isDark: boolean) {
  return shade(entropy, isDark).ink;
}
