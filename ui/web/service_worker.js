// The service worker of the static page: keeps its files, so that it opens and decodes without a network, and
// lets it share memory with threads, from any host. The list of files and its version stand before this
// code; scripts/static_site.py puts them there.

/** An event that may take time. @typedef {Event & { waitUntil: (work: Promise<unknown>) => void }} Extendable */
/** A request of the page. @typedef {Extendable & { request: Request, respondWith: (answer: Promise<Response>) => void }} Fetching */

const worker = /** @type {any} */ (self);
/** The files to keep; asked: those to keep once they were asked for. @type {{ version: string, files: string[], runtime: { version: string, files: string[], asked: string[] } }} */
const { version, files, runtime } = worker.SBD_FILES;
const STORE = `sbd-${version}`;
/** A store of its own, as another version of the page seldom brings another runtime. */
const RUNTIME_STORE = `sbd-runtime-${runtime.version}`;
/** The beginning of the names of the stores in which the engine itself keeps models. */
const MODELS = "sbd-model-";
/** The headers that let a page and its workers share memory. Plain file servers do not send them. */
const ISOLATING = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** Keep every file of the page. */
async function keepAll() {
  const [store, engine] = await Promise.all([caches.open(STORE), caches.open(RUNTIME_STORE)]);
  // The host says whether a file that the browser has is still the same.
  const keep = (/** @type {string} */ file) => store.add(new Request(file, { cache: "no-cache" }));
  const keepRuntime = async (/** @type {string} */ file) => {
    if (!(await engine.match(file))) await engine.add(file);
  };
  await Promise.all([...files.map(keep), ...runtime.files.map(keepRuntime)]);
  await worker.skipWaiting();
}

/** Delete the files of older versions. */
async function dropOld() {
  const names = await caches.keys();
  const isOld = (/** @type {string} */ name) =>
    name.startsWith("sbd-") && ![STORE, RUNTIME_STORE].includes(name) && !name.startsWith(MODELS);
  const old = names.filter(isOld);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/** The kept answer to a request, if there is one. @param {Request} request */
async function kept(request) {
  const search = { ignoreSearch: true };
  const found = await caches.match(request, { ...search, cacheName: STORE });
  return found ?? caches.match(request, { ...search, cacheName: RUNTIME_STORE });
}

/**
 * The same response with the headers that let its page share memory; the host's own stay.
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

/** The host's answer, kept if it is of the runtime. @param {Request} request */
async function fetched(request) {
  const response = await fetch(request);
  if (response.ok && runtime.asked.some((file) => request.url.includes(file))) {
    const store = await caches.open(RUNTIME_STORE);
    await store.put(request, response.clone()).catch(() => {}); // no room
  }
  return response;
}

/** The answer to a request. @param {Request} request */
async function answer(request) {
  return isolating((await kept(request)) ?? (await fetched(request)));
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
