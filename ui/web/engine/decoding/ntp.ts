// Next-token prediction: one token per forward pass, with a KV cache; see sbd_core/decoding/ntp.py.

import type { Logits } from "../model.ts";
import { type DecodingState, makeHindsight, maskedPositions, revealsOf } from "./state.ts";

export class NextTokenPrediction {
  causalIds = this.state.promptIds;

  constructor(readonly state: DecodingState) {}

  nextRequest() {
    const { state } = this;
    return state.isFinished ? null : state.request(this.causalIds, [], 1);
  }

  update(logits: Logits) {
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
