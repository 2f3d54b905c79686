// The service worker of the static page: keeps its files, so that it opens and decodes without a
// network; and lets it share memory with threads, whatever host they came from. The list of files and
// its version stand before this code, see scripts/static_site.py.

/** @typedef {Event & { waitUntil: (work: Promise<unknown>) => void }} Extendable */
/** @typedef {Extendable & { request: Request, respondWith: (answer: Promise<Response>) => void }} Fetching */

const worker = /** @type {any} */ (self);
/** @type {{ version: string, files: string[], runtime: { version: string, files: string[], asked: string[] } }} asked: what is kept once it was asked for */
const { version, files, runtime } = worker.SBD_FILES;
const STORE = `sbd-${version}`;
/** Its own, as another version of the page seldom brings another one. */
const RUNTIME_STORE = `sbd-runtime-${runtime.version}`;
/** How the stores begin in which the engine keeps models, and looks itself. */
const MODELS = "sbd-model-";
/** A page and workers that came with these may share memory. Plain file servers do not send them. */
const ISOLATING = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

async function keepAll() {
  const [store, engine] = await Promise.all([caches.open(STORE), caches.open(RUNTIME_STORE)]);
  // What the browser has is asked for only whether it is still the same.
  const keep = (/** @type {string} */ file) => store.add(new Request(file, { cache: "no-cache" }));
  const keepRuntime = async (/** @type {string} */ file) => {
    if (!(await engine.match(file))) await engine.add(file);
  };
  await Promise.all([...files.map(keep), ...runtime.files.map(keepRuntime)]);
  await worker.skipWaiting();
}

async function dropOld() {
  const names = await caches.keys();
  const isOld = (/** @type {string} */ name) =>
    name.startsWith("sbd-") && ![STORE, RUNTIME_STORE].includes(name) && !name.startsWith(MODELS);
  const old = names.filter(isOld);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/** @param {Request} request */
async function kept(request) {
  for (const name of [STORE, RUNTIME_STORE]) {
    const store = await caches.open(name);
    const found = await store.match(request, { ignoreSearch: true });
    if (found) return found;
  }
  return null;
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
async function fetched(request) {
  const response = await fetch(request);
  if (response.ok && runtime.asked.some((file) => request.url.includes(file))) {
    const store = await caches.open(RUNTIME_STORE);
    await store.put(request, response.clone()).catch(() => {}); // no room
  }
  return response;
}

/** @param {Request} request */
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
