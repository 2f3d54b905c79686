// Bundles the page's scripts into assets/dist. `node build.js --check` writes nothing and fails if a committed bundle
// differs from what the sources give.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { build } from "esbuild";

const DIST = new URL("../../assets/dist/", import.meta.url);
/** Licences of the libraries in a bundle, which stand at its beginning. */
const LICENCES = ["gifenc/LICENSE.md", "lit-html/LICENSE"];
const ENGINE_LICENCES = ["@huggingface/jinja/LICENSE", "@huggingface/tokenizers/LICENSE"];
/** ONNX Runtime's build for browsers: its scripts are copied unchanged, its WebAssembly is compressed. */
const RUNTIME = new URL("node_modules/onnxruntime-web/", import.meta.url);

/** @type {import("esbuild").BuildOptions} */
const SHARED = {
  absWorkingDir: new URL(".", import.meta.url).pathname,
  bundle: true,
  charset: "utf8",
  // lit-html's build for Node works in browsers too, and lets tests import the page's script without a document.
  alias: Object.fromEntries(
    ["", "/directives/guard.js", "/directives/keyed.js", "/directives/live.js"].map((path) => [
      `lit-html${path}`,
      `./node_modules/lit-html/node${path || "/lit-html.js"}`,
    ]),
  ),
  legalComments: "none",
  mainFields: ["module", "main"],
  minify: true,
  target: "es2022",
  write: false,
};

/** Return a banner for esbuild: a comment with licences. @param {string[]} paths */
async function bannerOf(paths) {
  const texts = paths.map(async (path) => {
    const text = await readFile(new URL(`node_modules/${path}`, import.meta.url), "utf8");
    return `${path}\n\n${text}`;
  });
  return { js: `/*\n${(await Promise.all(texts)).join("\n")}*/` };
}

const banner = await bannerOf(LICENCES);
const { version } = JSON.parse(await readFile(new URL("package.json", RUNTIME), "utf8"));

/** @type {Record<string, import("esbuild").BuildOptions>} */
const BUNDLES = {
  "page.js": { entryPoints: ["page.ts"], format: "esm", banner },
  // esbuild warns of import.meta, which only the page's part of the player uses.
  "replay.js": {
    entryPoints: ["replay.ts"],
    format: "iife",
    banner,
    logOverride: { "empty-import-meta": "silent" },
  },
  "sw.js": { entryPoints: ["service_worker.ts"], format: "iife" },
  "engine.js": {
    entryPoints: ["engine/worker.ts"],
    format: "esm",
    banner: await bannerOf(ENGINE_LICENCES),
    define: { RUNTIME_VERSION: JSON.stringify(version) },
  },
  "learn.js": { entryPoints: ["learn/exported.ts"], format: "iife" },
};

/** The content of each file of assets/dist, before compression. @type {Record<string, Uint8Array>} */
const contents = {};
for (const [name, options] of Object.entries(BUNDLES)) {
  const { outputFiles } = await build({ ...SHARED, ...options });
  contents[name] = outputFiles?.[0]?.contents ?? new Uint8Array();
}
for (const [name, source] of [
  ["onnxruntime", ""],
  ["onnxruntime-webgpu", ".asyncify"],
]) {
  const file = new URL(`dist/ort-wasm-simd-threaded${source}`, RUNTIME);
  contents[`${name}.mjs`] = await readFile(new URL(`${file}.mjs`));
  contents[`${name}.wasm.gz`] = await readFile(new URL(`${file}.wasm`));
}

// The tests, bundled as the page is: Node 20 runs no TypeScript. Beside tests/, so that relative addresses hold.
if (process.argv.includes("--tests")) {
  const tests = await readdir(new URL("tests", import.meta.url), { recursive: true });
  await build({
    ...SHARED,
    entryPoints: tests.filter((name) => name.endsWith(".test.ts")).map((name) => `tests/${name}`),
    outbase: "tests",
    outdir: ".tests",
    format: "esm",
    platform: "node",
    packages: "external",
    minify: false,
    sourcemap: "inline",
    write: true,
  });
  process.exit();
}

const isCheck = process.argv.includes("--check");
for (const [name, content] of Object.entries(contents)) {
  const file = new URL(name, DIST);
  const isPacked = name.endsWith(".gz");
  if (!isCheck) {
    await writeFile(file, isPacked ? gzipSync(content, { level: 9 }) : content);
    console.log(`${name}: ${(content.length / 1000).toFixed(0)} kB`);
    continue;
  }
  const found = await readFile(file).catch(() => Buffer.of());
  // Versions of zlib compress differently, so compare the uncompressed content.
  if (!(isPacked && found.length ? gunzipSync(found) : found).equals(content)) {
    console.error(`assets/dist/${name} is stale: run npm run build in ui/web`);
    process.exitCode = 1;
  }
}
