// Bundles the page's scripts into assets/dist. `node build.js --check` writes nothing and fails if
// a committed bundle is not what the sources give.

import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const DIST = new URL("../../assets/dist/", import.meta.url);

/** @type {import("esbuild").BuildOptions} */
const SHARED = {
  absWorkingDir: new URL(".", import.meta.url).pathname,
  bundle: true,
  charset: "utf8",
  legalComments: "none",
  minify: true,
  target: "es2022",
  write: false,
};

/** @type {import("esbuild").Plugin} a worker's script inside the bundle that starts it */
const INLINE_WORKER = {
  name: "inline-worker",
  setup(setting) {
    setting.onResolve({ filter: /^sbd:gif-worker$/ }, ({ path }) => ({ path, namespace: "sbd" }));
    setting.onLoad({ filter: /.*/, namespace: "sbd" }, async () => {
      const entryPoints = ["share/gif/worker.js"];
      const { outputFiles } = await build({ ...SHARED, entryPoints, format: "iife" });
      return { contents: outputFiles?.[0]?.text ?? "", loader: "text" };
    });
  },
};

/** @type {Record<string, import("esbuild").BuildOptions>} */
const BUNDLES = {
  "page.js": { entryPoints: ["page.js"], format: "esm", plugins: [INLINE_WORKER] },
  "replay.js": { entryPoints: ["replay.js"], format: "iife", plugins: [INLINE_WORKER] },
  "site.js": { entryPoints: ["site/site.js"], format: "esm", plugins: [INLINE_WORKER] },
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
