// The address of the calculator: #limits?device=h100-fp8&block=16. Knows no DOM.

const VIEW = "#limits";

/** @typedef {Record<string, string | number>} Wish what is asked, as text or numbers */

/**
 * The wish of an address, null where it is of another view. What it does not say is the default.
 * @param {string} hash
 * @param {Wish} defaults
 * @returns {Wish | null}
 */
export function wishAt(hash, defaults) {
  if (hash !== VIEW && !hash.startsWith(`${VIEW}?`)) return null;
  const fields = new URLSearchParams(hash.slice(VIEW.length + 1));
  const said = Object.keys(defaults).map((name) => [
    name,
    fields.get(name) ?? defaults[name] ?? "",
  ]);
  return Object.fromEntries(said);
}

/**
 * The address of a wish: only what is not the default.
 * @param {Wish} wish
 * @param {Wish} defaults
 */
export function hashOf(wish, defaults) {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(wish)) {
    if (String(value) !== String(defaults[name])) fields.set(name, String(value));
  }
  const text = fields.toString();
  return text ? `${VIEW}?${text}` : VIEW;
}
