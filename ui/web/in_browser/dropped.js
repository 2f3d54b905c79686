// A model's folder, or its files, dropped onto the page.

/** @import { Source } from "../engine/worker.js" */

const UNNAMED = "your model";
const WEIGHTS = /\.safetensors$/;

/**
 * Whether what is dropped is a model rather than, say, a trace: a folder, or weights among files.
 * @param {DataTransfer} data
 */
export function holdsModel({ items, files }) {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.() ?? null);
  return (
    entries.some((entry) => entry?.isDirectory) || [...files].some(({ name }) => WEIGHTS.test(name))
  );
}

/**
 * The model that is dropped. Must be called while the drop is handled: what it holds is gone then.
 * @param {DataTransfer} data
 * @returns {Promise<Source>}
 */
export async function droppedModel({ items, files }) {
  const loose = [...files];
  const folder = [...items]
    .map((item) => item.webkitGetAsEntry?.() ?? null)
    .find((entry) => entry?.isDirectory);
  const found = folder ? await filesIn(/** @type {FileSystemDirectoryEntry} */ (folder)) : loose;
  return {
    name: folder?.name ?? UNNAMED,
    files: found.map((file) => /** @type {[string, Blob]} */ ([file.name, file])),
  };
}

/** @param {FileSystemDirectoryEntry} folder @returns {Promise<File[]>} those right in it */
async function filesIn(folder) {
  const reader = folder.createReader();
  /** @type {File[]} */
  const found = [];
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!entries.length) return found;
    for (const entry of entries) {
      if (!entry.isFile) continue;
      const file = /** @type {FileSystemFileEntry} */ (entry);
      found.push(await new Promise((resolve, reject) => file.file(resolve, reject)));
    }
  }
}
