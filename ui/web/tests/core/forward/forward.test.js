// One forward pass from its trace: mask, cache, algorithm and cost in words and numbers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cacheAt, cacheSentences } from "../../../core/forward/cache.js";
import {
  DEVICES,
  formatLarge,
  formatShort,
  leftOutWords,
  operationWords,
  partsOf,
  rateWords,
  rooflineOf,
} from "../../../core/forward/cost.js";
import { maskOf, mayAttend, ntpMaskBeside, rowsOf, rowText } from "../../../core/forward/mask.js";
import { programsAt } from "../../../core/forward/program.js";
import {
  besideWords,
  fewMasksWords,
  maskSentences,
  rowSentence,
} from "../../../core/forward/words.js";
import { END, FIRST, PREFILL, runOf, SECOND, start, wire } from "../lines.js";

/** @import { WireLine } from "../../../core/run/wire.js" */

/** @type {WireLine} the second block's first forward pass: the first block rides along */
const THIRD = {
  run: "r",
  seq: 4,
  type: "step",
  lane: "sbd",
  context: [3, 2],
  block: [2, 2],
  masked: [
    [2, 3000, 2, 9000],
    [3, 100, 3, 9900],
  ],
  reveals: [
    [3, 3],
    [2, 2],
  ],
  committed: [2, 3],
  time: 4000,
  cost: [4, 4000, 800, 24],
};

const RUN = runOf(
  wire(start({ read: [0, 1, 2], value_bytes: 4 }), PREFILL, FIRST, SECOND, THIRD, {
    ...END,
    seq: 5,
  }),
);

/** @param {number} pass */
function maskAt(pass) {
  const mask = maskOf(RUN, RUN.main, pass);
  assert.ok(mask);
  return mask;
}

test("a block that rides along is causal, the block behind it sees both ways", () => {
  const { numCached, numCausal, visible } = maskAt(3);
  assert.deepEqual([numCached, numCausal, visible.length], [3, 2, 4]);
  const seen = visible.map((row) =>
    [0, 1, 2, 3, 4, 5, 6].map((key) => (mayAttend(row, key, numCached) ? "x" : ".")).join(""),
  );
  assert.deepEqual(seen, ["xxxx...", "xxxxx..", "xxxxxxx", "xxxxxxx"]);
});

test("rows are named by what they read: final tokens, masks, tokens of the block", () => {
  const read = rowsOf(RUN, RUN.main, 3);
  assert.deepEqual(
    read.map((row) => [row.kind, row.position, rowText(RUN, row)]),
    [
      ["final", 0, "Hello"],
      ["final", 1, " world"],
      ["block", 2, "<m>"],
      ["block", 3, "<m>"],
    ],
  );
  assert.equal(rowText(RUN, rowsOf(RUN, RUN.main, 2)[1] ?? assert.fail()), " world");
  assert.equal(rowText(RUN, rowsOf(RUN, RUN.main, 0)[0] ?? assert.fail()), "Hello");
});

test("next-token prediction beside it has the same text, and reads no token of the prompt twice", () => {
  const sizes = [0, 1, 3].map((pass) => {
    const mask = maskAt(pass);
    const beside = ntpMaskBeside(mask, rowsOf(RUN, RUN.main, pass), 3);
    return [mask.numCached + mask.numCausal, beside.numCached, beside.visible.length];
  });
  assert.deepEqual(sizes, [
    [3, 0, 3],
    [3, 3, 1],
    [5, 4, 1],
  ]);
});

test("a mask is told in sentences, and so is each of its rows", () => {
  const mask = maskAt(3);
  const read = rowsOf(RUN, RUN.main, 3);
  const sentences = maskSentences(mask, read);
  assert.equal(sentences.length, 2);
  assert.match(sentences[0] ?? "", /^2 tokens are read causally: each sees all 3 cached tokens/);
  assert.match(sentences[1] ?? "", /2 rows sees .* 2 causal tokens .* to the right/);
  assert.match(rowSentence(RUN, mask, read, 1), /“·world” at position 1 .* 5 of 7 keys/);
  assert.match(rowSentence(RUN, mask, read, 2), /mask token at position 2 .* 7 of 7 keys/);
  assert.equal(rowSentence(RUN, mask, read, 9), "");
});

