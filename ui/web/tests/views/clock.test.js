import assert from "node:assert/strict";
import test from "node:test";
import { makeClock, playRate, revealPace } from "../../watch/playhead.js";

/** Let frames be called by hand. @param {(frame: (now: number) => void) => void} run */
function withFrames(run) {
  const { requestAnimationFrame } = globalThis;
  /** @type {FrameRequestCallback[]} */
  const asked = [];
  globalThis.requestAnimationFrame = (callback) => asked.push(callback);
  try {
    run((now) => asked.shift()?.(now));
  } finally {
    globalThis.requestAnimationFrame = requestAnimationFrame;
  }
}

test("what came in after the frame began is shown in it", () => {
  withFrames((frame) => {
    let advanced = 0;
    const clock = makeClock(
      () => true,
      () => Infinity,
      () => {
        advanced += 1;
      },
    );
    const frameBegan = performance.now();
    while (performance.now() === frameBegan);
    clock.start();
    clock.hurry();
    frame(frameBegan);
    assert.equal(advanced, 1);
  });
});

test("frames that take too long are told how many passes were due meanwhile", () => {
  withFrames((frame) => {
    /** @type {number[]} */
    const late = [];
    const clock = makeClock(
      () => true,
      () => 1000,
      (numLate) => late.push(numLate),
    );
    clock.start();
    for (const ms of [0, 20]) {
      const until = performance.now() + ms;
      while (performance.now() <= until);
      frame(performance.now());
    }
    assert.ok((late.at(-1) ?? 0) >= 10, `${late}`);
  });
});

test("starting twice keeps one clock, and a pause stops it", () => {
  withFrames((frame) => {
    let isPlaying = true;
    let advanced = 0;
    const clock = makeClock(
      () => isPlaying,
      () => Infinity,
      () => {
        advanced += 1;
      },
    );
    clock.start();
    clock.start();
    clock.hurry();
    frame(performance.now());
    assert.equal(advanced, 1);
    isPlaying = false;
    frame(performance.now());
    frame(performance.now());
    assert.equal(advanced, 1);
  });
});

test("while no pass is due no frame is asked for", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  withFrames(() => {
    let isAsked = false;
    const ask = globalThis.requestAnimationFrame;
    globalThis.requestAnimationFrame = (callback) => {
      isAsked = true;
      return ask(callback);
    };
    let rate = 4;
    const clock = makeClock(
      () => true,
      () => rate,
      () => {},
    );
    clock.start();
    context.mock.timers.tick(200);
    assert.equal(isAsked, false);
    rate = 1000;
    clock.hurry();
    assert.equal(isAsked, true, "what comes sooner is waited for no longer than that");
  });
});

test("a reveal is gentle when slow and keeps up when quick", () => {
  const [slow, quick] = [revealPace(1000), revealPace(1000 / 30)];
  assert.ok(slow.settle >= 400);
  assert.ok(quick.settle + quick.spread <= 60);
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
