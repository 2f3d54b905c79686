// The Learn view: a lesson of ten scenes, one at a time, each at an address of its own. A scene asks, the reader does
// something, the scene answers; forward first shows the answer, then the next scene. Only its mount knows of Gradio.

import { History } from "../core/run.js";
import { plainWords } from "../core/words.js";
import { find, icon, make, setAttribute, setText } from "../dom/elements.js";
import { promptBox, typeInto } from "../dom/gradio.js";
import { listenToKeys } from "../dom/keys.js";
import { isLecturing, makeLecture, onResize, scrollBehavior } from "../dom/screen.js";
import { makeTermNote, withTerms } from "../dom/terms.js";
import { onTurn, turnTo } from "../dom/views.js";
import { choiceOf, numberOf } from "../form/fields.js";
import { isChatChosen } from "../models.js";
import { useSettings } from "../watch/stale.js";
import { keepRoom, makeRoom } from "./parts.js";
import { makeBoundScene } from "./scenes/bound.js";
import { makeCacheScene } from "./scenes/cache.js";
import { makeCheckScene } from "./scenes/check.js";
import { makeCostScene } from "./scenes/cost.js";
import { makeGuessScene } from "./scenes/guess.js";
import { makeMaskScene } from "./scenes/masks.js";
import { makeOrderScene } from "./scenes/order.js";
import { makeSingleScene } from "./scenes/single.js";
import { makeWrongScene } from "./scenes/wrong.js";
import { makeYoursScene } from "./scenes/yours.js";

/** @import { Run } from "../core/run.js" */
/** @import { Mount } from "../stub.js" */

/**
 * The services of the page round the view; on a page of its own they do nothing.
 * @typedef {object} LearnHost
 * @property {() => void} leave turn to the player
 * @property {(prompt: string) => void} decode
 */

/**
 * The material of a scene.
 * @typedef {object} ScenePlace
 * @property {Lesson} lesson
 * @property {AbortSignal} signal the scene is left
 * @property {() => void} did the reader did what the scene asks for: show its answer
 * @property {(words: string) => void} say to a screen reader
 * @property {LearnHost | null} host
 */

/** @typedef {{ root: HTMLElement, answer: () => void, prompt?: () => string }} Scene answer: show it in the picture; prompt: that the last scene decodes */
/** @typedef {(place: ScenePlace) => Scene} MakeScene */

export class LearnView {
  /**
   * @param {HTMLElement} root
   * @param {string} text the lesson, JSON
   * @param {AbortSignal} signal ends the listening
   * @param {LearnHost | null} [host]
   */
  constructor(root, text, signal, host = null) {
    this.root = root;
    this.text = text;
    this.signal = signal;
    this.host = host;
    /** @type {Lesson | null} read when the view is first opened */
    this.lesson = null;
    this.index = 0;
    this.isAnswered = false;
    this.isOpen = false;
    /** @type {Scene | null} */
    this.scene = null;
    this.leaving = new AbortController();
    this.lecture = makeLecture(root, () => this.fit(), signal);
    this.parts = this.makeParts();
    signal.addEventListener("abort", () => this.leaving.abort());
  }

  makeParts() {
    const back = makeStep("Back", () => this.back());
    const next = makeStep("Next", () => this.forward());
    next.classList.add("is-main");
    const answer = make("p", "sbd-learn-answer");
    const why = make("p", "sbd-learn-why");
    return {
      dots: make("ol", "sbd-learn-dots"),
      place: make("p", "sbd-learn-place"),
      problem: make("p", "sbd-learn-problem", { role: "alert" }),
      question: make("h2", "sbd-learn-question", { tabindex: "-1" }),
      act: make("p", "sbd-learn-act"),
      stage: make("div", "sbd-learn-stage sbd-player"),
      answer,
      why,
      said: make(
        "div",
        "sbd-learn-said",
        { "aria-live": "polite" },
        makeRoom(answer),
        makeRoom(why),
      ),
      live: make("div", "sbd-live", { "aria-live": "polite" }),
      back,
      next,
    };
  }

