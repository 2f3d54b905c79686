// Runs one visitor's decodes in this browser: checks the form, then makes the lanes' forward passes in
// turn. The counterpart of ui/decode/session.py; says all it has to say through one function. Knows no
// worker and no page.

import { PAPER } from "../../core/names.js";
import { NUM_TIMINGS } from "../../core/run/times.js";
import { rowCostsOf } from "../decoding/row_costs.js";
import { readSettings } from "../decoding/settings.js";
import { EngineError } from "../errors.js";
import { laneForms, messageOf, openForm } from "./form.js";
import { Lane, passes } from "./lanes.js";
import { RunLines } from "./wire.js";

/** @import { Settings } from "../decoding/settings.js" */
/** @import { Checkpoint } from "../exported/open.js" */
/** @import { Form } from "./form.js" */

/**
 * News for the page.
 * @typedef {object} News
 * @property {"decode" | "compare" | "timing" | "bench"} about
 * @property {string} [text] a line for the visitor; "" clears it
 * @property {boolean} [isError]
 * @property {boolean} [isRunning]
 * @property {string} [wire] lines for the player; "stop" after the last of a run that was stopped
 * @property {{ run: string, seconds: number[], ntpSeconds: number[], error?: string }} [timing]
 */

const MS_BETWEEN_NEWS = 60;
const MS_BETWEEN_BREATHS = 12;
const MAX_ASK = 16;
const STOPPED_TEXT = "Stopped.";
const BENCH_FORM = { prompt: "Write a story about a fox and a hare.", max_new_tokens: 64 };

/** The number to three digits. @param {number} value */
const rounded = (value) => Number(value.toPrecision(3));

export class Session {
  /**
   * @param {Checkpoint} checkpoint
   * @param {(news: News) => void} say
   * @param {() => Promise<void>} breathe a pause in which messages come in
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
    if (performance.now() - this.breathed > MS_BETWEEN_BREATHS) {
      await this.breathe();
      this.breathed = performance.now();
    }
    return turn === this.turn;
  }

  /** Tell everything that the page shows of one decode. @param {Form} form */
  async decode(form) {
    const ask = String(form.ask ?? "").slice(0, MAX_ASK);
    await this.tell("decode", () => this.open(form), ask);
  }

  /**
   * Tell the same of one prompt decoded in several ways, each a lane of that name.
   * @param {string[]} names see core/names.js
   * @param {Form} form the fields that they share
   */
  async compare(names, form) {
    const opened = async () => {
      const lanes = [];
      for (const [name, own] of laneForms(names, form)) {
        const [lane] = await this.open(own);
        lanes.push(Object.assign(lane, { name }));
      }
      return lanes;
    };
    await this.tell("compare", opened, "");
  }

  /**
   * Run lanes in a new turn, which ends the one before, and tell how it ended.
   * @param {"decode" | "compare"} about
   * @param {() => Promise<Lane[]>} open
   * @param {string} ask
   */
  async tell(about, open, ask) {
    this.stop();
    const { turn } = this;
    /** @type {Lane[]} */
    let lanes = [];
    try {
      lanes = await open();
      await this.run(about, lanes, ask, turn);
      const isStopped = turn !== this.turn;
      this.say({ about, text: isStopped ? STOPPED_TEXT : "", isRunning: false });
    } catch (error) {
      this.fail(about, error);
    } finally {
      for (const lane of lanes) await lane.close();
    }
  }

  /**
   * The lanes of a form, checked and not started: the one asked for, then next-token prediction.
   * @param {Form} form
   */
  async open(form) {
    const { prompt, promptIds, settings } = await openForm(this.checkpoint, form);
    /** @param {Settings} own */
    const laneOf = (own) => new Lane(this.checkpoint, prompt, promptIds, own);
    if (settings.strategy === "ntp") return [laneOf(settings)];
    const others = { solver: { name: PAPER }, pinned: [], max_rows: null, row_costs: null };
    const plain = readSettings({ ...settings, ...others, strategy: "ntp" });
    return [laneOf(settings), laneOf(plain)];
  }

