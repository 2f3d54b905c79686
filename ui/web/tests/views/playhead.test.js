import assert from "node:assert/strict";
import test from "node:test";
import { MOST_A_SECOND, Playhead } from "../../watch/playhead.js";
import { runOf } from "../core/lines.js";

/** @import { PlayerState } from "../../watch/playhead.js" */

/** A playhead on a run of three forward passes. */
function playbackAt(pass = 0) {
  const run = runOf();
  /** @type {PlayerState} */
  const state = {
    pass,
    plainPass: null,
    isPlaying: false,
    speed: 1,
    hovered: null,
    held: null,
    gammaPreview: 0.3,
    alternative: null,
    showsHindsight: false,
  };
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
  Object.defineProperty(run.main, "lastPass", { get: () => MOST_A_SECOND + 18 });
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
