// The inspector: one position's candidate tokens, its entropy over the forward passes, and how its token came.

import { tokenName } from "../core/letters.ts";
import { formatChange, formatNats, formatPercent } from "../core/numbers.ts";
import { draftedAt, type FixedItem, type Run, type Top } from "../core/run.ts";
import {
  make,
  makeClose,
  makeSvg,
  setAttribute,
  setStyle,
  setText,
  showToken,
} from "../dom/elements.ts";
import { makeLegend, term } from "../dom/terms.ts";
import type { Actions } from "./actions.ts";
import { openPositions, predictedTiles, type View } from "./playhead.ts";
import { tileState } from "./tiles.ts";

type HindsightKind = "open" | "agrees" | "differs";

/** Return the pass whose guesses to show: this one, or the last before it that predicted the position; null for none. */
function inspectedPass({ run, pass }: View, focus: number) {
  if (run.main.steps[pass]?.masked.has(focus)) return pass;
  return run.main.entropyHistory(focus).findLast((item) => item.pass <= pass)?.pass ?? null;
}

/** Say how a strategy without a solver came to a token. */
function writtenText(run: Run, { position, pass, token }: FixedItem) {
  const { drafted, isAccepted } = draftedAt(run.main, pass, position);
  if (isAccepted && drafted !== undefined) {
    return `Drafted before, checked and accepted in forward pass ${pass + 1}.`;
  }
  const instead =
    drafted === undefined || drafted === token
      ? ""
      : ` for the drafted ${tokenName(run.shownText(drafted))}`;
  return `Written in forward pass ${pass + 1}${instead}.`;
}

/** Describe a position after the end of the answer, whose token does not count. */
function afterEndText(item: FixedItem | null) {
  const came = item && !item.isPinned ? `, though revealed in forward pass ${item.pass + 1}` : "";
  return `After the end of the answer: not part of it${came}.`;
}

/** Say what has become of a position: given, revealed, drafted or masked. */
export function revealText(view: View, focus: number) {
  const { run, pass } = view;
  const item = run.main.fixedAt(focus, pass);
  if (run.main.isAfterEnd(focus, pass)) return afterEndText(item);
  if (item?.isPinned) return "Given, not decoded.";
  if (item && run.strategy !== "sbd") return writtenText(run, item);
  if (item) {
    const order = item.rank === 0 ? "first" : `number ${item.rank + 1}`;
    return `Revealed in forward pass ${item.pass + 1}, ${order} in the solver’s order.`;
  }
  const { kind } = tileState(view, focus);
  if (kind === "draft") return "Drafted; the next forward pass checks it.";
  if (kind === "struck") return "Drafted, and thrown away in this forward pass.";
  const masked = run.main.steps[pass]?.masked.get(focus);
  if (masked) return `Still masked, entropy ${formatNats(masked.entropy)} nats.`;
  return "Not predicted yet.";
}

/** Describe a position that verify has not decided yet; only drafted tokens are checked. */
function waitingWords(view: View, focus: number) {
  const { kind } = tileState(view, focus);
  if (kind === "draft") return "A draft, until a causal forward pass checks it.";
  if (kind === "struck") return "Thrown away: a causal forward pass gave another token.";
  return "Not drafted: only a causal forward pass decides what stands here.";
}

/**
 * Return the heading of the guesses. Under verify it names the mask, as the pass may also read the position causally.
 * @param at the pass that made the guesses; null if none did
 * @param pass at the playhead
 */
export function guessTitle({ strategy }: Run, at: number | null, pass: number) {
  const isNow = at === null || at === pass;
  const whose = strategy === "verify" ? "A mask’s guesses" : "Guesses";
  return `${whose} in ${isNow ? "this forward pass" : `forward pass ${at + 1}`}`;
}

/** Say how the answer ended, as the first half of a sentence. */
function endWords({ main, config }: Run) {
  if (main.finish === "end_of_sequence") return "The answer ends";
  if (main.finish === "stopped") return "The run was stopped";
  return `The limit of ${config.max_new_tokens} tokens cuts the answer off`;
}

