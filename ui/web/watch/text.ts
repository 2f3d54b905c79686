// A lane's text: every token in its place, with a background and an underline that show how unsure the model was. A
// mask or draft is a gap as wide as the token that will fill it, so that no word moves when another is revealed.

import { html, nothing, render } from "lit-html";
import constants from "../constants.json" with { type: "json" };
import { entropyColour, unsureness } from "../core/colours.ts";
import { compareMain } from "../core/differences.ts";
import { lanePieces, type Piece, tokenName } from "../core/letters.ts";
import { formatPercent } from "../core/numbers.ts";
import type { FixedItem, Lane, Run } from "../core/run.ts";
import { decodingTitle } from "../core/words.ts";
import { elementOf, make, setAttribute } from "../dom/elements.ts";
import { classes, meterTemplate, pieceTemplates } from "../dom/templates.ts";
import { RAMP_WITH_ENDS } from "../dom/terms.ts";
import type { Pointing } from "./actions.ts";
import type { View } from "./playhead.ts";
import { chipTemplate } from "./verdict.ts";

const MAX_TEXT_TOKENS = 300; // the newest ones, which can be pointed at

function hindsightTitle(run: Run, lane: Lane, position: number) {
  const item = lane.hindsight.get(position);
  if (!item) return "";
  const name = tokenName(run.shownText(item.argmax));
  const share = formatPercent(item.argmaxProbability);
  return `Next-token prediction would have said ${name} (${share}) here.`;
}

/** Return the classes of a position of the current block and of the block's ends; none outside the block. */
function blockMarks({ run, pass }: View, lane: Lane, position: number, count: number) {
  if (lane !== run.main || run.strategy === "ntp") return {};
  const { start, size } = run.windowAt(pass);
  const last = Math.min(start + size, count) - 1;
  const isInside = position >= start && position <= last;
  return {
    "is-block": isInside,
    "is-first": isInside && position === start,
    "is-last": isInside && position === last,
  };
}

/** Return the template of a token, which is all that the visitor sees of its position. */
function tokenTemplate(items: TextItem[], index: number, view: View, lane: Lane) {
  const { item, kind, position } = items[index] as TextItem;
  const isMain = lane === view.run.main;
  const isDoubted = view.showsHindsight && isMain && lane.disagrees(position, view.pass);
  const comparison = view.isOver ? compareMain(view.run) : null;
  const { lead, word } = splitLead(piecesOfItem(items, index));
  const entropy = isMain && item ? item.guessEntropy : null;
  const marks = classes({
    "has-lead": lead.length > 0,
    ...blockMarks(view, lane, position, items.length),
    "is-new": item?.pass === view.pass,
    "is-focused": view.showsFocus && view.focus === position,
    "is-doubted": isDoubted,
    "is-other": isMain && comparison?.differing.has(position),
    "is-parting": comparison?.firstDifference === position,
  });
  const ink =
    entropy === null
      ? nothing
      : `--ink: ${entropyColour(entropy, view.isDark)}; --unsure: ${unsureness(entropy).toFixed(2)}`;
  return html`<span
    class="sbd-token sbd-token-${kind} ${marks}"
    data-position=${position}
    title=${isDoubted ? hindsightTitle(view.run, lane, position) : nothing}
    style=${ink}
    >${pieceTemplates(lead)}<span class="sbd-word">${
      item ? pieceTemplates(word) : html`<span class="sbd-unseen">${pieceTemplates(word)}</span>`
    }</span></span>`;
}

export class LaneText {
  inner = make("div", "sbd-text-inner", { dir: "auto" });
  root: HTMLDivElement;

  constructor(label: string, actions: Pointing) {
    // The style sheet lays the text out from below, so that the newest line stays in sight.
    const attributes = { role: "group", "aria-label": label, tabindex: "0", "data-cursor": "" };
    this.root = make("div", "sbd-text", attributes, this.inner);
    const positionOf = (event: Event) => {
      const node = elementOf(event)?.closest("[data-position]");
      return node instanceof HTMLElement ? Number(node.dataset.position) : null;
    };
    this.root.addEventListener("pointerover", (event) => actions.hover(positionOf(event)));
    this.root.addEventListener("pointerleave", () => actions.hover(null));
    this.root.addEventListener("click", (event) => {
      const position = positionOf(event);
      if (position !== null) actions.toggleHold(position);
    });
    this.root.addEventListener("blur", () => actions.hover(null));
    this.root.addEventListener("copy", copyWithoutGaps);
  }

