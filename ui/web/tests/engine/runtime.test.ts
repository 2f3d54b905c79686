// runtime.ts calls onnxruntime-web's own module, which may change with any version: before another version is pinned,
// read how its JavaScript calls these functions, and run tests/ui/test_browser_engine.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const WEB = new URL("../../", import.meta.url);
const VERSION = "1.30.0";
const FUNCTIONS = /\bmodule\.(\w+)\(/g;
const ONLY_FOR_GPUS = /^(asyncInit|webgpu\w+)$/;

const read = (path: string) => readFileSync(new URL(path, WEB), "utf8");

test(`the private functions are those of onnxruntime-web ${VERSION}`, () => {
  assert.equal(JSON.parse(read("package.json")).devDependencies["onnxruntime-web"], VERSION);
  const names = [...read("engine/runtime.ts").matchAll(FUNCTIONS)].map(([, name]) => name ?? "");
  assert.ok(names.length > 15);
  for (const [file, isForGpus] of [
    ["onnxruntime", false],
    ["onnxruntime-webgpu", true],
  ] as const) {
    const code = read(`../../assets/dist/${file}.mjs`);
    const missing = names.filter((name) => !new RegExp(`\\.${name}\\b`).test(code));
    const unwanted = missing.filter((name) => isForGpus || !ONLY_FOR_GPUS.test(name));
    assert.deepEqual(unwanted, [], file);
  }
});
