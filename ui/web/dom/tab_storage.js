// Texts that outlive a reload, in the storage of the tab.

/**
 * Keep a text in the tab's own storage, over a reload; a browser may refuse it.
 * @param {string} key
 * @param {string} text
 */
export function keepInTab(key, text) {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // Refused: nothing is kept.
  }
}

/** @param {string} key */
export function keptInTab(key) {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}
