// One forward pass in detail: attention mask, KV cache, the executed lines of the algorithm, and cost.

import assert from "node:assert/strict";
import test from "node:test";
import { costOf, countedWords, DEVICES, rateWords, rooflineOf } from "../../core/cost.ts";
import {
  cacheAt,
  cacheSentences,
  fewMasksWords,
  maskOf,
  maskSentences,
  rowSentence,
  rowsOf,
  rowText,
} from "../../core/mask.ts";
import type { Run } from "../../core/run.ts";
import { programsAt } from "../../watch/program.ts";
import {
  ALTERNATIVE_RUN,
  FIRST,
  PREFILL,
  RIDING_RUN,
  runOf,
  SECOND,
  SHAPE,
  start,
  THIRD,
  wire,
} from "./lines.ts";

/** Whether a forward pass executes the line of the algorithm that begins so. */
function isLit(run: Run, pass: number, start: string) {
  const lines = programsAt(run, pass).flatMap((each) => each.lines);
  const [, , lit] = lines.find(([, words]) => words.startsWith(start)) ?? assert.fail(start);
  return lit;
}

/**
 * Return a run by verify that drafts two tokens and checks them.
 * @param check fields of the second forward pass
 * @param more fields of the run's first line
 */
function checked(check: object, draft: number[] = [1, 2], more: object = {}) {
  const opening = start({ strategies: ["verify"], prompt_token_ids: [0, 1, 2], ...more });
  const step = { ...PREFILL, lane: "verify" };
  return runOf(
    wire(
      opening,
      { ...step, context: [0, 3], block: [0, 2], committed: [0], draft },
      { ...step, kind: "decode", seq: 2, context: [3, 3], block: [3, 2], ...check },
    ),
  );
}

// Which keys a row may attend to, and which tokens it reads, tests/ui/test_run_in_javascript.py compares with Python.

/** Return what rows of a pass read, in words. */
const readAt = (run: Run, pass: number) =>
  rowsOf(run, pass).map((row) => `${row.kind} ${row.position}: ${rowText(run, row)}`);

test("rows are named by what they read: final and drafted tokens, masks, alternatives", () => {
  const riding = ["final 0: Hello", "final 1:  world", "block 2: <m>", "block 3: <m>"];
  assert.deepEqual(readAt(RIDING_RUN, 3), riding);
  assert.equal(readAt(RIDING_RUN, 2)[1], "block 1:  world");
  assert.equal(readAt(RIDING_RUN, 0)[0], "prompt -3: Hello");
  const behind = ["alternative 1: Bye", "predraft 2: <m>", "predraft 3: <m>"];
  assert.deepEqual(readAt(ALTERNATIVE_RUN, 1).slice(7, 10), behind);
  const after = ["exact 2: Bye", "draft 3: !", "draft 4: Hello"];
  assert.deepEqual(readAt(ALTERNATIVE_RUN, 2).slice(0, 3), after);
});

test("a mask is told in sentences, and so is each of its rows", () => {
  const mask = maskOf(RIDING_RUN, 3) ?? assert.fail();
  const read = rowsOf(RIDING_RUN, 3);
  const sentences = maskSentences(mask, read);
  assert.equal(sentences.length, 2);
  assert.match(sentences[0] ?? "", /^2 tokens are read causally: each sees all 3 cached tokens/);
  assert.match(sentences[1] ?? "", /2 rows sees .* 2 causal tokens .* to the right/);
  assert.match(rowSentence(RIDING_RUN, mask, read, 1), /“·world” at position 1 .* 5 of 7 keys/);
  assert.match(rowSentence(RIDING_RUN, mask, read, 2), /mask token at position 2 .* 7 of 7 keys/);
  assert.equal(rowSentence(RIDING_RUN, mask, read, 9), "");
});

