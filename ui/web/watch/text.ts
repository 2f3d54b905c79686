// A lane's text: every token in its place, with a background and an underline that show how unsure the model was. A
// mask or draft is a gap as wide as the token that will fill it, so that no word moves when another is revealed.

import { entropyColour, unsureness } from "../core/colours.ts";
import { compareWithNtp } from "../core/differences.ts";
import { lanePieces, type Piece, tokenName } from "../core/letters.ts";
import { formatPercent } from "../core/numbers.ts";
import type { FixedItem, Lane, Run } from "../core/run.ts";
import { decodingTitle } from "../core/words.ts";
import { make, pieceNodes, setAttribute, setStyle, setText, showPieces } from "../dom/elements.ts";
import { makeRampWithEnds } from "../dom/terms.ts";
import { listenForPointer, type Pointing } from "./actions.ts";
import type { View } from "./playhead.ts";
import { Chip } from "./verdict.ts";

/**
 * count: number of positions shown. others: positions where next-token prediction's answer differs, null if it is
 * not compared. firstDifference: the first position where the two answers differ, null for none.
 */
type TextMarks = { count: number; others: Set<number> | null; firstDifference: number | null };

const CHUNK_LENGTH = 48; // nodes, at least
const MAX_TEXT_TOKENS = 300; // the newest ones, which can be pointed at

/** Whether a new chunk may begin with this node without changing where lines break. */
function maySplit(nodes: HTMLElement[], index: number) {
  const endsLine = nodes[index - 1]?.textContent?.endsWith("\n") ?? false;
  return endsLine || (nodes[index]?.textContent?.startsWith(" ") ?? false);
}

/** Return the x at which a chunk's lines begin, from the left; from the right, and negative, for text read so. */
function startOf(node: HTMLElement) {
  const { left, right } = node.getBoundingClientRect();
  const { direction, paddingInlineStart } = getComputedStyle(node);
  return (direction === "rtl" ? -right : left) + Number.parseFloat(paddingInlineStart);
}

/** Return the x at which the last line of a node ends, counted as by startOf; `start` if the node has no line. */
function endOf(node: HTMLElement | undefined, start: number) {
  const rect = [...(node?.getClientRects() ?? [])].at(-1);
  if (!node || !rect) return start;
  return getComputedStyle(node).direction === "rtl" ? -rect.left : rect.right;
}

/** A text in chunks, so that the browser skips those out of sight. */
class Flow {
  chunks: { start: number; node: HTMLElement }[] = [];
  nodes: HTMLElement[] = [];
  count = 0;

  constructor(readonly root: HTMLElement) {
    new ResizeObserver(() => this.align(1)).observe(root);
  }

  /** The last chunk, to which nodes are added; made if there is none. */
  get lastChunk() {
    return this.chunks.at(-1) ?? this.addChunk(0);
  }

  /** Remove all chunks, as other text is to come. */
  clear() {
    this.chunks = [];
    this.count = 0;
    this.root.replaceChildren();
  }

  /** Show the first `count` nodes. New chunks begin only among the first `numFinal`, whose text will not change. */
  show(nodes: HTMLElement[], count: number, numFinal: number) {
    this.nodes = nodes;
    for (let index = this.count - 1; index >= count; index -= 1) nodes[index]?.remove();
    const kept = Math.min(this.count, count);
    while (this.chunks.length > 1 && this.lastChunk.start > numFinal) this.joinLastChunk(kept);
    this.count = count;
    const bounds = this.boundsUpTo(numFinal);
    this.lastChunk.node.append(...nodes.slice(kept, Math.max(kept, bounds[0] ?? count)));
    const first = this.chunks.length;
    bounds.forEach((start, index) => {
      this.addChunk(start).node.append(...nodes.slice(start, bounds[index + 1] ?? count));
    });
    if (bounds.length) this.align(first);
  }

  addChunk(start: number) {
    const node = make("div", "sbd-part-of-text");
    const chunk = { start, node };
    this.chunks.push(chunk);
    this.root.append(node);
    return chunk;
  }

  /** Move the last chunk's nodes to the chunk before it. @param count nodes shown */
  joinLastChunk(count: number) {
    const { start, node } = this.lastChunk;
    this.chunks.pop();
    this.lastChunk.node.append(...this.nodes.slice(start, count));
    node.remove();
  }

  /** Return the nodes at which new chunks are to begin within the last one, each with CHUNK_LENGTH nodes or more. */
  boundsUpTo(numFinal: number) {
    const bounds: number[] = [];
    let { start } = this.lastChunk;
    for (let index = start + CHUNK_LENGTH; index <= numFinal - CHUNK_LENGTH; index += 1) {
      if (index - start < CHUNK_LENGTH || !maySplit(this.nodes, index)) continue;
      bounds.push(index);
      start = index;
    }
    return bounds;
  }

