// The Learn view: a lesson of ten scenes, shown one at a time, each with its own address. A scene asks, the reader
// acts, the scene answers; going forward first shows the answer, then the next scene. Only mountLearn needs the page around it.

import { html, nothing, render, type TemplateResult } from "lit-html";
import { DEVICES } from "../core/cost.ts";
import { passTime } from "../core/roofline.ts";
import { History, type Run, type Shape } from "../core/run.ts";
import { PAPER_SOLVER, plainWords } from "../core/words.ts";
import { find } from "../dom/elements.ts";
import { listenToKeys } from "../dom/keys.ts";
import { isLecturing, makeLecture, onResize, scrollBehavior } from "../dom/screen.ts";
import { buttonTemplate, iconTemplate } from "../dom/templates.ts";
import { makeTermNote, termTemplates } from "../dom/terms.ts";
import { onViewChange, playerOf, showView } from "../dom/views.ts";
import { form } from "../form/form.ts";
import { chooseModel } from "../head.ts";
import { doJob } from "../jobs.ts";
import { showRecorded } from "../recordings.ts";
import type { Origin } from "../watch/tree.ts";
import { makeBoundScene } from "./scenes/bound.ts";
import { makeCacheScene } from "./scenes/cache.ts";
import { makeCheckScene } from "./scenes/check.ts";
import { makeCostScene } from "./scenes/cost.ts";
import { makeGuessScene } from "./scenes/guess.ts";
import { makeMaskScene } from "./scenes/masks.ts";
import { makeOrderScene } from "./scenes/order.ts";
import { makeSingleScene } from "./scenes/single.ts";
import { makeWrongScene } from "./scenes/wrong.ts";
import { makeYoursScene } from "./scenes/yours.ts";

/** Decode a recorded run again with some settings changed. */
export type Redo = (run: Run, changes: Record<string, unknown>, origin: Origin) => void;

/** Functions of the page around the Learn view; the exported lesson has no such page. */
interface LearnHost {
  leave: () => void; // shows the player
  decode: (prompt: string) => void; // decodes a prompt in the player
  redo: Redo; // in the player
  chooseModel: (name: string) => void;
}

interface SceneContext {
  lesson: Lesson;
  signal: AbortSignal; // aborted when the reader leaves the scene
  onActed: () => void; // called when the reader has done what the scene asks; shows the answer in words
  say: (words: string) => void; // announces a text to screen readers
  draw: () => void; // draws the view again
  host: LearnHost | null; // null in the exported lesson
}

/** answer: shows the answer in the picture. prompt: returns the prompt to decode; only the last scene has one. */
type Scene = { view: () => TemplateResult; answer: () => void; prompt?: () => string };
export type MakeScene = (context: SceneContext) => Scene;

/** The smallest type of a lecture in pixels, and the factor by which it shrinks until a scene fits. */
const [LEAST_TYPE, TYPE_STEP] = [10, 0.97];

export class LearnView {
  /** read when the view is first opened */
  lesson: Lesson | null = null;
  index = 0;
  isAnswered = false;
  answered: Set<number> = new Set(); // scenes whose answer was shown: they show it when the reader comes back
  isOpen = false;
  problem = ""; // what is wrong with the address
  said = ""; // by a screen reader
  scene: Scene | null = null;
  leaving = new AbortController();
  lecture: ReturnType<typeof makeLecture>;

  constructor(
    readonly root: HTMLElement,
    readonly text: string,
    readonly signal: AbortSignal,
    readonly host: LearnHost | null = null,
  ) {
    const change = () => {
      this.draw();
      this.fit();
    };
    this.lecture = makeLecture(root, change, signal);
    signal.addEventListener("abort", () => this.leaving.abort());
  }

  build(): Lesson {
    this.listen();
    return readLesson(this.text);
  }

