// Decodes one prompt in several ways, side by side, one forward pass at a time: ui/decode/lanes.py.

import { stream } from "../decoding/stream.js";

/** @import { Checkpoint } from "../exported/open.js" */
/** @import { Settings } from "../decoding/settings.js" */
/** @import { StepEvent } from "../decoding/state.js" */

/** @typedef {"end_of_sequence" | "length" | "stopped"} Finish */

/** One decode at work: its request, and the events so far. */
export class Lane {
  /**
   * @param {Checkpoint} checkpoint
   * @param {string} prompt
   * @param {number[]} promptIds
   * @param {Settings} settings
   */
  constructor(checkpoint, prompt, promptIds, settings) {
    this.checkpoint = checkpoint;
    this.prompt = prompt;
    this.promptIds = promptIds;
    this.settings = settings;
    this.name = settings.strategy;
    /** @type {StepEvent[]} */
    this.events = [];
    this.hasRevealed = false;
    this.stream = stream(checkpoint, promptIds, settings);
  }

  /** Make the next forward pass; null when the lane is complete or closed. */
  async step() {
    const { value, done } = await this.stream.next();
    if (done || !value) return null;
    this.events.push(value);
    this.hasRevealed ||= value.reveals.length > 0;
    return value;
  }

  /** Let go of the KV cache; the events stay. */
  async close() {
    await this.stream.return();
  }

  get answer() {
    return this.events.flatMap((event) => event.committed);
  }

  get text() {
    return this.checkpoint.tokenizer.decode(this.answer);
  }

  get seconds() {
    return this.events.reduce((sum, event) => sum + event.seconds, 0);
  }

  /** @returns {Finish} */
  get finish() {
    const { answer } = this;
    const last = answer.at(-1);
    if (last !== undefined && this.checkpoint.endIds.has(last)) return "end_of_sequence";
    return answer.length >= this.settings.max_new_tokens ? "length" : "stopped";
  }
}

/**
 * Makes every forward pass of every lane; null for its end. In a race it makes one of each lane in turn,
 * else lane after lane, so that nobody waits for a lane that the first is only compared with. Forward
 * passes before a lane's first reveal are no turn: they only read the prompt.
 * @param {Lane[]} lanes
 * @param {boolean} isRace
 * @returns {AsyncGenerator<[Lane, StepEvent | null], void>}
 */
export async function* passes(lanes, isRace) {
  for (const group of isRace ? [lanes] : lanes.map((lane) => [lane])) {
    const running = new Set(group);
    while (running.size) {
      for (const lane of running) {
        let event;
        do {
          event = await lane.step();
          yield [lane, event];
        } while (event && !lane.hasRevealed);
        if (!event) running.delete(lane);
      }
    }
  }
}
