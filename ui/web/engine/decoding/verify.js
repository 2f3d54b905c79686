// Lossless drafting with the masked head; sbd_core/decoding/verify.py. One forward pass checks the
// current draft causally and drafts the next block; where rows are planned, it also checks alternatives
// to drafted tokens.

import {
  behind,
  confidentLength,
  draftOf,
  NOTHING,
  nextBlockSize,
  predraftOffsets,
} from "./drafts.js";
import {
  Acceptance,
  NUM_ALTERNATIVES,
  numRowsOf,
  ONE_A_PASS,
  planRows,
  secondsOf,
} from "./row_plans.js";
import { cutAfterEnd, makeHindsight, maskedPositions } from "./state.js";

/** @import { Logits, PredraftBlock } from "../model.js" */
/** @import { LogitStats } from "../stats.js" */
/** @import { RowCosts, RowPlan } from "./row_plans.js" */
/** @import { DecodingState, MaskedPosition, Predraft, Span } from "./state.js" */

/** @typedef {{ span: Span, alternative: number | null, firstMask: number, stop: number }} Branch a predraft asked for; rows of the logits: its first mask, one past its last row */

export class DraftAndVerify {
  /** @param {DecodingState} state */
  constructor(state) {
    this.state = state;
    /** @type {number[]} final tokens that are not in the cache yet */
    this.exactIds = state.promptIds;
    this.draft = NOTHING;
    this.longest = state.settings.block_size;
    /** @type {Span} */
    this.block = { start: 0, size: 0 };
    /** @type {Branch[]} */
    this.branches = [];
    const { row_policy, row_costs } = state.settings;
    /** @type {RowCosts | null} what rows cost to the policy that plans them */
    this.costs = row_policy === "fewest-passes" ? ONE_A_PASS : row_costs;
    /** Tokens listed of a drafted position: the draft's own and its alternatives. */
    this.numTop = this.costs ? 1 + NUM_ALTERNATIVES : 0;
    this.acceptance = new Acceptance();
    /** How far the draft might have gone. */
    this.askedLength = 0;
    /** @type {RowPlan} */
    this.plan = { blockSizes: [0], draftLength: 0, threshold: 0, alternatives: [] };
  }

  nextRequest() {
    const { state, draft } = this;
    if (state.isFinished) return null;
    const start = state.answer.length;
    const numDrafted = draft.tokenIds.length;
    const last = draft.tokenIds.at(-1);
    const ends = last !== undefined && state.endIds.has(last);
    this.plan = this.nextPlan();
    const spans = this.plan.blockSizes.map((size, end) => ({ start: start + end, size }));
    this.block = { start: start + numDrafted, size: ends ? 0 : (spans[numDrafted]?.size ?? 0) };
    let row = numDrafted + 1 + this.block.size;
    this.branches = this.asked(spans.slice(0, numDrafted)).map(({ span, alternative }) => {
      const firstMask = row + (alternative === null ? 0 : 1);
      row = firstMask + span.size;
      return { span, alternative, firstMask, stop: row };
    });
    const numBefore = this.exactIds.length - start;
    return state.request(
      [...this.exactIds, ...draft.tokenIds],
      this.masks(this.block),
      numDrafted + 1,
      this.branches.map((branch) => this.predraftBlock(branch, numBefore)),
    );
  }

  /**
   * The predrafts of the plan, those of alternatives last.
   * @param {Span[]} spans behind drafted tokens
   * @returns {Pick<Branch, "span" | "alternative">[]}
   */
  asked(spans) {
    const { draft, plan, state } = this;
    const others = plan.alternatives.map(([place, rank, size]) => {
      const [alternative = null] = draft.alternatives[place]?.[rank] ?? [];
      return { span: { start: state.answer.length + place + 1, size }, alternative };
    });
    const behind = spans.filter(({ size }) => size);
    return [...behind.map((span) => ({ span, alternative: null })), ...others];
  }

