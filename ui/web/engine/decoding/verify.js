// Lossless drafting with the masked head; sbd_core/decoding/verify.py. One forward pass checks the
// current draft causally and drafts the next block.

import { draftOf, NOTHING, nextBlockSize, predraftOffsets } from "./drafts.js";
import { cutAfterEnd, makeHindsight, maskedPositions } from "./state.js";

/** @import { Logits } from "../model.js" */
/** @import { LogitStats } from "../stats.js" */
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
    this.earlyBlocks = [];
  }

  nextRequest() {
    const { state, draft } = this;
    if (state.isFinished) return null;
    const start = state.answer.length;
    const numDrafted = draft.tokenIds.length;
    const last = draft.tokenIds.at(-1);
    const ends = last !== undefined && state.endIds.has(last);
    this.block = { start: start + numDrafted, size: ends ? 0 : this.sizeBehind(numDrafted) };
    const probabilities = draft.probabilities.slice(0, state.numLeft - 1); // behind others nothing fits
    const offsets = predraftOffsets(probabilities, state.settings.num_predrafts);
    this.earlyBlocks = offsets.map((offset) => ({
      start: start + offset,
      size: this.sizeBehind(offset),
    }));
    const numExact = this.exactIds.length;
    return state.request(
      [...this.exactIds, ...draft.tokenIds],
      this.masks(this.block),
      numDrafted + 1,
      this.earlyBlocks.map((span) => ({
        numCausal: numExact + span.start - start,
        tokenIds: this.masks(span),
      })),
    );
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
    const causal = state.causalStats(logits, 0, numChecked);
    const checked = this.checked(causal);
    const numAccepted = checked.length - 1;
    if (start) this.longest = nextBlockSize(checked.length, state.settings.block_size);
    state.cache.truncate(state.cache.length - numChecked + checked.length);
    const tokens = cutAfterEnd(checked, state.endIds).slice(0, state.numLeft);
    /** @type {MaskedPosition[]} */
    let masked = [];
    this.draft = NOTHING;
    this.exactIds = tokens.slice(-1);
    const stop = numChecked + block.size;
    if (numAccepted === numChecked - 1 && block.size) {
      const stats = state.blockStats(logits, numChecked, stop);
      masked = maskedPositions(stats, [...new Array(block.size).keys()], block.start);
      this.draft = this.drafted(stats);
    }
    const predrafts = this.predrafts(logits, stop, start + numAccepted);
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

  /** @param {LogitStats} stats */
  drafted(stats) {
    const { generator, settings, endIds } = this.state;
    return draftOf(stats, generator, settings.draft_threshold, endIds);
  }

  /**
   * What was drafted ahead, logits from row `first` on; that for position `exact` is used.
   * @param {Logits} logits
   * @param {number} first
   * @param {number} exact the position of the exact token
   * @returns {Predraft[]}
   */
  predrafts(logits, first, exact) {
    if (!this.earlyBlocks.length) return [];
    const stats = this.state.causalStats(logits, first, logits.numRows);
    let row = 0;
    return this.earlyBlocks.map((block) => {
      const draft = this.drafted(stats.rows(row, row + block.size));
      row += block.size;
      const isUsed = block.start === exact;
      if (isUsed) this.draft = draft;
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
