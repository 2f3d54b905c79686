// Data that comes with what changes in it: what a dark theme sets in a chart, for one.

/**
 * `old` with the changes set, nested as it is; an item of a list stands under its index.
 * @param {any} old
 * @param {any} changes
 * @returns {any}
 */
export function withChanges(old, changes) {
  if (changes === undefined) return old;
  if (!isNested(old) || !isNested(changes) || Array.isArray(changes)) return changes;
  /** @type {any} */
  const copy = Array.isArray(old) ? [...old] : { ...old };
  for (const [key, change] of Object.entries(changes)) copy[key] = withChanges(copy[key], change);
  return copy;
}

/** @param {unknown} value */
function isNested(value) {
  return typeof value === "object" && value !== null;
}
