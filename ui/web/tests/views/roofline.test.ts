// The Roofline view: the paper's case, a sentence for each bad value, times as measured, and the query in its address.

import assert from "node:assert/strict";
import test from "node:test";
import { DEVICES } from "../../core/cost.ts";
import { operationWords, sizeWords, timeWords } from "../../core/numbers.ts";
import { passTime, speedup } from "../../core/roofline.ts";
import { csvOf } from "../../dom/save.ts";
import {
  choicesOf,
  DEFAULTS,
  factsOf,
  marksOf,
  type Query,
  type Setting,
  widthWords,
} from "../../roofline/answer.ts";
import { hashOf, queryAt } from "../../roofline/view.ts";
import { LLAMA_8B as SHAPE } from "../core/lines.ts";

const NANO = { ...SHAPE, hidden_size: 192, feed_forward_size: 512, num_heads: 6, num_layers: 6 };
const HERE = {
  name: "This machine",
  flops: 1e11,
  attentionFlops: 1e11,
  bandwidth: 2e10,
  valueBytes: 4,
  source: "measured",
  memory: null,
};
const SETTING: Setting = {
  models: [
    {
      key: "llama-3.1-8b",
      name: "the paper’s",
      shape: SHAPE,
      published: { feed_forward_size: 16384 },
    },
    { key: "big", name: "Big", shape: { ...SHAPE, num_layers: 320 } },
    { key: "bundled", name: "nano", shape: { ...NANO, num_kv_heads: 2, head_size: 32 } },
  ],
  measured: HERE,
  times: {
    64: { 1: 0.001, 8: 0.002, 16: 0.004 },
    256: { 1: 0.002, 8: 0.003, 16: 0.006 },
  },
};
const MEASURED = { device: "measured", model: "bundled", block: 8, cache: 64 };

const choose = (query: Query = {}) => choicesOf(query, SETTING);

function fact(query: Query, name: string) {
  const [, value, note] =
    factsOf(choose(query), SETTING).find(([own]) => own === name) ?? assert.fail(name);
  return { value, note };
}

test("the defaults are the paper's own case, in both counts", () => {
  const choices = choose();
  assert.deepEqual(choices.problems, []);
  assert.deepEqual(choices.wrong, []);
  const { value, note } = fact({}, "Speed-up");
  assert.equal(value, `${speedup(16, 3.4, choices).toFixed(2)}×`);
  assert.ok(note.includes(`${speedup(16, 3.4, choices, "published").toFixed(2)}×`));
  assert.match(fact({}, "Set Block Decoding").note, /Table 1\); .* 32 rows: /);
  assert.doesNotMatch(fact({ speed: 2 }, "Set Block Decoding").note, /Table 1/);
});

test("the widths of the paper's count are said with those of the model", () => {
  const words = widthWords(choose());
  assert.ok(words.includes("two feed-forward matrices of 4,096 × 67,108,864"));
  assert.ok(words.includes("the product 4,096 × 16,384 for their width"));
  assert.ok(words.includes("three of 4,096 × 14,336. The weights"));
  assert.ok(words.includes("4,096 × 256, not 4,096 × 1,024."));
  const config = JSON.stringify({ ...CONFIG, num_attention_heads: 8, head_dim: 8 });
  assert.ok(!widthWords(choose({ model: "own", config })).includes(", not"));
});

const WRONG: Record<string, string[]> = { block: ["0", "2.5"], cache: ["1e13"], batch: ["0"] };

for (const name of ["block", "cache", "batch", "speed"]) {
  const wrongs = ["NaN", "", " ", "x", "-1", "1e400", "[]", ...(WRONG[name] ?? ["0"])];
  test(`a number that makes no sense is said and the rest goes on: ${name}`, () => {
    for (const wrong of wrongs) {
      const choices = choose({ device: "a100-bf16", [name]: wrong });
      assert.equal(choices.problems.length, 1, wrong);
      assert.equal(Reflect.get(choices, name), DEFAULTS[name]);
      assert.deepEqual(choices.wrong, [name]);
      assert.equal(choices.device, DEVICES.get("a100-bf16"));
    }
    assert.deepEqual(choose({ cache: 0 }).problems, []);
  });
}

test("more tokens than a block holds become all of the block", () => {
  const { speed, problems } = choose({ block: 2, speed: "4.5" });
  assert.equal(speed, 2);
  assert.match(problems[0] ?? "", /at most the block size, 2, not "4.5"; shown is 2\.$/);
});

test("an unknown choice falls back to the default with a sentence", () => {
  for (const [field, value] of Object.entries({ device: "tpu", model: "toString" })) {
    const { problems, block } = choose({ [field]: value, block: 8 });
    assert.equal(problems.length, 1);
    assert.match(
      problems[0] ?? "",
      /^There is no (device|model) ".*" here; shown is the default\.$/,
    );
    assert.equal(block, 8);
  }
});

const CONFIG = {
  hidden_size: 2048,
  intermediate_size: 8192,
  num_attention_heads: 32,
  num_hidden_layers: 16,
  vocab_size: 128256,
};

