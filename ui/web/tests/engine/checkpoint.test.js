import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { readCheckpoint } from "../../engine/checkpoint/folder.js";
import { SafetensorsFile } from "../../engine/checkpoint/safetensors.js";
import { readShape } from "../../engine/checkpoint/shape.js";
import { readSettings } from "../../engine/decoding/settings.js";
import { stream } from "../../engine/decoding/stream.js";
import { makeKernel } from "../../engine/kernel.js";
import { Cache } from "../../engine/model.js";
import { openForm } from "../../engine/session/form.js";
import { Tokenizer } from "../../engine/tokenizer.js";

const ASSETS = new URL("../../../../assets/", import.meta.url);
const FOLDER = new URL("checkpoints/sbd-nano/", ASSETS);
const wasm = await readFile(new URL("dist/sbd.wasm", ASSETS));

/** @param {string | Uint8Array} data */
function buffer(data) {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  return new Uint8Array(bytes).buffer; // a copy, as a Buffer is a part of a larger one
}

/**
 * The bundled folder with some files others; null is one that is not there.
 * @param {Record<string, string | Uint8Array | null>} changes
 */
function folder(changes) {
  return async (/** @type {string} */ name) => {
    const change = changes[name];
    if (change !== undefined) return change === null ? null : buffer(change);
    const data = await readFile(new URL(name, FOLDER)).catch(() => null);
    return data ? buffer(data) : null;
  };
}

/** @param {Record<string, string | Uint8Array | null>} changes */
async function read(changes) {
  return readCheckpoint("m", await makeKernel(wasm), folder(changes));
}

/** @param {string} name @returns {Promise<any>} */
const json = async (name) => JSON.parse(await readFile(new URL(name, FOLDER), "utf8"));

/**
 * A safetensors file.
 * @param {Record<string, { dtype: string, shape: number[], data: Uint8Array }>} tensors
 */