  /** Indent the chunks from `first` on, so that each goes on where the one before it ends. */
  align(first: number) {
    const [head, ...more] = this.chunks;
    const lineStart = head && more.length ? startOf(head.node) : 0;
    for (const { start, node } of this.chunks.slice(first)) {
      const before = this.nodes[start - 1];
      const isOnLine = !before?.textContent?.endsWith("\n");
      const indent = isOnLine ? endOf(before, lineStart) - lineStart : 0;
      node.classList.toggle("is-on-line", isOnLine);
      setStyle(node, "text-indent", `${indent}px`);
    }
  }
}

function hindsightTitle(run: Run, lane: Lane, position: number) {
  const item = lane.hindsight.get(position);
  if (!item) return "";
  const name = tokenName(run.shownText(item.argmax));
  const share = formatPercent(item.argmaxProbability);
  return `Next-token prediction would have said ${name} (${share}) here.`;
}

/**
 * Return the entropy of a token's position in nats: at its reveal, or, if a causal check wrote it, when the position
 * was last masked. Null if the token was given, or the position never masked.
 */
function entropyOf({ item, position }: TextItem, lane: Lane) {
  if (!item || item.isPinned) return null;
  const last = () => lane.entropyHistory(position).findLast(({ pass }) => pass <= item.pass);
  return item.entropy ?? last()?.entropy ?? null;
}

/**
 * Return the classes that mark a position of the current block and the block's ends; "" outside the block.
 * @param count number of positions shown
 */
function blockMarks({ run, pass }: View, lane: Lane, position: number, count: number) {
  if (lane !== run.main || run.strategy === "ntp") return "";
  const { start, size } = run.windowAt(pass);
  const stop = Math.min(start + size, count);
  if (position < start || position >= stop) return "";
  return ` is-block${position === start ? " is-first" : ""}${position === stop - 1 ? " is-last" : ""}`;
}

/** A token on the page. It remembers what it shows, as reading that from the page is slow. */
class Token {
  name = "";
  title = "";
  colour = "";
  pieces: Piece[] | null = null;
  isEmpty = false;
  word: HTMLSpanElement;
  node: HTMLSpanElement;

  constructor(position: number, actions: Pointing) {
    this.word = make("span", "sbd-word");
    this.node = make("span", "sbd-token", { "data-position": position });
    listenForPointer(this.node, actions, () => position);
  }

  /** Bring the token up to date, changing only what differs. */
  show(
    items: TextItem[],
    index: number,
    view: View,
    lane: Lane,
    { count, others, firstDifference }: TextMarks,
  ) {
    const textItem = items[index];
    if (!textItem) return;
    const { item, kind, position } = textItem;
    const isNew = item !== null && item.pass === view.pass;
    const isMain = lane === view.run.main;
    const isDoubted = view.showsHindsight && isMain && lane.disagrees(position, view.pass);
    const marks = [
      isNew && " is-new",
      view.showsFocus && view.focus === position && " is-focused",
      isDoubted && " is-doubted",
      others?.has(position) && " is-other",
      firstDifference === position && " is-parting",
    ].filter(Boolean);
    const place = blockMarks(view, lane, position, count);
    this.setPieces(piecesOfItem(items, index), item === null);
    this.setClass(`sbd-token sbd-token-${kind}${this.leadClass}${place}${marks.join("")}`);
    this.setTitle(isDoubted ? hindsightTitle(view.run, lane, position) : "");
    this.setColour(isMain ? entropyOf(textItem, lane) : null, view.isDark);
    if (!isNew || !view.isStep) return;
    const reveals = lane.steps[view.pass]?.reveals.length ?? 0;
    view.reveals.play(this.node, "text", item.rank, reveals);
  }

  /** @param title what next-token prediction would have written, "" for none */
  setTitle(title: string) {
    if (this.title === title) return;
    this.title = title;
    if (title) this.node.title = title;
    else this.node.removeAttribute("title");
  }

  setClass(name: string) {
    if (this.name === name) return;
    this.name = name;
    this.node.className = name;
  }

  setColour(entropy: number | null, isDark: boolean) {
    const colour = entropy === null ? "" : entropyColour(entropy, isDark);
    if (this.colour === colour) return;
    this.colour = colour;
    this.node.style.setProperty("--ink", colour || "transparent");
    this.node.style.setProperty(
      "--unsure",
      entropy === null ? "0" : unsureness(entropy).toFixed(2),
    );
  }

  /** The class of a token with white space before its word, "" without. */
  get leadClass() {
    return this.node.firstChild === this.word ? "" : " has-lead";
  }

