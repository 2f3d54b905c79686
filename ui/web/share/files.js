// Files handed to the browser to save.

import { make } from "../dom/elements.js";

/**
 * Hand a file to the browser to save.
 * @param {string} name
 * @param {Blob} blob
 */
export function saveFile(name, blob) {
  const link = make("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * A size for a reader: 84 kB, 1.2 MB.
 * @param {number} bytes
 */
export function fileSize(bytes) {
  return bytes < 1e6
    ? `${Math.max(Math.round(bytes / 1000), 1)} kB`
    : `${(bytes / 1e6).toFixed(1)} MB`;
}
