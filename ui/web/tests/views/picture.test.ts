// A run as a picture and as an animation: the words above them, the labels of passes, and the frames.

import assert from "node:assert/strict";
import test from "node:test";
import { framePasses, MAX_FRAMES } from "../../share/gif.ts";
import { countsText, strategyLabel } from "../../share/picture.ts";
import { drawAxes } from "../../watch/staircase.ts";
import { END, FIRST_GIVEN, PREFILL, runOf, SECOND, start, wire } from "../core/lines.ts";

test("a picture names what decoded as the form does", () => {
  const solver = { name: "entropy-bound", gamma: 0.35 };
  const run = runOf(wire(start({ solver, block_size: 16 })));
  assert.equal(strategyLabel(run), "Set Block Decoding, γ 0.35, block 16");
  const plain = runOf(wire(start({ strategies: ["ntp"], block_size: 16 })));
  assert.equal(strategyLabel(plain), "Next-token prediction", "which has no block");
});

test("the numbers of a picture divide as written: given tokens are named, and not decoded", () => {
  const given = runOf(wire(start({ pinned: [[1, 1]] }), PREFILL, FIRST_GIVEN, SECOND, END));
  assert.equal(
    countsText(given, 2),
    "3 forward passes · 2 tokens, 1 given · 0.33 decoded a forward pass",
  );
  assert.equal(countsText(runOf(), 2), "3 forward passes · 2 tokens · 0.67 a forward pass");
});

test("a staircase with room below a short run numbers its rows down to the foot", () => {
  const beside: string[] = [];
  const context = {
    measureText: () => ({ width: 8 }),
    fillText: (words: string, x: number) => x < 0 && beside.push(words),
  } as any;
  const style = { accent: "", ntp: "", line: "", muted: "", font: "", size: 13 };
  const geometry = { width: 300, height: 330, cellWidth: 20, cellHeight: 22, gap: 1 };
  drawAxes(context, geometry, style, { positions: 15, passes: 12 });
  assert.deepEqual([beside[0], beside.at(-1), beside.length], ["1", "15", 15]);
});

test("an animation shows every forward pass while it may", () => {
  for (const count of [1, 2, 60, MAX_FRAMES]) {
    assert.deepEqual(framePasses(count - 1), [...Array(count).keys()]);
  }
  assert.deepEqual(framePasses(-1), [0]);
});

test("an animation of a long run is sampled evenly, the first and the last pass among its frames", () => {
  for (let lastPass = MAX_FRAMES; lastPass <= 5000; lastPass += 1) {
    const passes = framePasses(lastPass);
    const words = `${lastPass + 1} passes`;
    assert.ok(passes.length <= MAX_FRAMES, `${words}: ${passes.length} frames`);
    assert.ok(passes.length > MAX_FRAMES / 2, `${words}: only ${passes.length} frames`);
    assert.deepEqual([passes[0], passes.at(-1)], [0, lastPass], words);
    const steps = passes.slice(1).map((pass, index) => pass - (passes[index] ?? 0));
    const step = steps[0] ?? 0;
    const last = steps.pop() ?? 0;
    assert.deepEqual([...new Set(steps)], [step], words);
    assert.ok(last > 0 && last <= step, words);
  }
});