  /** @param isEmpty whether the pieces are invisible and only take up space */
  setPieces(pieces: Piece[], isEmpty: boolean) {
    if (this.pieces === pieces && this.isEmpty === isEmpty) return;
    this.pieces = pieces;
    this.isEmpty = isEmpty;
    const { lead, word } = splitLead(pieces);
    if (isEmpty) this.word.replaceChildren(make("span", "sbd-unseen", ...pieceNodes(word)));
    else showPieces(this.word, word);
    this.node.replaceChildren(...pieceNodes(lead), this.word);
  }
}

/** The text of a lane, in a box that scrolls. */
export class LaneText {
  root: HTMLDivElement;
  tokens: Token[] = [];
  /** The older text as one node, without tokens that can be pointed at. */
  before: HTMLSpanElement;
  /** `before`, then the tokens from `start` on */
  nodes: HTMLElement[] = [];
  start = 0;
  flow: Flow;
  drawn: { inputs: unknown[]; numFinal: number; focus: number | null };

  constructor(
    label: string,
    readonly actions: Pointing,
  ) {
    const inner = make("div", "sbd-text-inner", { dir: "auto" });
    // The style sheet lays the text out from below, so that the newest line stays in sight.
    this.root = make(
      "div",
      "sbd-text",
      { role: "group", "aria-label": label, tabindex: "0", "data-cursor": "" },
      inner,
    );
    this.root.addEventListener("blur", () => actions.hover(null));
    this.root.addEventListener("copy", copyWithoutBreaks);
    this.before = make("span", "sbd-text-before");
    this.flow = new Flow(inner);
    this.drawn = { inputs: [], numFinal: 0, focus: null };
  }

  tokenAt(position: number) {
    const token = this.tokens[position] ?? new Token(position, this.actions);
    this.tokens[position] = token;
    this.nodes[position - this.start + 1] = token.node;
    return token;
  }

  /** Begin the single tokens at `position`; the text before it becomes one node. */
  beginAt(view: View, lane: Lane, position: number) {
    this.start = position;
    this.nodes = [this.before];
    const pass = Math.min(view.pass, lane.lastPass);
    const items = itemsOfText(view.run, lane, pass, 0, position);
    this.before.textContent = items.map(({ text }) => text).join("");
  }

  showRange(view: View, lane: Lane, from: number, to: number, text: TextMarks) {
    const pass = Math.min(view.pass, lane.lastPass);
    const first = Math.max(from - 1, 0);
    const items = itemsOfText(view.run, lane, pass, first, Math.min(to + 1, text.count));
    for (let position = from; position < to; position += 1) {
      this.tokenAt(position).show(items, position - first, view, lane, text);
    }
  }

  /** Bring the tokens up to date: all, or only those that this pass or the focus can change. */
  update(view: View, lane: Lane) {
    const { run } = view;
    setAttribute(this.flow.root, "dir", run.directionOf(lane));
    const { numShown, numFinal } = textExtent(run, lane, Math.min(view.pass, lane.lastPass));
    const comparison = view.isOver ? compareWithNtp(run) : null;
    const others = lane === run.main ? (comparison?.positions ?? null) : null;
    const firstDifference = comparison?.firstDifference ?? null;
    const inputs = [
      run,
      lane.finish,
      view.isDark,
      run.hasBytes,
      view.showsHindsight,
      others,
      firstDifference,
    ];
    const focus =
      view.showsFocus && view.focus !== null && view.focus < numShown ? view.focus : null;
    const first = firstToken(numShown);
    const isSame =
      first === this.start && inputs.every((each, index) => each === this.drawn.inputs[index]);
    if (!isSame) this.flow.clear();
    if (!isSame || numFinal < this.start) this.beginAt(view, lane, first);
    const { start, drawn, nodes } = this;
    const text = { count: numShown, others, firstDifference };
    // How a token is written can depend on the next one; a character cut into bytes spans several.
    const reach = run.hasBytes ? LONGEST_CHARACTER : 1;
    const from = isSame ? Math.max(Math.min(numFinal, drawn.numFinal) - reach, start) : start;
    this.showRange(view, lane, from, numShown, text);
    for (const position of [drawn.focus, focus]) {
      if (position === null || position >= from || position < start) continue;
      this.showRange(view, lane, position, position + 1, text);
    }
    this.flow.show(nodes, numShown - start + 1, Math.max(numFinal - reach - start + 1, 0));
    this.drawn = { inputs, numFinal, focus };
    if (document.activeElement !== this.root || focus === null) return;
    nodes[Math.max(focus - start + 1, 0)]?.scrollIntoView({ block: "nearest" });
  }
}

/** Return the first position that can be pointed at. It grows in steps, so it changes seldom. */
function firstToken(count: number) {
  const step = MAX_TEXT_TOKENS / 3;
  return Math.max(0, Math.ceil((count - MAX_TEXT_TOKENS) / step) * step);
}

