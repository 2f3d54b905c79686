// Formats numbers, lists and failures as text, and limits and spaces numbers. Knows no DOM.

/** Return the value, or the bound that it exceeds. */
export function clamp(value: number, low: number, high: number) {
  return Math.min(Math.max(value, low), high);
}

/** @param entropy nats */
export function formatNats(entropy: number) {
  return entropy.toFixed(2);
}

const GAMMA_DIGITS = 6; // largest number of decimals of a gamma
const TRACE_DIGITS = 4; // largest number of decimals to show of an entropy

/** Return the fewest decimals, from `least` on, for which `isShown` is true; `least` if TRACE_DIGITS are too few. */
export function digitsThatShow(least: number, isShown: (digits: number) => boolean) {
  for (let digits = least; digits <= TRACE_DIGITS; digits += 1) if (isShown(digits)) return digits;
  return least;
}

/** Format a change of entropy in nats, with more than two decimals if two would hide it. */
export function formatChange(from: number, to: number) {
  const digits = digitsThatShow(2, (count) => from.toFixed(count) !== to.toFixed(count));
  return `${from.toFixed(digits)} → ${to.toFixed(digits)}`;
}

/** Format a gamma with at least two decimals and all that it has: 0.10, 0.005. @param gamma nats */
export function formatGamma(gamma: number) {
  return gamma.toFixed(Math.max(2, gammaDigits(gamma)));
}

/** Round a gamma set by dragging, so that the page shows exactly what it sends. */
export function roundDraggedGamma(nats: number) {
  return Number(nats < 0.1 ? Number(nats.toPrecision(2)).toFixed(GAMMA_DIGITS) : nats.toFixed(2));
}

/** Count the decimals that a gamma needs. @param gamma nats */
export function gammaDigits(gamma: number) {
  const [, digits = ""] = gamma.toFixed(GAMMA_DIGITS).split(".");
  return digits.replace(/0+$/, "").length;
}

export function formatPercent(probability: number) {
  return `${(probability * 100).toFixed(1)}%`;
}

/** Format the engine time of a whole run: 84 ms, 1.25 s. */
export function formatSeconds(seconds: number) {
  if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`;
  return `${seconds.toFixed(seconds < 9.95 ? 2 : 1)} s`;
}

/** Return the median. @param numbers at least one */
export function median(numbers: number[]) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0];
  return (low + high) / 2;
}

/** Format the clock of a race: with three digits, in milliseconds below a second, so that close lanes differ. */
export function formatRaceSeconds(seconds: number) {
  const [shown, unit] = seconds < 0.9995 ? [seconds * 1000, "ms"] : [seconds, "s"];
  return `${shown.toFixed(shown < 9.995 ? 2 : shown < 99.95 ? 1 : 0)} ${unit}`;
}

/** Round seconds as formatRaceSeconds() shows them, so that ratios computed from them agree with what is shown. */
export function roundToRaceDigits(seconds: number) {
  const shown = formatRaceSeconds(seconds);
  return Number.parseFloat(shown) / (shown.endsWith("ms") ? 1000 : 1);
}

/** Format a count with its noun: "1 token", "3 tokens", "2 passes". */
export function countOf(count: number, word: string) {
  return `${count} ${word}${count === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;
}

export function failureWords(failure: unknown) {
  return failure instanceof Error ? failure.message : String(failure);
}

/** Format a number with commas and no exponent, of at most this many digits after the point. */
export function withCommas(value: number, maximumFractionDigits = 0) {
  return value.toLocaleString("en-US", { maximumFractionDigits });
}

/** Format a value in the first unit that fits, else the last, with three digits. */
function inUnits(value: number, ...units: [size: number, name: string][]) {
  const rounded = (size: number) => Number((value / size).toPrecision(3));
  const [size, name] = units.find(([each]) => rounded(each) >= 1) ?? units.at(-1) ?? [1, ""];
  return `${withCommas(rounded(size), 6)} ${name}`;
}

/** Format seconds in a unit that fits, such as "685 µs" or "2.12 ms". */
export function timeWords(seconds: number) {
  return inUnits(seconds, [1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]);
}

/** Format a number of bytes in a unit that fits, such as "15 GB" or "134 MB". */
export function sizeWords(bytes: number) {
  return inUnits(bytes, [1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]);
}

/** Format a number of operations in a unit that fits, such as "2.83 MFLOP". */
export function operationWords(count: number) {
  const units = ["PFLOP", "TFLOP", "GFLOP", "MFLOP", "kFLOP", "FLOP"];
  return inUnits(count, ...units.map((name, i): [number, string] => [1000 ** (5 - i), name]));
}

const LISTED = new Intl.ListFormat("en");

/** Join words to a list: "a", "a and b", "a, b, and c". */
export function listInWords(words: string[]) {
  return LISTED.format(words);
}

const SMALL = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

/** Format a count as countOf() does, with small numbers as words: "three tokens". */
export function countInWords(count: number, word: string) {
  return countOf(count, word).replace(/^\d+/, SMALL[count] ?? String(count));
}

/**
 * Return how many cells apart ticks must be for their labels to fit: 1, 2, 5, 10, ...; Infinity for cells without size.
 */
export function tickStep(labelSize: number, cell: number) {
  if (!(cell > 0)) return Infinity;
  for (let power = 1; ; power *= 10) {
    for (const step of [power, 2 * power, 5 * power]) if (step * cell >= labelSize) return step;
  }
}

/** Pick evenly spread items, the first among them. */
export function evenly<Item>(items: Item[], most: number) {
  const step = Math.ceil(items.length / most);
  return step > 1 ? items.filter((_, index) => index % step === 0) : items;
}
