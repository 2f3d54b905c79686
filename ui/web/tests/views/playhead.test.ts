// The playhead: seeking, playing, the clock, the pace of reveals, and the position in focus.

import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import {
  initialState,
  MAX_PASSES_A_SECOND,
  makeClock,
  type PlayerState,
  Playhead,
  playRate,
  Reveals,
  revealDurations,
  viewOf,
} from "../../watch/playhead.ts";
import { runOf } from "../core/lines.ts";

/** Return a playhead on a run of three forward passes. */
function playbackAt(pass = 0) {
  const run = runOf();
  const state = { ...initialState(), pass, gammaPreview: 0.3 };
  const playhead = new Playhead(
    state,
    () => run,
    (change) => Object.assign(state, change),
  );
  return { playhead, state, run };
}

test("a seek stays within the run, ends a preview and, by hand, pauses", () => {
  const { playhead, state } = playbackAt();
  state.isPlaying = true;
  playhead.seek(Infinity, true);
  assert.deepEqual([state.pass, state.isPlaying, state.gammaPreview], [2, false, null]);
  playhead.seek(-1, false);
  assert.equal(state.pass, 0);
});

test("reveals settle after a step to the next pass, and not after a jump", () => {
  const { playhead } = playbackAt();
  playhead.seek(1, true);
  assert.equal(playhead.isStep, true);
  playhead.seek(0, true);
  assert.equal(playhead.isStep, false);
  playhead.seek(2, true);
  assert.equal(playhead.isStep, false);
});

test("play at the end of a whole run begins it anew; the last pass pauses it", () => {
  const { playhead, state } = playbackAt(2);
  playhead.toggle();
  assert.deepEqual([state.pass, state.isPlaying], [0, true]);
  for (let step = 0; step < 3; step += 1) playhead.advance();
  assert.deepEqual([state.pass, state.isPlaying], [2, false]);
});

test("a live run leaves late passes out to stay a second behind at most; played again, none", () => {
  const { playhead, state, run } = playbackAt();
  playhead.isFollowing = true;
  Object.defineProperty(run.main, "lastPass", { get: () => MAX_PASSES_A_SECOND + 18 });
  playhead.advance(4);
  assert.equal(state.pass, 5);
  playhead.advance(40);
  assert.equal(state.pass, 19);
  playhead.advance(40);
  assert.equal(state.pass, 20);
  playhead.isFollowing = false;
  state.pass = 0;
  playhead.advance(40);
  assert.equal(state.pass, 1);
});

/** A playing clock whose frames are run by hand; `late` has how many passes were late at each that it showed. */
function manualClock(context: TestContext, rate: number) {
  const frames: FrameRequestCallback[] = [];
  const { requestAnimationFrame } = globalThis;
  globalThis.requestAnimationFrame = (callback) => frames.push(callback);
  context.after(() => {
    globalThis.requestAnimationFrame = requestAnimationFrame;
  });
  const late: number[] = [];
  const state = { isPlaying: true, rate };
  const clock = makeClock(
    () => state.isPlaying,
    () => state.rate,
    (numLate) => late.push(numLate),
  );
  return { clock, state, late, frames, frame: (now: number) => frames.shift()?.(now) };
}

test("what came in after the frame began is shown in it", (context) => {
  const { clock, late, frame } = manualClock(context, Infinity);
  const frameBegan = performance.now();
  while (performance.now() === frameBegan);
  clock.start();
  clock.hurry();
  frame(frameBegan);
  assert.equal(late.length, 1);
});

test("frames that take too long are told how many passes were due meanwhile", (context) => {
  const { clock, late, frame } = manualClock(context, 1000);
  clock.start();
  for (const ms of [0, 20]) {
    const until = performance.now() + ms;
    while (performance.now() <= until);
    frame(performance.now());
  }
  assert.ok((late.at(-1) ?? 0) >= 10, `${late}`);
});

test("starting twice keeps one clock, and a pause stops it", (context) => {
  const { clock, state, late, frame } = manualClock(context, Infinity);
  clock.start();
  clock.start();
  clock.hurry();
  frame(performance.now());
  assert.equal(late.length, 1);
  state.isPlaying = false;
  frame(performance.now());
  frame(performance.now());
  assert.equal(late.length, 1);
});

test("while no pass is due no frame is asked for", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { clock, state, frames } = manualClock(context, 4);
  clock.start();
  context.mock.timers.tick(200);
  assert.equal(frames.length, 0);
  state.rate = 1000;
  clock.hurry();
  assert.equal(frames.length, 1, "what comes sooner is waited for no longer than that");
});

test("a reveal is gentle when slow and keeps up when quick", () => {
  const [slow, quick] = [revealDurations(1000), revealDurations(1000 / 30)];
  assert.ok(slow.animation >= 400);
  assert.ok(quick.animation + quick.spread <= 60);
});

test("a live run is played as quickly as it comes, unless slow motion is wanted", () => {
  assert.equal(playRate(1, 0, 40), 3);
  assert.ok(playRate(1, 6, 40) >= 20, "0.3 s behind 20 forward passes a second, not more");
  assert.equal(playRate(0.5, 300, 300), 1.5);
});

test("a run that comes quicker than an eye can follow leaves the engine its cores", () => {
  for (const backlog of [30, 300, 3000]) {
    assert.ok(playRate(1, backlog, backlog) >= 30);
    assert.ok(playRate(4, backlog, backlog) <= 40);
  }
});

test("of a short run every forward pass stands for 0.8 s at least, unless a higher speed is chosen", () => {
  for (const numPasses of [1, 7, 12]) assert.ok(1 / playRate(1, 0, numPasses) >= 0.8);
  assert.ok(1 / playRate(1, 11, 12) >= 0.8, "nor is it hurried while it comes in");
  assert.ok(playRate(2, 0, 12) > playRate(1, 0, 12));
});

test("by time a pass is shown as long as it took, beside the mean pass of its run", () => {
  const run = runOf();
  run.main.steps.forEach((step, pass) => {
    step.seconds = pass === 1 ? 0.004 : 0.001;
  });
  const rateAt = (change: Partial<PlayerState>) =>
    new Playhead(
      { ...initialState(), ...change },
      () => run,
      () => {},
    ).rate();
  const even = rateAt({ pass: 0, isByTime: false });
  assert.equal(rateAt({ pass: 0 }), even / 2);
  assert.equal(rateAt({ pass: 1 }), even * 2);
});

const viewAt = (change: Partial<PlayerState>) =>
  viewOf(
    { ...initialState(), pass: 1, ...change },
    { run: runOf(), reveals: new Reveals(), isDark: false, isLecture: false, isStep: false },
  );

test("the focus is what is pointed at, then what is held, else the most uncertain", () => {
  assert.deepEqual([viewAt({}).focus, viewAt({}).showsFocus], [0, false]);
  assert.deepEqual([viewAt({ held: 1 }).focus, viewAt({ held: 1 }).showsFocus], [1, true]);
  assert.equal(viewAt({ held: 1, hovered: 0 }).focus, 0);
});

test("a dragged gamma says what it would reveal", () => {
  assert.equal(viewAt({}).wouldReveal, null);
  assert.deepEqual([...(viewAt({ gammaPreview: 0.1 }).wouldReveal ?? [])], [1, 0]);
});
