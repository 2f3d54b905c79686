// Lossless drafting with the masked head; see sbd_core/decoding/verify.py. One forward pass checks the current draft
// and alternatives to its tokens causally, and drafts the next block. verify_rows.ts decides which rows it reads.

import type { Logits } from "../model.ts";
import type { Row } from "../sampling.ts";
import {
  cutAfterEnd,
  type DecodingState,
  type MaskedPosition,
  makeHindsight,
  maskedPositions,
  revealsOf,
  type Span,
  type StepEvent,
} from "./state.ts";
import { draftLength, NUM_ALTERNATIVES, planRows, type RowPlan } from "./verify_rows.ts";

/** Guesses for the positions after the exact tokens. */
interface Draft {
  tokenIds: number[];
  probabilities: number[]; // of the likeliest token at each position
  /** for each token, other tokens that could stand there, likeliest first */
  alternatives: [tokenId: number, probability: number][][];
  numSure: number; // number of leading tokens that the causal row of an alternative gave
}

const EMPTY_DRAFT: Draft = { tokenIds: [], probabilities: [], alternatives: [], numSure: 0 };

/** Return the draft with nearly certain tokens in front. */
function precededBy(sure: number[], draft: Draft): Draft {
  if (!sure.length) return draft;
  return {
    tokenIds: [...sure, ...draft.tokenIds],
    probabilities: [...sure.map(() => 1), ...draft.probabilities],
    alternatives: [...sure.map(() => []), ...draft.alternatives],
    numSure: sure.length,
  };
}

/**
 * Make a draft from a block's rows without the first, whose position gets an exact token. Tokens that end the answer
 * are no alternatives: the check itself finds the end.
 * @param length largest number of tokens; the draft ends earlier after a token that ends the answer
 */
function draftOf([, ...rows]: Row[], length: number, endIds: Set<number>): Draft {
  const ids = rows.slice(0, length).map(({ bestId }) => bestId);
  const tokenIds = cutAfterEnd(ids, endIds);
  const own = rows.slice(0, tokenIds.length);
  return {
    tokenIds,
    probabilities: own.map(({ probability }) => probability),
    alternatives: own.map(({ top }) => top.slice(1).filter(([id]) => !endIds.has(id))),
    numSure: 0,
  };
}

/**
 * A predraft in the request: the masks of `span`, after the alternative if there is one. firstMask, stop: its first
 * mask's row in the logits, and the row past its last mask.
 */
type Branch = { span: Span; alternative: [] | [tokenId: number]; firstMask: number; stop: number };

/** Number of tokens listed at a drafted position: the draft's own and its alternatives. */
const NUM_TOP = 1 + NUM_ALTERNATIVES;

export class DraftAndVerify {
  /** Final tokens that are not in the cache yet. */
  exactIds = this.state.promptIds;
  draft: Draft = EMPTY_DRAFT;
  block: Span = { start: 0, size: 0 };
  branches: Branch[] = [];

  constructor(readonly state: DecodingState) {}

  nextRequest() {
    const { state, draft } = this;
    if (state.isFinished) return null;
    const start = state.answer.length;
    const numDrafted = draft.tokenIds.length;
    const plan = this.nextPlan();
    const spans = plan.blockSizes.map((size, end) => ({ start: start + end, size }));
    this.block = spans[numDrafted];
    let row = numDrafted + 1 + this.block.size;
    const branchOf = (span: Span, alternative: Branch["alternative"]): Branch => {
      const firstMask = row + alternative.length;
      row = firstMask + span.size;
      return { span, alternative, firstMask, stop: row };
    };
    const behind = spans.slice(0, numDrafted).filter(({ size }) => size);
    this.branches = behind.map((span) => branchOf(span, []));
    for (const [place, rank, size] of plan.alternatives) {
      const [alternative] = draft.alternatives[place][rank];
      this.branches.push(branchOf({ start: start + place + 1, size }, [alternative]));
    }
    const numBefore = this.exactIds.length - start; // plus a position: number of causal tokens of this pass before it
    const predrafts = this.branches.map(({ span, alternative }) => ({
      seen: numBefore + span.start - alternative.length,
      numCausal: alternative.length,
      tokenIds: [...alternative, ...this.masks(span)],
    }));
    const causalIds = [...this.exactIds, ...draft.tokenIds];
    return state.request(causalIds, this.masks(this.block), numDrafted + 1, predrafts);
  }