  /**
   * @param {Branch} branch
   * @param {number} numBefore causal tokens before position 0, less those cached
   * @returns {PredraftBlock}
   */
  predraftBlock({ span, alternative }, numBefore) {
    const [numCausal, masks] = [numBefore + span.start, this.masks(span)];
    if (alternative === null) return { numCausal, tokenIds: masks, isAlternative: false };
    return { numCausal: numCausal - 1, tokenIds: [alternative, ...masks], isAlternative: true };
  }

  /**
   * What the next forward pass feeds besides the draft.
   * @returns {RowPlan}
   */
  nextPlan() {
    const { state, draft } = this;
    const { block_size, num_predrafts, draft_threshold } = state.settings;
    if (this.costs) {
      const { acceptance, costs } = this;
      const others = draft.alternatives.map((own) => own.map(([, chance]) => chance));
      const { probabilities, numSure } = draft;
      return planRows(acceptance, probabilities, costs, block_size, state.numLeft, others, numSure);
    }
    const numDrafted = draft.tokenIds.length;
    const fitting = draft.probabilities.slice(0, state.numLeft - 1); // behind others nothing fits
    const offsets = [...predraftOffsets(fitting, num_predrafts), numDrafted];
    const blockSizes = Array.from({ length: numDrafted + 1 }, (_, end) =>
      offsets.includes(end) ? this.sizeBehind(end) : 0,
    );
    return { blockSizes, draftLength: block_size, threshold: draft_threshold, alternatives: [] };
  }

  /**
   * Masks worth feeding behind so many drafted tokens. The first of them stands where the causal
   * head gives an exact token, so 1 is no use.
   * @param {number} numDrafted
   */
  sizeBehind(numDrafted) {
    const size = Math.min(this.longest, this.state.numLeft - numDrafted);
    return size > 1 ? size : 0;
  }

  /**
   * @param {Span} span
   * @returns {number[]}
   */
  masks(span) {
    return new Array(span.size).fill(this.state.maskId);
  }

  /** @param {Logits} logits */
  finish(logits) {
    const { state, block } = this;
    const start = state.answer.length;
    const numChecked = this.draft.tokenIds.length + 1;
    const causal = state.causalStats(logits, numChecked);
    const exact = this.checked(causal);
    const numAccepted = exact.length - 1;
    const used = this.branchUsed(exact);
    const hasAlternative = used !== undefined && used.alternative !== null;
    this.learn(numAccepted, hasAlternative);
    state.cache.truncate(state.cache.length - numChecked + exact.length);
    this.exactIds = exact.slice(-1);
    const tokens = cutAfterEnd(exact, state.endIds).slice(0, state.numLeft);
    /** @type {MaskedPosition[]} */
    let masked = [];
    this.draft = NOTHING;
    const stop = numChecked + block.size;
    if (numAccepted === numChecked - 1 && block.size) {
      const [stats, chosen] = state.draft(logits, numChecked, stop, exact, true, this.numTop);
      const offsets = [...new Array(block.size).keys()];
      masked = maskedPositions(stats, offsets, block.start, state.settings.top_k_recorded);
      this.draft = this.drafted(stats, chosen);
    }
    const predrafts = this.predrafts(logits, used, exact);
    const hindsight = makeHindsight(tokens, causal.rows(0, tokens.length), start);
    return state.event({
      block,
      masked,
      reveals: hindsight.map(({ position, tokenId, probability }, rank) => ({
        position,
        tokenId,
        rank,
        probability,
      })),
      committed: tokens,
      draft: this.draft.tokenIds,
      hindsight,
      predrafts,
    });
  }

