import assert from "node:assert/strict";
import test from "node:test";
import { makeClock } from "../../dom/clock.js";

/**
 * Let frames be called by hand.
 * @param {(frame: (now: number) => void) => void} run
 */
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