test("verify says why it reads fewer masks than the block size", () => {
  const verify = { strategy: "verify", blockSize: 16 };
  assert.match(fewMasksWords(verify, 6), /^Of at most 16 masks, .* it reads 6: fewer after/);
  assert.match(fewMasksWords(verify, 0), /no masks behind the draft, which ends/);
  assert.equal(fewMasksWords(verify, 16), "");
  assert.equal(fewMasksWords({ ...verify, strategy: "sbd" }, 6), "");
});

/** Return the sentences on the cache. */
const cacheWords = (pass: number, run = RIDING_RUN) =>
  cacheSentences(run.main, pass, cacheAt(run, pass) ?? assert.fail()).join(" ");

test("the cache grows by what was read causally, the block's rows are dropped", () => {
  const cache = cacheAt(RIDING_RUN, 3);
  assert.deepEqual([cache?.before, cache?.after, cache?.rejected, cache?.dropped], [3, 5, 0, 2]);
  assert.match(cacheWords(3), /grows from 3 to 5.*block before.*exact.*2 block rows are dropped/);
  assert.match(cacheWords(2), /^Nothing is added/);
});

test("verify takes back the keys of rejected drafts", () => {
  const run = checked({ committed: [1, 3] });
  const cache = cacheAt(run, 1);
  assert.deepEqual([cache?.after, cache?.rejected, cache?.dropped], [5, 1, 2]);
  assert.ok(isLit(run, 1, "Keep the draft"));
});

test("a first forward pass over a block is one where nothing rides along too", () => {
  const lit = [0, 1, 2, 3].map((pass) =>
    ["Read the prompt", "Put a block", "First time", "Other times"].filter((start) =>
      isLit(RIDING_RUN, pass, start),
    ),
  );
  const first = ["Put a block", "First time"];
  assert.deepEqual(lit, [["Read the prompt"], first, ["Other times"], first]);
  assert.deepEqual(programsAt(RIDING_RUN, 99), []);
});

test("a forward pass without a block says that it reads what was given, and was no other's", () => {
  const end = { ...THIRD, block: [4, 0], masked: [], reveals: [], committed: [2, 3] };
  const pinned: [number, number][] = [2, 3].map((position) => [position, position]);
  const run = runOf(wire(start({ pinned }), PREFILL, FIRST, SECOND, end));
  const words = cacheWords(3, run);
  assert.match(words, /was given, so this forward pass reads it without a block/);
  assert.doesNotMatch(words, /needed anyway/);
  const [answer, block] = programsAt(run, 3);
  assert.ok(answer?.lines.some(([, line, lit]) => lit && /without a block/.test(line)));
  assert.ok(block?.lines.every(([, , lit]) => !lit));
});

test("the forward pass that ends the answer shows no draft, nor a predraft as used", () => {
  const last = { committed: [1, 2], draft: [2], predrafts: [[1, 2, [2], true]] };
  const run = checked(last, [1, 3], { end_token_ids: [2] });
  assert.deepEqual(run.main.steps[0]?.draft, [1, 3]);
  assert.deepEqual(run.main.steps[1]?.draft, []);
  for (const line of ["After a rejection", "The masks’ predictions", "If that token"])
    assert.ok(!isLit(run, 1, line));
});

test("verify's last forward pass, accepted whole, takes nothing back and adds no token of its own", () => {
  const run = checked({ block: [3, 0], committed: [1, 2] });
  assert.equal(cacheAt(run, 1)?.rejected, 0);
  assert.ok(isLit(run, 1, "Keep the draft") && !isLit(run, 1, "Add the next token"));
});

const mask = maskOf(ALTERNATIVE_RUN, 1) ?? assert.fail();
const rows = rowsOf(ALTERNATIVE_RUN, 1);

test("alternatives are told in one sentence, and each row in its own", () => {
  const sentences = maskSentences(mask, rows);
  assert.equal(sentences.length, 4);
  assert.match(sentences[3] ?? "", /^2 alternatives are read causally: each sees/);
  assert.match(
    rowSentence(ALTERNATIVE_RUN, mask, rows, 10),
    /position 2 \(an alternative to a drafted token\), .* 2 causal rows, and itself: 6 of 16 keys\.$/,
  );
  assert.match(
    rowSentence(ALTERNATIVE_RUN, mask, rows, 11),
    /2 causal rows, the alternative before it, and its block of 2, both ways: 8 of 16 keys\.$/,
  );
});