/** Say how the causal check judged a position's token, once the playhead has reached the pass that made the check. */
export function hindsightText(view: View, focus: number): [words: string, verdict: HindsightKind] {
  const { run, pass } = view;
  const item = run.main.hindsight.get(focus);
  if (!item && run.main.finish !== null) {
    return [`${endWords(run)} before a causal forward pass reads this block.`, "open"];
  }
  if (!item || item.pass > pass) {
    if (run.strategy === "ntp") return ["Not decoded yet.", "open"];
    if (run.strategy === "verify") return [waitingWords(view, focus), "open"];
    return ["The next causal forward pass over this block will show it, for free.", "open"];
  }
  const share = formatPercent(item.probability);
  if (run.strategy === "verify") {
    return [
      `Read causally, forward pass ${item.pass + 1} gives this token ${share}: that decides.`,
      "agrees",
    ];
  }
  if (run.strategy !== "sbd") {
    return [`The causal forward pass that this token is from gives it ${share}.`, "agrees"];
  }
  if (item.argmax === run.main.fixed.get(focus)?.token) {
    return [`The causal forward pass gives this token ${share}. It agrees.`, "agrees"];
  }
  const other = `${tokenName(run.shownText(item.argmax))} (${formatPercent(item.argmaxProbability)})`;
  return [
    `The causal forward pass gives this token ${share}; it would have said ${other}.`,
    "differs",
  ];
}

/** Name the position in focus, and say why it is shown. */
export function inspectorKicker({ run, pass, focus, held, showsFocus }: View) {
  if (focus === null) return "Inspector";
  if (held === focus) return `Position ${focus} · held`;
  if (showsFocus) return `Position ${focus}`;
  if (run.strategy === "ntp") return `Position ${focus} · written in this forward pass`;
  const open = openPositions(run, pass);
  const hasOthers = open.length < predictedTiles(run, pass).length;
  const isAlone = open.length === 1;
  const which = isAlone ? "only mask" : "least sure";
  // Verify also predicts positions beyond its tiles.
  const tiles = isAlone ? "in these tiles" : "of these tiles";
  const where = run.strategy === "verify" ? tiles : "in this forward pass";
  return `Position ${focus} · ${hasOthers ? "the answer’s " : isAlone ? "the " : ""}${which} ${where}`;
}

const SPARK = { width: 240, height: 56, pad: 4 };

/** Make the chart of a position's entropy over the forward passes, empty until one predicted it. */
function makeSpark() {
  const { width, height, pad } = SPARK;
  const base = height - pad;
  const line = makeSvg("polyline", { class: "sbd-spark-line" });
  const now = makeSvg("path", { class: "sbd-spark-now" });
  const look = { viewBox: `0 0 ${width} ${height}`, class: "sbd-spark", role: "img" };
  const ground = makeSvg("line", { x2: width, y1: base, y2: base, class: "sbd-spark-base" });
  const svg = makeSvg("svg", { ...look, preserveAspectRatio: "none" }, ground, line, now);
  const note = make("div", "sbd-spark-note");
  const root = make("div", "", svg, note);

  function update(view: View) {
    const history = view.run.main.entropyHistory(view.focus ?? -1);
    const known = history.filter((item) => item.pass <= view.pass);
    root.classList.toggle("is-empty", known.length === 0);
    const most = Math.max(...history.map((item) => item.entropy), 0.01);
    const step = (width - 2 * pad) / Math.max(history.length - 1, 1);
    const points = known.map(({ entropy }, index) => {
      const y = base - (entropy / most) * (height - 2 * pad);
      return `${(pad + index * step).toFixed(1)},${y.toFixed(1)}`;
    });
    setAttribute(line, "points", points.join(" "));
    setAttribute(now, "d", `M${points.at(-1) ?? "-10,-10"}h0`);
    const [first, last] = [known[0], known.at(-1)];
    const text =
      !first || !last
        ? "not predicted yet"
        : first === last
          ? `${formatNats(first.entropy)} nats in forward pass ${first.pass + 1}`
          : `${formatChange(first.entropy, last.entropy)} nats over ${known.length} forward passes`;
    setText(note, text);
    setAttribute(svg, "aria-label", `Entropy: ${text}`);
  }

  return { root, update };
}

const TOP_ROWS = 5;

/**
 * Return the candidate that Pin and Branch use: the one chosen by hand, else the best that is not the written token.
 * @param fixedToken the written token, if there is one
 */
function chosenAlternative(view: View, top: Top[], fixedToken: number | undefined) {
  const byHand = top.find((entry) => entry.token === view.alternative);
  return byHand ?? top.find((entry) => entry.token !== fixedToken) ?? null;
}

/** a given token */
type Pin = [position: number, id: number];

