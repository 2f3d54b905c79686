// Next-token prediction: one token per forward pass, with a KV cache; see sbd_core/decoding/ntp.py.

import { makeHindsight, maskedPositions, revealsOf } from "./state.js";

/** @import { Logits } from "../model.js" */
/** @import { DecodingState } from "./state.js" */

export class NextTokenPrediction {
  /** @param {DecodingState} state */
  constructor(state) {
    this.state = state;
    this.causalIds = state.promptIds;
  }

  nextRequest() {
    const { state } = this;
    return state.isFinished ? null : state.request(this.causalIds, [], 1);
  }

  /** @param {Logits} logits */
  update(logits) {
    const { state } = this;
    const rows = state.causalRows(logits, 1, state.settings.top_k_recorded);
    const position = state.answer.length;
    this.causalIds = rows.map(({ bestId }) => bestId);
    const masked = maskedPositions(rows, position);
    const reveals = revealsOf(rows, position);
    const hindsight = makeHindsight(this.causalIds, rows, position);
    const fields = { masked, reveals, committed: this.causalIds, hindsight };
    return state.event({ start: position, size: 1 }, fields);
  }
}