function safetensors(tensors) {
  let place = 0;
  /** @type {Record<string, unknown>} */
  const header = { __metadata__: { format: "pt" } };
  for (const [name, { dtype, shape, data }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [place, place + data.length] };
    place += data.length;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = new Uint8Array(new BigUint64Array([BigInt(text.length)]).buffer);
  const parts = [length, text, ...Object.values(tensors).map(({ data }) => data)];
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

test("bf16, fp16 and fp32 are the same numbers", () => {
  const values = [1, -2.5, 0.15625, 0];
  const floats = new Float32Array(values);
  const bf16 = Uint16Array.from(new Uint32Array(floats.buffer), (bits) => bits >>> 16);
  const fp16 = new Uint16Array([0x3c00, 0xc100, 0x3100, 0]);
  const bytes = (/** @type {ArrayBufferView} */ view) => new Uint8Array(view.buffer);
  const file = new SafetensorsFile(
    buffer(
      safetensors({
        a: { dtype: "BF16", shape: [2, 2], data: bytes(bf16) },
        b: { dtype: "F16", shape: [4], data: bytes(fp16) },
        c: { dtype: "F32", shape: [4, 1], data: bytes(floats) },
      }),
    ),
    "x.safetensors",
  );
  for (const name of ["a", "b", "c"]) {
    const bits = file.tensor(name)?.bits() ?? new Uint32Array();
    assert.deepEqual([...new Float32Array(bits.buffer)], values, name);
  }
});

/**
 * Every tensor of the bundled folder, however many files it lies in.
 * @returns {Promise<[string, Parameters<typeof safetensors>[0][string]][]>}
 */
async function bundledTensors() {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith(".safetensors"));
  const files = names.map(async (name) => {
    const bytes = await readFile(new URL(name, FOLDER));
    const file = new SafetensorsFile(buffer(bytes), name);
    const data = new Uint8Array(bytes).subarray(file.dataStart);
    return [...file.entries].map(([key, { type, shape, start, stop }]) => {
      const tensor = { dtype: type, shape, data: data.subarray(start, stop) };
      return /** @type {[string, typeof tensor]} */ ([key, tensor]);
    });
  });
  return (await Promise.all(files)).flat();
}

/** The bundled weights in one file, whatever the folder has; nothing else of the folder changed. */
async function inOneFile() {
  return {
    "model.safetensors": safetensors(Object.fromEntries(await bundledTensors())),
    "model.safetensors.index.json": null,
  };
}

test("weights in several files are the model of the one file", async () => {
  const tensors = await bundledTensors();
  const half = Math.ceil(tensors.length / 2);
  /** @type {Record<string, Uint8Array | string>} */
  const changes = {};
  /** @type {Record<string, string>} */
  const map = {};
  for (const [index, part] of [tensors.slice(0, half), tensors.slice(half)].entries()) {
    const name = `part-${index + 1}.safetensors`;
    for (const [key] of part) map[key] = name;
    changes[name] = safetensors(Object.fromEntries(part));
  }
  const index = JSON.stringify({ weight_map: map });
  const sharded = await read({
    ...changes,
    "model.safetensors": null,
    "model.safetensors.index.json": index,
  });
  const plain = await read(await inOneFile());
  const answer = (/** @type {typeof plain} */ model) => {
    const settings = readSettings({ max_new_tokens: 16 });
    return [...stream(model, model.encode("What is 12 + 30?", false), settings)].map(
      (e) => e.committed,
    );
  };
  assert.deepEqual(answer(sharded), answer(plain));
});

test("a folder that cannot be used is refused in one sentence", async () => {
  const config = await json("config.json");
  const tokenizer = await json("tokenizer.json");
  const whole = await inOneFile();
  const weights = whole["model.safetensors"];
  const changed = (/** @type {object} */ part) => JSON.stringify({ ...config, ...part });
  for (const [changes, words] of /** @type {[Record<string, any>, RegExp][]} */ ([
    [{ "config.json": null }, /^The model’s folder has no config\.json\.$/],
    [{ "config.json": "[1]" }, /^config\.json is not a JSON object\.$/],
    [
      { "config.json": changed({ model_type: "gpt2" }) },
      /^The model is of type "gpt2"; only llama/,
    ],
    [{ "config.json": changed({ attention_bias: true }) }, /^The model has biases/],
    [
      { "config.json": changed({ sliding_window: 64 }) },
      /^The model has layers that do not attend/,
    ],
    [
      { "config.json": changed({ hidden_size: 8192 }) },
      /^The model has \d+ M parameters; at most 100 M/,
    ],
    [
      { "config.json": changed({ num_hidden_layers: "6" }) },
      /num_hidden_layers must be a whole number/,
    ],
    [
      { "config.json": changed({ rope_parameters: { rope_type: "yarn" } }) },
      /rotary embedding is of type "yarn"/,
    ],
    [
      { "config.json": changed({ intermediate_size: 256 }) },
      /^The weights are not those of config\.json/,
    ],
    [{ "config.json": changed({ num_hidden_layers: 7 }) }, /^The weights lack model\.layers\.6\./],
    [
      { "model.safetensors": null, "model.safetensors.index.json": null },
      /^The model’s folder has no model\.safetensors\.$/,
    ],
    [{ "model.safetensors": weights.subarray(0, 4) }, /^model\.safetensors is cut off\.$/],
    [
      { "model.safetensors": weights.subarray(0, weights.length / 2) },
      /^model\.safetensors is cut off\.$/,
    ],
    [
      { "model.safetensors": "<!doctype html><p>no such file</p>" },
      /^model\.safetensors is no safetensors/,
    ],
    [
      { "tokenizer.json": JSON.stringify({ ...tokenizer, normalizer: { type: "NFC" } }) },
      /^The tokenizer is not byte-level BPE/,
    ],
    [
      { "chat_template.jinja": "{{ messages[0]['content'] }}" },
      /^The model’s chat template is not the one/,
    ],
    [
      {
        "model.safetensors": null,
        "model.safetensors.index.json": '{"weight_map": {"a": "../secret"}}',
      },
      /names a file outside the folder/,
    ],
  ])) {
    await assert.rejects(
      read({ ...whole, ...changes }),
      { message: words },
      Object.keys(changes).join(),
    );
  }
});

test("older and newer configs say the same rotary embedding", async () => {
  const { rope_parameters: rope, ...config } = await json("config.json");
  const older = readShape({ ...config, rope_theta: rope.rope_theta });
  assert.deepEqual(
    [older.rotary.type, older.rotary.theta],
    [readShape({ ...config, rope_parameters: rope }).rotary.type, rope.rope_theta],
  );
});

test("every text comes back from its tokens", async () => {
  const tokenizer = new Tokenizer(await json("tokenizer.json"));
  for (const text of [
    "",
    " two  spaces",
    "don't 0123 ½",
    "日本語 🙂\n\n\ttab",
    "<m><eos>",
    "\u2028\u0000",
  ]) {
    const ids = tokenizer.encode(text);
    assert.equal(tokenizer.decode(ids), text);
    assert.ok(ids.every((id) => !tokenizer.specialIds.has(id)));
  }
});

test("a vocabulary that fills no whole panel gives the same logits", async () => {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith(".safetensors"));
  /** @type {Record<string, { dtype: string, shape: number[], data: Uint8Array }>} */
  const tensors = {};
  for (const name of names) {
    const file = new SafetensorsFile(buffer(await readFile(new URL(name, FOLDER))), name);
    for (const [key, { type, shape, start, stop }] of file.entries) {
      const data = new Uint8Array(file.buffer, file.dataStart + start, stop - start);
      tensors[key] = { dtype: type, shape, data };
    }
  }
  const known = tensors["model.embed_tokens.weight"];
  assert.ok(known);
  const [size = 0, hidden = 0] = known.shape;
  const twin = 300;
  const rowBytes = known.data.length / size;
  const row = known.data.subarray(twin * rowBytes, (twin + 1) * rowBytes);
  const data = new Uint8Array([...known.data, ...row, ...row, ...row]);
  const embedding = { ...known, shape: [size + 3, hidden], data };
  const config = { ...(await json("config.json")), vocab_size: size + 3 };
  const wider = await read({
    "config.json": JSON.stringify(config),
    "model.safetensors": safetensors({ ...tensors, "model.embed_tokens.weight": embedding }),
  });
  /** @param {Awaited<ReturnType<typeof read>>} checkpoint @param {number[]} causalIds */
  const logits = ({ model }, causalIds) => {
    const numCausalLogits = causalIds.length;
    const cache = new Cache(model, 16);
    const found = model.forward({
      cache,
      causalIds,
      numCausalLogits,
      blockIds: [],
      predraftBlocks: [],
    });
    return found.row(numCausalLogits - 1).slice();
  };
  const bundled = await read({});
  for (const ids of [[twin], [5, twin, 7], [5, 6, 7, 8, twin]]) {
    const expected = logits(bundled, ids);
    for (const same of [twin, size, size + 2]) {
      const found = logits(
        wider,
        ids.map((id) => (id === twin ? same : id)),
      );
      assert.deepEqual(found.subarray(0, size), expected);
      for (let id = size; id < size + 3; id += 1)
        assert.ok(Math.abs((found[id] ?? 0) - (expected[twin] ?? 0)) < 1e-4);
    }
  }
});

test("a decode takes the penalty of generation_config where it names none", async () => {
  const generation = await json("generation_config.json");
  /** @param {unknown} penalty */
  const changed = (penalty) =>
    read({
      "generation_config.json": JSON.stringify({ ...generation, repetition_penalty: penalty }),
    });
  assert.equal((await read({})).repetitionPenalty, 1);
  const checkpoint = await changed(1.3);
  const own = openForm(checkpoint, { prompt: "Hi" }).settings;
  assert.equal(own.repetition_penalty, 1.3);
  const named = openForm(checkpoint, { prompt: "Hi", repetition_penalty: 1 }).settings;
  assert.equal(named.repetition_penalty, 1);
  for (const wrong of [0, -1, "1.3", [1.3]]) {
    await assert.rejects(changed(wrong), /^Error: generation_config.repetition_penalty: must be/);
  }
});
