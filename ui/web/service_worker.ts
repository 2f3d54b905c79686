// The static page's service worker: stores the page's files, so that it opens and decodes without a network, and adds
// the headers that let its threads share memory, on any host. scripts/static_site.py puts the list of files before this
// code.

type Extendable = Event & { waitUntil: (work: Promise<unknown>) => void };
type Fetching = Extendable & { request: Request; respondWith: (answer: Promise<Response>) => void };

const worker = self as any;
/**
 * The files to store: those without which nothing opens, the rest, and those of the runtime, of which `asked` are
 * stored when they are first requested.
 */
const { version, files, rest, runtime } = worker.SBD_FILES;
/** Sites of one origin share its caches, so each name has the site's path. */
const SITE = `sbd ${new URL("./", location.href).pathname}`;
const PAGES = `${SITE} page `;
const RUNTIMES = `${SITE} runtime `;
const STORE = `${PAGES}${version}`;
/** The runtime has its own cache, as it seldom changes when the page does. */
const RUNTIME_STORE = `${RUNTIMES}${runtime.version}`;
/** The addresses of the site's files but weights, which the engine stores. Requests for others are the browser's. */
const OWN = new Set([...files, ...rest, ...runtime.files, ...runtime.asked].map(addressOf));

/** Return the address of a file, or of a request without its query. */
function addressOf(file: string) {
  const { origin, pathname } = new URL(file, location.href);
  return origin + pathname;
}

/** The headers that let a page and its workers share memory. Plain file servers do not send them. */
const ISOLATING = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

async function storeAll() {
  const [store, engine] = await Promise.all([caches.open(STORE), caches.open(RUNTIME_STORE)]);
  // "no-cache" makes the browser ask the host whether its copy is still current.
  const keep = (file: string) => store.add(new Request(file, { cache: "no-cache" }));
  const keepRuntime = async (file: string) => {
    if (!(await engine.match(file))) await engine.add(file);
  };
  await Promise.all([...files.map(keep), ...runtime.files.map(keepRuntime)]);
  await Promise.allSettled(rest.map(keep)); // some hosts do not serve every kind of file
  await worker.skipWaiting();
}

/** Delete the caches of this site's older versions. */
async function dropOld() {
  const names = await caches.keys();
  const isOld = (name: string) =>
    (name.startsWith(PAGES) || name.startsWith(RUNTIMES)) && ![STORE, RUNTIME_STORE].includes(name);
  const old = names.filter(isOld);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/** Return a response with the headers that let the page share memory, unless the host has set them. */
function withIsolation(response: Response) {
  const { body, status, statusText } = response;
  if (!status) return response; // a redirect, which only the browser may follow
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(ISOLATING)) {
    if (!headers.has(name)) headers.set(name, value);
  }
  return new Response(body, { status, statusText, headers });
}

/** Return the host's response, and store it if it belongs to the runtime. */
async function fetchAndStore(request: Request) {
  const response = await fetch(request);
  if (
    response.ok &&
    runtime.asked.some((file: string) => addressOf(file) === addressOf(request.url))
  ) {
    const store = await caches.open(RUNTIME_STORE);
    await store.put(request, response.clone()).catch(() => {}); // storage is full
  }
  return response;
}

/** Return the stored response to a request, or else the host's. */
async function answer(request: Request) {
  const stored = await caches.match(request, { ignoreSearch: true });
  return withIsolation(stored ?? (await fetchAndStore(request)));
}

self.addEventListener("install", (event) => (event as Extendable).waitUntil(storeAll()));
self.addEventListener("activate", (event) => (event as Extendable).waitUntil(dropOld()));
self.addEventListener("fetch", (event) => {
  const { request, respondWith } = event as Fetching;
  const isOwn = OWN.has(addressOf(request.url));
  if (request.method === "GET" && isOwn) respondWith.call(event, answer(request));
});
