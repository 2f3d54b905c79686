// What moves with time: a number, at once where motion is not wanted, and steps one by one.

import { STILL } from "../../dom/reveal.js";

/**
 * Call `show` with 0 to 1 for `duration` milliseconds; the last call has 1.
 * @param {number} duration
 * @param {(part: number) => void} show
 * @param {AbortSignal} signal ends it
 */
export function sweep(duration, show, signal) {
  if (STILL.matches) {
    show(1);
    return;
  }
  const begun = performance.now();
  function tick() {
    if (signal.aborted) return;
    const part = Math.min(1, (performance.now() - begun) / duration);
    show(part);
    if (part < 1) requestAnimationFrame(tick);
  }
  tick();
}

/**
 * Take a step every `duration` milliseconds, until `step` says that it was the last.
 * @param {number} duration
 * @param {() => boolean} step whether there is another one
 * @param {AbortSignal} signal ends it
 */
export function makeSteps(duration, step, signal) {
  let timer = 0;
  const stop = () => clearInterval(timer);
  signal.addEventListener("abort", stop);
  return {
    stop,
    start() {
      stop();
      timer = window.setInterval(() => step() || stop(), duration);
    },
  };
}
