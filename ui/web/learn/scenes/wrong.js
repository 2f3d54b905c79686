// The scene “What goes wrong”: a story decoded at rising gammas; the reader finds where it breaks.

import { countOf } from "../../core/numbers.js";
import { make, setText } from "../../dom/elements.js";
import { makeBar, makePlayedSlider, makeRoom } from "../parts.js";

/** @import { Edge, MakeScene } from "../view.js" */

/**
 * Put the verdict on a story into words; for a broken story, also what the underline means.
 * @param {Pick<Edge, "is_right" | "fault" | "has_facts" | "fault_tokens">} edge
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
 * @param {Edge} edge
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

/** @param {Edge} edge */
function storyText(edge) {
  return storyPieces(edge)
    .map(({ text, isTogether, pass }) => (isTogether ? `${text}${pass}` : text))
    .join("");
}

/** @param {Edge} edge */
function storyNodes(edge) {
  return storyPieces(edge).map(({ text, isClash, isTogether, pass }) => {
    const span = make("span", isClash ? "sbd-learn-clash" : "", text);
    if (isTogether)
      span.append(make("sub", "", { title: `filled by forward pass ${pass}` }, String(pass)));
    return span;
  });
}

/** Make the story and its verdict. @param {Edge[]} edges @param {number} broken index of the first edge that breaks */
function makeStory(edges, broken) {
  const held = edges[broken - 1];
  const limit = held ? ` Of the γ tried here, ${held.gamma} is the largest at which it holds.` : "";
  const wordsOf = (/** @type {Edge} */ edge) =>
    `${verdictWords(edge)}${edge.is_right ? "" : limit}`;
  const story = make("p", "sbd-learn-story");
  const verdict = make("p", "sbd-learn-verdict", { role: "status" });
  return {
    nodes: [makeRoom(story, edges.map(storyText)), makeRoom(verdict, edges.map(wordsOf))],
    verdict,
    /** @param {Edge} edge */
    show(edge) {
      story.replaceChildren(...storyNodes(edge));
      setText(verdict, wordsOf(edge));
      verdict.classList.toggle("is-wrong", !edge.is_right);
    },
  };
}

/** @param {Edge} edge */
const shareWords = ({ passes, tokens }) =>
  `${(passes / tokens.length).toFixed(2)} (${passes} for ${tokens.length} tokens)`;

/** @param {Edge} edge */
const passesOfToken = ({ passes, tokens }) => passes / tokens.length;

/**
 * Make bars of the forward passes per token, as the stories differ in length: one token at a time, at a gamma where the
 * story holds, and at the chosen gamma.
 * @param {Edge[]} edges
 * @param {Edge | undefined} held an edge where the story holds, if there is one
 */
function makePassBars(edges, held) {
  const most = Math.max(1, ...edges.map(passesOfToken));
  /** @param {ReturnType<typeof makeBar>} bar @param {Edge} edge */
  const fill = (bar, edge) => bar.set(passesOfToken(edge) / most, shareWords(edge));
  const [plain, before, own] = [
    makeBar("one at a time", "ntp"),
    makeBar("", "sbd"),
    makeBar("", "sbd"),
  ];
  plain.set(1 / most, "1");
  if (held) {
    before.rename(`γ = ${held.gamma}`);
    fill(before, held);
  }
  const title = make("h3", "", "Forward passes for each token");
  const bars = held ? [plain, before, own] : [plain, own];
  return {
    root: make("div", "sbd-learn-bars", title, ...bars.map(({ root }) => root)),
    /** @param {Edge} edge */
    show(edge) {
      own.rename(`now: γ = ${edge.gamma}`);
      fill(own, edge);
    },
  };
}

/** @type {MakeScene} */
export function makeWrongScene({ lesson, signal, did, say }) {
  // γ = 0 is left out: it only repeats one token at a time, plus the prompt's forward pass.
  const edges = lesson.edges.filter(({ gamma }) => gamma > 0);
  const last = edges.length - 1;
  const broken = edges.findIndex(({ is_right: isRight }) => !isRight);
  const story = makeStory(edges, broken);
  const bars = makePassBars(edges, broken > 0 ? edges[0] : undefined);
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
  const words = (/** @type {number} */ index) => countOf(edges[index]?.gamma ?? 0, "nat");
  const slider = makePlayedSlider("γ", last, words, acts, signal);

  function answer() {
    did();
    slider.play(0, broken);
  }
  slider.goTo(0);
  const prompt = make("p", "sbd-learn-source", `Prompt: ${lesson.story}`);
  const root = make("div", "sbd-learn-wrong", prompt, ...story.nodes, slider.root, bars.root);
  return { root, answer };
}
