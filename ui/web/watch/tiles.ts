// The tiles of the current block. A tile shows a position, the forward pass that revealed it, its token or best guess,
// and a bar that is lower the surer the model is. Over the tiles is a heading; under them is the entropy budget, or for
// verify a legend and the branch.

import { html, nothing, render } from "lit-html";
import { entropyColour, unsureness } from "../core/colours.ts";
import { type Joined, tokenMarks, tokenName } from "../core/letters.ts";
import { clamp, formatNats } from "../core/numbers.ts";
import { draftedAt, type FixedItem, MAX_TILES } from "../core/run.ts";
import { find, make, setAttribute, setStyle, setText } from "../dom/elements.ts";
import { scrollBehavior } from "../dom/screen.ts";
import { buttonTemplate, classes, questionTemplate, tokenTemplate } from "../dom/templates.ts";
import type { Actions, Pointing } from "./actions.ts";
import { Budget } from "./budget.ts";
import type { View } from "./playhead.ts";
import { readyDraft, verifyLegend } from "./verify_legend.ts";

export const TILES =
  "Each tile is a place of the block. In grey italics: a mask’s best guess; the bar is how unsure " +
  "the model is. Bold: revealed; ringed: in this forward pass. Choose a tile to look inside it.";

/** Return the heading: "Draft", "Tokens to come", "Block 3", or "Block 3 of 7" of a complete run. */
function headingOf({ run, pass }: View) {
  if (run.strategy === "ntp") return "Tokens to come";
  if (run.strategy === "verify") return "Draft";
  const { start } = run.windowAt(pass);
  const number = run.blockSize ? Math.floor(start / run.blockSize) + 1 : 1;
  const total = Math.ceil(run.main.numCommitted / Math.max(run.blockSize, 1));
  return `Block ${number}${run.main.finish && total >= number ? ` of ${total}` : ""}`;
}

export class BlockView {
  tiles = new Tiles(this.actions);
  budget = new Budget(this.actions);
  hasLegend = false;
  view: View | null = null;
  root = make("section", "sbd-block-view", { "aria-label": "Current block" });

  constructor(readonly actions: Actions) {
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.setLegendOpen(false);
    });
  }

  /** @param isOpen whether the legend shows */
  setLegendOpen(isOpen: boolean) {
    this.hasLegend = isOpen;
    if (this.view) this.update(this.view);
  }

  update(view: View) {
    this.view = view;
    const { strategy } = view.run;
    const isVerify = strategy === "verify";
    this.root.dataset.strategy = strategy;
    this.tiles.update(view);
    this.budget.root.hidden = strategy !== "sbd";
    if (strategy === "sbd") this.budget.update(view);
    const toggle = () => this.setLegendOpen(!this.hasLegend);
    const state = { label: "What the tiles of a draft mean", isExpanded: this.hasLegend };
    const legendButton = buttonTemplate("sbd-term sbd-question", nothing, toggle, state);
    const verify = html`<div class="sbd-verify-view"
      >${verifyLegend(!this.hasLegend)}${readyDraft(view)}</div>`;
    const content = html`<div class="sbd-row">
        <h3><span>${headingOf(view)}</span></h3>
        ${isVerify ? legendButton : questionTemplate("tiles", TILES)}
      </div>
      ${this.tiles.root}${this.tiles.more}${isVerify ? verify : nothing}${this.budget.root}`;
    render(content, this.root);
  }
}

type TileKind =
  | "pinned"
  | "new"
  | "accepted"
  | "fixed"
  | "draft"
  | "struck"
  | "masked"
  | "beyond"
  | "empty";
interface TileState {
  kind: TileKind;
  token: number | undefined; // id; undefined if there is not even a guess
  entropy: number | null; // nats; null if unknown
  item?: FixedItem; // how the token was fixed, if it was
  struck?: number; // id of the drafted token that this one replaced
}

/** Return the state of a token that verify just made final: an accepted draft, one in place of a draft, or a new one. */
function checkedState({ run, pass }: View, state: TileState & { item: FixedItem }): TileState {
  const { drafted, isAccepted } = draftedAt(run.main, pass, state.item.position);
  if (drafted === undefined) return state;
  return isAccepted ? { ...state, kind: "accepted" } : { ...state, struck: drafted };
}