/** Copy the selection without the line breaks between chunks and the invisible text of gaps, which browsers include. */
function copyWithoutBreaks(event: ClipboardEvent) {
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
  return run.pins.size > lane.pins.size ? `${title}, from the prompt alone` : title;
}

/** A lane: its head, and its text below. */
export class LaneView {
  name: HTMLHeadingElement;
  place: HTMLSpanElement;
  fill: HTMLSpanElement;
  cut: HTMLSpanElement;
  chip = new Chip();
  ramp: HTMLSpanElement;
  text: LaneText;
  root: HTMLElement;

  constructor(label: string, actions: Pointing) {
    this.name = make("h2", "sbd-lane-name");
    this.place = make("span", "sbd-lane-place");
    this.fill = make("span", "sbd-lane-fill");
    this.cut = make("span", "sbd-lane-cut");
    this.ramp = makeRampWithEnds();
    this.text = new LaneText(label, actions);
    this.root = make(
      "section",
      "sbd-lane",
      make("span", "sbd-lane-meter", { "aria-hidden": "true" }, this.fill),
      make("div", "sbd-lane-head", this.name, this.chip.root, this.cut, this.ramp, this.place),
      this.text.root,
    );
  }

  update(view: View, lane: Lane) {
    const pass = Math.min(view.pass, lane.lastPass);
    const tokens = lane.numTokensAt(pass);
    const isWhole = lane.finish !== null;
    const isMain = lane === view.run.main;
    setText(this.name, laneTitle(view.run, lane));
    setAttribute(this.root, "data-lane", lane.name);
    // Before the end of the answer is revealed, a lane may hold more tokens than the answer will have.
    const whole = isWhole && tokens <= lane.numCommitted ? ` of ${lane.numCommitted}` : "";
    const isOver = isWhole || view.run.isStopped;
    const none = isOver ? "stopped before its first token" : "comes next";
    const isEmpty = isMain ? isOver && !lane.numCommitted : !lane.steps.length;
    setText(this.place, isEmpty ? none : `${tokens}${whole} tokens`);
    const isColoured = isMain && view.run.strategy !== "ntp";
    this.ramp.hidden = !isColoured;
    const share = isWhole ? Math.min(tokens / Math.max(lane.numCommitted, 1), 1) : 0;
    setStyle(this.fill, "width", `${share * 100}%`);
    this.cut.hidden = lane.finish !== "length" || view.pass < lane.lastPass;
    setText(this.cut, `cut at ${view.run.config.max_new_tokens} tokens`);
    this.chip.update(view, lane);
    this.text.update(view, lane);
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

const LONGEST_CHARACTER = 4; // bytes

/** Return how many positions the lane shows at `pass` (count), and how many were final before it (settled). */
export function textExtent(run: Run, lane: Lane, pass: number) {
  const numFinal = lane.steps[pass]?.committedBefore ?? 0;
  if (lane === run.main && run.strategy !== "ntp") {
    const numShown = lane.lastPass < 0 ? 0 : Math.min(endOfShown(run, pass), lane.endAt(pass));
    return { numShown, numFinal: Math.min(numFinal, numShown) };
  }
  let numShown = numFinal;
  while (numShown < lane.numCommitted && lane.fixedAt(numShown, pass)) numShown += 1;
  return { numShown, numFinal };
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

/** Return what the lane shows at the positions from `from` up to, not including, `to`. */
export function itemsOfText(run: Run, lane: Lane, pass: number, from: number, to: number) {
  const isOver = lane.finish === "end_of_sequence";
  const joined = run.joinedAt(lane, pass);
  const items: TextItem[] = [];
  for (let position = from; position < to; position += 1) {
    const item = lane.fixedAt(position, pass);
    if (!item) {
      items.push(gapAt(run, lane, pass, position));
      continue;
    }
    const isEnd = isOver && position === lane.end - 1;
    const whole = joined.get(position);
    const own = !whole ? run.tokenText(item.token) : whole.index === 0 ? whole.text : "";
    items.push({ position, item, text: isEnd ? "end" : own, kind: isEnd ? "end" : "token" });
  }
  return items;
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

const knownPieces: Map<string, Piece[]> = new Map();

const MAX_KNOWN_PIECES = 1000; // more than an answer needs

/** Return lanePieces, remembered because a lane needs the same ones in every frame. */
function rememberedPieces(text: string, before: string, after: string) {
  const key = `${before}\u0000${text}\u0000${after}`;
  if (knownPieces.size > MAX_KNOWN_PIECES) knownPieces.clear();
  const known = knownPieces.get(key) ?? lanePieces(text, before, after);
  knownPieces.set(key, known);
  return known;
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
  return rememberedPieces(text, before, after);
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