  /** @returns {Lesson} */
  build() {
    const lesson = readLesson(this.text);
    const { dots, place, problem, question, act, stage, said, live, back, next } = this.parts;
    dots.append(...lesson.scenes.map(({ title }, index) => this.makeDot(title, index)));
    const large = makeStep("Lecture (L)", () => this.lecture.toggle());
    large.prepend(icon("lecture"));
    large.classList.add("sbd-learn-lecture");
    const places = lesson.scenes.map((_, index) => placeWords(lesson.scenes, index));
    const tools = make("div", "sbd-learn-tools", makeRoom(place, places), large);
    if (this.host) tools.append(this.makeSkip());
    this.root.replaceChildren(
      make("nav", "sbd-learn-head", { "aria-label": "Scenes" }, dots, tools),
      make(
        "section",
        "sbd-learn-scene",
        { "aria-label": "Scene" },
        problem,
        make("div", "sbd-learn-ask", question, act),
        stage,
        said,
      ),
      make("div", "sbd-learn-foot", back, make("span", "sbd-learn-keys", "← → keys"), next),
      live,
      makeTermNote(this.root, this.signal),
    );
    this.listen();
    return lesson;
  }

  makeSkip() {
    const skip = makeStep("Skip to the player", () => this.host?.leave());
    skip.classList.add("sbd-learn-skip");
    return skip;
  }

  /** @param {string} title @param {number} index */
  makeDot(title, index) {
    const label = `Scene ${index + 1}: ${title}`;
    const dot = make("button", "sbd-learn-dot", { title: label, "aria-label": label });
    dot.addEventListener("click", () => this.go(index));
    return make("li", "", dot);
  }

  listen() {
    const { signal } = this;
    const keys = {
      forward: () => this.forward(),
      back: () => this.back(),
      first: () => this.go(0),
      last: () => this.go(SCENES.length - 1),
      togglePlay: () => this.forward(),
      lecture: () => this.lecture.toggle(),
      letGo: () => this.lecture.leave(),
    };
    listenToKeys(this.root, keys, signal);
    // On a page with other views an address without a scene is one of theirs.
    const follow = () => this.isOpen && (this.isNamed || !this.host) && this.follow();
    addEventListener("popstate", follow, { signal });
    addEventListener("hashchange", follow, { signal });
    onResize(this.root, () => this.fit(), signal);
  }

  /** The layout follows the width of the view, as the player's does. */
  fit() {
    const width = this.root.clientWidth;
    this.root.classList.toggle("is-narrow", width < 640 && !isLecturing(this.root));
  }

  get addresses() {
    return this.lesson?.scenes.map(({ address }) => address) ?? [];
  }

  /** The view comes to the front: the scene that the address asks for, else the one left. */
  open() {
    if (this.isOpen) return;
    this.follow();
  }

  /** Show what the address asks for. */
  follow() {
    this.lesson ??= this.build();
    this.isOpen = true;
    const asked = sceneAt(location.hash, this.addresses);
    this.show(asked?.index ?? this.index, asked?.problem ?? "");
    if (!asked) history.replaceState(history.state, "", this.hash);
  }

  /** The view goes behind another one: nothing of it plays or is named by the address any more. */
  close() {
    if (this.isNamed) history.replaceState(history.state, "", location.pathname + location.search);
    if (!this.isOpen) return;
    this.isOpen = false;
    this.leaving.abort();
    this.parts.stage.replaceChildren();
    this.lecture.leave();
  }

  /** Whether the address names a scene. */
  get isNamed() {
    return sceneAt(location.hash, []) !== null;
  }

  get hash() {
    return hashOf(this.addresses[this.index] ?? "");
  }

  /** @param {number} index */
  go(index) {
    if (index < 0 || index >= SCENES.length) return;
    this.show(index, "");
    history.pushState(history.state, "", this.hash);
    this.parts.question.focus({ preventScroll: true });
    if (this.root.getBoundingClientRect().top < 0) this.root.scrollIntoView({ block: "start" });
  }

  back() {
    this.go(this.index - 1);
  }

  forward() {
    if (!this.isAnswered) this.showAnswer();
    else if (this.index + 1 < SCENES.length) this.go(this.index + 1);
    else this.host?.decode(this.scene?.prompt?.() ?? "");
  }

  /** The reader asked to be shown; on a phone the answer may lie below the window. */
  showAnswer() {
    this.scene?.answer();
    this.parts.said.scrollIntoView({ block: "nearest", behavior: scrollBehavior() });
  }