/** Return what a position's tile shows at the view's pass. */
export function tileState(view: View, position: number): TileState {
  const { run, pass } = view;
  const step = run.main.steps[pass];
  const item = run.main.fixedAt(position, pass);
  const masked = step?.masked.get(position) ?? null;
  if (run.main.isAfterEnd(position, pass)) {
    const token = item?.token ?? masked?.top[0]?.token;
    return { kind: "beyond", token, entropy: null, ...(item && { item }) };
  }
  if (item) {
    const kind = item.isPinned ? "pinned" : item.pass === pass ? "new" : "fixed";
    const known: TileState & { item: FixedItem } = {
      kind,
      token: item.token,
      entropy: item.entropy,
      item,
    };
    return kind === "new" && run.strategy === "verify" ? checkedState(view, known) : known;
  }
  const draft = step?.draft[position - step.committedBefore - step.committed.length];
  if (draft !== undefined) return { kind: "draft", token: draft, entropy: masked?.entropy ?? null };
  const { drafted } = draftedAt(run.main, pass, position);
  if (drafted !== undefined) return { kind: "struck", token: drafted, entropy: null };
  if (masked) return { kind: "masked", token: masked.top[0]?.token, entropy: masked.entropy };
  return {
    kind: position >= run.main.endAt(pass) ? "beyond" : "empty",
    token: undefined,
    entropy: null,
  };
}

/** Return a mark for how a token came: "#4" in forward pass 4, "set" if it was given, "" if there is none yet. */
export function passMark({ item }: Pick<TileState, "item">) {
  if (item?.isPinned) return "set";
  return item ? `#${item.pass + 1}` : "";
}

/** Describe a position in words, as its tile shows it. */
export function positionTitle(
  view: View,
  position: number,
  state: TileState = tileState(view, position),
) {
  const text = state.token === undefined ? "" : `, ${tokenName(view.run.shownText(state.token))}`;
  const entropy = state.entropy === null ? "" : `, entropy ${formatNats(state.entropy)} nats`;
  const isNtp = view.run.strategy === "ntp";
  const verb = isNtp ? "written" : "revealed";
  const came = `${verb} in forward pass ${(state.item?.pass ?? 0) + 1}`;
  const isLost = state.item !== undefined && !state.item.isPinned;
  const kinds = {
    new: `${verb} in this forward pass${text}`,
    pinned: `given, not decoded${text}`,
    fixed: `${came}${text}`,
    masked: `masked, best guess${text}`,
    accepted: `drafted, checked and accepted${text}`,
    draft: `drafted, not checked yet${text}`,
    struck: `drafted and thrown away${text}`,
    beyond: `after the end of the answer, not part of it${isLost ? `, ${came}` : ""}${text}`,
    empty: isNtp ? "not written yet" : "masked",
  };
  const name = state.struck === undefined ? "" : tokenName(view.run.shownText(state.struck));
  const struck = name && `, in the place of the drafted ${name}`;
  return `Position ${position}: ${kinds[state.kind]}${struck}${entropy}`;
}

const MAX_HEAD_LETTERS = 4; // that fit side by side over a token

/** The tiles of the block. One of them is in the tab order; the up and down keys move between them. */
export class Tiles {
  /** the position of the tile that has the focus by key; null for none */
  keyFocusPosition: number | null = null;
  window = { start: 0, size: 0 };
  root = make("div", "sbd-tiles", {
    role: "group",
    "aria-label": "Current block; up and down keys move between tiles",
  });
  more = make("p", "sbd-tiles-more");

  /** @param mark of how a token came @param entropyOf what the bar of a position shows, nats */
  constructor(
    readonly actions: Pointing,
    readonly mark = passMark,
    readonly entropyOf = ({ entropy }: TileState, _position: number) => entropy,
  ) {
    this.root.addEventListener("focusin", ({ target }) => {
      const isByKey = target instanceof Element && target.matches(":focus-visible");
      this.keyFocusPosition = isByKey ? this.focusedPosition : null;
    });
    this.root.addEventListener("focusout", () => {
      this.keyFocusPosition = null;
    });
  }

  get nodes() {
    return [...this.root.querySelectorAll<HTMLElement>(".sbd-tile")];
  }

  update(view: View) {
    const { run } = view;
    const block = run.windowAt(view.pass);
    const size = Math.min(block.size, MAX_TILES);
    const isCut = size < block.size;
    this.window = { start: block.start, size };
    setAttribute(this.root, "dir", run.directionOf(run.main));
    setStyle(this.root, "--columns", String(Math.min(size, 16)));
    this.more.hidden = !isCut;
    setText(this.more, isCut ? `the first ${size} of ${block.size} positions of the block` : "");
    const joined = run.joinedAt(run.main, view.pass);
    const tabStop = this.indexOf(view.focus) ?? 0;
    const positions = Array.from({ length: size }, (_, index) => block.start + index);
    const states = positions.map((position) => tileState(view, position));
    const tile = (position: number, index: number) =>
      this.tile(view, position, states[index], joined.get(position), index === tabStop);
    render(positions.map(tile), this.root);
    this.animate(view, states);
    this.followFocus();
  }

