// Alternatives to drafted tokens in one forward pass: its mask, cost and cache.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cacheAt, cacheSentences } from "../../../core/forward/cache.js";
import { costOf } from "../../../core/forward/cost.js";
import { maskOf, maskSentences, rowSentence, rowsOf } from "../../../core/forward/mask.js";
import { programsAt } from "../../../core/forward/program.js";
import { ALTERNATIVE_RUN, SHAPE } from "../lines.js";

const mask = maskOf(ALTERNATIVE_RUN, ALTERNATIVE_RUN.main, 1) ?? assert.fail();
const rows = rowsOf(ALTERNATIVE_RUN, ALTERNATIVE_RUN.main, 1);

test("an alternative sees the causal tokens before its place and itself, its masks see it too", () => {
  const seen = mask.visible.map(({ seen, first, stop, isCausal }) => [seen, first, stop, isCausal]);
  assert.deepEqual(seen.slice(3), [
    ...[3, 4].map(() => [3, 3, 5, false]),
    ...[5, 6].map(() => [2, 5, 7, false]),
    [1, 7, 8, true],
    ...[8, 9].map(() => [1, 7, 10, false]),
    [2, 10, 11, true],
    ...[11, 12].map(() => [2, 10, 13, false]),
  ]);
});

test("its row reads its token, in the place of the drafted one", () => {
  assert.deepEqual(
    rows.slice(7).map(({ kind, position, token }) => [kind, position, token]),
    [
      ["alternative", 1, 3],
      ["predraft", 2, undefined],
      ["predraft", 3, undefined],
      ["alternative", 2, 3],
      ["predraft", 3, undefined],
      ["predraft", 4, undefined],
    ],
  );
  const after = rowsOf(ALTERNATIVE_RUN, ALTERNATIVE_RUN.main, 2).slice(0, 3);
  assert.deepEqual(
    after.map(({ kind, token }) => [kind, token]),
    [
      ["exact", 3],
      ["draft", 2],
      ["draft", 0],
    ],
  );
});

test("they are told in one sentence, and each row in its own", () => {
  const sentences = maskSentences(mask, rows);
  assert.equal(sentences.length, 4);
  assert.match(
    sentences[3] ?? "",
    /^2 alternatives to drafted tokens are read causally: each sees/,
  );
  assert.match(
    rowSentence(ALTERNATIVE_RUN, mask, rows, 10),
    /position 2 \(an alternative to a drafted token\), .* 2 causal rows and itself: 6 of 16 keys\.$/,
  );
  assert.match(
    rowSentence(ALTERNATIVE_RUN, mask, rows, 11),
    /2 causal rows, the alternative before it and its block of 2, both ways: 8 of 16 keys\.$/,
  );
});

test("what they cost is counted", () => {
  const step = ALTERNATIVE_RUN.main.steps[1] ?? assert.fail();
  const pairs = mask.visible.reduce((sum, row) => sum + 3 + row.seen + row.stop - row.first, 0);
  const cost = costOf(SHAPE, step, "verify", 3);
  assert.deepEqual([cost.rows, cost.numPredicted, cost.attention], [13, 13, 8 * pairs]);
});

test("their keys are dropped, and those of one that was right come with the next forward pass", () => {
  const cache = cacheAt(ALTERNATIVE_RUN, ALTERNATIVE_RUN.main, 1) ?? assert.fail();
  const { before, after, rejected, dropped, alternatives } = cache;
  assert.deepEqual([before, after, rejected, dropped, alternatives], [3, 5, 1, 10, 2]);
  const words = cacheSentences(ALTERNATIVE_RUN.main, 1, cache).join(" ");
  assert.match(words, /1 drafted token written and taken back: .* 8 block rows are dropped/);
  assert.match(
    words,
    /Those of 2 alternatives are dropped too, .* read again next, for the cache\.$/,
  );
  const stopped = { ...ALTERNATIVE_RUN.main, steps: ALTERNATIVE_RUN.main.steps.slice(0, 2) };
  const alone = /** @type {import("../../../core/run/lane.js").Lane} */ (stopped);
  assert.equal(cacheAt(ALTERNATIVE_RUN, alone, 1)?.after, 5);
});

test("the algorithm's lines name the alternative's own token and the exact tokens read", () => {
  const lit = (/** @type {number} */ pass) =>
    programsAt(ALTERNATIVE_RUN, pass)[0]?.lines.filter(({ isLit }) => isLit) ?? [];
  assert.ok(lit(1).some(({ values }) => values === "1 of 2 accepted"));
  const second = lit(1).find(({ words }) => words.startsWith("If that token was read as an"));
  assert.equal(second?.values, "“!”");
  assert.ok(lit(2).some(({ values }) => values === "1 + 2 + 2 rows"));
  assert.ok(!lit(2).some(({ words }) => words.startsWith("If that token")));
});
