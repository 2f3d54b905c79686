// The scenes of the lesson: their addresses, and the words under their animations.

import assert from "node:assert/strict";
import test from "node:test";
import { sumWords, withKept } from "../../learn/scenes/bound.ts";
import { blockState } from "../../learn/scenes/cache.ts";
import { choiceWords, distinctNames } from "../../learn/scenes/check.ts";
import { passCostWords, secondsWords, timesWords, timeTitle } from "../../learn/scenes/cost.ts";
import { mayLook } from "../../learn/scenes/masks.ts";
import { fillWords } from "../../learn/scenes/order.ts";
import { storyPieces, verdictWords } from "../../learn/scenes/wrong.ts";
import { hashOf, machinesOf, readLesson, sceneAt } from "../../learn/view.ts";
import { layOut, revealedAt } from "../../watch/budget.ts";
import type { View } from "../../watch/playhead.ts";
import { passMark, positionTitle, tileState } from "../../watch/tiles.ts";
import { FIRST, LLAMA_8B, masks, PREFILL, runOf, start, wire } from "../core/lines.ts";

const ADDRESSES = ["one", "two", "three"];

test("a scene is reached by its name and by its number", () => {
  assert.deepEqual(sceneAt(hashOf("two"), ADDRESSES), { index: 1, problem: "" });
  assert.deepEqual(sceneAt("#learn/3", ADDRESSES), { index: 2, problem: "" });
  assert.deepEqual(sceneAt("#learn", ADDRESSES), { index: 0, problem: "" });
  assert.equal(sceneAt("", ADDRESSES), null);
  assert.equal(sceneAt("#watch", ADDRESSES), null);
});

test("an unknown scene is the first, with a sentence that names it", () => {
  for (const name of ["four", "0", "4", "-1", "1e0", "%", `x${"y".repeat(900)}`]) {
    const found = sceneAt(`#learn/${name}`, ADDRESSES);
    assert.equal(found?.index, 0);
    assert.match(
      found?.problem ?? "",
      /^There is no scene “.{1,41}”, so this is the first of 3\.$/,
    );
  }
});

test("text looks back only, masks look at everything", () => {
  const row = (at: number) => [0, 1, 2, 3].map((column) => mayLook(at, column, 2));
  assert.deepEqual(row(0), [true, false, false, false]);
  assert.deepEqual(row(1), [true, true, false, false]);
  assert.deepEqual(row(2), [true, true, true, true]);
});

const STEP = { ...PREFILL, kind: "decode", context: [5, 0] };
const RUN = runOf(
  wire(
    start(),
    { ...PREFILL, context: [0, 5], block: [0, 0] },
    { ...STEP, seq: 2 },
    { ...STEP, seq: 3, context: [5, 2], block: [2, 2] },
    { ...STEP, seq: 4, context: [7, 0], block: [2, 2] },
  ),
);

test("a block is looked at both ways, then read again, then in the cache", () => {
  const states = [0, 1, 2, 3].map((pass) =>
    [0, 2].map((at) => blockState(RUN, pass, at)).join(" "),
  );
  assert.deepEqual(states, ["ahead ahead", "block ahead", "riding block", "cached block"]);
});

test("the words that clash are marked with the forward pass that filled them together", () => {
  const tokens: [string, number][] = [
    ["the", 3],
    [" pig", 4],
    [" pig", 4],
    [" ran", 5],
    ["<eos>", 5],
  ];
  const clashes = [{ words: "the pig pig", start: 0, end: 3, forward_pass: 4 }];
  const edge = {
    gamma: 4,
    is_right: false,
    fault: "",
    has_facts: true,
    clashes,
    fault_tokens: [],
    passes: 6,
    tokens,
  };
  /** The story with "_" before a token that clashes, and "=" before one that also came with another. */
  const marked = (change: object) =>
    storyPieces({ ...edge, ...change })
      .map(({ text, isClash, isTogether }) => (isTogether ? "=" : isClash ? "_" : "") + text)
      .join("");
  assert.equal(marked({}), "_the= pig= pig ran");
  const two = [...clashes, { words: "ran", start: 3, end: 4, forward_pass: 5 }];
  assert.equal(marked({ clashes: two }), "_the= pig= pig= ran");
  assert.equal(marked({ clashes: [], fault_tokens: [1] }), "the_ pig pig ran");
});