  /** @param {number} index @param {string} problem of the address */
  show(index, problem) {
    const { lesson, parts } = this;
    const words = lesson?.scenes[index];
    const makeScene = SCENES[index];
    if (!lesson || !words || !makeScene) return;
    this.leaving.abort();
    this.leaving = new AbortController();
    this.index = index;
    this.isAnswered = false;
    setText(parts.problem, problem);
    parts.problem.hidden = problem === "";
    setText(parts.question, words.question);
    setText(parts.act, words.act);
    setText(parts.live, "");
    for (const [part, text] of this.saidBy(words)) {
      part.replaceChildren();
      if (part.parentElement) keepRoom(part.parentElement, [plainWords(text)]);
    }
    this.scene = makeScene({
      lesson,
      signal: this.leaving.signal,
      did: () => this.reveal(),
      say: (text) => setText(parts.live, text),
      host: this.host,
    });
    setAttribute(parts.stage, "data-scene", words.address);
    parts.stage.replaceChildren(this.scene.root);
    this.showPlace();
    this.fit();
  }

  /**
   * The words of a scene once it is answered: its idea, and why.
   * @param {SceneWords} words
   * @returns {[part: HTMLElement, text: string][]}
   */
  saidBy({ answer, why = "" }) {
    return [
      [this.parts.answer, answer],
      [this.parts.why, why],
    ];
  }

  /** The reader did it, or asked to be shown: the answer in words. */
  reveal() {
    const words = this.lesson?.scenes[this.index];
    if (this.isAnswered || !words) return;
    this.isAnswered = true;
    for (const [part, text] of this.saidBy(words)) part.replaceChildren(...withTerms(text));
    this.showPlace();
  }

  showPlace() {
    const { parts, index, isAnswered } = this;
    const scenes = this.lesson?.scenes ?? [];
    setText(parts.place, placeWords(scenes, index));
    [...parts.dots.querySelectorAll("button")].forEach((dot, at) => {
      dot.classList.toggle("is-past", at < index || (at === index && isAnswered));
      if (at === index) dot.setAttribute("aria-current", "step");
      else dot.removeAttribute("aria-current");
    });
    this.root.classList.toggle("is-answered", isAnswered);
    parts.back.disabled = index === 0;
    const isLast = index + 1 === scenes.length;
    const over = isLast ? "Decode it" : "Next";
    this.root.classList.toggle("is-last", isLast);
    setText(parts.next, isAnswered ? over : "Show me");
    parts.next.hidden = isLast && this.host === null && isAnswered;
  }
}

/** @param {SceneWords[]} scenes @param {number} index */
function placeWords(scenes, index) {
  return `${index + 1} of ${scenes.length} · ${scenes[index]?.title ?? ""}`;
}

/** @param {string} words @param {() => void} act */
function makeStep(words, act) {
  const button = make("button", "sbd-learn-step", words);
  button.addEventListener("click", act);
  return button;
}

/** @type {MakeScene[]} */
const SCENES = [
  makeSingleScene,
  makeMaskScene,
  makeGuessScene,
  makeBoundScene,
  makeOrderScene,
  makeCacheScene,
  makeWrongScene,
  makeCheckScene,
  makeCostScene,
  makeYoursScene,
];

const TYPED_MS = 120; // until Gradio has what was typed
const LOOK_MS = 50;
const FORM_MS = 3000; // how long the form may take to follow

/**
 * Decode a prompt in the player by Set Block Decoding, which is what the scenes told of; by a model
 * for any prompt with verify, as its adapter learnt to draft.
 * @param {string} promptId of the form's element
 * @param {number} gamma
 * @param {string} prompt
 */
function decodeByBlocks(promptId, gamma, prompt) {
  turnTo("watch");
  typeInto(promptBox(promptId), prompt, { hasSettings: true });
  const strategy = isChatChosen() ? "verify" : "sbd";
  useSettings({ strategy, gamma, solver: "entropy-bound" });
  const latest = performance.now() + FORM_MS;
  const timer = setInterval(() => {
    const isSet =
      choiceOf("strategy") === strategy && (strategy !== "sbd" || numberOf("gamma") === gamma);
    if (!isSet && performance.now() < latest) return;
    clearInterval(timer);
    // Gradio's button, which sends what the form has told it by then.
    setTimeout(() => find(document, "#sbd-go button").click(), TYPED_MS);
  }, LOOK_MS);
}

