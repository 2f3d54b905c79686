// Bundles the page's scripts into assets/dist. `node build.js --check` writes nothing and fails if
// a committed bundle is not what the sources give.

import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const DIST = new URL("../../assets/dist/", import.meta.url);
/** Licences of the libraries inside a bundle, which it shows. */
const LICENCES = ["gifenc/LICENSE.md", "idb-keyval/LICENCE"];

/** @type {import("esbuild").BuildOptions} */
const SHARED = {
  absWorkingDir: new URL(".", import.meta.url).pathname,
  bundle: true,
  charset: "utf8",
  legalComments: "none",
  mainFields: ["module", "main"],
  minify: true,
  target: "es2022",
  write: false,
};

/** @type {string[]} */
const texts = await Promise.all(
  LICENCES.map((path) => readFile(new URL(`node_modules/${path}`, import.meta.url), "utf8")),
);
const banner = { js: `/*\n${LICENCES.map((path, i) => `${path}\n\n${texts[i]}`).join("\n")}*/` };

/** @type {Record<string, import("esbuild").BuildOptions>} */
const BUNDLES = {
  "page.js": { entryPoints: ["page.js"], format: "esm", banner },
  "replay.js": { entryPoints: ["replay.js"], format: "iife", banner },
  "site.js": { entryPoints: ["site/site.js"], format: "esm", banner },
  "sw.js": { entryPoints: ["site/sw.js"], format: "iife" },
  "engine.js": { entryPoints: ["engine/worker.js"], format: "iife" },
  "learn.js": { entryPoints: ["learn.js"], format: "iife" },
  // Gradio calls it as a function of the event's inputs.
  "flag.js": {
    entryPoints: ["flag.js"],
    format: "iife",
    globalName: "sbd",
    banner: { js: "() => {" },
    footer: { js: "return sbd.flag();}" },
  },
  // Gradio evaluates it as the body of a function with these names as parameters.
  "stub.js": {
    entryPoints: ["stub.js"],
    format: "iife",
    globalName: "sbd",
    footer: { js: "sbd.begin({element,props,trigger,watch});" },
  },
};

const isCheck = process.argv.includes("--check");
for (const [name, options] of Object.entries(BUNDLES)) {
  const { outputFiles } = await build({ ...SHARED, ...options });
  const text = outputFiles?.[0]?.text ?? "";
  const file = new URL(name, DIST);
  if (!isCheck) {
    await writeFile(file, text);
    console.log(`${name}: ${(text.length / 1000).toFixed(0)} kB`);
  } else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
    console.error(`assets/dist/${name} is stale: run npm run build in ui/web`);
    process.exitCode = 1;
  }
}