  draw() {
    const { lesson, scene, index, isAnswered, host } = this;
    const words = lesson?.scenes[index];
    if (!lesson || !scene || !words) return;
    const { scenes } = lesson;
    const isLast = index + 1 === scenes.length;
    const over = isLast ? "Decode it" : "Next";
    this.root.classList.toggle("is-answered", isAnswered);
    this.root.classList.toggle("is-last", isLast);
    const step = (look: string, words: unknown, act: () => void, state = {}) =>
      buttonTemplate(`sbd-learn-step ${look}`, words, act, state);
    const dot = ({ title }: SceneWords, at: number) => {
      const label = `Scene ${at + 1}: ${title}`;
      return html`<li
        ><button
          type="button"
          class="sbd-learn-dot ${at < index || (at === index && isAnswered) ? "is-past" : ""}"
          title=${label}
          aria-label=${label}
          aria-current=${at === index ? "step" : nothing}
          @click=${() => this.go(at)}
        ></button
      ></li>`;
    };
    const goOn = () => (this.isOver ? this.decode() : this.forward());
    const isHidden = isLast && isAnswered && host === null;
    const lecture = html`${iconTemplate("lecture")}${isLecturing(this.root) ? "Leave (Esc)" : "Lecture (L)"}`;
    const view = html`<nav class="sbd-learn-head" aria-label="Scenes">
        <ol class="sbd-learn-dots">${scenes.map(dot)}</ol>
        <div class="sbd-learn-tools">
          <p class="sbd-learn-place">${index + 1} of ${scenes.length} · ${words.title}</p>
          ${step("sbd-learn-lecture", lecture, () => this.lecture.toggle())}
          ${host ? step("sbd-learn-skip", "Skip to the player", host.leave) : nothing}
        </div>
      </nav>
      <section class="sbd-learn-scene" aria-label="Scene">
        <p class="sbd-learn-problem" role="alert" ?hidden=${!this.problem}>${this.problem}</p>
        <div class="sbd-learn-ask">
          <h2 class="sbd-learn-question" tabindex="-1">${words.question}</h2>
          <p class="sbd-learn-act">${words.act}</p>
        </div>
        <div class="sbd-learn-stage sbd-player" data-scene=${words.address}>${scene.view()}</div>
        <div class="sbd-learn-said" aria-live="polite">
          ${this.answerTemplate("answer", words.answer)}${this.answerTemplate("why", words.why)}
        </div>
      </section>
      <div class="sbd-learn-foot">
        ${step("", "Back", () => this.back(), { isDisabled: index === 0 })}<span
          class="sbd-learn-keys">← → keys</span
        >${step("is-main", isAnswered ? over : "Show me", goOn, { isHidden })}
      </div>
      <div class="sbd-live" aria-live="polite">${this.said}</div>`;
    render(view, this.root);
  }