/** Return the tokens known before the pass that wrote the position in focus; if none did, those known now. */
function tokensBefore({ run, pass, focus }: View): Pin[] {
  const item = run.main.fixedAt(focus ?? -1, pass);
  const before = item && !item.isPinned ? item.pass - 1 : pass;
  return run.main.knownAt(before).map(({ position, token }) => [position, token]);
}

/** Say why Pin and Branch cannot be used here; "" if they can. */
function whyNoAction({ run, focus, pass }: View, alternative: Top | null) {
  if (run.strategy !== "sbd") return "Only Set Block Decoding can decode round a given token.";
  if (alternative || focus === null) return "";
  if (run.pins.has(focus)) return "This token was given; branch at another position.";
  if (run.main.isAfterEnd(focus, pass)) return "This position is after the end of the answer.";
  const isKnown = run.main.fixedAt(focus, pass) !== null;
  return isKnown
    ? "The model weighed no other token here: choose another position."
    : "No candidates yet: go to a forward pass whose block holds this position.";
}

/** A row for each candidate, and the buttons Pin and Branch under them. */
class Alternatives {
  view: View | null = null;
  alternative: Top | null = null;
  rows: {
    root: HTMLButtonElement;
    token: HTMLSpanElement;
    bar: HTMLSpanElement;
    value: HTMLSpanElement;
    shown: { entry: Top | null };
  }[];
  pin: { button: HTMLButtonElement; label: HTMLSpanElement; act: () => void };
  branch: { button: HTMLButtonElement; label: HTMLSpanElement; act: () => void };
  buttons: HTMLDivElement;
  note: HTMLParagraphElement;
  acting: HTMLDivElement;
  root: HTMLDivElement;

  constructor(readonly actions: Actions) {
    this.rows = Array.from({ length: TOP_ROWS }, () => this.makeRow());
    const pin = "Decode again with this token fixed here";
    this.pin = this.makeAction("pin", "Pin", pin, () => []);
    const branch =
      "Keep what stood before this position was revealed, put this token here, decode the rest";
    this.branch = this.makeAction("branch", "Branch", branch, tokensBefore);
    this.buttons = make("div", "sbd-alternative-actions", this.pin.button, this.branch.button);
    this.note = make("p", "sbd-action-note");
    this.acting = make("div", "sbd-alternative-acting", this.buttons, this.note);
    this.root = make("div", "sbd-top", ...this.rows.map((row) => row.root), this.acting);
  }

  makeRow() {
    const token = make("span", "sbd-top-token");
    const bar = make("span", "sbd-top-bar");
    const value = make("span", "sbd-top-value");
    const track = make("span", "sbd-top-track", bar);
    const shown: { entry: Top | null } = { entry: null };
    const choose = () => shown.entry && this.actions.choose(shown.entry.token);
    const root = make("button", "sbd-top-row", token, track, value, choose);
    return { root, token, bar, value, shown };
  }

  /**
   * Make a button that decodes again with the chosen candidate as a given token.
   * @param word of the button; its first letter is the key
   * @param moreOf returns further tokens to give
   */
  makeAction(kind: string, word: string, title: string, moreOf: (view: View) => Pin[]) {
    const act = () => {
      const { view, alternative } = this;
      const position = view?.focus ?? null;
      if (button.disabled || button.hidden || !view || !alternative || position === null) return;
      const given = [...view.run.settings().pinned, ...moreOf(view)];
      const pinned = [...new Map(given).set(position, alternative.token)];
      const pass = view.run.main.fixedAt(position, view.pass)?.pass ?? view.pass;
      const origin = { kind, position, pass };
      this.actions.redo({ pinned: pinned.sort((a, b) => a[0] - b[0]) }, origin);
    };
    const label = make("span", "sbd-action-token");
    const key = make("kbd", "", { "aria-hidden": "true" }, word.charAt(0));
    const words = make("span", "", word);
    const button = make(
      "button",
      `sbd-action sbd-action-${kind}`,
      { title },
      words,
      label,
      key,
      act,
    );
    return { button, label, act };
  }

  update(view: View, top: Top[]) {
    const { run, focus } = view;
    const fixedToken = focus === null ? undefined : run.main.fixedAt(focus, view.pass)?.token;
    this.view = view;
    this.alternative = chosenAlternative(view, top, fixedToken);
    const note = this.actions.canRedo ? whyNoAction(view, this.alternative) : "";
    this.acting.hidden = !this.actions.canRedo;
    this.buttons.hidden = this.acting.hidden || note !== "";
    this.note.hidden = note === "";
    setText(this.note, note);
    this.rows.forEach((row, index) => {
      const entry = top[index] ?? null;
      this.showRow(view, row, entry);
      row.root.classList.toggle("is-written", entry?.token === fixedToken && entry !== null);
    });
    for (const { button, label } of [this.pin, this.branch]) {
      button.disabled = this.alternative === null || note !== "";
      showToken(label, this.alternative ? run.shownText(this.alternative.token) : "\u200a");
    }
  }

