// Formats numbers, lists and failures as text, and limits and spaces numbers. Knows no DOM.

/**
 * Return the value, or the bound that it exceeds.
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

const GAMMA_DIGITS = 6; // largest number of decimals of a gamma
const TRACE_DIGITS = 4; // largest number of decimals to show of an entropy

/**
 * Return the fewest decimals, from `least` on, for which `isShown` is true; `least` if TRACE_DIGITS are too few.
 * @param {number} least
 * @param {(digits: number) => boolean} isShown
 */
export function digitsThatShow(least, isShown) {
  for (let digits = least; digits <= TRACE_DIGITS; digits += 1) if (isShown(digits)) return digits;
  return least;
}

/**
 * Format a change of entropy, with more than two decimals if two would hide it.
 * @param {number} from nats
 * @param {number} to nats
 */
export function formatChange(from, to) {
  const digits = digitsThatShow(2, (count) => from.toFixed(count) !== to.toFixed(count));
  return `${from.toFixed(digits)} → ${to.toFixed(digits)}`;
}

/** Format a gamma with at least two decimals and all that it has: 0.10, 0.005. @param {number} gamma nats */
export function formatGamma(gamma) {
  return gamma.toFixed(Math.max(2, gammaDigits(gamma)));
}

/** Round a gamma set by dragging, so that the page shows exactly what it sends. @param {number} nats */
export function roundDraggedGamma(nats) {
  return Number(nats < 0.1 ? Number(nats.toPrecision(2)).toFixed(GAMMA_DIGITS) : nats.toFixed(2));
}

/** Count the decimals that a gamma needs. @param {number} gamma nats */
export function gammaDigits(gamma) {
  const [, digits = ""] = gamma.toFixed(GAMMA_DIGITS).split(".");
  return digits.replace(/0+$/, "").length;
}

/** @param {number} probability */
export function formatPercent(probability) {
  return `${(probability * 100).toFixed(1)}%`;
}

/** Format the engine time of a whole run: 84 ms, 1.25 s. @param {number} seconds */
export function formatSeconds(seconds) {
  if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`;
  return `${seconds.toFixed(seconds < 9.95 ? 2 : 1)} s`;
}

/** Return the median. @param {number[]} numbers at least one */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0];
  return (low + high) / 2;
}

/**
 * Format the clock of a race: with three digits, in milliseconds below a second, so that close lanes differ.
 * @param {number} seconds
 */
export function formatRaceSeconds(seconds) {
  const [shown, unit] = seconds < 0.9995 ? [seconds * 1000, "ms"] : [seconds, "s"];
  return `${shown.toFixed(shown < 9.995 ? 2 : shown < 99.95 ? 1 : 0)} ${unit}`;
}

/**
 * Round seconds as formatRaceSeconds() shows them, so that ratios computed from them agree with what is shown.
 * @param {number} seconds
 */
export function roundToRaceDigits(seconds) {
  const shown = formatRaceSeconds(seconds);
  return Number.parseFloat(shown) / (shown.endsWith("ms") ? 1000 : 1);
}

/** Format a count with its noun: "1 token", "3 tokens", "2 passes". @param {number} count @param {string} word */
export function countOf(count, word) {
  return `${count} ${word}${count === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;
}

/** @param {unknown} failure */
export function failureWords(failure) {
  return failure instanceof Error ? failure.message : String(failure);
}

const LISTED = new Intl.ListFormat("en");

/** Join words to a list: "a", "a and b", "a, b, and c". @param {string[]} words */
export function listInWords(words) {
  return LISTED.format(words);
}

const SMALL = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

/**
 * Format a count as countOf() does, with small numbers as words: "three tokens".
 * @param {number} count
 * @param {string} word
 */
export function countInWords(count, word) {
  return countOf(count, word).replace(/^\d+/, SMALL[count] ?? String(count));
}

/**
 * Return how many cells apart ticks must be for their labels to fit: 1, 2, 5, 10, ...; Infinity for cells without size.
 * @param {number} labelSize size that a label needs
 * @param {number} cell size of a cell
 */
export function tickStep(labelSize, cell) {
  if (!(cell > 0)) return Infinity;
  for (let power = 1; ; power *= 10) {
    for (const step of [power, 2 * power, 5 * power]) if (step * cell >= labelSize) return step;
  }
}

/**
 * Pick evenly spread items, the first among them.
 * @template Item
 * @param {Item[]} items
 * @param {number} most largest number of items to return
 */
export function evenly(items, most) {
  const step = Math.ceil(items.length / most);
  return step > 1 ? items.filter((_, index) => index % step === 0) : items;
}