  /**
   * Make the forward passes of lanes and tell their lines, until the turn is over.
   * @param {"decode" | "compare"} about
   * @param {Lane[]} lanes
   * @param {string} ask
   * @param {number} turn
   */
  async run(about, lanes, ask, turn) {
    const [main] = lanes;
    const runId = crypto.randomUUID().slice(0, 8);
    const wire = new RunLines(runId, this.checkpoint);
    const { prompt, promptIds } = main;
    const settings = lanes.map((lane) => lane.settings);
    const names = about === "compare" ? lanes.map(({ name }) => name) : [];
    let lines = [wire.start({ prompt, promptIds, lanes: settings, names, ask })];
    let told = performance.now();
    let isAwaited = true; // the first reveal of the main lane
    let isCut = false;
    for await (const [lane, event] of passes(lanes, about === "compare")) {
      lines.push(event ? wire.step(lane.name, event) : wire.end(lane.name, lane.finish, lane.text));
      const isDue = performance.now() - told > MS_BETWEEN_NEWS || (isAwaited && main.hasRevealed);
      if (isDue) {
        isAwaited &&= !main.hasRevealed;
        told = performance.now();
        this.say({ about, wire: lines.join("\n"), text: "Decoding …", isRunning: true });
        lines = [];
      }
      isCut = !(await this.goesOn(turn));
      if (isCut) break;
    }
    if (lines.length) this.say({ about, wire: lines.join("\n"), isRunning: true });
    if (isCut) this.say({ about, wire: "stop", isRunning: true });
  }

  /** Make one decode a few times, for its median and range. @param {Form} form */
  async time(form) {
    this.stop();
    const { turn } = this;
    /** @type {NonNullable<News["timing"]>} */
    const timing = { run: String(form.ask), seconds: [], ntpSeconds: [] };
    try {
      for (let i = 0; i < NUM_TIMINGS; i += 1) {
        const [main, plain = main] = await this.open(form);
        for (const lane of new Set([main, plain])) {
          while (await lane.step()) if (!(await this.goesOn(turn))) return await lane.close();
        }
        timing.seconds.push(main.seconds);
        timing.ntpSeconds.push(plain.seconds);
        this.say({ about: "timing", timing });
      }
    } catch (error) {
      this.say({ about: "timing", timing: { ...timing, error: messageOf(error) } });
    }
  }

  /**
   * Measure decoding here, as one line of JSON: milliseconds by rows, and tokens a second.
   * @param {string} engine the name of what decodes
   */
  async bench(engine) {
    const { checkpoint } = this;
    const { model, name } = checkpoint;
    const { fewestRows, wantedStep } = model;
    /** The tokens a second of a strategy. @param {string} strategy */
    const speed = async (strategy) => {
      const [lane] = await this.open({ ...BENCH_FORM, strategy });
      while (await lane.step());
      return rounded(lane.answer.length / lane.seconds);
    };
    try {
      checkpoint.rowCosts = null; // whoever asks wants them as they are now
      const costs = await rowCostsOf(checkpoint);
      const verify = await speed("verify");
      // Next-token prediction needs no rows that are equal to others: it is told at its best.
      [model.fewestRows, model.wantedStep] = [1, 1];
      const ntp = await speed("ntp");
      const ms = Object.fromEntries(costs.map(([rows, cost]) => [rows, rounded(1000 * cost)]));
      const told = { model: name, engine, fewest_rows: fewestRows, ms_by_rows: ms };
      const text = JSON.stringify({ ...told, tokens_per_second: { ntp, verify } });
      this.say({ about: "bench", text });
    } catch (error) {
      this.fail("bench", error);
    } finally {
      [model.fewestRows, model.wantedStep] = [fewestRows, wantedStep];
    }
  }

  /** Tell why something failed. @param {News["about"]} about @param {unknown} error */
  fail(about, error) {
    if (!(error instanceof EngineError)) console.error(error);
    this.say({ about, text: messageOf(error), isError: true, isRunning: false });
  }
}