test("their keys are dropped, and those of one that was right come with the next forward pass", () => {
  const { after, rejected, dropped, alternatives } = cacheAt(ALTERNATIVE_RUN, 1) ?? assert.fail();
  assert.deepEqual([after, rejected, dropped, alternatives], [5, 1, 10, 2]);
  const words = cacheWords(1, ALTERNATIVE_RUN);
  assert.match(words, /1 drafted token written and taken back: .* 8 block rows are dropped/);
  assert.match(
    words,
    /Those of 2 alternatives are dropped too, .* read again next, for the cache\.$/,
  );
  const stopped = runOf(ALTERNATIVE_RUN.lines.slice(0, 3).join("\n"));
  assert.equal(cacheAt(stopped, 1)?.after, 5);
});

test("the algorithm's line on an alternative is lit where one was right", () => {
  const lit = [1, 2].map((pass) => isLit(ALTERNATIVE_RUN, pass, "If that token was read as an"));
  assert.deepEqual(lit, [true, false]);
});

/** @param pass of a run with two layers of 26 weights each */
function costAt(pass: number) {
  return costOf(SHAPE, RIDING_RUN.main.steps[pass] ?? assert.fail(), "sbd", 3);
}

test("a forward pass costs what its rows, its keys and the output layer do", () => {
  // Four rows, two of them causal, after three cached tokens: each of the two in the block sees 7 keys.
  const pairs = 4 + 5 + 2 * 7;
  assert.deepEqual(costAt(3), {
    rows: 4,
    numLogitRows: 4,
    flops: 2 * 4 * 52 + 2 * 4 * 20 + 8 * pairs,
    attentionFlops: 8 * pairs,
    outputFlops: 2 * 4 * 20,
    ownKeyFlops: 8 * (pairs - 4 * 3),
    valueBytes: 4,
    weightBytes: 4 * 72,
    outputBytes: 4 * 20,
    cacheBytes: 4 * 2 * 2 * 3,
  });
  const step = { ...(RIDING_RUN.main.steps[3] ?? assert.fail()), causal: 1 };
  assert.equal(costOf(SHAPE, step, "ntp", 3).rows, 1, "next-token prediction reads no block");
});

test("operations are told as they are counted: the output layer meets only rows that predict", () => {
  assert.equal(costAt(0).numLogitRows, 3);
  assert.equal(
    countedWords(costAt(0)),
    "two a weight and row, the output layer’s for 3 of the rows, and attention",
  );
  assert.equal(countedWords(costAt(3)), "two a weight and row, and attention");
});

test("a device is bound by its memory or by its operations", () => {
  const rates = { flops: 1000, attentionFlops: 500, bandwidth: 100 };
  const device = { name: "d", ...rates, valueBytes: 4, source: "", memory: null };
  const cost = { flops: 4000, attentionFlops: 0, valueBytes: 4, weightBytes: 800, cacheBytes: 24 };
  const found = rooflineOf(cost, device);
  assert.deepEqual([found.seconds, found.isMemoryBound], [8.24, true]);
  assert.equal(rooflineOf(cost, { ...device, valueBytes: 1 }).isMemoryBound, false);
  for (const each of DEVICES.values()) assert.ok(each.bandwidth > 1e11 && each.source);
});

test("attention takes its own rate, and a device that has one says so", () => {
  const device = DEVICES.get("h100-fp8") ?? assert.fail();
  const cost = { flops: 3e15, attentionFlops: 1e15, valueBytes: 1, weightBytes: 0, cacheBytes: 0 };
  assert.equal(rooflineOf(cost, device).seconds, 2e15 / 1978e12 + 1e15 / 989e12);
  assert.equal(rateWords(device), ", attention at 0.5 times the rate of the rest");
  assert.equal(rateWords(DEVICES.get("a100-bf16") ?? assert.fail()), "");
});
