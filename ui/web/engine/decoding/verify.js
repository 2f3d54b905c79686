// Lossless drafting with the masked head; sbd_core/decoding/verify.py. One forward pass checks the
// current draft causally and drafts the next block.

import { confidentLength, draftOf, NOTHING, nextBlockSize, predraftOffsets } from "./drafts.js";
import { Acceptance, ONE_A_PASS, planRows, secondsOf } from "./row_plans.js";
import { cutAfterEnd, makeHindsight, maskedPositions } from "./state.js";

/** @import { Logits } from "../model.js" */
/** @import { LogitStats } from "../stats.js" */
/** @import { RowCosts, RowPlan } from "./row_plans.js" */
/** @import { DecodingState, MaskedPosition, Predraft, Span } from "./state.js" */

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
    /** @type {Span[]} */
    this.predraftBlocks = [];
    const { row_policy, row_costs } = state.settings;
    /** @type {RowCosts | null} what rows cost to the policy that plans them */
    this.costs = row_policy === "fewest-passes" ? ONE_A_PASS : row_costs;
    this.acceptance = new Acceptance();
    /** How far the draft might have gone. */
    this.askedLength = 0;
    /** @type {RowPlan} */
    this.plan = { blockSizes: [0], draftLength: 0, threshold: 0 };
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
    this.predraftBlocks = spans.slice(0, numDrafted).filter((span) => span.size);
    const numExact = this.exactIds.length;
    return state.request(
      [...this.exactIds, ...draft.tokenIds],
      this.masks(this.block),
      numDrafted + 1,
      this.predraftBlocks.map((span) => ({
        numCausal: numExact + span.start - start,
        tokenIds: this.masks(span),
      })),
    );
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
      return planRows(acceptance, draft.probabilities, costs, block_size, state.numLeft);
    }
    const numDrafted = draft.tokenIds.length;
    const fitting = draft.probabilities.slice(0, state.numLeft - 1); // behind others nothing fits
    const offsets = [...predraftOffsets(fitting, num_predrafts), numDrafted];
    const blockSizes = Array.from({ length: numDrafted + 1 }, (_, end) =>
      offsets.includes(end) ? this.sizeBehind(end) : 0,
    );
    return { blockSizes, draftLength: block_size, threshold: draft_threshold };
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
    if (start) this.longest = nextBlockSize(exact.length, state.settings.block_size);
    if (this.costs) {
      const numRows = numChecked + this.plan.blockSizes.reduce((total, size) => total + size, 0);
      const relative = start ? secondsOf(this.costs, numRows) / secondsOf(this.costs, 1) : 1;
      const { draft, askedLength } = this;
      this.acceptance.count(draft.probabilities, numAccepted, askedLength, relative);
      this.askedLength = 0;
    }
    state.cache.truncate(state.cache.length - numChecked + exact.length);
    const tokens = cutAfterEnd(exact, state.endIds).slice(0, state.numLeft);
    /** @type {MaskedPosition[]} */
    let masked = [];
    this.draft = NOTHING;
    this.exactIds = tokens.slice(-1);
    const stop = numChecked + block.size;
    if (numAccepted === numChecked - 1 && block.size) {
      const [stats, chosen] = state.draft(logits, numChecked, stop, exact, true);
      masked = maskedPositions(stats, [...new Array(block.size).keys()], block.start);
      this.draft = this.drafted(stats, chosen);
    }
    const predrafts = this.predrafts(logits, stop, exact);
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
   * The predrafts, logits from row `first` on; that behind `exact` is used. The others are
   * drafted only to be shown: not with a penalty, nor where rows are planned.
   * @param {Logits} logits
   * @param {number} first
   * @param {number[]} exact
   * @returns {Predraft[]}
   */
  predrafts(logits, first, exact) {
    if (!this.predraftBlocks.length) return [];
    const { state } = this;
    const usedAt = state.answer.length + exact.length - 1;
    const every = state.seen || this.costs ? null : state.draftStats(logits, first);
    let row = first;
    return this.predraftBlocks.map((block) => {
      const stop = row + block.size;
      const isUsed = block.start === usedAt;
      let draft = NOTHING;
      if (every) {
        const stats = every.rows(row - first, stop - first);
        draft = this.drafted(stats, stats.sample(state.generator));
      } else if (isUsed) draft = this.drafted(...state.draft(logits, row, stop, exact, false));
      if (isUsed) this.draft = draft;
      row = stop;
      return { block, tokenIds: draft.tokenIds, isUsed };
    });
  }

  /**
   * Accepted draft tokens and one more from the causal head, which has a row for each.
   * @param {LogitStats} causal
   * @returns {number[]}
   */
  checked(causal) {
    const { tokenIds, distributions } = this.draft;
    if (!causal.distribution) {
      const end = tokenIds.findIndex((tokenId, index) => tokenId !== causal.bestIds[index]);
      return end < 0 ? [...causal.bestIds] : causal.bestIds.slice(0, end + 1);
    }
    const { generator } = this.state;
    for (const [index, tokenId] of tokenIds.entries()) {
      const wanted = causal.distribution[index] ?? new Float32Array();
      const drafted = distributions?.[index] ?? new Float32Array();
      const chance = generator.uniform();
      if (Math.fround(chance * (drafted[tokenId] ?? 0)) < (wanted[tokenId] ?? 0)) continue;
      const rest = wanted.map((share, id) => Math.max(0, share - (drafted[id] ?? 0)));
      // Two distributions equal up to rounding leave nothing; either is then right.
      const source = rest.some((share) => share > 0) ? rest : wanted;
      return [...tokenIds.slice(0, index), ...generator.multinomial([source])];
    }
    return [...tokenIds, ...generator.multinomial(causal.distribution.slice(-1))];
  }
}
