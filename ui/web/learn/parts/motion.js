// A number that moves with time, at once where motion is not wanted.

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
