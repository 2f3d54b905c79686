// The service worker of the static page: keeps its files, so that it opens and decodes without a
// network; and lets it share memory with threads, whatever host they came from. The list of files and
// its version stand before this code, see scripts/static_site.py.

/** @typedef {Event & { waitUntil: (work: Promise<unknown>) => void }} Extendable */
/** @typedef {Extendable & { request: Request, respondWith: (answer: Promise<Response>) => void }} Fetching */

const worker = /** @type {any} */ (self);
/** @type {{ version: string, files: string[] }} */
const { version, files } = worker.SBD_FILES;
const STORE = `sbd-${version}`;
/** What the engine has read already: ui/web/engine/checkpoint/readers.js. */
const ARRIVED = "sbd-arrived";
/** A page and workers that came with these may share memory. Plain file servers do not send them. */
const ISOLATING = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

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

/**
 * The same response with what lets its page share memory; what the host said of it stays.
 * @param {Response} response
 */
function isolating(response) {
  const { body, status, statusText } = response;
  if (!status) return response; // a redirect, which only the browser may follow
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(ISOLATING)) {
    if (!headers.has(name)) headers.set(name, value);
  }
  return new Response(body, { status, statusText, headers });
}

/** @param {Request} request */
async function answer(request) {
  const store = await caches.open(STORE);
  const kept = await store.match(request, { ignoreSearch: true });
  return isolating(kept ?? (await fetch(request)));
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
