// Numbers: kept within bounds, and as words for a reader, with lists and failures in words. Knows no DOM.

/**
 * The value, or the bound that it passes.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/** @param {number} entropy nats */
export function formatNats(entropy) {
  return entropy.toFixed(2);
}

const GAMMA_DIGITS = 6; // after the point, of a gamma at most
const TRACE_DIGITS = 4; // after the point, of an entropy in a trace

/**
 * The digits that show something: as many after the point as it takes, from `least` on, or `least`
 * where all that a trace has do not show it.
 * @param {number} least
 * @param {(digits: number) => boolean} isShown
 */
export function digitsThatShow(least, isShown) {
  for (let digits = least; digits <= TRACE_DIGITS; digits += 1) if (isShown(digits)) return digits;
  return least;
}

/**
 * From one entropy to another; more digits where two of them would make unlike ones look alike.
 * @param {number} from nats
 * @param {number} to nats
 */
export function formatChange(from, to) {
  const digits = digitsThatShow(2, (count) => from.toFixed(count) !== to.toFixed(count));
  return `${from.toFixed(digits)} → ${to.toFixed(digits)}`;
}

/**
 * A gamma as it was set, and not rounded to another one: 0.10, 0.005.
 * @param {number} gamma nats
 */
export function formatGamma(gamma) {
  return gamma.toFixed(Math.max(2, gammaDigits(gamma)));
}

/**
 * A gamma as it is dragged: so few digits that all of it is shown, and sent.
 * @param {number} nats
 */
export function draggedGamma(nats) {
  return Number(nats < 0.1 ? Number(nats.toPrecision(2)).toFixed(GAMMA_DIGITS) : nats.toFixed(2));
}

/** Digits after the point that a gamma needs. @param {number} gamma nats */
export function gammaDigits(gamma) {
  const [, digits = ""] = gamma.toFixed(GAMMA_DIGITS).split(".");
  return digits.replace(/0+$/, "").length;
}

/** @param {number} probability */
export function formatPercent(probability) {
  return `${(probability * 100).toFixed(1)}%`;
}

/** Engine time of a whole run: 84 ms, 1.25 s. @param {number} seconds */
export function formatSeconds(seconds) {
  if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`;
  return `${seconds.toFixed(seconds < 9.95 ? 2 : 1)} s`;
}

/**
 * The middle of some numbers, the mean of the two middle ones.
 * @param {number[]} numbers at least one
 */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0];
  return (low + high) / 2;
}

/**
 * A clock of a race: three digits, in milliseconds up to a second, so that lanes close together
 * differ.
 * @param {number} seconds
 */
export function raceSeconds(seconds) {
  const [shown, unit] = seconds < 0.9995 ? [seconds * 1000, "ms"] : [seconds, "s"];
  return `${shown.toFixed(shown < 9.995 ? 2 : shown < 99.95 ? 1 : 0)} ${unit}`;
}

/**
 * Seconds as raceSeconds shows them, so that what is worked out of them follows from what is read.
 * @param {number} seconds
 */
export function asShownInRace(seconds) {
  const shown = raceSeconds(seconds);
  return Number.parseFloat(shown) / (shown.endsWith("ms") ? 1000 : 1);
}

/** "1 token", "3 tokens", "2 passes". @param {number} count @param {string} word */
export function countOf(count, word) {
  return `${count} ${word}${count === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;
}

/** @param {unknown} failure */
export function failureWords(failure) {
  return failure instanceof Error ? failure.message : String(failure);
}

const LISTED = new Intl.ListFormat("en");

/** "a", "a and b", "a, b, and c". @param {string[]} words */
export function listInWords(words) {
  return LISTED.format(words);
}

const SMALL = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

/**
 * As countOf, small numbers as words: "three tokens".
 * @param {number} count
 * @param {string} word
 */
export function countInWords(count, word) {
  return countOf(count, word).replace(/^\d+/, SMALL[count] ?? String(count));
}

/**
 * How many cells lie between two ticks so that their words fit: 1, 2, 5, 10, ...; Infinity for cells
 * that have no room themselves.
 * @param {number} room that a word needs
 * @param {number} cell size of one
 */
export function tickStep(room, cell) {
  if (!(cell > 0)) return Infinity;
  for (let power = 1; ; power *= 10) {
    for (const step of [power, 2 * power, 5 * power]) if (step * cell >= room) return step;
  }
}

/**
 * Some of the items, evenly spread, the first among them.
 * @template Item
 * @param {Item[]} items
 * @param {number} most
 */
export function evenly(items, most) {
  const step = Math.ceil(items.length / most);
  return step > 1 ? items.filter((_, index) => index % step === 0) : items;
}
