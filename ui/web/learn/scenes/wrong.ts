// The scene “What goes wrong”: a story decoded at rising gammas; the reader finds where it breaks.

import { countOf } from "../../core/numbers.ts";
import { make, setText } from "../../dom/elements.ts";
import { makeBar, makePlayedSlider, makeSizedBox } from "../parts.ts";
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

function storyText(run: StoryRun) {
  return storyPieces(run)
    .map(({ text, isTogether, pass }) => (isTogether ? `${text}${pass}` : text))
    .join("");
}

function storyNodes(run: StoryRun) {
  return storyPieces(run).map(({ text, isClash, isTogether, pass }) => {
    const span = make("span", isClash ? "sbd-learn-clash" : "", text);
    if (isTogether)
      span.append(make("sub", "", { title: `filled by forward pass ${pass}` }, String(pass)));
    return span;
  });
}

/** Make the story and its verdict. @param firstBroken index of the first broken */
function makeStory(runs: StoryRun[], firstBroken: number) {
  const lastRight = runs[firstBroken - 1];
  const limit = lastRight
    ? ` Of the γ tried here, ${lastRight.gamma} is the largest at which it holds.`
    : "";
  const wordsOf = (run: StoryRun) => `${verdictWords(run)}${run.is_right ? "" : limit}`;
  const story = make("p", "sbd-learn-story");
  const verdict = make("p", "sbd-learn-verdict", { role: "status" });
  return {
    nodes: [makeSizedBox(story, runs.map(storyText)), makeSizedBox(verdict, runs.map(wordsOf))],
    verdict,
    show(run: StoryRun) {
      story.replaceChildren(...storyNodes(run));
      setText(verdict, wordsOf(run));
      verdict.classList.toggle("is-wrong", !run.is_right);
    },
  };
}

const shareWords = ({ passes, tokens }: StoryRun) =>
  `${(passes / tokens.length).toFixed(2)} (${passes} for ${tokens.length} tokens)`;

const passesOfToken = ({ passes, tokens }: StoryRun) => passes / tokens.length;

/**
 * Make bars of the forward passes per token, as the stories differ in length: one token at a time, at a gamma where the
 * story holds, and at the chosen gamma.
 * @param rightRun a run where the story holds, if there is one
 */
function makePassBars(runs: StoryRun[], rightRun: StoryRun | undefined) {
  const most = Math.max(1, ...runs.map(passesOfToken));
  const fill = (bar: ReturnType<typeof makeBar>, run: StoryRun) =>
    bar.set(passesOfToken(run) / most, shareWords(run));
  const [ntp, right, chosen] = [
    makeBar("one at a time", "ntp"),
    makeBar("", "sbd"),
    makeBar("", "sbd"),
  ];
  ntp.set(1 / most, "1");
  if (rightRun) {
    right.rename(`γ = ${rightRun.gamma}`);
    fill(right, rightRun);
  }
  const title = make("h3", "", "Forward passes for each token");
  const bars = rightRun ? [ntp, right, chosen] : [ntp, chosen];
  return {
    root: make("div", "sbd-learn-bars", title, ...bars.map(({ root }) => root)),
    show(run: StoryRun) {
      chosen.rename(`now: γ = ${run.gamma}`);
      fill(chosen, run);
    },
  };
}

export const makeWrongScene: MakeScene = ({ lesson, signal, onActed, say }) => {
  // γ = 0 is left out: it only repeats one token at a time, plus the prompt's forward pass.
  const runs = lesson.edges.filter(({ gamma }) => gamma > 0);
  const last = runs.length - 1;
  const firstBroken = runs.findIndex(({ is_right: isRight }) => !isRight);
  const story = makeStory(runs, firstBroken);
  const bars = makePassBars(runs, firstBroken > 0 ? runs[0] : undefined);
  function show(index: number) {
    const run = runs[index];
    if (!run) return;
    story.show(run);
    bars.show(run);
  }
  const acts = {
    show,
    onMoved: (index: number) => index >= firstBroken && onActed(),
    onStopped: () => say(story.verdict.textContent ?? ""),
  };
  const words = (index: number) => countOf(runs[index]?.gamma ?? 0, "nat");
  const slider = makePlayedSlider("γ", last, words, acts, signal);

  function answer() {
    onActed();
    slider.play(0, firstBroken);
  }
  slider.goTo(0);
  const prompt = make("p", "sbd-learn-source", `Prompt: ${lesson.story}`);
  const root = make("div", "sbd-learn-wrong", prompt, ...story.nodes, slider.root, bars.root);
  return { root, answer };
};