test("verify says why it reads fewer masks than the block size", () => {
  const verify = { strategy: "verify", blockSize: 16 };
  assert.match(fewMasksWords(verify, 6), /^Of at most 16 masks, .* it reads 6: fewer after/);
  assert.match(fewMasksWords(verify, 0), /no masks behind the draft, which ends/);
  assert.equal(fewMasksWords(verify, 16), "");
  assert.equal(fewMasksWords({ ...verify, strategy: "sbd" }, 6), "");
});

test("the cache grows by what was read causally, the block's rows are dropped", () => {
  const cache = cacheAt(RUN, RUN.main, 3);
  assert.deepEqual(cache, { numPrompt: 3, before: 3, after: 5, rejected: 0, dropped: 2 });
  const words = cacheSentences(RUN.main, 3, cache ?? assert.fail()).join(" ");
  assert.match(words, /grows from 3 to 5.*block before.*Exact.*2 block rows are dropped/);
  const still = cacheAt(RUN, RUN.main, 2);
  assert.match(cacheSentences(RUN.main, 2, still ?? assert.fail())[0] ?? "", /Nothing is added/);
});

test("verify takes back the keys of rejected drafts", () => {
  /** @type {WireLine} */
  const step = { run: "r", seq: 1, type: "step", lane: "verify" };
  const run = runOf(
    wire(
      start({ lanes: ["verify"], strategy: "verify", read: [0, 1, 2] }),
      { ...step, kind: "prefill", context: [0, 3], block: [0, 2], committed: [0], draft: [1, 2] },
      { ...step, seq: 2, context: [3, 3], block: [3, 2], committed: [1, 3], draft: [] },
    ),
  );
  const cache = cacheAt(run, run.main, 1);
  assert.deepEqual(cache, { numPrompt: 3, before: 3, after: 5, rejected: 1, dropped: 2 });
  assert.deepEqual(
    rowsOf(run, run.main, 1).map(({ kind, token }) => [kind, token]),
    [
      ["exact", 0],
      ["draft", 1],
      ["draft", 2],
      ["block", undefined],
      ["block", undefined],
    ],
  );
  const lit = programsAt(run, 1)[0]?.lines.filter((line) => line.isLit) ?? [];
  assert.ok(lit.some(({ values }) => values === "1 of 2 accepted"));
});

test("a first forward pass over a block is one where nothing rides along too", () => {
  const lit = [1, 2, 3].map((pass) => {
    const lines = programsAt(RUN, pass)[1]?.lines.slice(1, 3) ?? [];
    return lines.filter((line) => line.isLit).map(({ words }) => words.split(":")[0]);
  });
  assert.deepEqual(lit, [["First time"], ["Other times"], ["First time"]]);
});

test("a forward pass without a block says that it reads what was given, and was no other's", () => {
  /** @type {WireLine} */
  const end = { ...THIRD, block: [4, 0], masked: [], reveals: [], committed: [2, 3] };
  const run = runOf(
    wire(
      start({
        pinned: [
          [2, 2],
          [3, 3],
        ],
      }),
      PREFILL,
      FIRST,
      SECOND,
      end,
    ),
  );
  const words = cacheSentences(run.main, 3, cacheAt(run, run.main, 3) ?? assert.fail()).join(" ");
  assert.match(words, /was given, so this forward pass reads it without a block/);
  assert.doesNotMatch(words, /needed anyway/);
  const [answer, block] = programsAt(run, 3);
  assert.ok(answer?.lines.some((line) => line.isLit && /without a block/.test(line.words)));
  assert.ok(block?.lines.every((line) => !line.isLit));
  const mask = maskOf(run, run.main, 3) ?? assert.fail();
  const beside = ntpMaskBeside(mask, rowsOf(run, run.main, 3), 3);
  assert.deepEqual([beside.numCached, beside.visible.length], [5, 0]);
  assert.match(besideWords(run, mask, beside, 3), /^Nothing is left to write, .* nothing more\.$/);
});

test("t is where the block begins, what was given before it counted", () => {
  /** @type {WireLine} both blocks at once: the first was given */
  const both = { ...THIRD, seq: 2, committed: [0, 1, 2, 3] };
  /** @type {[number, number][]} */
  const pinned = [
    [0, 0],
    [1, 1],
  ];
  const run = runOf(wire(start({ pinned }), { ...PREFILL, block: [0, 0] }, both));
  const lit = programsAt(run, 1)[0]?.lines.filter((line) => line.isLit) ?? [];
  const values = lit.map((line) => line.values);
  assert.ok(values.includes("t = 5") && values.includes("k = 2, positions 2 to 3"));
  assert.ok(values.includes("+ 2 tokens, 4 in all"));
});

