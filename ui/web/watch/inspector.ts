// The inspector: one position's candidate tokens, its entropy over the forward passes, and how its token came.

import { html, render } from "lit-html";
import { tokenName } from "../core/letters.ts";
import { formatChange, formatNats, formatPercent } from "../core/numbers.ts";
import { draftedAt, type FixedItem, type Run, type Top } from "../core/run.ts";
import { make } from "../dom/elements.ts";
import { buttonTemplate, classes, closeButton, tokenTemplate } from "../dom/templates.ts";
import { glossaryTemplate, LEGEND } from "../dom/terms.ts";
import type { Actions } from "./actions.ts";
import type { View } from "./playhead.ts";
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

/** Say what has become of a position: given, revealed, drafted or masked. */
export function revealText(view: View, focus: number) {
  const { run, pass } = view;
  const item = run.main.fixedAt(focus, pass);
  if (run.main.isAfterEnd(focus, pass)) {
    const came = item && !item.isPinned ? `, though revealed in forward pass ${item.pass + 1}` : "";
    return `After the end of the answer: not part of it${came}.`;
  }
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

/**
 * Return the heading of the guesses. Under verify it names the mask, as the pass may also read the position causally.
 */
export function guessTitle({ strategy }: Run, at: number | null, pass: number) {
  const isNow = at === null || at === pass;
  const whose = strategy === "verify" ? "A mask’s guesses" : "Guesses";
  return `${whose} in ${isNow ? "this forward pass" : `forward pass ${at + 1}`}`;
}

/** Say how the causal check judged a position's token, once the playhead has reached the pass that made the check. */
export function hindsightText(view: View, focus: number): [words: string, verdict: HindsightKind] {
  const { run, pass } = view;
  const item = run.main.hindsight.get(focus);
  if (!item && run.main.finish !== null) {
    return ["The run ends before a causal forward pass reads this block.", "open"];
  }
  if (!item || item.pass > pass) {
    if (run.strategy === "ntp") return ["Not decoded yet.", "open"];
    if (run.strategy === "verify")
      return ["Only a causal forward pass decides what stands here.", "open"];
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
export function inspectorKicker({ run, focus, held, showsFocus }: View) {
  if (focus === null) return "Inspector";
  if (held === focus) return `Position ${focus} · held`;
  if (showsFocus) return `Position ${focus}`;
  if (run.strategy === "ntp") return `Position ${focus} · written in this forward pass`;
  return `Position ${focus} · least sure of these tiles`;
}

const SPARK = { width: 240, height: 56, pad: 4 };

/** Return the chart of a position's entropy over the forward passes, empty until one predicted it. */
function sparkTemplate({ run, focus, pass }: View) {
  const { width, height, pad } = SPARK;
  const base = height - pad;
  const history = run.main.entropyHistory(focus ?? -1);
  const known = history.filter((item) => item.pass <= pass);
  const most = Math.max(...history.map((item) => item.entropy), 0.01);
  const step = (width - 2 * pad) / Math.max(history.length - 1, 1);
  const points = known.map(({ entropy }, index) => {
    const y = base - (entropy / most) * (height - 2 * pad);
    return `${(pad + index * step).toFixed(1)},${y.toFixed(1)}`;
  });
  const [first, last] = [known[0], known.at(-1)];
  const text =
    !first || !last
      ? "not predicted yet"
      : first === last
        ? `${formatNats(first.entropy)} nats in forward pass ${first.pass + 1}`
        : `${formatChange(first.entropy, last.entropy)} nats over ${known.length} forward passes`;
  return html`<div class=${known.length ? "" : "is-empty"}>
    <svg
      viewBox="0 0 ${width} ${height}"
      class="sbd-spark"
      role="img"
      preserveAspectRatio="none"
      aria-label="Entropy: ${text}"
    >
      <line x2=${width} y1=${base} y2=${base} class="sbd-spark-base"></line>
      <polyline class="sbd-spark-line" points=${points.join(" ")}></polyline>
      <path class="sbd-spark-now" d="M${points.at(-1) ?? "-10,-10"}h0"></path>
    </svg>
    <div class="sbd-spark-note">${text}</div>
  </div>`;
}

const TOP_ROWS = 5;
const NO_TOKEN = "\u200a";

type Pin = [position: number, id: number];

/** Return the tokens known before the pass that wrote the position in focus; if none did, those known now. */
function tokensBefore({ run, pass, focus }: View): Pin[] {
  const item = run.main.fixedAt(focus ?? -1, pass);
  const before = item && !item.isPinned ? item.pass - 1 : pass;
  return run.main.knownAt(before).map(({ position, token }) => [position, token]);
}

/** Return all that a decode is given which has a token at the position in focus, and for a branch what stood before it. */
export function givenTokens(kind: Kind, view: View & { focus: number }, token: number): Pin[] {
  const given = [...view.run.settings().pinned, ...(kind === "branch" ? tokensBefore(view) : [])];
  return [...new Map(given).set(view.focus, token)].sort((a, b) => a[0] - b[0]);
}

/** Say why Pin and Branch cannot be used here; "" if they can. */
function whyNoAction({ run, focus, pass }: View, alternative: Top | null) {
  if (run.strategy !== "sbd") return "Only Set Block Decoding can decode round a given token.";
  if (focus !== null && run.main.isAfterEnd(focus, pass))
    return "A token given here would not be part of the answer.";
  if (alternative || focus === null) return "";
  if (run.pins.has(focus)) return "This token was given; branch at another position.";
  return "There is no other token to choose here, in this forward pass.";
}

type Kind = "pin" | "branch";

/** The buttons that decode again with the chosen candidate as a given token; a word's first letter is the key. */
const WAYS: { kind: Kind; word: string; title: string }[] = [
  { kind: "pin", word: "Pin", title: "Decode again with this token fixed here" },
  {
    kind: "branch",
    word: "Branch",
    title:
      "Keep what stood before this position was revealed, put this token here, decode the rest",
  },
];

export class Inspector {
  /** Decodes again with the chosen candidate, as the buttons do. */
  give: (kind: Kind) => void = () => {};
  root = make("aside", "sbd-drawer sbd-inspector", { "aria-label": "Inspector" });
  constructor(readonly actions: Actions) {}

  update(view: View) {
    const { run, focus } = view;
    // During playback, show only a position that the visitor chose: any other changes with every pass.
    if (view.isPlaying && !view.showsFocus) return;
    const pass = focus === null ? null : inspectedPass(view, focus);
    const masked = focus === null ? undefined : run.main.steps[pass ?? -1]?.masked.get(focus);
    const item = focus === null ? null : run.main.fixedAt(focus, view.pass);
    const chosen = item ? item.token : masked?.top[0]?.token;
    const top = masked?.top ?? [];
    const [text, verdict] = focus === null ? ["–", "open"] : hindsightText(view, focus);
    const hasNoTop = !top.length && !this.actions.canRedo && !view.isPlaying;
    const look = classes({ "is-guess": !item, "has-no-pins": run.strategy !== "sbd" });
    this.root.className = `sbd-drawer sbd-inspector ${look}`;
    const { release } = this.actions;
    const close = closeButton("Release this position", release, "sbd-release", view.held === null);
    const content = html`<div class="sbd-drawer-head">
        <span class="sbd-inspector-kicker">${inspectorKicker(view)}</span>${close}
      </div>
      <div class="sbd-inspector-about">
        <div class="sbd-inspector-token"
          >${tokenTemplate(chosen === undefined ? "–" : run.shownText(chosen))}</div>
        <p class="sbd-inspector-reveal"
          >${focus === null ? "Point at a tile, a token or a cell." : revealText(view, focus)}</p>
        <section ?hidden=${hasNoTop}>
          <h3>${guessTitle(run, pass, view.pass)}</h3>
          ${this.alternatives(view, top)}
        </section>
        <section ?hidden=${run.main.entropyHistory(focus ?? -1).length === 0}>
          <h3>${glossaryTemplate("entropy", "Entropy")} over ${glossaryTemplate("pass", "forward passes")}</h3>
          ${sparkTemplate(view)}
        </section>
        <section>
          <h3>${glossaryTemplate("hindsight", "Hindsight")}</h3>
          <p class="sbd-hindsight is-${verdict}">${text}</p>
        </section>
      </div>
      <section>
        <h3>Colour, and the length of a guess’s bar</h3>
        ${LEGEND}
      </section>`;
    render(content, this.root);
  }

  /** Return a row for each candidate, and the buttons Pin and Branch under them. */
  alternatives(view: View, top: Top[]) {
    const { run, focus } = view;
    const { canRedo } = this.actions;
    const fixed = focus === null ? null : run.main.fixedAt(focus, view.pass);
    // Pin and Branch use the candidate chosen by hand, else the best that is not the written token.
    const byHand = top.find((entry) => entry.token === view.alternative);
    const chosen = byHand ?? top.find((entry) => entry.token !== fixed?.token) ?? null;
    const note = canRedo ? whyNoAction(view, chosen) : "";
    const canGive = canRedo && note === "";
    this.give = (kind) => {
      if (!chosen || !canGive || focus === null) return;
      const pinned = givenTokens(kind, { ...view, focus }, chosen.token);
      this.actions.redo({ pinned }, { kind, position: focus, pass: fixed?.pass ?? view.pass });
    };
    const token = tokenTemplate(chosen ? run.shownText(chosen.token) : NO_TOKEN);
    const buttons = WAYS.map(({ kind, word, title }) => {
      const words = html`<span>${word}</span><span class="sbd-action-token">${token}</span
        ><kbd aria-hidden="true">${word.charAt(0)}</kbd>`;
      const state = { title, isDisabled: !chosen || note !== "" };
      return buttonTemplate(`sbd-action sbd-action-${kind}`, words, () => this.give(kind), state);
    });
    const rows = Array.from({ length: TOP_ROWS }, (_, index) => {
      const entry = top[index] ?? null;
      const isWritten = entry !== null && entry.token === fixed?.token;
      return this.row(view, entry, isWritten, canGive && entry !== null && entry === chosen);
    });
    return html`<div class="sbd-top">
      ${rows}
      <div class="sbd-alternative-acting" ?hidden=${!canRedo}>
        <div class="sbd-alternative-actions" ?hidden=${!canGive}>${buttons}</div>
        <p class="sbd-action-note" ?hidden=${note === ""}>${note}</p>
      </div>
    </div>`;
  }

  row({ run }: View, entry: Top | null, isWritten: boolean, isChosen: boolean) {
    const text = entry ? run.shownText(entry.token) : NO_TOKEN;
    const name = entry ? tokenName(text) : "";
    const look = `sbd-top-row ${classes({ "is-written": isWritten, "is-chosen": isChosen })}`;
    const title = isChosen ? `${name}: what Pin and Branch put here` : name;
    const content = html`<span class="sbd-top-token">${tokenTemplate(text)}</span
      ><span class="sbd-top-track"
        ><span class="sbd-top-bar" style="transform: scaleX(${entry?.probability ?? 0})"></span></span
      ><span class="sbd-top-value">${entry ? formatPercent(entry.probability) : ""}</span>`;
    const choose = () => entry && this.actions.choose(entry.token);
    const state = { title, isPressed: isChosen, isDisabled: !entry, isHidden: !entry };
    return buttonTemplate(look, content, choose, state);
  }
}
