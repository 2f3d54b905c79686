// One visitor's decodes in this browser: the form checked, the lanes run pass by pass, the runs
// kept for the share sheet. The counterpart of ui/decode/session.py; says all it has to say through
// one function. Knows no worker and no page.

import { NUM_TIMINGS } from "../../core/run/times.js";
import { EngineError } from "../errors.js";
import { boardOf, labelOf, raceForms } from "./board.js";
import { messageOf, openForm } from "./form.js";
import { Lane, passes } from "./lanes.js";
import { RunLines } from "./wire.js";

/** @import { Checkpoint } from "../exported/open.js" */
/** @import { Board } from "../../race/board.js" */
/** @import { RaceEntry } from "./board.js" */
/** @import { Form } from "./form.js" */

/**
 * What the page is told. wire: lines for the player.
 * @typedef {object} News
 * @property {"decode" | "race" | "timing"} about
 * @property {string} [text] a line for the visitor, "" clears it
 * @property {boolean} [isError]
 * @property {boolean} [isRunning]
 * @property {string} [wire]
 * @property {Board | null} [board]
 * @property {{ run: string, seconds: number[], ntpSeconds: number[], error?: string }} [timing]
 */

const MS_BETWEEN_NEWS = 60;
const MS_BETWEEN_BREATHS = 12;
const MAX_ASK = 16;
const WARM_PASSES = 3;
const STOPPED_TEXT = "Stopped.";

export class Session {
  /**
   * @param {Checkpoint} checkpoint
   * @param {(news: News) => void} say
   * @param {() => Promise<void>} breathe lets messages in
   */
  constructor(checkpoint, say, breathe) {
    this.checkpoint = checkpoint;
    this.say = say;
    this.breathe = breathe;
    this.turn = 0;
    this.breathed = 0;
  }

  /** Let whatever runs end after its forward pass. */
  stop() {
    this.turn += 1;
  }

  /** Whether a turn is still on; messages are let in first if it is time. @param {number} turn */
  async goesOn(turn) {
    const now = performance.now();
    if (now - this.breathed > MS_BETWEEN_BREATHS) {
      await this.breathe();
      this.breathed = performance.now();
    }
    return turn === this.turn;
  }

  /** A new turn; the one before ends. */
  begin() {
    this.turn += 1;
    return this.turn;
  }

  /**
   * Everything the page shows of one decode.
   * @param {Form} form
   */
  async decode(form) {
    const turn = this.begin();
    /** @type {Lane[]} */
    let lanes = [];
    try {
      lanes = await this.open(form);
      await this.run(lanes, String(form.ask ?? "").slice(0, MAX_ASK), turn);
      const isStopped = turn !== this.turn;
      this.say({ about: "decode", text: isStopped ? STOPPED_TEXT : "", isRunning: false });
    } catch (error) {
      this.fail("decode", error);
    } finally {
      for (const lane of lanes) await lane.close();
    }
  }

  /**
   * The lanes of a form, the main one first; checked and not started.
   * @param {Form} form
   */
  async open(form) {
    const { prompt, promptIds, settings } = await openForm(this.checkpoint, form);
    const main = new Lane(this.checkpoint, prompt, promptIds, settings);
    if (settings.strategy === "ntp") return [main];
    const plain = await openForm(this.checkpoint, {
      prompt,
      strategy: "ntp",
      block_size: settings.block_size,
      max_new_tokens: settings.max_new_tokens,
      seed: settings.seed,
      repetition_penalty: settings.repetition_penalty,
    });
    return [main, new Lane(this.checkpoint, prompt, promptIds, plain.settings)];
  }

  /**
   * @param {Lane[]} lanes
   * @param {string} ask
   * @param {number} turn
   */
  async run(lanes, ask, turn) {
    const [main] = lanes;
    if (!main) return;
    const runId = crypto.randomUUID().slice(0, 8);
    const wire = new RunLines(runId, this.checkpoint);
    const { prompt, promptIds } = main;
    let lines = [wire.start({ prompt, promptIds, lanes: lanes.map((l) => l.settings), ask })];
    let told = performance.now();
    let isAwaited = true; // the first reveal of the main lane
    let isCut = false;
    for await (const [lane, event] of passes(lanes)) {
      lines.push(event ? wire.step(lane.name, event) : wire.end(lane.name, lane.finish, lane.text));
      const isDue = performance.now() - told > MS_BETWEEN_NEWS || (isAwaited && main.hasRevealed);
      if (isDue) {
        isAwaited &&= !main.hasRevealed;
        told = performance.now();
        this.say({ about: "decode", wire: lines.join("\n"), text: "Decoding …", isRunning: true });
        lines = [];
      }
      isCut = !(await this.goesOn(turn));
      if (isCut) break;
    }
    if (lines.length) this.say({ about: "decode", wire: lines.join("\n"), isRunning: true });
    if (isCut) this.say({ about: "decode", wire: "stop", isRunning: true });
  }

  /**
   * Everything the page is told of one race, the board last.
   * @param {RaceEntry} entry
   */
  async race(entry) {
    const turn = this.begin();
    /** @type {Map<string, Lane>} */
    const lanes = new Map();
    try {
      for (const [name, form] of Object.entries(raceForms(entry))) {
        const [lane] = await this.open(form);
        if (lane) lanes.set(name, lane);
      }
      this.say({ about: "race", text: "Warming up …", isRunning: true });
      for (const lane of lanes.values()) await this.warmUp(lane);
      for (const [name, lane] of lanes) {
        while (await lane.step()) {
          if (!(await this.goesOn(turn))) {
            this.say({ about: "race", text: STOPPED_TEXT, isRunning: false });
            return;
          }
        }
        this.say({ about: "race", text: `Ran ${labelOf(name, lane)} …`, isRunning: true });
      }
      this.say({ about: "race", text: "", isRunning: false, board: boardOf(lanes) });
    } catch (error) {
      this.fail("race", error);
    } finally {
      for (const lane of lanes.values()) await lane.close();
    }
  }

  /**
   * A few forward passes that are thrown away.
   * @param {Lane} lane
   */
  async warmUp({ checkpoint, prompt, promptIds, settings }) {
    const warm = new Lane(checkpoint, prompt, promptIds, settings);
    for (let i = 0; i < WARM_PASSES && (await warm.step()); i += 1);
    await warm.close();
  }

  /**
   * One decode made a few times, for its median and range.
   * @param {Form} form
   */
  async time(form) {
    const turn = this.begin();
    const timing = {
      run: String(form.ask),
      seconds: /** @type {number[]} */ ([]),
      ntpSeconds: /** @type {number[]} */ ([]),
    };
    try {
      for (let i = 0; i < NUM_TIMINGS; i += 1) {
        const [main, plain = main] = await this.open(form);
        for (const lane of new Set([main, plain])) {
          while (await lane?.step()) if (!(await this.goesOn(turn))) return;
          await lane?.close();
        }
        timing.seconds.push(main?.seconds ?? 0);
        timing.ntpSeconds.push(plain?.seconds ?? 0);
        this.say({ about: "timing", timing });
      }
    } catch (error) {
      this.say({ about: "timing", timing: { ...timing, error: messageOf(error) } });
    }
  }

  /**
   * @param {"decode" | "race"} about
   * @param {unknown} error
   */
  fail(about, error) {
    if (!(error instanceof EngineError)) console.error(error);
    this.say({ about, text: messageOf(error), isError: true, isRunning: false });
  }
}