test("a story is said to hold in what was checked alone, and to break by what the check found", () => {
  const right = { is_right: true, fault: "", has_facts: true, fault_tokens: [4] };
  assert.equal(
    verdictWords(right),
    "Holds by our check: it keeps to the prompt, and no word is doubled or unknown. Grammar and sense are not checked.",
  );
  assert.match(
    verdictWords({ ...right, has_facts: false }),
    /^Holds by our check: no word is doubled/,
  );
  const wrong = { ...right, is_right: false, fault: "“hill” is not in the prompt" };
  assert.match(
    verdictWords(wrong),
    /^Broken: “hill” is not in the prompt\. Underlined: that, and neighbours/,
  );
  // A missing word cannot be underlined.
  assert.match(verdictWords({ ...wrong, fault_tokens: [] }), /\. Underlined: neighbours/);
});

test("the terms of the sum add up as they are printed", () => {
  const entropies = [0.0904, 0.1084, 2];
  const segments = entropies.map((entropy, at) => {
    const item = { position: at, entropy, top: [] };
    return { item, left: 0, width: 0, isRevealed: at < 2, isExempt: at === 1 };
  });
  const counts = { count: 2, numAfterEnd: 0, isExemptAfterEnd: false, hasGamma: true, isSum: true };
  const shown = { isExemptOffAxis: false, isCut: false, next: null, digits: 2 };
  const exempt = segments[1]?.item ?? null;
  const words = sumWords({ ...counts, ...shown, segments, exempt, spent: 0.0904 }, 0.1);
  assert.deepEqual([words.total, words.exempt], ["0.0904", "0.1084"]);
  assert.match(words.more, /0\.1084 counts too: 0\.1988, more than 0\.10\.$/, "in as many digits");
});

/** Return the words on the budget of a forward pass with masks of these entropies. */
const boundWords = (entropies: number[], gamma: number) => {
  const masked = masks(...entropies.map((nats, at) => [at, nats, 0, 0.9]));
  const opened = start({ solver: { name: "entropy-bound", gamma: 1 } });
  const run = runOf(wire(opened, PREFILL, { ...FIRST, masked, reveals: [] }));
  return sumWords(layOut(run, 1, revealedAt(run, 1, gamma), gamma), gamma);
};

test("terms, as printed, always come to the sum that is printed", () => {
  const { total, more } = boundWords([0.00004, 0.00004, 0.00042, 0.2, 0.3], 0.01);
  assert.equal(total, "0.0000 + 0.0001 + 0.0004 = 0.0005");
  assert.match(more, /0\.2000 counts too: 0\.2005, more than 0\.01\.$/);
  assert.equal(boundWords([0.0001, 0.0004, 0.2, 0.3], 0.01).total, "0.0001 + 0.0004 = 0.0005");
});

test("no sum is printed above the γ that it is at most, nor one that is more as no more", () => {
  const { total, more } = boundWords([0.00046, 0.00001, 0.00002, 0.3], 0.00047);
  assert.equal(total, "0.00001 + 0.00002 = 0.00003");
  assert.match(more, /: 0\.00049, more than 0\.00047\.$/);
  const { more: atZero } = boundWords([0.00002, 0.3], 0);
  assert.match(atZero, /0\.00002 counts too: 0\.00002, more than 0\.00\.$/, "not “0.0000”");
  assert.match(boundWords([0.000462, 0.2], 0.00047).total, /^0\.00046$/);
  assert.match(
    boundWords([0.05, 0.050001, 0.1], 0.1).more,
    /0\.050001 counts too: 0\.100001, more than 0\.10\.$/,
  );
});

test("a token chosen to go first is said to be it, to be accepted, or to go after another", () => {
  const said = [1, 2, 3].map((index) => choiceWords("“s”", index, 2));
  assert.match(said[0] ?? "", /^Not “s”, which is accepted/);
  assert.match(said[1] ?? "", /^Right: you would throw away “s” first/);
  assert.match(said[2] ?? "", /^Not “s” first: it goes too/);
});