  /** Plan which rows the next forward pass reads besides the draft. */
  nextPlan(): RowPlan {
    const { state, draft } = this;
    return planRows(draft.probabilities, state.checkpoint.calibration, {
      blockSize: state.settings.block_size,
      numLeft: state.numLeft,
      maxRows: state.settings.max_rows,
      alternatives: draft.alternatives.map((own) => own.map(([, chance]) => chance)),
      numSure: draft.numSure,
      isEnd: state.checkpoint.endIds.has(draft.tokenIds.at(-1) ?? -1),
    });
  }

  masks(span: Span): number[] {
    return new Array(span.size).fill(this.state.maskId);
  }

  update(logits: Logits) {
    const { state, block } = this;
    const start = state.answer.length;
    const numChecked = this.draft.tokenIds.length + 1;
    const causal = state.causalRows(logits, numChecked);
    const exact = this.checked(causal);
    const numAccepted = exact.length - 1;
    const used = this.usedPredraft(exact);
    state.cache.truncate(state.cache.length - numChecked + exact.length);
    this.exactIds = exact.slice(-1);
    const tokens = cutAfterEnd(exact, state.checkpoint.endIds).slice(0, state.numLeft);
    let masked: MaskedPosition[] = [];
    this.draft = EMPTY_DRAFT;
    const stop = numChecked + block.size;
    if (numAccepted === numChecked - 1 && block.size) {
      const rows = state.draft(logits, numChecked, stop, exact, NUM_TOP);
      masked = maskedPositions(rows, block.start, state.settings.top_k_recorded);
      this.draft = this.drafted(rows);
    }
    const predrafts = this.predrafts(logits, used, exact);
    const reveals = revealsOf(causal.slice(0, tokens.length), start);
    const hindsight = makeHindsight(tokens, causal, start);
    const draft = this.draft.tokenIds;
    return state.event(block, { masked, reveals, committed: tokens, draft, hindsight, predrafts });
  }

  drafted(rows: Row[]) {
    const { state } = this;
    const own = rows.slice(1).map(({ probability }) => probability);
    const length = draftLength(own, state.checkpoint.calibration, state.settings.max_rows);
    return draftOf(rows, length, state.checkpoint.endIds);
  }

  /** Return the predraft made for the tokens that were accepted, preferably one with an alternative that was right. */
  usedPredraft(exact: number[]): Branch | undefined {
    if (exact.length > this.draft.tokenIds.length) return undefined;
    const position = this.state.answer.length + exact.length;
    const at = (start: number, token?: number) =>
      this.branches.find(({ span, alternative: [own] }) => span.start === start && own === token);
    return at(position, exact[exact.length - 1]) ?? at(position - 1);
  }

  /** Return all predrafts as an event lists them. The used one becomes the draft. */
  predrafts(logits: Logits, used: Branch | undefined, exact: number[]): StepEvent["predrafts"] {
    if (used) this.draft = this.draftOfUsed(used, logits, exact);
    return this.branches.map((branch) => {
      const { start, size } = branch.span;
      const isUsed = branch === used;
      return [start, size, isUsed ? this.draft.tokenIds : [], isUsed, ...branch.alternative];
    });
  }

  /** Make the next draft from the used predraft. With an alternative, its first token is from the alternative's row. */
  draftOfUsed({ span, alternative, firstMask, stop }: Branch, logits: Logits, exact: number[]) {
    const { state } = this;
    const row = firstMask - alternative.length;
    const sure = idsOf(state.rows(logits, row, firstMask, 0, () => exact));
    if (!span.size || sure.some((id) => state.checkpoint.endIds.has(id)))
      return precededBy(sure, EMPTY_DRAFT);
    const rows = state.draft(logits, firstMask, stop, [...exact, ...sure], NUM_TOP);
    return precededBy(sure, this.drafted(rows));
  }

  /** Return the accepted draft tokens and the exact token after them, by the causal rows. */
  checked(causal: Row[]) {
    const { tokenIds } = this.draft;
    const ids = idsOf(causal);
    const end = tokenIds.findIndex((tokenId, index) => tokenId !== ids[index]);
    return end < 0 ? ids : ids.slice(0, end + 1);
  }
}

function idsOf(rows: Row[]) {
  return rows.map(({ bestId }) => bestId);
}