  /**
   * What became of the draft, for what is planned next.
   * @param {number} numAccepted
   * @param {boolean} hasAlternative whether one was right where the draft was not
   */
  learn(numAccepted, hasAlternative) {
    const { state, costs, plan, draft, askedLength } = this;
    const start = state.answer.length;
    if (start) this.longest = nextBlockSize(numAccepted + 1, state.settings.block_size);
    if (!costs) return;
    const relative = start ? secondsOf(costs, numRowsOf(plan)) / secondsOf(costs, 1) : 1;
    const expected = plan.alternatives
      .filter(([place]) => place <= numAccepted)
      .reduce((sum, [place, rank]) => sum + (draft.alternatives[place]?.[rank]?.[1] ?? 0), 0);
    const others = { expected, isRight: hasAlternative };
    const sure = Math.min(draft.numSure, numAccepted);
    const isReached = sure === draft.numSure;
    this.acceptance.count(
      isReached ? draft.probabilities.slice(sure) : [],
      numAccepted - sure,
      isReached ? askedLength : 0,
      relative - sure,
      others,
    );
    this.askedLength = 0;
  }

  /**
   * @param {LogitStats} stats
   * @param {number[]} chosen
   */
  drafted(stats, chosen) {
    const { plan, acceptance } = this;
    let chances = stats.probability.slice(1);
    if (this.costs) {
      acceptance.see(chances);
      chances = acceptance.chances(chances);
    }
    const length = Math.min(confidentLength(chances, plan.threshold), plan.draftLength);
    this.askedLength = Math.min(plan.draftLength, chances.length);
    return draftOf(stats, chosen, length, this.state.endIds);
  }

  /**
   * The predraft behind what was accepted; rather one of an alternative that is right.
   * @param {number[]} exact
   * @returns {Branch | undefined}
   */
  branchUsed(exact) {
    if (exact.length > this.draft.tokenIds.length) return undefined;
    const position = this.state.answer.length + exact.length;
    /** @param {number} start @param {number | null | undefined} alternative */
    const at = (start, alternative) =>
      this.branches.find((each) => each.span.start === start && each.alternative === alternative);
    return at(position, exact.at(-1)) ?? at(position - 1, null);
  }

  /**
   * The predrafts; the used one is the draft now. The others are drafted only to be shown: not with
   * a penalty, nor where rows are planned.
   * @param {Logits} logits
   * @param {Branch | undefined} used
   * @param {number[]} exact
   * @returns {Predraft[]}
   */
  predrafts(logits, used, exact) {
    const { state } = this;
    const first = this.branches[0]?.firstMask ?? 0;
    const isAlike = this.branches.length && state.rowsAreIndependent && !this.costs;
    const every = isAlike ? state.draftStats(logits, first) : null;
    return this.branches.map((branch) => {
      const { span: block, alternative, firstMask, stop } = branch;
      const isUsed = branch === used;
      let draft = NOTHING;
      if (every) {
        const stats = every.rows(firstMask - first, stop - first);
        draft = this.drafted(stats, stats.bestIds);
      } else if (isUsed) {
        draft = this.draftOfUsed(branch, logits, exact);
      }
      if (isUsed) this.draft = draft;
      return { block, tokenIds: draft.tokenIds, isUsed, alternative };
    });
  }

  /**
   * The next draft. Behind an alternative it begins with the token that its row gives.
   * @param {Branch} used
   * @param {Logits} logits
   * @param {number[]} exact
   */
  draftOfUsed({ alternative, firstMask, stop }, logits, exact) {
    const { state, numTop } = this;
    const sure =
      alternative === null ? [] : state.alternativeStats(logits, firstMask - 1, exact).bestIds;
    if (sure.some((id) => state.endIds.has(id))) return behind(sure, NOTHING);
    const before = [...exact, ...sure];
    const draft = this.drafted(...state.draft(logits, firstMask, stop, before, false, numTop));
    return behind(sure, draft);
  }

  /**
   * Accepted draft tokens and one more from the causal head, which has a row for each.
   * @param {LogitStats} causal
   * @returns {number[]}
   */
  checked(causal) {
    const { tokenIds } = this.draft;
    const end = tokenIds.findIndex((tokenId, index) => tokenId !== causal.bestIds[index]);
    return end < 0 ? [...causal.bestIds] : causal.bestIds.slice(0, end + 1);
  }
}