/** @type {Mount} */
export function mountLearn({ element, value, signal }) {
  /** @type {{ prompt_id: string, gamma: number, lesson?: string, problem?: string }} */
  const setting = JSON.parse(value);
  const host = find(element, ".sbd-learn");
  if (setting.lesson === undefined) {
    host.replaceChildren(make("p", "sbd-learn-problem", { role: "alert" }, setting.problem ?? ""));
    return () => {};
  }
  const view = new LearnView(host, setting.lesson, signal, {
    leave: () => turnTo("watch"),
    decode: (prompt) => decodeByBlocks(setting.prompt_id, setting.gamma, prompt),
  });
  onTurn((name) => (name === "learn" ? view.open() : view.close()), signal);
  return () => {};
}

const VIEW = /^#learn(?:\/(.*))?$/;

/**
 * The scene that an address asks for: none outside of the view; an unknown one is the first, with
 * a sentence.
 * @param {string} hash
 * @param {string[]} addresses of the scenes, in order
 * @returns {{ index: number, problem: string } | null}
 */
export function sceneAt(hash, addresses) {
  const match = VIEW.exec(hash);
  if (!match) return null;
  const name = readable(match[1] ?? "");
  if (name === "") return { index: 0, problem: "" };
  const index = /^\d+$/.test(name) ? Number(name) - 1 : addresses.indexOf(name);
  if (addresses[index] !== undefined) return { index, problem: "" };
  const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
  return {
    index: 0,
    problem: `There is no scene “${shown}”, so this is the first of ${addresses.length}.`,
  };
}

const MAX_SHOWN = 40;

/** @param {string} text */
function readable(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string} address of a scene */
export function hashOf(address) {
  return `#learn/${address}`;
}

/** @typedef {{ address: string, title: string, question: string, act: string, answer: string, why?: string }} SceneWords */
/** @typedef {{ before: string, entropy: number, guesses: [text: string, probability: number][], options: string[] }} Gap */
/** @typedef {{ words: string, start: number, end: number, forward_pass: number }} Clash */
/** @typedef {{ gamma: number, is_right: boolean, fault: string, has_facts: boolean, clashes: Clash[], fault_tokens: number[], passes: number, tokens: [text: string, pass: number][] }} Edge */
/** @typedef {{ cell: number, candidates: string, settled_by: number[] }} Order of a sudoku's first empty cell */
/** @typedef {{ name: string, rates: string, is_big: boolean, seconds: Record<number, number[]> }} Machine seconds by block, 1 one at a time, for every batch; rates: where its peak rates are from */
/** @typedef {{ rows: number, loading: number, computing: number }} PassTime seconds */
/**
 * @typedef {object} LessonData
 * @property {SceneWords[]} scenes
 * @property {Record<string, string>} runs wire lines by name
 * @property {Gap[]} gaps
 * @property {number} mask_pass
 * @property {number} bound_pass
 * @property {number} check_pass
 * @property {boolean} is_verify_ntp
 * @property {number} check_ntp_passes of the answer that `verify` checks, one token at a time
 * @property {Order} order
 * @property {{ sbd: string, verify: string }} tokens_per_pass on all held-out prompts, in the evaluation
 * @property {string} big_chip
 * @property {Edge[]} edges
 * @property {string} story
 * @property {Machine[]} machines
 * @property {number[]} batches texts decoded at the same time
 * @property {[size: number, passes: number][]} blocks forward passes of the run `text` by its block
 * @property {PassTime[]} pass_times
 * @property {string[]} prompts for nano
 * @property {string[]} chat_prompts for a model that takes any
 */

/** @typedef {Omit<LessonData, "runs"> & { runs: Record<"text" | "verify" | "sudoku", Run> }} Lesson */

/** A run of wire lines. @param {string | undefined} lines @returns {Run} */
function runOf(lines) {
  const history = new History();
  history.accept(lines ?? "");
  if (!history.run) throw new Error("a recorded run of the lesson is missing");
  return history.run;
}

/** @param {string} text JSON of LessonData @returns {Lesson} */
export function readLesson(text) {
  /** @type {LessonData} */
  const data = JSON.parse(text);
  const { text: main, verify, sudoku } = data.runs;
  return { ...data, runs: { text: runOf(main), verify: runOf(verify), sudoku: runOf(sudoku) } };
}
