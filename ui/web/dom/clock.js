// The clock that moves a playhead through the passes known so far.

const FRAME_MS = 1000 / 60;

/**
 * Calls `advance` at `rate()` a second while `isPlaying()`, at most once a frame.
 * @param {() => boolean} isPlaying
 * @param {() => number} rate
 * @param {() => void} advance
 */
export function makeClock(isPlaying, rate, advance) {
  let frame = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let due = 0;
  /** Come back in the frame in which the next pass is due; a frame for nothing costs the engine. */
  function wait() {
    const left = due - performance.now();
    if (left > FRAME_MS) timer = setTimeout(wake, left - FRAME_MS / 2);
    else frame = requestAnimationFrame(tick);
  }
  function wake() {
    timer = undefined;
    frame = requestAnimationFrame(tick);
  }
  function tick() {
    if (!isPlaying()) {
      frame = 0;
      return;
    }
    // Not the time of the frame: what came in since it began may be due.
    const now = performance.now();
    // `frame` stays set meanwhile, so that start() adds no second tick.
    if (now >= due) {
      advance();
      due = Math.max(due + 1000 / rate(), now);
    }
    frame = 0;
    // After advance(): what it draws in the next frame must come before the next advance.
    wait();
  }
  function start() {
    if (!isPlaying()) return stop();
    if (frame || timer) return;
    due = performance.now() + 1000 / rate();
    wait();
  }
  /** Something changed that may make the next pass due sooner. */
  function hurry() {
    due = Math.min(due, performance.now() + 1000 / rate());
    if (!timer) return;
    clearTimeout(timer);
    timer = undefined;
    wait();
  }
  /** The next start() begins anew: what the old run's next pass was due at says nothing. */
  function stop() {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = 0;
    timer = undefined;
  }
  return { start, hurry, stop };
}
