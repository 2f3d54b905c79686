// Writes the lines of one run, as sbd_core/run_lines.py does on a server, so that what shows a run does
// not know who decoded it.

import { mentionedIds } from "../../core/run/trace.js";

/** @import { Verdict } from "../../core/run/wire.js" */
/** @import { Checkpoint } from "../exported/open.js" */
/** @import { Settings } from "../decoding/settings.js" */
/** @import { StepEvent } from "../decoding/state.js" */

const BYTES_PER_VALUE = 4;

/** The verdict on every answer: this engine decodes, only the server checks. @type {Verdict} */
const NOT_CHECKED = {
  right: null,
  words: "Not checked in the browser: the checks of answers are Python’s, on a server.",
};

export class RunLines {
  /** @param {string} runId @param {Checkpoint} checkpoint */
  constructor(runId, checkpoint) {
    this.runId = runId;
    this.checkpoint = checkpoint;
    /** Ids of the tokens whose texts were sent. @type {Set<number>} */
    this.sent = new Set();
    this.sequence = 0;
  }

  /**
   * The line that opens the run.
   * @param {{ prompt: string, promptIds: number[], lanes: Settings[], names: string[], ask: string }} run names: those of the lanes, unless they are their strategies
   */
  start({ prompt, promptIds, lanes, names, ask }) {
    const { name, endIds, model } = this.checkpoint;
    const { shape } = model;
    const pinned = lanes.flatMap((lane) => lane.pinned.map(([, id]) => id));
    return this.line("run", {
      prompt,
      model: name,
      lanes,
      names,
      ask,
      prompt_token_ids: promptIds,
      end_token_ids: [...endIds].sort((a, b) => a - b),
      shape: {
        hidden_size: shape.hidden,
        feed_forward_size: shape.width,
        num_heads: shape.num_heads,
        num_kv_heads: shape.num_kv_heads,
        head_size: shape.head_size,
        num_feed_forward_matrices: 3,
        num_layers: shape.num_layers,
        vocabulary_size: shape.vocabulary,
        bytes_per_value: BYTES_PER_VALUE,
      },
      versions: { engine: "browser" },
      tokens: this.texts([...promptIds, ...pinned]),
      is_recorded: false,
    });
  }

  /** The line of one forward pass of a lane. @param {string} lane @param {StepEvent} event */
  step(lane, event) {
    return this.line("step", { lane, tokens: this.texts(mentionedIds(event)), ...event });
  }

  /**
   * The line that says that a lane is complete.
   * @param {string} lane
   * @param {string} finish
   * @param {string} text the whole decoded answer
   */
  end(lane, finish, text) {
    return this.line("end", { lane, finish, text, verdict: NOT_CHECKED });
  }

  /** The texts of the tokens that no line has named yet. @param {number[]} ids */
  texts(ids) {
    const fresh = [...new Set(ids)].filter((id) => !this.sent.has(id));
    for (const id of fresh) this.sent.add(id);
    return Object.fromEntries(fresh.map((id) => [id, this.checkpoint.tokenizer.tokenText(id)]));
  }

  /**
   * One line of JSON, safe inside markup and scripts; empty fields are left out.
   * @param {string} type
   * @param {Record<string, unknown>} fields
   */
  line(type, fields) {
    const said = Object.entries(fields).filter(([, value]) => !isEmpty(value));
    const body = { run: this.runId, seq: this.sequence, type, ...Object.fromEntries(said) };
    this.sequence += 1;
    return JSON.stringify(body).replace(/[<>&\u2028\u2029]/g, escaped);
  }
}

/** Whether a field is an empty text, list or record, or null. @param {unknown} value */
function isEmpty(value) {
  if (typeof value === "object") return !Object.keys(value ?? {}).length;
  return value === "";
}

/** A character as JSON may write it, so that no markup mistakes it for its own. @param {string} character */
function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
