// A lane's text so far: real line breaks, each token underlined in the colour of its entropy
// when it was revealed; positions still masked inside the current block are small blanks.

import { MAX_TEXT_TOKENS } from "../../core/limits.js";
import { formatPercent } from "../../core/numbers.js";
import { entropyColour } from "../../core/scale.js";
import { tokenName } from "../../core/text/letters.js";
import { make } from "../../dom/elements.js";
import { showPieces } from "../../dom/tokens.js";
import { Flow } from "./flow.js";
import { LONGEST_CHARACTER, partPieces, textExtent, textParts } from "./parts.js";

/** @import { Piece } from "../../core/text/letters.js" */
/** @import { Run } from "../../core/run/run.js" */
/** @import { Lane } from "../../core/run/lane.js" */
/** @import { Actions } from "../actions.js" */
/** @import { TextPart } from "./parts.js" */
/** @import { View } from "../view.js" */

/**
 * @param {Run} run
 * @param {Lane} lane
 * @param {number} position
 */
function hindsightTitle(run, lane, position) {
  const item = lane.hindsight.get(position);
  if (!item) return "";
  const name = tokenName(run.tokenText(item.argmax));
  const share = formatPercent(item.argmaxProbability);
  return `Next-token prediction would have said ${name} (${share}) here.`;
}

/** A token on the page; what it shows now is remembered, as asking the page is slow. */
class Token {
  /**
   * @param {number} position
   * @param {Actions} actions
   */
  constructor(position, actions) {
    this.name = "";
    this.title = "";
    this.colour = "";
    /** @type {Piece[] | null} */
    this.pieces = null;
    this.node = make("span", "sbd-token", { "data-position": position });
    this.node.addEventListener("pointerenter", () => actions.hover(position));
    this.node.addEventListener("pointerleave", () => actions.hover(null));
    this.node.addEventListener("click", () => actions.hold(position));
  }

  /**
   * Bring it up to date, touching only what differs.
   * @param {TextPart[]} parts
   * @param {number} index
   * @param {View} view
   * @param {Lane} lane
   */
  show(parts, index, view, lane) {
    const part = parts[index];
    if (!part) return;
    const { item, kind, position } = part;
    const isNew = item !== null && item.pass === view.pass;
    const isFocused = view.showsFocus && view.focus === position;
    const isDoubted =
      view.showsHindsight && lane === view.run.main && lane.disagrees(position, view.pass);
    const entropy = item?.entropy ?? null;
    const look = `sbd-token sbd-token-${kind}`;
    const marks = `${isNew ? " is-new" : ""}${isFocused ? " is-focused" : ""}`;
    this.dress(`${look}${marks}${isDoubted ? " is-doubted" : ""}`);
    this.doubt(isDoubted ? hindsightTitle(view.run, lane, position) : "");
    this.paint(entropy === null ? "transparent" : entropyColour(entropy, view.isDark));
    this.write(partPieces(parts, index));
    if (!isNew || !view.isStep) return;
    const count = lane.steps[view.pass]?.reveals.length ?? 0;
    view.reveals.play(this.node, "text", item.rank, count);
  }

  /** @param {string} title what hindsight would have said, "" for none */
  doubt(title) {
    if (this.title === title) return;
    this.title = title;
    if (title) this.node.title = title;
    else this.node.removeAttribute("title");
  }

  /** @param {string} name */
  dress(name) {
    if (this.name === name) return;
    this.name = name;
    this.node.className = name;
  }

  /** @param {string} colour */
  paint(colour) {
    if (this.colour === colour) return;
    this.colour = colour;
    this.node.style.setProperty("--ink", colour);
  }

  /** @param {Piece[]} pieces */
  write(pieces) {
    if (this.pieces === pieces) return;
    this.pieces = pieces;
    showPieces(this.node, pieces);
  }
}

