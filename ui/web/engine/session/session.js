// One visitor's decodes in this browser: the form checked, the lanes run pass by pass, the runs
// kept for the share sheet. The counterpart of ui/decode/session.py; says all it has to say through
// one function. Knows no worker and no page.

import { NUM_TIMINGS } from "../../core/run/times.js";
import { rowCostsOf } from "../decoding/row_costs.js";
import { EngineError } from "../errors.js";
import { laneForms, messageOf, openForm } from "./form.js";
import { Lane, passes } from "./lanes.js";
import { RunLines } from "./wire.js";

/** @import { Checkpoint } from "../exported/open.js" */
/** @import { Form } from "./form.js" */

/**
 * News for the page. wire: lines for the player.
 * @typedef {object} News
 * @property {"decode" | "compare" | "timing" | "bench"} about
 * @property {string} [text] a line for the visitor, "" clears it
 * @property {boolean} [isError]
 * @property {boolean} [isRunning]
 * @property {string} [wire]
 * @property {{ run: string, seconds: number[], ntpSeconds: number[], error?: string }} [timing]
 */

const MS_BETWEEN_NEWS = 60;
const MS_BETWEEN_BREATHS = 12;
const MAX_ASK = 16;
const STOPPED_TEXT = "Stopped.";
const BENCH_FORM = { prompt: "Write a story about a fox and a hare.", max_new_tokens: 64 };

/** To three digits. @param {number} value */
const rounded = (value) => Number(value.toPrecision(3));

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

  /** Everything the page shows of one decode. @param {Form} form */
  async decode(form) {
    const ask = String(form.ask ?? "").slice(0, MAX_ASK);
    await this.tell("decode", () => this.open(form), ask);
  }

  /**
   * The same of one prompt decoded in several ways, each a lane of that name.
   * @param {string[]} names see core/names.js
   * @param {Form} form what they share
   */
  async compare(names, form) {
    const opened = async () => {
      const lanes = [];
      for (const [name, own] of laneForms(names, form)) {
        const [lane] = await this.open(own);
        if (lane) lanes.push(Object.assign(lane, { name }));
      }
      return lanes;
    };
    await this.tell("compare", opened, "");
  }

  /**
   * @param {"decode" | "compare"} about
   * @param {() => Promise<Lane[]>} opened
   * @param {string} ask
   */
  async tell(about, opened, ask) {
    const turn = this.begin();
    /** @type {Lane[]} */
    let lanes = [];
    try {
      lanes = await opened();
      await this.run(about, lanes, ask, turn);
      const isStopped = turn !== this.turn;
      this.say({ about, text: isStopped ? STOPPED_TEXT : "", isRunning: false });
    } catch (error) {
      this.fail(about, error);
    } finally {
      for (const lane of lanes) await lane.close();
    }
  }

  /** The lanes of a form, the main one first; checked and not started. @param {Form} form */
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
   * @param {"decode" | "compare"} about
   * @param {Lane[]} lanes
   * @param {string} ask
   * @param {number} turn
   */
  async run(about, lanes, ask, turn) {
    const [main] = lanes;
    if (!main) return;
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

  /** One decode made a few times, for its median and range. @param {Form} form */
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
   * Measure decoding here, as one line of JSON: milliseconds by rows, and tokens a second.
   * @param {string} engine what decodes
   */
  async bench(engine) {
    const { checkpoint } = this;
    const { model, name } = checkpoint;
    const { fewestRows, wantedStep } = model;
    /** @param {string} strategy */
    const speed = async (strategy) => {
      const opened = await openForm(checkpoint, { ...BENCH_FORM, strategy });
      const lane = new Lane(checkpoint, opened.prompt, opened.promptIds, opened.settings);
      while (await lane.step());
      await lane.close();
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

  /** @param {News["about"]} about @param {unknown} error */
  fail(about, error) {
    if (!(error instanceof EngineError)) console.error(error);
    this.say({ about, text: messageOf(error), isError: true, isRunning: false });
  }
}
