// The scene “What goes wrong”: a story decoded at rising gammas; the reader finds where it breaks.

import { countOf } from "../../core/numbers.js";
import { make, setText } from "../../dom/elements.js";
import { makeBar, makePlayedSlider, makeSizedBox } from "../parts.js";

/** @import { MakeScene, StoryRun } from "../view.js" */

/**
 * Put the verdict on a story into words; for a broken story, also what the underline means.
 * @param {Pick<StoryRun, "is_right" | "fault" | "has_facts" | "fault_tokens">} run
 */
export function verdictWords({ is_right: isRight, fault, has_facts: hasFacts, fault_tokens: at }) {
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
 * @param {StoryRun} run
 * @returns {{ text: string, isClash: boolean, isTogether: boolean, pass: number }[]}
 */
export function storyPieces({ tokens, clashes, fault_tokens: faulty }) {
  return tokens
    .filter(([text]) => !/^<.*>$/.test(text))
    .map(([text, pass], at) => {
      const here = clashes.filter(({ start, end }) => at >= start && at < end);
      const isTogether = here.some((clash) => clash.forward_pass === pass);
      return { text, isClash: here.length > 0 || faulty.includes(at), isTogether, pass: pass + 1 };
    });
}

/** @param {StoryRun} run */
function storyText(run) {
  return storyPieces(run)
    .map(({ text, isTogether, pass }) => (isTogether ? `${text}${pass}` : text))
    .join("");
}

/** @param {StoryRun} run */
function storyNodes(run) {
  return storyPieces(run).map(({ text, isClash, isTogether, pass }) => {
    const span = make("span", isClash ? "sbd-learn-clash" : "", text);
    if (isTogether)
      span.append(make("sub", "", { title: `filled by forward pass ${pass}` }, String(pass)));
    return span;
  });
}

/** Make the story and its verdict. @param {StoryRun[]} runs @param {number} firstBroken index of the first broken */
function makeStory(runs, firstBroken) {
  const lastRight = runs[firstBroken - 1];
  const limit = lastRight
    ? ` Of the γ tried here, ${lastRight.gamma} is the largest at which it holds.`
    : "";
  const wordsOf = (/** @type {StoryRun} */ run) =>
    `${verdictWords(run)}${run.is_right ? "" : limit}`;
  const story = make("p", "sbd-learn-story");
  const verdict = make("p", "sbd-learn-verdict", { role: "status" });
  return {
    nodes: [makeSizedBox(story, runs.map(storyText)), makeSizedBox(verdict, runs.map(wordsOf))],
    verdict,
    /** @param {StoryRun} run */
    show(run) {
      story.replaceChildren(...storyNodes(run));
      setText(verdict, wordsOf(run));
      verdict.classList.toggle("is-wrong", !run.is_right);
    },
  };
}

/** @param {StoryRun} run */
const shareWords = ({ passes, tokens }) =>
  `${(passes / tokens.length).toFixed(2)} (${passes} for ${tokens.length} tokens)`;

/** @param {StoryRun} run */
const passesOfToken = ({ passes, tokens }) => passes / tokens.length;

/**
 * Make bars of the forward passes per token, as the stories differ in length: one token at a time, at a gamma where the
 * story holds, and at the chosen gamma.
 * @param {StoryRun[]} runs
 * @param {StoryRun | undefined} rightRun a run where the story holds, if there is one
 */
function makePassBars(runs, rightRun) {
  const most = Math.max(1, ...runs.map(passesOfToken));
  /** @param {ReturnType<typeof makeBar>} bar @param {StoryRun} run */
  const fill = (bar, run) => bar.set(passesOfToken(run) / most, shareWords(run));
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
    /** @param {StoryRun} run */
    show(run) {
      chosen.rename(`now: γ = ${run.gamma}`);
      fill(chosen, run);
    },
  };
}

/** @type {MakeScene} */
export function makeWrongScene({ lesson, signal, onActed, say }) {
  // γ = 0 is left out: it only repeats one token at a time, plus the prompt's forward pass.
  const runs = lesson.edges.filter(({ gamma }) => gamma > 0);
  const last = runs.length - 1;
  const firstBroken = runs.findIndex(({ is_right: isRight }) => !isRight);
  const story = makeStory(runs, firstBroken);
  const bars = makePassBars(runs, firstBroken > 0 ? runs[0] : undefined);
  /** @param {number} index */
  function show(index) {
    const run = runs[index];
    if (!run) return;
    story.show(run);
    bars.show(run);
  }
  const acts = {
    show,
    onMoved: (/** @type {number} */ index) => index >= firstBroken && onActed(),
    onStopped: () => say(story.verdict.textContent ?? ""),
  };
  const words = (/** @type {number} */ index) => countOf(runs[index]?.gamma ?? 0, "nat");
  const slider = makePlayedSlider("γ", last, words, acts, signal);

  function answer() {
    onActed();
    slider.play(0, firstBroken);
  }
  slider.goTo(0);
  const prompt = make("p", "sbd-learn-source", `Prompt: ${lesson.story}`);
  const root = make("div", "sbd-learn-wrong", prompt, ...story.nodes, slider.root, bars.root);
  return { root, answer };
}