/** The text of a lane, in a box that scrolls. */
export class LaneText {
  /**
   * @param {string} label
   * @param {Actions} actions
   */
  constructor(label, actions) {
    this.actions = actions;
    const inner = make("div", "sbd-text-inner");
    // Laid out from below (see the style sheet): the newest line stays in sight by itself.
    this.root = make(
      "div",
      "sbd-text",
      { role: "group", "aria-label": label, tabindex: "0", "data-cursor": "" },
      inner,
    );
    this.root.addEventListener("blur", () => actions.hover(null));
    this.root.addEventListener("copy", copyWithoutBreaks);
    /** @type {Token[]} */
    this.tokens = [];
    /** What stands before the tokens that can be pointed at, as one piece of text. */
    this.before = make("span", "sbd-text-before");
    /** @type {HTMLElement[]} `before`, then the tokens from `start` on */
    this.nodes = [];
    this.start = 0;
    this.flow = new Flow(inner);
    /** @type {{ look: (Run | string | boolean | null)[], settled: number, focus: number | null }} */
    this.shown = { look: [], settled: 0, focus: null };
  }

  /** @param {number} position */
  tokenAt(position) {
    const token = this.tokens[position] ?? new Token(position, this.actions);
    this.tokens[position] = token;
    this.nodes[position - this.start + 1] = token.node;
    return token;
  }

  /**
   * Begin the tokens at `position`: those on its left are one text.
   * @param {View} view
   * @param {Lane} lane
   * @param {number} position
   */
  beginAt(view, lane, position) {
    this.start = position;
    this.nodes = [this.before];
    const pass = Math.min(view.pass, lane.lastPass);
    const parts = textParts(view.run, lane, pass, 0, position);
    this.before.textContent = parts.map(({ text }) => text).join("");
  }

  /**
   * @param {View} view
   * @param {Lane} lane
   * @param {number} from
   * @param {number} to
   * @param {number} count
   */
  showRange(view, lane, from, to, count) {
    const pass = Math.min(view.pass, lane.lastPass);
    const first = Math.max(from - 1, 0);
    const parts = textParts(view.run, lane, pass, first, Math.min(to + 1, count));
    for (let position = from; position < to; position += 1) {
      this.tokenAt(position).show(parts, position - first, view, lane);
    }
  }

  /**
   * Bring the tokens up to date: all of them, or those that this pass or the focus can change.
   * @param {View} view
   * @param {Lane} lane
   */
  update(view, lane) {
    const { run } = view;
    const { count, settled } = textExtent(run, lane, Math.min(view.pass, lane.lastPass));
    const look = [run, lane.finish, view.isDark, run.hasBytes, view.showsHindsight];
    const focus = view.showsFocus && view.focus !== null && view.focus < count ? view.focus : null;
    const first = firstToken(count);
    const isSame =
      first === this.start && look.every((each, index) => each === this.shown.look[index]);
    if (!isSame) this.flow.clear();
    if (!isSame || settled < this.start) this.beginAt(view, lane, first);
    const { start, shown, nodes } = this;
    // The letters of a token can depend on the next one; bytes can join over several.
    const reach = run.hasBytes ? LONGEST_CHARACTER : 1;
    const from = isSame ? Math.max(Math.min(settled, shown.settled) - reach, start) : start;
    this.showRange(view, lane, from, count, count);
    for (const position of [shown.focus, focus]) {
      if (position === null || position >= from || position < start) continue;
      this.showRange(view, lane, position, position + 1, count);
    }
    this.flow.show(nodes, count - start + 1, Math.max(settled - reach - start + 1, 0));
    this.shown = { look, settled, focus };
    if (document.activeElement !== this.root || focus === null) return;
    nodes[Math.max(focus - start + 1, 0)]?.scrollIntoView({ block: "nearest" });
  }
}

/** The first token that can be pointed at; it moves on in steps, so that it changes seldom. @param {number} count */
function firstToken(count) {
  const step = MAX_TEXT_TOKENS / 3;
  return Math.max(0, Math.ceil((count - MAX_TEXT_TOKENS) / step) * step);
}

/** The browser would copy a line break between two parts of the text. @param {ClipboardEvent} event */
function copyWithoutBreaks(event) {
  const copied = getSelection()?.getRangeAt(0).cloneContents().textContent ?? "";
  event.clipboardData?.setData("text/plain", copied);
  event.preventDefault();
}