  showRow({ run }: View, row: ReturnType<Alternatives["makeRow"]>, entry: Top | null) {
    const name = entry ? tokenName(run.shownText(entry.token)) : "";
    row.shown.entry = entry;
    row.root.disabled = !entry;
    row.root.hidden = !entry;
    const isChosen = entry !== null && entry === this.alternative && !this.buttons.hidden;
    setAttribute(row.root, "title", isChosen ? `${name}: what Pin and Branch put here` : name);
    setAttribute(row.root, "aria-pressed", isChosen);
    row.root.classList.toggle("is-chosen", isChosen);
    showToken(row.token, entry ? run.shownText(entry.token) : "\u200a");
    setText(row.value, entry ? formatPercent(entry.probability) : "");
    setStyle(row.bar, "transform", `scaleX(${entry?.probability ?? 0})`);
  }
}

function section(title: (Node | string)[], node: Node) {
  return make("section", "", make("h3", "", ...title), node);
}

/** The drawer that shows one position. */
export class Inspector {
  kicker: HTMLSpanElement;
  release: HTMLButtonElement;
  token: HTMLDivElement;
  reveal: HTMLParagraphElement;
  topTitle: HTMLHeadingElement;
  top: Alternatives;
  spark: { root: HTMLDivElement; update: (view: View) => void };
  hindsight: HTMLParagraphElement;
  topSection: HTMLElement;
  sparkSection: HTMLElement;
  root: HTMLElement;

  constructor(readonly actions: Actions) {
    this.kicker = make("span", "sbd-inspector-kicker");
    this.release = makeClose("Release this position", actions.release, "sbd-release");
    this.token = make("div", "sbd-inspector-token");
    this.reveal = make("p", "sbd-inspector-reveal");
    this.topTitle = make("h3", "");
    this.top = new Alternatives(actions);
    this.spark = makeSpark();
    this.hindsight = make("p", "sbd-hindsight");
    this.topSection = make("section", "", this.topTitle, this.top.root);
    const over = [term("entropy", "Entropy"), " over ", term("pass", "forward passes")];
    this.sparkSection = section(over, this.spark.root);
    this.root = make(
      "aside",
      "sbd-drawer sbd-inspector",
      { "aria-label": "Inspector" },
      make("div", "sbd-drawer-head", this.kicker, this.release),
      make(
        "div",
        "sbd-inspector-about",
        this.token,
        this.reveal,
        this.topSection,
        this.sparkSection,
        section([term("hindsight", "Hindsight")], this.hindsight),
      ),
      section(["Colour, and the length of a guess’s bar"], makeLegend()),
    );
  }

  update(view: View) {
    const { run, focus } = view;
    // During playback, show only a position that the visitor chose: any other changes with every pass.
    if (view.isPlaying && !view.showsFocus) return;
    const pass = focus === null ? null : inspectedPass(view, focus);
    const masked = focus === null ? undefined : run.main.steps[pass ?? -1]?.masked.get(focus);
    const item = focus === null ? null : run.main.fixedAt(focus, view.pass);
    const chosen = item ? item.token : masked?.top[0]?.token;
    this.root.classList.toggle("is-guess", !item);
    this.root.classList.toggle("has-no-pins", run.strategy !== "sbd");
    this.release.hidden = view.held === null;
    setText(this.kicker, inspectorKicker(view));
    showToken(this.token, chosen === undefined ? "–" : run.shownText(chosen));
    const reveal = "Point at a tile, a token or a cell.";
    setText(this.reveal, focus === null ? reveal : revealText(view, focus));
    setText(this.topTitle, guessTitle(run, pass, view.pass));
    const top = masked?.top ?? [];
    this.top.update(view, top);
    this.topSection.hidden = !top.length && !this.actions.canRedo && !view.isPlaying;
    this.sparkSection.hidden = run.main.entropyHistory(focus ?? -1).length === 0;
    this.spark.update(view);
    const [text, verdict] = focus === null ? ["–", "open"] : hindsightText(view, focus);
    setText(this.hindsight, text);
    this.hindsight.className = `sbd-hindsight is-${verdict}`;
  }
}