test("the forward pass that ends the answer shows no draft, nor one made ahead as used", () => {
  /** @type {WireLine} */
  const step = { run: "r", seq: 1, type: "step", lane: "verify" };
  const opening = start({ lanes: ["verify"], strategy: "verify", read: [0, 1, 2], ends: [9] });
  const last = { committed: [1, 2], draft: [2], predrafts: [[1, 2, 1, 2]] };
  const run = runOf(
    wire(
      opening,
      { ...step, kind: "prefill", context: [0, 3], block: [0, 2], committed: [0], draft: [1, 3] },
      { ...step, seq: 2, context: [3, 3], block: [3, 2], ...last },
    ),
  );
  assert.deepEqual(run.main.steps[0]?.draft, [1, 3]);
  assert.deepEqual(run.main.steps[1]?.draft, []);
  const lit = programsAt(run, 1)[0]?.lines.filter((line) => line.isLit) ?? [];
  assert.ok(!lit.some(({ words }) => /draft that was made ahead|next draft/.test(words)));
});

test("verify's last forward pass, accepted whole, takes nothing back and adds no token of its own", () => {
  /** @type {WireLine} */
  const step = { run: "r", seq: 1, type: "step", lane: "verify" };
  const run = runOf(
    wire(
      start({ lanes: ["verify"], strategy: "verify", read: [0, 1, 2] }),
      { ...step, kind: "prefill", context: [0, 3], block: [0, 2], committed: [0], draft: [1, 2] },
      { ...step, seq: 2, context: [3, 3], block: [3, 0], committed: [1, 2], draft: [] },
    ),
  );
  assert.equal(cacheAt(run, run.main, 1)?.rejected, 0);
  const lit = programsAt(run, 1)[0]?.lines.filter((line) => line.isLit) ?? [];
  assert.ok(lit.some(({ values }) => values === "2 of 2 accepted"));
  assert.ok(lit.some(({ values }) => values === "t = 4, 3 cached"));
  assert.ok(!lit.some(({ words }) => words.startsWith("Add the next token")));
});

test("what stands beside a mask is called the same only where it is", () => {
  const mask = maskAt(0);
  const beside = ntpMaskBeside(mask, rowsOf(RUN, RUN.main, 0), 3);
  assert.match(
    besideWords(RUN, { ...mask, visible: beside.visible }, beside, 3),
    /^3 rows, the same/,
  );
  const more = { ...mask, visible: [...beside.visible, ...beside.visible] };
  assert.doesNotMatch(besideWords(RUN, more, beside, 3), /the same/);
  assert.equal(
    besideWords(RUN, { ...more, numCached: 7 }, { ...beside, numCached: 7 }, 3),
    "Given the text before the block, it reads 3 rows and writes one token.",
  );
  assert.match(
    besideWords(RUN, { ...more, numCached: 7 }, { ...beside, numCached: 3 }, 3),
    /^With only the prompt in its cache, it reads 3 rows, the first token of its answer,/,
  );
});

test("operations are told as they are counted: the output layer meets only rows that predict", () => {
  const cost = { rows: 5, flops: 0, weightBytes: 0, cacheBytes: 0 };
  assert.equal(
    operationWords(cost, { kind: "prefill", causal: 4 }),
    "two a weight and row, the output layer’s for 2 of the rows, and attention",
  );
  assert.equal(
    operationWords(cost, { kind: "block", causal: 4 }),
    "two a weight and row, and attention",
  );
});

test("the lines of a forward pass are lit, with their values", () => {
  const [answer, block] = programsAt(RUN, 3);
  const lit = [...(answer?.lines ?? []), ...(block?.lines ?? [])].filter((line) => line.isLit);
  const values = lit.map((line) => line.values);
  assert.ok(values.includes("k = 2, positions 2 to 3"));
  assert.ok(values.includes("2 + 2 rows"));
  assert.ok(values.includes("H = 0.01, 0.30"));
  assert.ok(values.includes("s = 2: 0.01 ≤ γ = 0.10"));
  assert.ok(values.includes("+ 2 tokens, 4 in all"));
  const first = programsAt(RUN, 0).flatMap((each) => each.lines.filter((line) => line.isLit));
  assert.deepEqual(
    first.map((line) => line.values),
    ["t = 3"],
  );
  assert.deepEqual(programsAt(RUN, 99), []);
});

