// Ids that nobody can guess, also on a page loaded over plain http, where browsers lack crypto.randomUUID(). Knows no
// DOM.

/** Return hexadecimal digits at random. @param length an even number of digits */
export function randomId(length: number) {
  const bytes = crypto.getRandomValues(new Uint8Array(length / 2));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