test("a pasted config gives its shape, also one with its text part nested", () => {
  for (const config of [CONFIG, { text_config: CONFIG }]) {
    const choices = choose({ model: "own", config: JSON.stringify(config) });
    assert.deepEqual(choices.problems, []);
    assert.equal(choices.shapes.corrected.num_layers, 16);
    assert.equal(choices.shapes.published.head_size, 64);
  }
});

test("a config that is no decoder's is said, and the paper's model shown", () => {
  const long = `{${" ".repeat(200_000)}}`;
  for (const config of ["", "{", "[1]", "/etc", "\0", long, '{"hidden_size": "a"}', "{}"]) {
    const { problems, model } = choose({ model: "own", config });
    assert.equal(problems.length, 1);
    assert.match(
      problems[0] ?? "",
      /^(The config|hidden_size|Model) must be .* Shown is the paper’s\.$/,
    );
    assert.equal(model, "llama-3.1-8b");
    assert.ok((problems[0] ?? "").length < 250);
  }
});

test("a model that the device has no room for is said to be one", () => {
  const { value, note } = fact({ model: "big", device: "rtx4090-bf16" }, "Memory");
  assert.equal(value, "142 GB, more than the 24 GB it has");
  assert.match(
    note,
    /^at least: 141 GB of weights, 1.34 GB of KV cache; the device cannot run this/,
  );
  assert.match(fact({}, "Memory").note, /; the device has 80 GB$/);
  assert.doesNotMatch(fact(MEASURED, "Memory").note, /device/);
});

test("times and sizes have three digits and never an exponent", () => {
  assert.deepEqual([999.6e-6, 685e-6, 1234.5].map(timeWords), ["1 ms", "685 µs", "1,230 s"]);
  assert.deepEqual([999.6e6, 1.2345e15, 12].map(sizeWords), ["1 GB", "1,230 TB", "12 B"]);
  assert.deepEqual([999_600, 12.34e9, 0].map(operationWords), ["1 MFLOP", "12.3 GFLOP", "0 FLOP"]);
});

test("the time of a token is the sum of the passes that are named", () => {
  const query = { ...MEASURED, speed: 2 };
  const choices = choose(query);
  const [single, block, double] = [1, 8, 16].map((rows) => passTime(rows, choices).seconds);
  const found = fact(query, "Set Block Decoding");
  assert.equal(found.value, timeWords((double + 3 * block) / 8));
  assert.ok(found.note.endsWith(`16 rows: ${timeWords(double)}`));
  assert.equal(fact(query, "[Next-token prediction]").value, timeWords(single));
});

test("this machine is compared by its times where it was timed, else it is said why not", () => {
  const exact = fact(MEASURED, "Measured");
  assert.equal(exact.value, `${((8 * 1) / (4 + (8 / 3.4 - 1) * 2)).toFixed(2)}×`);
  assert.doesNotMatch(exact.note, /worked out/);
  assert.match(exact.note, /\. The roofline bounds times, not their ratio/);
  assert.match(
    fact({ ...MEASURED, cache: 100 }, "Measured").note,
    /those timed with 64 and 256 tok/,
  );
  for (const [changes, words] of [
    [{ model: "big" }, /^the times measured are nano’s only$/],
    [{ batch: 64 }, /at a batch of 1 only, not 64$/],
    [{ cache: 1e6 }, /only, not with 1000000$/],
    [{ cache: 0 }, /only, not with 0$/],
    [{ block: 9 }, /a block of 9 needs 18$/],
  ] as const) {
    const { value, note } = fact({ ...MEASURED, ...(changes as Query) }, "Measured");
    assert.equal(value, "–");
    assert.match(note, words);
  }
  assert.ok(!factsOf(choose(), SETTING).some(([name]) => name === "Measured"));
});

test("timed passes stand only beside a line of their batch, with the nearest cache", () => {
  assert.deepEqual(marksOf(choose({ cache: 170 }), SETTING), {
    name: "bundled model, timed, KV cache 256",
    seconds: SETTING.times[256],
  });
  assert.deepEqual(marksOf(choose({ batch: 2 }), SETTING).seconds, {});
});

test("an address gives back the query it was made of, and leaves out the defaults", () => {
  const query = { ...DEFAULTS, device: "a b&c=d#", block: "8" };
  const hash = hashOf(query);
  assert.equal(hash, "#roofline?device=a+b%26c%3Dd%23&block=8");
  assert.deepEqual(queryAt(hash), query);
  assert.equal(hashOf({ ...DEFAULTS, block: "16" }), "#roofline");
  for (const bare of ["#roofline", "#roofline?"]) assert.deepEqual(queryAt(bare), DEFAULTS);
  for (const other of ["", "#learn/2", "#rooflinex"]) assert.equal(queryAt(other), null);
  const broken = queryAt("#roofline?block=&what=1&device=%E0%A4%A&speed=NaN");
  assert.deepEqual([broken?.block, broken?.speed], ["", "NaN"]);
  assert.deepEqual(Object.keys(broken ?? {}), Object.keys(DEFAULTS));
});

test("a table as CSV keeps commas, quotes and lines, and no text of it is a formula", () => {
  const table = [
    { name: 'a,"b"\nc', value: -1.5, right: null },
    { name: "=1+1", value: 2, right: true },
  ];
  assert.equal(csvOf(table), 'name,value,right\r\n"a,""b""\nc",-1.5,\r\n"\'=1+1",2,true\r\n');
});
