// The service worker of the static page: keeps its files, so that it opens and decodes without a
// network. The list of files and its version stand before this code, see scripts/static_site.py.

/** @typedef {Event & { waitUntil: (work: Promise<unknown>) => void }} Extendable */
/** @typedef {Extendable & { request: Request, respondWith: (answer: Promise<Response>) => void }} Fetching */

const worker = /** @type {any} */ (self);
/** @type {{ version: string, files: string[] }} */
const { version, files } = worker.SBD_FILES;
const STORE = `sbd-${version}`;
/** What the engine has read already: ui/web/engine/checkpoint/readers.js. */
const ARRIVED = "sbd-arrived";

async function keepAll() {
  const [store, arrived] = await Promise.all([caches.open(STORE), caches.open(ARRIVED)]);
  /** @param {string} file */
  const keep = async (file) => {
    const left = await arrived.match(file);
    // What the browser has is asked for only whether it is still the same.
    await (left ? store.put(file, left) : store.add(new Request(file, { cache: "no-cache" })));
  };
  await Promise.all(files.map(keep));
  await caches.delete(ARRIVED);
  await worker.skipWaiting();
}

async function dropOld() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith("sbd-") && name !== STORE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/** @param {Request} request */
async function answer(request) {
  const store = await caches.open(STORE);
  const kept = await store.match(request, { ignoreSearch: true });
  return kept ?? fetch(request);
}

self.addEventListener("install", (event) => /** @type {Extendable} */ (event).waitUntil(keepAll()));
self.addEventListener("activate", (event) =>
  /** @type {Extendable} */ (event).waitUntil(dropOld()),
);
self.addEventListener("fetch", (event) => {
  const { request, respondWith } = /** @type {Fetching} */ (event);
  const isOwn = new URL(request.url).origin === location.origin;
  if (request.method === "GET" && isOwn) respondWith.call(event, answer(request));
});
