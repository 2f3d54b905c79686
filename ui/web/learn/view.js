// The Learn view: a lesson of ten scenes, shown one at a time, each with its own address. A scene asks, the reader
// acts, the scene answers; going forward first shows the answer, then the next scene. Only mountLearn needs Gradio.

import { History } from "../core/run.js";
import { plainWords } from "../core/words.js";
import { find, icon, make, setAttribute, setText } from "../dom/elements.js";
import { promptBox, typeInto } from "../dom/gradio.js";
import { listenToKeys } from "../dom/keys.js";
import { isLecturing, makeLecture, onResize, scrollBehavior } from "../dom/screen.js";
import { makeTermNote, withTerms } from "../dom/terms.js";
import { onViewChange, showView } from "../dom/views.js";
import { choiceOf, numberOf } from "../form/fields.js";
import { isChatChosen } from "../models.js";
import { useSettings } from "../watch/form_difference.js";
import { makeSizedBox, setSizedTexts } from "./parts.js";
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
 * Functions of the page around the Learn view; the exported lesson has no such page.
 * @typedef {object} LearnHost
 * @property {() => void} leave shows the player
 * @property {(prompt: string) => void} decode decodes a prompt in the player
 */

/**
 * The arguments of a scene.
 * @typedef {object} SceneContext
 * @property {Lesson} lesson
 * @property {AbortSignal} signal aborted when the reader leaves the scene
 * @property {() => void} onActed called when the reader has done what the scene asks; shows the answer in words
 * @property {(words: string) => void} say announces a text to screen readers
 * @property {LearnHost | null} host null in the exported lesson
 */

/**
 * answer: shows the answer in the picture. prompt: returns the prompt to decode; only the last scene has one.
 * @typedef {{ root: HTMLElement, answer: () => void, prompt?: () => string }} Scene
 */
/** @typedef {(context: SceneContext) => Scene} MakeScene */

export class LearnView {
  /**
   * @param {HTMLElement} root
   * @param {string} text JSON of LessonData
   * @param {AbortSignal} signal removes the listeners
   * @param {LearnHost | null} [host] null in the exported lesson
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
      answerBox: make(
        "div",
        "sbd-learn-said",
        { "aria-live": "polite" },
        makeSizedBox(answer),
        makeSizedBox(why),
      ),
      live: make("div", "sbd-live", { "aria-live": "polite" }),
      back,
      next,
    };
  }

  /** @returns {Lesson} */
  build() {
    const lesson = readLesson(this.text);
    const { dots, place, problem, question, act, stage, answerBox, live, back, next } = this.parts;
    dots.append(...lesson.scenes.map(({ title }, index) => this.makeDot(title, index)));
    const large = makeStep("Lecture (L)", () => this.lecture.toggle());
    large.prepend(icon("lecture"));
    large.classList.add("sbd-learn-lecture");
    const places = lesson.scenes.map((_, index) => placeWords(lesson.scenes, index));
    const tools = make("div", "sbd-learn-tools", makeSizedBox(place, places), large);
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
        answerBox,
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
      closeAll: () => this.lecture.leave(),
    };
    listenToKeys(this.root, keys, signal);
    // On a page with other views, an address without a scene belongs to one of them.
    const follow = () => this.isOpen && (this.isNamed || !this.host) && this.follow();
    addEventListener("popstate", follow, { signal });
    addEventListener("hashchange", follow, { signal });
    onResize(this.root, () => this.fit(), signal);
  }

  /** Adapt the layout to the width of the view, as the player does. */
  fit() {
    const width = this.root.clientWidth;
    this.root.classList.toggle("is-narrow", width < 640 && !isLecturing(this.root));
  }

  get addresses() {
    return this.lesson?.scenes.map(({ address }) => address) ?? [];
  }

  /** Show a scene when the view comes to the front. */
  open() {
    if (this.isOpen) return;
    this.follow();
  }

  /** Show the scene that the address names, or else the one shown last. */
  follow() {
    this.lesson ??= this.build();
    this.isOpen = true;
    const named = sceneAt(location.hash, this.addresses);
    this.show(named?.index ?? this.index, named?.problem ?? "");
    if (!named) history.replaceState(history.state, "", this.hash);
  }

  /** Stop the scene and take it out of the address when another view comes to the front. */
  close() {
    if (this.isNamed) history.replaceState(history.state, "", location.pathname + location.search);
    if (!this.isOpen) return;
    this.isOpen = false;
    this.leaving.abort();
    this.parts.stage.replaceChildren();
    this.lecture.leave();
  }

  /** Whether the address belongs to the Learn view. */
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

  /** Show the scene's answer, and scroll to it: on a phone it may be below the window. */
  showAnswer() {
    this.scene?.answer();
    this.parts.answerBox.scrollIntoView({ block: "nearest", behavior: scrollBehavior() });
  }

  /** @param {number} index @param {string} problem what is wrong with the address, "" for nothing */
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
    for (const [part, text] of this.answerTexts(words)) {
      part.replaceChildren();
      if (part.parentElement) setSizedTexts(part.parentElement, [plainWords(text)]);
    }
    this.scene = makeScene({
      lesson,
      signal: this.leaving.signal,
      onActed: () => this.showAnswerWords(),
      say: (text) => setText(parts.live, text),
      host: this.host,
    });
    setAttribute(parts.stage, "data-scene", words.address);
    parts.stage.replaceChildren(this.scene.root);
    this.showPlace();
    this.fit();
  }

  /**
   * Return the elements that hold a scene's answer and its reason, each with its text.
   * @param {SceneWords} words
   * @returns {[part: HTMLElement, text: string][]}
   */
  answerTexts({ answer, why = "" }) {
    return [
      [this.parts.answer, answer],
      [this.parts.why, why],
    ];
  }

  /** Show the answer in words, after the reader acted or went forward. */
  showAnswerWords() {
    const words = this.lesson?.scenes[this.index];
    if (this.isAnswered || !words) return;
    this.isAnswered = true;
    for (const [part, text] of this.answerTexts(words)) part.replaceChildren(...withTerms(text));
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

const TYPED_MS = 120; // for Gradio to take in what was typed
const CHECK_MS = 50;
const FORM_MS = 3000; // how long the form may take to show the settings

/**
 * Decode a prompt in the player: with Set Block Decoding, as in the scenes, or with verify if the model takes any
 * prompt, as its adapter was trained to draft.
 * @param {string} promptId element id of the form's prompt
 * @param {number} gamma
 * @param {string} prompt
 */
function decodeByBlocks(promptId, gamma, prompt) {
  showView("watch");
  typeInto(promptBox(promptId), prompt, { hasSettings: true });
  const strategy = isChatChosen() ? "verify" : "sbd";
  useSettings({ strategy, gamma, solver: "entropy-bound" });
  const latest = performance.now() + FORM_MS;
  const timer = setInterval(() => {
    const isSet =
      choiceOf("strategy") === strategy && (strategy !== "sbd" || numberOf("gamma") === gamma);
    if (!isSet && performance.now() < latest) return;
    clearInterval(timer);
    // Gradio's button sends only what Gradio has taken in by then.
    setTimeout(() => find(document, "#sbd-go button").click(), TYPED_MS);
  }, CHECK_MS);
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
    leave: () => showView("watch"),
    decode: (prompt) => decodeByBlocks(setting.prompt_id, setting.gamma, prompt),
  });
  onViewChange((name) => (name === "learn" ? view.open() : view.close()), signal);
  return () => {};
}