test("drafted tokens of one word are told apart, others stay as they are", () => {
  const names = distinctNames(["“good”", "a space", "“good”", "“at”", "a space"]);
  assert.deepEqual(names, [
    "the first “good”",
    "the first space",
    "the second “good”",
    "“at”",
    "the second space",
  ]);
});

test("the forward pass that fills a cell is not said to be of so many where another writes the end", () => {
  assert.equal(fillWords(4, 4), "forward pass 4 (the last that fills a cell)");
  assert.equal(fillWords(2, 4), "forward pass 2 (forward pass 4 fills the last cell)");
});

test("how many times as fast is what the two times beside it come to", () => {
  assert.deepEqual([0.12149, 0.017229].map(secondsWords), ["121.49 ms", "17.23 ms"]);
  assert.equal(timesWords(0.12149, 0.017229), "7.05 times as fast");
  assert.equal(timesWords(2.2649, 0.36537), "6.19 times as fast");
});

test("how much longer a forward pass with a block takes is of the mean of each lane", () => {
  assert.match(
    passCostWords({ ntp: 6.4, sbd: 3 }, { ntp: 64, sbd: 20 }),
    / takes 1\.50 times as long$/,
  );
});

test("a lesson without its runs is refused", () => {
  assert.throws(() => readLesson('{"runs": {}}'), /a recorded run of the lesson is missing/);
});

test("a run with other guesses kept shows those, and nothing that it kept itself", () => {
  const run = runOf();
  const kinds = (kept: number[]) => {
    const view = { run: withKept(run, 1, new Set(kept)), pass: 1 } as View;
    return [0, 1].map((position) => {
      const state = tileState(view, position);
      return `${state.kind} ${passMark(state)}, ${positionTitle(view, position).split(",")[0]}`;
    });
  };
  const [left, kept] = ["masked", "revealed in this forward pass"];
  assert.deepEqual(kinds([1]), [`masked , Position 0: ${left}`, `new #2, Position 1: ${kept}`]);
  assert.deepEqual(kinds([0]), [`new #2, Position 0: ${kept}`, `masked , Position 1: ${left}`]);
  assert.ok(kinds([1, 0]).every((words) => words.startsWith("new")));
  assert.equal(run.main.fixedAt(0, 1), null, "the run itself stays as it is");
});

test("two times of one chip say whose peak rates each is worked out from, and for how many texts", () => {
  const chip = { name: "H100", rates: "arXiv 2509.04185" };
  assert.equal(
    timeTitle(chip, 1, 64 / 21, 83),
    "Time for one text by Llama-3.1-8B on H100, 2 bytes a weight, 3.05 tokens a pass in blocks, " +
      "up to 83 cached; worked out from arXiv 2509.04185",
  );
  assert.match(timeTitle(chip, 8, 3, 83), /^Time for 8 such texts at once by /);
});

test("chips of different names time the passes of the run, which many texts keep busy without a block", () => {
  const passes = (rows: number, count: number) =>
    Array.from({ length: count }, (_, at) => [rows, 40 + at] as [number, number]);
  const rows = { 1: passes(1, 32), 16: passes(16, 8) };
  const machines = machinesOf({ shape: LLAMA_8B, rows, big_chip: "H100" }, 40);
  const names = machines.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  assert.doesNotMatch(names.join(" "), /SXM|bf16|fp16|FP8/);
  assert.deepEqual(
    machines.filter(({ is_big: isBig }) => isBig).map(({ name }) => name),
    ["H100"],
  );
  for (const { seconds, pass_times: times } of machines) {
    const [alone, block] = [seconds[1] ?? [], seconds[16] ?? []] as [number[], number[]];
    assert.ok(Number(block[0]) < Number(alone[0]));
    assert.ok(Number(block.at(-1)) > Number(alone.at(-1)));
    assert.deepEqual(
      times.map((time) => time.rows),
      [1, 16],
    );
    for (const { loading, computing } of times) assert.ok(computing < loading);
  }
});