test("a device is bound by its memory or by its operations", () => {
  const rates = { flops: 1000, attentionFlops: 500, bandwidth: 100 };
  const device = { name: "d", ...rates, valueBytes: 4, source: "" };
  const cost = RUN.main.steps[3]?.cost ?? assert.fail();
  const found = rooflineOf(cost, device, 4, 0);
  assert.deepEqual([found.seconds, found.isMemoryBound], [8.24, true]);
  assert.equal(rooflineOf(cost, { ...device, valueBytes: 1 }, 4, 0).isMemoryBound, false);
  assert.equal(RUN.main.steps[0]?.cost, null);
  for (const each of DEVICES.values()) assert.ok(each.bandwidth > 1e11 && each.source);
});

// Two layers of 30 weights, an output layer of 40, 8 operations for a query and a key.
const SIZES = { valueBytes: 4, outputWeights: 40, pairFlops: 8 };

/**
 * @param {number} rows
 * @param {number} predicted of the rows
 * @param {number} pairs of a query and a key
 */
function costOf(rows, predicted, pairs) {
  const flops = 2 * (rows * 60 + predicted * 40) + 8 * pairs;
  return { rows, flops, weightBytes: 400, cacheBytes: 0 };
}

test("what Speed limits leaves out is told: the output layer, and attention to what is read", () => {
  const cost = costOf(3, 3, 3 * (5 + 3));
  const step = { kind: "decode", causal: 0, cached: 5 };
  assert.deepEqual(partsOf(cost, step, SIZES), { output: 240, attention: 192, ownKeys: 72 });
  const words = leftOutWords(cost, step, SIZES);
  assert.match(words, /output layer is 240 FLOP and 160 B of it.* read 72 FLOP: Speed limits/);
  const first = costOf(6, 3, 10 + 2 * 6);
  const prompt = { kind: "prefill", causal: 4, cached: 0 };
  assert.deepEqual(partsOf(first, prompt, SIZES), { output: 240, attention: 176, ownKeys: 176 });
});

test("attention takes its own rate, and a device that has one says so", () => {
  const device = DEVICES.get("h100-fp8") ?? assert.fail();
  const cost = { rows: 1, flops: 3e15, weightBytes: 0, cacheBytes: 0 };
  assert.equal(rooflineOf(cost, device, 1, 1e15).seconds, 2e15 / 1978e12 + 1e15 / 989e12);
  assert.equal(rateWords(device), ", attention at 0.5 times the rate of the rest");
  assert.equal(rateWords(DEVICES.get("a100-bf16") ?? assert.fail()), "");
});

test("large counts and short times have three digits", () => {
  assert.equal(formatLarge(12, "B"), "12 B");
  assert.equal(formatLarge(1234, "B"), "1.23 kB");
  assert.equal(formatLarge(999_600, "FLOP"), "1.00 MFLOP");
  assert.equal(formatLarge(12_340_000_000, "B"), "12.3 GB");
  assert.equal(formatShort(0.0123), "12.3 ms");
  assert.equal(formatShort(4.1e-6), "4.10 µs");
  assert.equal(formatShort(2), "2.00 s");
});

test("the rule is seen to hold by its numbers: what one more would have made is over gamma", () => {
  /** @param {number[][]} masked */
  const chosen = (masked) => {
    const run = runOf(wire(start(), PREFILL, { ...FIRST, masked, reveals: [[1, 1]] }));
    const lines = programsAt(run, 1)[1]?.lines ?? [];
    return lines.find(({ words }) => words.startsWith("Sort by entropy"))?.values;
  };
  assert.equal(chosen([[1, 1040, 1, 9900], [0, 2000, 0, 9000]]), "s = 1: 0.000 ≤ γ = 0.10; s = 2: 0.104"); // biome-ignore format: a row
  assert.equal(chosen([[1, 500, 1, 9900]]), "s = 1: 0.00 ≤ γ = 0.10");
});

test("no line promises a next forward pass, or a token beyond the limit, that may not come", () => {
  const lines = programsAt(RUN, 3).flatMap((each) => each.lines.map(({ words }) => words));
  assert.ok(lines.includes("Until the answer ends or is at its limit:"));
  assert.ok(lines.some((words) => /the next forward pass, if there is one, reads it/.test(words)));
});