  /** Return a paragraph that has the room of its text before it shows it, after the reader acted or went forward. */
  answerTemplate(name: "answer" | "why", text = "") {
    return this.isAnswered
      ? html`<p class="sbd-learn-${name}">${termTemplates(text)}</p>`
      : html`<p class="sbd-learn-${name}" data-text=${plainWords(text)}></p>`;
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
    this.root.addEventListener("keydown", (event) => {
      const isTyped = event.target instanceof HTMLTextAreaElement && event.key === "Enter";
      if (!isTyped || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.decode();
    });
    makeTermNote(this.root, signal);
  }

  /** Adapt the layout to the width of the view; in a lecture, take the largest type with which all of a scene fits. */
  fit() {
    const { root } = this;
    const isLecture = isLecturing(root);
    root.classList.toggle("is-narrow", root.clientWidth < 640 && !isLecture);
    root.style.removeProperty("--learn");
    let size = Number.parseFloat(getComputedStyle(root).fontSize);
    while (isLecture && size > LEAST_TYPE && this.overflows) {
      size *= TYPE_STEP;
      root.style.setProperty("--learn", `${size}px`);
    }
  }

  get stage() {
    return find(this.root, ".sbd-learn-stage");
  }

  /** Whether the scene is larger than its room in the window. */
  get overflows() {
    const { stage } = this;
    const rooms = [stage, stage.parentElement ?? stage];
    return rooms.some((node) => node.scrollHeight > node.clientHeight);
  }

  get addresses() {
    return this.lesson?.scenes.map(({ address }) => address) ?? [];
  }

  open() {
    if (!this.isOpen) this.follow();
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
    this.lecture.leave();
  }

  get isNamed() {
    return sceneAt(location.hash, []) !== null;
  }

  get hash() {
    return hashOf(this.addresses[this.index] ?? "");
  }

  go(index: number) {
    if (index < 0 || index >= SCENES.length) return;
    this.show(index, "");
    history.pushState(history.state, "", this.hash);
    find(this.root, ".sbd-learn-question").focus({ preventScroll: true });
    if (this.root.getBoundingClientRect().top < 0) this.root.scrollIntoView({ block: "start" });
  }

  back() {
    this.go(this.index - 1);
  }

  forward() {
    if (!this.isAnswered) this.showAnswer();
    else if (!this.isOver) this.go(this.index + 1);
  }

  /** Whether nothing comes after what is shown, so that a key pressed once too often does not end a lecture. */
  get isOver() {
    return this.isAnswered && this.index + 1 === SCENES.length;
  }

  decode() {
    this.host?.decode(this.scene?.prompt?.() ?? "");
  }

  /** Show the scene's answer, and scroll to it: on a phone it may be below the window. */
  showAnswer() {
    this.scene?.answer();
    const said = find(this.root, ".sbd-learn-said");
    said.scrollIntoView({ block: "nearest", behavior: scrollBehavior() });
  }

  /** @param problem what is wrong with the address, "" for nothing */
  show(index: number, problem: string) {
    const { lesson, host } = this;
    const makeScene = SCENES[index];
    if (!lesson || !makeScene) return;
    this.leaving.abort();
    this.leaving = new AbortController();
    const { signal } = this.leaving;
    Object.assign(this, { index, problem, isAnswered: false, said: "", scene: null });
    const onActed = () => this.showAnswerWords();
    const say = (text: string) => {
      this.said = text;
      this.draw();
    };
    this.scene = makeScene({ lesson, signal, onActed, say, draw: () => this.draw(), host });
    this.draw();
    const root = this.stage.firstElementChild;
    if (root) onResize(root, () => this.fit(), signal);
    if (this.answered.has(index)) this.scene.answer();
    this.fit();
  }

  showAnswerWords() {
    this.isAnswered = true;
    this.answered.add(this.index);
    this.draw();
  }
}

const SCENES: MakeScene[] = [
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

/**
 * Decode a prompt in the player: with Set Block Decoding, as in the scenes, or with verify if the page warns of the
 * paper's solver, as the model's adapter was trained to draft.
 */
function decodeByBlocks(gamma: number, prompt: string) {
  showView("watch");
  form.setByHand({ strategy: form.model?.paper ? "verify" : "sbd", gamma, solver: PAPER_SOLVER });
  form.set({ prompt });
  doJob({ kind: "decode", form: form.request });
}

export function mountLearn(element: HTMLElement, value: string, signal: AbortSignal) {
  const setting: { gamma: number; lesson: string } = JSON.parse(value);
  const host = find(element, ".sbd-learn");
  const view = new LearnView(host, setting.lesson, signal, {
    leave: () => showView("watch"),
    decode: (prompt) => decodeByBlocks(setting.gamma, prompt),
    redo: (run, changes, origin) => {
      showRecorded(run.lines.join("\n"));
      form.follow(run.settings());
      playerOf(document)?.redoWith(changes, origin);
    },
    chooseModel,
  });
  onViewChange((name) => (name === "learn" ? view.open() : view.close()), signal);
}

const VIEW = /^#learn(?:\/(.*))?$/;

/**
 * Return the index of the scene that an address names; null for an address of another view. An unknown scene gives the
 * first, and a sentence on the problem.
 */
export function sceneAt(
  hash: string,
  addresses: string[],
): { index: number; problem: string } | null {
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

function readable(text: string) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function hashOf(address: string) {
  return `#learn/${address}`;
}

type SceneWords = {
  address: string;
  title: string;
  question: string;
  act: string;
  answer: string;
  why?: string;
};
/** A word to guess, after the text `before`; entropy in nats. */
export type Gap = {
  before: string;
  entropy: number;
  guesses: [text: string, probability: number][];
  options: string[];
};
/** Words that do not fit together; end: exclusive. */
type Clash = { words: string; start: number; end: number; forward_pass: number };
/**
 * The story at one gamma. fault: the first one found, "" for none. has_facts: whether the check compared facts with
 * the prompt. fault_tokens: indices of the tokens that `fault` quotes. pass: index of the pass that filled the
 * token.
 */
export type StoryRun = {
  gamma: number;
  is_right: boolean;
  fault: string;
  has_facts: boolean;
  clashes: Clash[];
  fault_tokens: number[];
  passes: number;
  tokens: [text: string, pass: number][];
};
/** A sudoku's first empty cell: its index, the digits that the givens leave, the cells that rule out all but one. */
type Order = { cell: number; candidates: string; settled_by: number[] };
/**
 * A chip. rates: the source of its peak rates. is_big: whether it is `big_chip`. seconds: for the run `text`, by
 * block size (1: one token at a time), then by index in `batches`. pass_times: by the rows of a pass after the prompt.
 */
export type Machine = {
  name: string;
  rates: string;
  is_big: boolean;
  seconds: Record<number, number[]>;
  pass_times: PassTime[];
};
/** seconds of a pass over `rows` tokens */
export type PassTime = { rows: number; loading: number; computing: number };
interface LessonData {
  scenes: SceneWords[];
  runs: Record<string, string>; // wire lines by the name of the run
  gaps: Gap[];
  mask_pass: number; // index of the forward pass of the run `text` for the scene on masks
  bound_pass: number; // index of the forward pass of the run `text` for the scene on the bound
  check_pass: number; // index of a forward pass of the run `verify` that rejects part of a draft
  is_verify_ntp: boolean; // whether verify and next-token prediction wrote the same answer
  check_ntp_passes: number; // next-token prediction's number of forward passes for the prompt of `verify`
  order: Order;
  tokens_per_pass: { sbd: string; verify: string }; // means over all held-out prompts
  big_chip: string; // name of the chip whose forward passes are shown
  shape: Shape; // of Llama-3.1-8B, whose forward passes are timed
  edges: StoryRun[]; // by rising gamma
  story: string; // prompt of `edges`
  rows: Record<number, [rows: number, cached: number][]>; // that each forward pass of the run `text` reads, by block size
  prompts: string[]; // examples for nano
  chat_prompts: string[]; // examples for a model that takes any prompt
}

export interface Lesson extends Omit<LessonData, "runs"> {
  runs: Record<"text" | "verify" | "sudoku", Run>;
  machines: Machine[];
  batches: number[]; // numbers of texts decoded at the same time
  blocks: [size: number, passes: number][]; // number of forward passes of the run `text` by block size
}

const BATCHES = [1, 8, 32, 128];
const SHOWN_ROWS = [1, 16];

/** Return the chips of 2 bytes a weight, so that their names need no number format. */
export function machinesOf(
  { shape, rows, big_chip: bigChip }: Pick<LessonData, "shape" | "rows" | "big_chip">,
  cache: number,
): Machine[] {
  const shapes = { published: shape, corrected: shape };
  const chips = [...DEVICES.values()].filter(({ valueBytes }) => valueBytes === 2);
  return chips.map((device) => {
    const name = device.name.replace(/( SXM)?,.*/, "");
    const time = (size: number, cached: number, batch: number) =>
      passTime(size, { shapes, device, cache: cached, batch });
    const secondsOf = (passes: [number, number][], batch: number) =>
      passes.reduce((sum, [size, cached]) => sum + time(size, cached, batch).seconds, 0);
    const seconds = Object.entries(rows).map(([block, passes]) => [
      block,
      BATCHES.map((batch) => secondsOf(passes, batch)),
    ]);
    const passTimes = SHOWN_ROWS.map((size) => {
      const { moving: loading, computing } = time(size, cache, 1);
      return { rows: size, loading, computing };
    });
    return {
      name,
      rates: device.source,
      is_big: name === bigChip,
      seconds: Object.fromEntries(seconds),
      pass_times: passTimes,
    };
  });
}

function runOf(lines: string | undefined): Run {
  const history = new History();
  history.accept(lines ?? "");
  if (!history.run) throw new Error("a recorded run of the lesson is missing");
  return history.run;
}

/** @param text JSON of LessonData */
export function readLesson(text: string): Lesson {
  const data: LessonData = JSON.parse(text);
  const { text: main, verify, sudoku } = data.runs;
  const runs = { text: runOf(main), verify: runOf(verify), sudoku: runOf(sudoku) };
  const machines = machinesOf(data, runs.text.numPrompt);
  const sizes = Object.entries(data.rows).map(([size, passes]) => [Number(size), passes.length]);
  const blocks = sizes.filter(([size]) => size !== 1) as Lesson["blocks"];
  return { ...data, runs, machines, batches: BATCHES, blocks };
}
