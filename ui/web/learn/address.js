// The addresses of the scenes: #learn/the-bound, or #learn/4. Knows no DOM.

const VIEW = /^#learn(?:\/(.*))?$/;

/**
 * The scene that an address asks for: none outside of the view; an unknown one is the first, with
 * a sentence.
 * @param {string} hash
 * @param {string[]} addresses of the scenes, in order
 * @returns {{ index: number, problem: string } | null}
 */
export function sceneAt(hash, addresses) {
  const match = VIEW.exec(hash);
  if (!match) return null;
  const name = readable(match[1] ?? "");
  if (name === "") return { index: 0, problem: "" };
  const index = /^\d+$/.test(name) ? Number(name) - 1 : addresses.indexOf(name);
  if (addresses[index] !== undefined) return { index, problem: "" };
  const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
  return {
    index: 0,
    problem: `There is no scene “${shown}”; this is the first of ${addresses.length}.`,
  };
}

const MAX_SHOWN = 40;

/** @param {string} text */
function readable(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string} address of a scene */
export function hashOf(address) {
  return `#learn/${address}`;
}