  tile(
    view: View,
    position: number,
    state: TileState,
    joined: Joined | undefined,
    isTabStop: boolean,
  ) {
    const { run } = view;
    const { hover, toggleHold } = this.actions;
    const { kind, token, struck, item } = state;
    const pass = passMark(state);
    const text = joined?.text ?? (token === undefined ? "\u200a" : run.shownText(token));
    const note = joined ? `${joined.index + 1}/${joined.count}` : "";
    const part = joined ? `, part ${joined.index + 1} of ${joined.count} of “${joined.text}”` : "";
    const title = positionTitle(view, position, state) + part;
    const look = classes({
      "is-crowded": pass !== "" && String(position).length + pass.length > MAX_HEAD_LETTERS,
      "is-would": view.wouldReveal?.has(position),
      "is-focused": view.focus === position && view.showsFocus,
      "is-held": view.held === position,
    });
    const entropy = this.entropyOf(state, position);
    const level = entropy === null ? "0" : unsureness(entropy).toFixed(3);
    const ink = entropy === null ? "" : entropyColour(entropy, view.isDark);
    const isLanding = kind === "new" && view.isStep && item !== undefined;
    const delay = isLanding ? view.reveals.delay(item.rank, numRevealed(view)) : 0;
    const focus = ({ currentTarget }: Event) =>
      (currentTarget as Element).matches(":focus-visible") && hover(position);
    // The bar has the entropy, not the tile, which would hand the style down, to be computed anew for all its parts.
    return html`<button
      type="button"
      class="sbd-tile is-${kind} ${look}"
      tabindex=${isTabStop ? 0 : -1}
      title=${title}
      aria-label=${title}
      @pointerenter=${() => hover(position)}
      @pointerleave=${() => hover(null)}
      @click=${() => toggleHold(position)}
      @focus=${focus}
      @blur=${() => hover(null)}
      ><span class="sbd-tile-head"
        ><span class="sbd-tile-position">${position}</span
        ><span class="sbd-tile-pass">${this.mark(state)}</span></span
      ><span
        class="sbd-tile-token"
        style="--letters: ${tokenMarks(text).length + note.length}"
        >${tokenTemplate(text, note)}</span
      ><span class="sbd-tile-well"
        ><span
          class="sbd-tile-bar"
          style="--level: ${level}; background-color: ${ink}; transition-delay: ${delay.toFixed(0)}ms"
        ></span
        ><span class="sbd-tile-struck" ?hidden=${struck === undefined}
          >${struck === undefined ? nothing : tokenTemplate(run.shownText(struck))}</span></span
      ></button>`;
  }

  /** Animate the tiles of tokens that this pass revealed, if the playhead stepped to it. */
  animate(view: View, states: TileState[]) {
    if (!view.isStep) return;
    for (const [index, node] of this.nodes.entries()) {
      const { kind, item } = states[index];
      if (kind !== "new" || !item) continue;
      view.reveals.play(node, "tile", item.rank, numRevealed(view));
      view.reveals.play(find(node, ".sbd-tile-token"), "token", item.rank, numRevealed(view));
    }
  }

  /** Keep the tiles in sight on a phone, where the inspector comes up from below. */
  scrollIntoSight() {
    if (this.root.closest(".is-narrow"))
      this.root.scrollIntoView({ block: "nearest", behavior: scrollBehavior() });
  }

  /** Return the index of a position's tile; null if it has none. */
  indexOf(position: number | null) {
    const index = position === null ? -1 : position - this.window.start;
    return index >= 0 && index < this.window.size ? index : null;
  }

  /** The position of the tile that has the focus; null for none. */
  get focusedPosition() {
    const index = this.nodes.indexOf(document.activeElement as HTMLElement);
    return index < 0 ? null : this.window.start + index;
  }

  /** Hover the position of the focused tile if it shows another one now. */
  followFocus() {
    const position = this.focusedPosition;
    if (this.keyFocusPosition === null || position === null || position === this.keyFocusPosition)
      return;
    this.keyFocusPosition = position;
    this.actions.hover(position);
  }

  /** Move the focus by a number of tiles; if no tile has the focus, give it to the tile of `position`. */
  move(by: number, position: number | null) {
    const from = this.indexOf(this.focusedPosition);
    const first = this.indexOf(position) ?? 0;
    this.nodes[from === null ? first : clamp(from + by, 0, this.window.size - 1)]?.focus();
  }
}

function numRevealed({ run, pass }: View) {
  return run.main.steps[pass]?.reveals.length ?? 0;
}
