// The clock that moves a playhead through the passes known so far.

/**
 * Calls `advance` at `rate()` a second while `isPlaying()`, at most once a frame.
 * @param {() => boolean} isPlaying
 * @param {() => number} rate
 * @param {() => void} advance
 */
export function makeClock(isPlaying, rate, advance) {
  let frame = 0;
  let due = 0;
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
    // After advance(): what it draws in the next frame must come before the next advance.
    frame = requestAnimationFrame(tick);
  }
  function start() {
    if (frame || !isPlaying()) return;
    due = performance.now() + 1000 / rate();
    frame = requestAnimationFrame(tick);
  }
  /** Something changed that may make the next pass due sooner. */
  function hurry() {
    due = Math.min(due, performance.now() + 1000 / rate());
  }
  /** The next start() begins anew: what the old run's next pass was due at says nothing. */
  function stop() {
    cancelAnimationFrame(frame);
    frame = 0;
  }
  return { start, hurry, stop };
}