  update(view: View, lane: Lane) {
    const pass = Math.min(view.pass, lane.lastPass);
    const items = itemsOfText(view.run, lane, pass);
    const first = firstToken(items.length);
    const old = items.slice(0, first).map(({ text }) => text);
    const tokens = items.slice(first).map((_, at) => tokenTemplate(items, first + at, view, lane));
    setAttribute(this.inner, "dir", view.run.directionOf(lane));
    render([first ? html`<span>${old.join("")}</span>` : nothing, tokens], this.inner);
    if (view.isStep) this.animate(view, lane);
    if (document.activeElement !== this.root) return;
    this.inner.querySelector(".is-focused")?.scrollIntoView({ block: "nearest" });
  }

  animate({ pass, reveals }: View, lane: Lane) {
    const count = lane.steps[pass]?.reveals.length ?? 0;
    for (const node of this.inner.querySelectorAll<HTMLElement>(".is-new")) {
      const rank = lane.fixed.get(Number(node.dataset.position))?.rank ?? 0;
      reveals.play(node, "text", rank, count);
    }
  }
}

/** Return the first position that can be pointed at. It grows in steps, so it changes seldom. */
function firstToken(count: number) {
  const step = MAX_TEXT_TOKENS / 3;
  return Math.max(0, Math.ceil((count - MAX_TEXT_TOKENS) / step) * step);
}

/** Copy the selection without the invisible text of gaps, which browsers include. */
function copyWithoutGaps(event: ClipboardEvent) {
  const selection = getSelection();
  if (!selection?.rangeCount) return;
  const copied = selection.getRangeAt(0).cloneContents();
  for (const node of copied.querySelectorAll(".sbd-unseen")) node.remove();
  event.clipboardData?.setData("text/plain", copied.textContent ?? "");
  event.preventDefault();
}

/** Return a lane's title. Next-token prediction cannot read ahead, so it gets no given tokens; its title says so. */
function laneTitle(run: Run, lane: Lane) {
  const title = decodingTitle(lane.name, run.solver.name);
  return run.pins.size > lane.pins.size ? `${title}, prompt alone` : title;
}

const LIMIT_WORDS = `Longest answer, under Advanced: at most ${constants.limits.newTokens} tokens.`;

export class LaneView {
  text = new LaneText(this.label, this.actions);
  root = make("section", "sbd-lane");

  /** @param below what stands under the text */
  constructor(
    readonly label: string,
    readonly actions: Pointing,
    readonly below: Node,
  ) {}

  update(view: View, lane: Lane) {
    const { run } = view;
    const tokens = lane.numTokensAt(Math.min(view.pass, lane.lastPass));
    const isWhole = lane.finish !== null;
    const isMain = lane === run.main;
    // Before the end of the answer is revealed, a lane may hold more tokens than the answer will have.
    const whole = isWhole && tokens <= lane.numCommitted ? ` of ${lane.numCommitted}` : "";
    const isOver = isWhole || run.isStopped;
    const none = isOver ? "stopped before its first token" : "comes next";
    const isEmpty = isMain ? isOver && !lane.numCommitted : !lane.steps.length;
    const share = isWhole ? Math.min(tokens / Math.max(lane.numCommitted, 1), 1) : 0;
    const isStopped = lane.finish === "stopped" || (lane.finish === null && run.isStopped);
    const [cut, words] = isStopped
      ? ["stopped", ""]
      : [`cut at ${run.config.max_new_tokens} tokens`, LIMIT_WORDS];
    const isCut = (isStopped || lane.finish === "length") && view.pass >= lane.lastPass;
    this.text.update(view, lane);
    setAttribute(this.root, "data-lane", lane.name);
    const head = html`${meterTemplate(share)}
      <div class="sbd-lane-head">
        <h2 class="sbd-lane-name">${laneTitle(run, lane)}</h2>
        ${chipTemplate(view, lane)}
        <button
          type="button"
          class="sbd-lane-cut"
          data-words=${words}
          aria-description=${words}
          ?disabled=${isStopped}
          ?hidden=${!isCut || !lane.numCommitted}
          >${cut}</button>
        ${isMain && run.strategy !== "ntp" ? RAMP_WITH_ENDS : nothing}
        <span class="sbd-lane-place">${isEmpty ? none : `${tokens}${whole} tokens`}</span>
      </div>
      ${this.text.root}${this.below}`;
    render(head, this.root);
  }
}