const VIEW = /^#learn(?:\/(.*))?$/;

/**
 * Return the index of the scene that an address names; null for an address of another view. An unknown scene gives the
 * first, and a sentence on the problem.
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
/** A word to guess, after the text `before`; entropy in nats. @typedef {{ before: string, entropy: number, guesses: [text: string, probability: number][], options: string[] }} Gap */
/** Words that do not fit together; end: exclusive. @typedef {{ words: string, start: number, end: number, forward_pass: number }} Clash */
/**
 * The story at one gamma. fault: the first one found, "" for none. has_facts: whether the check compared facts with the
 * prompt. fault_tokens: indices of the tokens that `fault` quotes. pass: index of the pass that filled the token.
 * @typedef {{ gamma: number, is_right: boolean, fault: string, has_facts: boolean, clashes: Clash[], fault_tokens: number[], passes: number, tokens: [text: string, pass: number][] }} StoryRun
 */
/**
 * A sudoku's first empty cell: its index, the digits that the givens leave, the cells that rule out all but one.
 * @typedef {{ cell: number, candidates: string, settled_by: number[] }} Order
 */
/**
 * A chip. rates: the source of its peak rates. is_big: whether it is `big_chip`. seconds: for the run `text`, by block
 * size (1: one token at a time), then by index in `batches`.
 * @typedef {{ name: string, rates: string, is_big: boolean, seconds: Record<number, number[]> }} Machine
 */
/** @typedef {{ rows: number, loading: number, computing: number }} PassTime seconds of a pass over `rows` tokens */
/**
 * @typedef {object} LessonData
 * @property {SceneWords[]} scenes
 * @property {Record<string, string>} runs wire lines by the name of the run
 * @property {Gap[]} gaps
 * @property {number} mask_pass index of the forward pass of the run `text` for the scene on masks
 * @property {number} bound_pass index of the forward pass of the run `text` for the scene on the bound
 * @property {number} check_pass index of a forward pass of the run `verify` that rejects part of a draft
 * @property {boolean} is_verify_ntp whether verify and next-token prediction wrote the same answer
 * @property {number} check_ntp_passes next-token prediction's number of forward passes for the prompt of `verify`
 * @property {Order} order
 * @property {{ sbd: string, verify: string }} tokens_per_pass means over all held-out prompts
 * @property {string} big_chip name of the chip of `pass_times`
 * @property {StoryRun[]} edges by rising gamma
 * @property {string} story prompt of `edges`
 * @property {Machine[]} machines
 * @property {number[]} batches numbers of texts decoded at the same time
 * @property {[size: number, passes: number][]} blocks number of forward passes of the run `text` by block size
 * @property {PassTime[]} pass_times
 * @property {string[]} prompts examples for nano
 * @property {string[]} chat_prompts examples for a model that takes any prompt
 */

/** @typedef {Omit<LessonData, "runs"> & { runs: Record<"text" | "verify" | "sudoku", Run> }} Lesson */

/** Read a run from wire lines. @param {string | undefined} lines @returns {Run} */
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
