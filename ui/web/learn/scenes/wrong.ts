// The scene “What goes wrong”: a story decoded at rising gammas; the reader finds where it breaks.

import { html } from "lit-html";
import { countOf } from "../../core/numbers.ts";
import { bar, PlayedSlider } from "../parts.ts";
import type { MakeScene, StoryRun } from "../view.ts";

/** Put the verdict on a story into words; for a broken story, also what the underline means. */
export function verdictWords({
  is_right: isRight,
  fault,
  has_facts: hasFacts,
  fault_tokens: at,
}: Pick<StoryRun, "is_right" | "fault" | "has_facts" | "fault_tokens">) {
  if (!isRight) {
    const that = at.length ? "that, and " : "";
    return `Broken: ${fault}. Underlined: ${that}neighbours from one forward pass (small number) that clash.`;
  }
  const facts = hasFacts ? "it keeps to the prompt, and " : "";
  return `Holds by our check: ${facts}no word is doubled or unknown. Grammar and sense are not checked.`;
}

/**
 * Return the tokens of an answer without the end-of-sequence. isClash: underlined, as part of a clash or of the fault;
 * isTogether: part of a clash, and from the forward pass that filled the clash; pass: counts from 1.
 */
export function storyPieces({
  tokens,
  clashes,
  fault_tokens: faulty,
}: StoryRun): { text: string; isClash: boolean; isTogether: boolean; pass: number }[] {
  return tokens
    .filter(([text]) => !/^<.*>$/.test(text))
    .map(([text, pass], at) => {
      const here = clashes.filter(({ start, end }) => at >= start && at < end);
      const isTogether = here.some((clash) => clash.forward_pass === pass);
      return { text, isClash: here.length > 0 || faulty.includes(at), isTogether, pass: pass + 1 };
    });
}

const storyTemplate = (run: StoryRun) =>
  storyPieces(run).map(({ text, isClash, isTogether, pass }) => {
    const by = html`<sub title="filled by forward pass ${pass}">${pass}</sub>`;
    return html`<span class=${isClash ? "sbd-learn-clash" : ""}>${text}${isTogether ? by : ""}</span>`;
  });

const passesOfToken = ({ passes, tokens }: StoryRun) => passes / tokens.length;

export const makeWrongScene: MakeScene = ({ lesson, signal, onActed, say, draw }) => {
  // γ = 0 is left out: it only repeats one token at a time, plus the prompt's forward pass.
  const runs = lesson.edges.filter(({ gamma }) => gamma > 0);
  const firstBroken = runs.findIndex(({ is_right: isRight }) => !isRight);
  const most = Math.max(1, ...runs.map(passesOfToken));
  const runNow = () => runs[slider.value] as StoryRun;
  function verdict() {
    const [run, right] = [runNow(), runs[firstBroken - 1]];
    const isLimited = right && !run.is_right;
    const limit = isLimited
      ? ` Of the γ tried here, ${right.gamma} is the largest at which it holds.`
      : "";
    return verdictWords(run) + limit;
  }
  const slider = new PlayedSlider(
    "γ",
    runs.length - 1,
    () => countOf(runNow().gamma, "nat"),
    draw,
    (index) => index >= firstBroken && onActed(),
    () => say(verdict()),
    signal,
  );
  /** Return a bar of a story's forward passes per token, as the stories differ in length. */
  function passBar(name: string, run: StoryRun) {
    const { passes, tokens } = run;
    const share = `${passesOfToken(run).toFixed(2)} (${passes} for ${tokens.length} tokens)`;
    return bar("sbd", name, passesOfToken(run) / most, share);
  }

  function answer() {
    onActed();
    slider.play(0, firstBroken);
  }
  const [first] = runs;
  const view = () => {
    const run = runNow();
    return html`<div class="sbd-learn-wrong">
      <p class="sbd-learn-source">Prompt: ${lesson.story}</p>
      <p class="sbd-learn-story">${storyTemplate(run)}</p>
      <p class="sbd-learn-verdict ${run.is_right ? "" : "is-wrong"}" role="status">${verdict()}</p>
      ${slider.template}
      <div class="sbd-learn-bars">
        <h3>Forward passes for each token</h3>
        ${bar("ntp", "one at a time", 1 / most, "1")}
        ${first && firstBroken > 0 ? passBar(`γ = ${first.gamma}`, first) : ""}
        ${passBar(`now: γ = ${run.gamma}`, run)}
      </div>
    </div>`;
  };
  return { view, answer };
};
