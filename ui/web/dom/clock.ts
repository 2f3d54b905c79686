// The clock of lanes that play side by side, by the engine's time or by forward pass: all stand where they were by then.
// Whatever the lanes took, the last one finishes after so many seconds of playback.

import { clamp } from "../core/numbers.ts";
import type { Lane } from "../core/run.ts";

const REST_SHARE = 0.35; // pause at the end before a clock that loops starts again, as a share of the playback

/** duration: seconds of playback at speed 1. loops: whether to start again after the end. */
type ClockOptions = { duration: number; loops: boolean; isByTime: boolean };
type ClockState = { value: number; isPlaying: boolean; speed: number };

export class Clock implements ClockState {
  lanes: Lane[] = [];
  value = 0; // seconds of the engine, or forward passes that have ended
  isPlaying = false;
  speed = 1;
  duration: number;
  loops: boolean;
  isByTime: boolean;
  frame = 0;

  constructor(
    { duration, loops, isByTime }: ClockOptions,
    readonly draw: () => void,
    readonly signal: AbortSignal,
  ) {
    [this.duration, this.loops, this.isByTime] = [duration, loops, isByTime];
  }

  /** The value when the last lane finishes. */
  get finish() {
    const ends = this.lanes.map((lane) =>
      this.isByTime ? lane.secondsAt(lane.lastPass) : lane.steps.length,
    );
    return Math.max(0, ...ends);
  }

  /** Return the last forward pass of a lane that has ended; -1 for none. */
  passOf(lane: Lane) {
    if (this.isByTime) return lane.passAt(this.value);
    return Math.min(Math.floor(this.value), lane.steps.length) - 1;
  }

  /** How much slower or faster than the engine the lanes play; "" by forward pass. */
  get slownessWords() {
    if (!this.isByTime || !this.finish) return "";
    const slowness = this.duration / (this.finish * this.speed);
    const [times, word] = slowness >= 1 ? [slowness, "slower"] : [1 / slowness, "faster"];
    return `shown ${times.toFixed(times < 10 ? 1 : 0)}× ${word}`;
  }

  set(change: Partial<ClockState>) {
    Object.assign(this, change);
    this.draw();
    this.start();
  }

  seek(value: number) {
    this.set({ value: clamp(value, 0, this.finish), isPlaying: false });
  }

  /** Step by one pass or, by time, to the next end of any lane's pass. @param by 1 ahead, -1 back */
  step(by: number) {
    if (!this.isByTime) return this.seek(Math.floor(this.value) + by);
    const ends = this.lanes.flatMap((lane) => lane.steps.map((_, pass) => lane.secondsAt(pass)));
    return this.seek(nearestPassEnd(ends, this.value, by));
  }

  /** Play or pause; from the start, if the end is reached. */
  toggle() {
    const isOver = !this.isPlaying && this.value >= this.finish;
    this.set({ isPlaying: !this.isPlaying, ...(isOver && { value: 0 }) });
  }

  /** Switch between time and forward passes, at the same share of the whole. */
  measureBy(isByTime: boolean) {
    const share = this.finish && this.value / this.finish;
    this.isByTime = isByTime;
    const value = share * this.finish;
    this.set({ value: isByTime ? value : Math.round(value) });
  }

  start() {
    if (this.frame || !this.isPlaying) return;
    let before = performance.now();
    const tick = (now: number) => {
      this.frame = 0;
      if (!this.isPlaying || this.signal.aborted) return;
      this.advance(Math.max(now - before, 0) / 1000);
      before = now;
      this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
  }

  advance(seconds: number) {
    const { finish, loops } = this;
    const next = this.value + (seconds * this.speed * finish) / this.duration;
    if (loops) this.value = next < (1 + REST_SHARE) * finish ? next : 0;
    else [this.value, this.isPlaying] = [Math.min(next, finish), next < finish];
    this.draw();
  }
}

/**
 * Return when the next forward pass ends, or the one before ended; Infinity after the last, 0 before the first.
 * @param by 1 ahead, -1 back
 */
export function nearestPassEnd(ends: number[], clock: number, by: number) {
  return by > 0
    ? Math.min(...ends.filter((end) => end > clock))
    : Math.max(0, ...ends.filter((end) => end < clock));
}
