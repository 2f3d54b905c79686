// What goes wrong: one story at rising gammas; the reader finds where it breaks.

import { countOf } from "../../core/numbers.js";
import { make, setText } from "../../dom/elements.js";
import { STILL } from "../../dom/reveal.js";
import { makeBar } from "../parts/bars.js";
import { makePlayedSlider } from "../parts/slider.js";
import { storyPieces, verdictWords } from "../states.js";

/** @import { Edge, Lesson } from "../lesson.js" */
/** @import { MakeScene } from "../view.js" */

/** @param {Edge} edge */
function storyNodes(edge) {
  return storyPieces(edge).map(({ text, isClash, isTogether, call }) => {
    const span = make("span", isClash ? "sbd-learn-clash" : "", {}, text);
    if (isTogether) span.append(make("sub", "", { title: `filled in call ${call}` }, String(call)));
    return span;
  });
}

/** The story at a gamma, and whether it holds. */
function makeStory() {
  const story = make("p", "sbd-learn-story");
  const verdict = make("p", "sbd-learn-verdict", { role: "status" });
  return {
    nodes: [story, verdict],
    verdict,
    /** @param {Edge} edge */
    show(edge) {
      story.replaceChildren(...storyNodes(edge));
      setText(verdict, verdictWords(edge));
      verdict.classList.toggle("is-wrong", !edge.is_right);
    },
  };
}

/**
 * The calls of the story one at a time, at a gamma where it holds, and at the one chosen.
 * @param {Lesson} lesson
 * @param {Edge | undefined} held
 */
function makeCallBars({ edges, story_calls: alone }, held) {
  const most = Math.max(alone, ...edges.map(({ calls }) => calls));
  /**
   * @param {string} words
   * @param {string} kind
   * @param {number} calls
   */
  const barOf = (words, kind, calls) => {
    const bar = makeBar(words, kind);
    bar.set(calls / most, countOf(calls, "call"));
    return bar;
  };
  const own = makeBar("", "sbd");
  const bars = [barOf("one at a time", "ntp", alone)];
  if (held) bars.push(barOf(`γ = ${held.gamma}`, "sbd", held.calls));
  return {
    root: make("div", "sbd-learn-bars", {}, ...[...bars, own].map(({ root }) => root)),
    /** @param {Edge} edge */
    show({ gamma, calls }) {
      own.rename(`now: γ = ${gamma}`);
      own.set(calls / most, countOf(calls, "call"));
    },
  };
}

/** @type {MakeScene} */
export function makeWrongScene({ lesson, signal, did, say }) {
  const { edges } = lesson;
  const last = edges.length - 1;
  const broken = edges.findIndex(({ is_right: isRight }) => !isRight);
  const story = makeStory();
  const bars = makeCallBars(lesson, edges[Math.min(1, broken - 1)]);
  /** @param {number} index */
  function show(index) {
    const edge = edges[index];
    if (!edge) return;
    story.show(edge);
    bars.show(edge);
  }
  const acts = {
    show,
    took: (/** @type {number} */ index) => index >= broken && did(),
    ended: () => say(story.verdict.textContent ?? ""),
  };
  const words = (/** @type {number} */ index) => `${edges[index]?.gamma ?? 0} nats`;
  const slider = makePlayedSlider("γ", last, words, acts, signal);

  function answer() {
    did();
    slider.goTo(STILL.matches ? last : 0);
    if (!STILL.matches) slider.play();
  }
  slider.goTo(0);
  const prompt = make("p", "sbd-learn-source", {}, `Prompt: ${lesson.story}`);
  const root = make("div", "sbd-learn-wrong", {}, prompt, ...story.nodes, slider.root, bars.root);
  return { root, answer };
}