/** What the lane shows at a position. */
interface TextItem {
  position: number;
  item: FixedItem | null; // null while no token is fixed there
  text: string; // of a hole or draft: the text that will fill it, as far as known
  kind: "token" | "end" | "hole" | "draft";
}

const UNKNOWN = "   ";

/** Return how many positions the lane shows at `pass`. */
function numShownAt(run: Run, lane: Lane, pass: number) {
  if (lane === run.main && run.strategy !== "ntp")
    return lane.lastPass < 0 ? 0 : Math.min(endOfShown(run, pass), lane.endAt(pass));
  let count = lane.steps[pass]?.committedBefore ?? 0;
  while (count < lane.numCommitted && lane.fixedAt(count, pass)) count += 1;
  return count;
}

/**
 * Return the exclusive end of the positions that a forward pass shows: the end of its block, or, for verify, of what it
 * wrote, drafted or guessed within its tiles.
 */
function endOfShown(run: Run, pass: number) {
  const { start, size } = run.windowAt(pass);
  const step = run.main.steps[pass];
  if (run.strategy !== "verify" || !step) return start + size;
  const written = step.committedBefore + step.committed.length + step.draft.length;
  return Math.max(written, Math.min(start + size, Math.max(-1, ...step.masked.keys()) + 1));
}

/** Return what the lane shows at `pass`, position by position. */
export function itemsOfText(run: Run, lane: Lane, pass: number) {
  const isOver = lane.finish === "end_of_sequence";
  const joined = run.joinedAt(lane, pass);
  return Array.from({ length: numShownAt(run, lane, pass) }, (_, position): TextItem => {
    const item = lane.fixedAt(position, pass);
    if (!item) return gapAt(run, lane, pass, position);
    if (isOver && position === lane.end - 1) return { position, item, text: "end", kind: "end" };
    return { position, item, text: run.textAt(position, item.token, joined), kind: "token" };
  });
}

/** Return a gap for a position without a token: as wide as the token of a later pass, the draft or the best guess. */
function gapAt(run: Run, lane: Lane, pass: number, position: number): TextItem {
  const step = lane.steps[pass];
  const offset = step ? position - step.committedBefore - step.committed.length : -1;
  const draft = step?.draft[offset];
  const later = position < lane.end ? lane.fixed.get(position)?.token : undefined;
  const token = later ?? draft ?? step?.masked.get(position)?.top[0]?.token;
  const isText = token !== undefined && !lane.isEnd(token);
  const kind = draft === undefined ? "hole" : "draft";
  return { position, item: null, text: (isText && run.tokenText(token)) || UNKNOWN, kind };
}

const END_PIECES: Piece[] = [["end", ""]];

/** Return the pieces of an item, which depend on the letters beside it; an end mark there counts as a visible letter. */
export function piecesOfItem(items: TextItem[], index: number) {
  const textItem = items[index];
  if (!textItem || textItem.kind === "end") return END_PIECES;
  const { text, position } = textItem;
  const [previous, next] = [items[index - 1], items[index + 1]];
  const before =
    position === 0 ? "" : (previous && previous.kind !== "end" && previous.text.at(-1)) || "…";
  const after = (next && next.kind !== "end" && next.text[0]) || "…";
  return lanePieces(text, before, after);
}

const LEAD = /^\s+$/;

/**
 * Split pieces into the white space at their beginning and the word after it. White space alone counts as the word,
 * so that it can be seen and pointed at.
 */
export function splitLead(pieces: Piece[]): { lead: Piece[]; word: Piece[] } {
  const first = pieces.findIndex(([text]) => !LEAD.test(text));
  if (first < 0) return { lead: [], word: pieces };
  const [text = "", kind = ""] = pieces[first] ?? [];
  const space = kind === "" && text.startsWith(" ") ? 1 : 0;
  const lead: Piece[] = [...pieces.slice(0, first), ...(space ? [[" ", ""] as Piece] : [])];
  return { lead, word: [[text.slice(space), kind], ...pieces.slice(first + 1)] };
}
