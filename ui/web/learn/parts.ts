// Parts that scenes share: bars, choices, a slider, animation, boxes whose size does not change with their text, and a
// recorded run shown by the player's parts.

import { entropyColour, inkOn, unsureness } from "../core/colours.ts";
import { clamp } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import { make, setAttribute, setStyle, setText } from "../dom/elements.ts";
import { isDarkPage, onScheme, prefersReducedMotion } from "../dom/screen.ts";
import type { Pointing } from "../watch/actions.ts";
import type { BudgetActions } from "../watch/budget.ts";
import {
  initialState,
  makeClock,
  type PlayerState,
  Reveals,
  type View,
  viewOf,
} from "../watch/playhead.ts";

/** Colour a node by an entropy. @param entropy nats */
export function paintEntropy(node: HTMLElement, entropy: number) {
  node.classList.add("sbd-learn-ink");
  setStyle(node, "--ink-light", entropyColour(entropy, false));
  setStyle(node, "--ink-dark", entropyColour(entropy, true));
  setStyle(node, "--on-light", inkOn(entropy, false));
  setStyle(node, "--on-dark", inkOn(entropy, true));
  setStyle(node, "--level", unsureness(entropy).toFixed(3));
}

/**
 * Put a node into a box that is large enough for any of the texts, so that nothing moves when its text changes.
 * @param node has one class; the box gets that class with "-room" added
 * @param texts that the node may show
 */
export function makeSizedBox(node: HTMLElement, texts: string[] = []) {
  const root = make("div", `sbd-learn-room ${node.className}-room`, node);
  setSizedTexts(root, texts);
  return root;
}

/** Change the texts that a box fits. @param box made by makeSizedBox */
export function setSizedTexts(box: HTMLElement, texts: string[]) {
  for (const old of box.querySelectorAll(":scope > .sbd-learn-ghost")) old.remove();
  // The style sheet shows the attribute, so that the page does not contain these texts.
  const ghosts = [...new Set(texts)].map((text) =>
    make("span", "sbd-learn-ghost", { "data-text": text }),
  );
  box.prepend(...ghosts);
}

/** Write "pass 3" for "#3" on tiles. @param root of the tiles, updated before this part */
export function nameTilePasses(root: HTMLElement) {
  return {
    update() {
      for (const node of root.querySelectorAll(".sbd-tile-pass")) {
        const words = node.textContent ?? "";
        if (words.startsWith("#")) {
          setText(node, `pass ${words.slice(1)}`);
        }
      }
    },
  };
}

/** Write "3" for "#3" in a sudoku. @param root of the sudoku, updated before this part */
export function nameCellPasses(root: HTMLElement) {
  return {
    update() {
      for (const node of root.querySelectorAll(".sbd-sudoku-pass")) {
        setText(node, (node.textContent ?? "").replace("#", ""));
      }
    },
  };
}

export type Bar = ReturnType<typeof makeBar>;

/** Make a bar. @param words its name @param kind names its colour in the style sheet */
export function makeBar(words: string, kind: string) {
  const name = make("span", "sbd-learn-bar-name", words);
  const fill = make("span", `sbd-learn-bar is-${kind}`);
  const number = make("span", "sbd-learn-bar-number");
  const track = make("span", "sbd-learn-bar-track", fill);
  return {
    root: make("div", "sbd-learn-bar-row", name, track, number),
    /** @param part share of the full length, 0 to 1 @param value text of the number */
    set(part: number, value: string) {
      setStyle(fill, "--part", String(part));
      setText(number, value);
    },
    rename(other: string) {
      setText(name, other);
    },
  };
}

/**
 * Call `show` in every frame with a number that rises to 1; only with 1 if the visitor wants no motion.
 * @param duration milliseconds
 * @param signal stops the calls
 */
export function animate(duration: number, show: (part: number) => void, signal: AbortSignal) {
  if (prefersReducedMotion()) {
    show(1);
    return;
  }
  const begun = performance.now();
  function tick() {
    if (signal.aborted) return;
    const part = Math.min(1, (performance.now() - begun) / duration);
    show(part);
    if (part < 1) requestAnimationFrame(tick);
  }
  tick();
}

/**
 * Make a group of buttons, one for each option.
 * @param label of the group
 */
export function makeChoices(label: string, options: string[], onChoose: (option: string) => void) {
  const buttons = options.map((option) => {
    const button = make("button", "sbd-learn-choice", option);
    button.addEventListener("click", () => {
      mark(option, true);
      onChoose(option);
    });
    return { option, button };
  });
  let right: string | null = null;
  /** @param isByReader whether the reader chose it */
  function mark(chosen: string, isByReader: boolean) {
    for (const { option, button } of buttons) {
      button.classList.toggle("is-chosen", isByReader && option === chosen);
      button.setAttribute("aria-pressed", String(option === chosen));
    }
    showRight();
  }
  function showRight() {
    for (const { option, button } of buttons) {
      button.classList.toggle("is-right", right !== null && option === right);
    }
  }
  return {
    root: make(
      "div",
      "sbd-learn-choices",
      { role: "group", "aria-label": label },
      ...buttons.map(({ button }) => button),
    ),
    /**
     * @param option the right one, marked from now on
     * @param sign its mark
     */
    reveal(option: string, sign: string = "✓") {
      right = option;
      for (const { button } of buttons) button.dataset.sign = sign;
      showRight();
    },
  };
}

const STEP_MS = 1100;

/**
 * @param last the largest value; the smallest is 0
 * @param words puts a value into words
 */
function makeSlider(
  label: string,
  last: number,
  words: (value: number) => string,
  onInput: (value: number) => void,
) {
  const range = make("input", "sbd-learn-range", {
    type: "range",
    min: 0,
    max: last,
    step: 1,
    value: 0,
    "aria-label": label,
  });
  const output = make("output", "sbd-learn-slider-words");
  function show() {
    const text = words(Number(range.value));
    setText(output, text);
    setAttribute(range, "aria-valuetext", text);
    range.style.setProperty("--done", `${(Number(range.value) / Math.max(last, 1)) * 100}%`);
  }
  range.addEventListener("input", () => {
    show();
    onInput(Number(range.value));
  });
  show();
  return {
    root: make(
      "div",
      "sbd-learn-slider",
      make("span", "sbd-learn-slider-label", label),
      range,
      output,
    ),
    set(value: number) {
      range.value = String(value);
      show();
    },
  };
}

/**
 * Make a slider that can also move by itself, step by step, until the reader moves it.
 * @param last the largest value; the smallest is 0
 * @param words puts a value into words
 * @param acts
 * show: shows a value; onMoved: called when the reader moves the slider; onStopped: when it has moved by itself
 * @param signal stops the movement
 */
export function makePlayedSlider(
  label: string,
  last: number,
  words: (value: number) => string,
  {
    show,
    onMoved,
    onStopped = () => {},
  }: { show: (value: number) => void; onMoved: (value: number) => void; onStopped?: () => void },
  signal: AbortSignal,
) {
  let [value, target, timer] = [0, last, 0];
  const stop = () => clearTimeout(timer);
  signal.addEventListener("abort", stop);
  const slider = makeSlider(label, last, words, (chosen) => {
    stop();
    value = chosen;
    show(chosen);
    onMoved(chosen);
  });
  function goTo(next: number) {
    stop();
    value = next;
    slider.set(next);
    show(next);
  }
  function step() {
    if (value < target) goTo(value + 1);
    if (value < target) timer = window.setTimeout(step, STEP_MS);
    else onStopped();
  }
  return {
    root: slider.root,
    goTo,
    /** Move by itself from one value to another; at once if the visitor wants no motion. */
    play(from: number, to: number) {
      target = to;
      goTo(prefersReducedMotion() ? to : Math.min(from, to));
      timer = window.setTimeout(step, prefersReducedMotion() ? 0 : STEP_MS);
    },
  };
}

type Part = { update: (view: View) => void };
type FigureActions = Pointing & BudgetActions;

const PASSES_A_SECOND = 1.2;

/** A recorded run that a scene shows and plays with the player's parts. */
export class Figure {
  reveals = new Reveals();
  parts: Part[] = [];
  frame = 0;
  target = 0;
  hasMoved = false;
  isStep = false;
  onArrived: () => void;
  state: PlayerState;
  clock: { start: () => void; hurry: () => void; stop: () => void };

  /** @param signal aborted when the reader leaves the scene */
  constructor(
    readonly run: Run,
    signal: AbortSignal,
  ) {
    this.onArrived = () => {};
    this.state = initialState();
    this.clock = makeClock(
      () => this.state.isPlaying,
      () => PASSES_A_SECOND,
      () => this.advance(),
    );
    onScheme(() => this.draw(), signal);
    signal.addEventListener("abort", () => {
      this.clock.stop();
      cancelAnimationFrame(this.frame);
    });
  }

  /** Return the actions that the player's parts call; most do nothing unless the scene gives its own. */
  actions(own: Partial<FigureActions> = {}): FigureActions {
    return {
      hover: () => {},
      toggleHold: () => {},
      canRedo: false,
      redo: () => {},
      previewGamma: (gamma) => this.set({ gammaPreview: gamma }),
      gamma: () => this.state.gammaPreview ?? this.run.solver.gamma ?? 0,
      ...own,
    };
  }

  /** Add parts that show the run. */
  add(...parts: Part[]) {
    this.parts.push(...parts);
    this.draw();
  }

  set(change: Partial<PlayerState>) {
    Object.assign(this.state, change);
    this.draw();
    this.clock.start();
  }

  /**
   * Show a forward pass.
   * @param isStep whether to animate what the pass reveals
   */
  seek(pass: number, isStep: boolean) {
    this.hasMoved = true;
    this.isStep = isStep;
    this.set({ pass: clamp(pass, 0, this.run.main.lastPass), gammaPreview: null });
  }

  /**
   * Play up to a forward pass; show it at once if the visitor wants no motion.
   * @param onArrived called when the pass is shown
   */
  play(target: number, onArrived: () => void = () => {}) {
    this.target = target;
    this.onArrived = onArrived;
    if (prefersReducedMotion() || this.state.pass >= target) {
      this.seek(target, false);
      onArrived();
      return;
    }
    this.set({ isPlaying: true });
  }

  advance() {
    this.seek(this.state.pass + 1, true);
    if (this.state.pass < this.target) return;
    this.set({ isPlaying: false });
    this.onArrived();
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  paint() {
    if (this.hasMoved) this.reveals.begin(this.isStep ? 1000 / PASSES_A_SECOND : null);
    const view = viewOf(this.state, {
      run: this.run,
      reveals: this.reveals,
      isDark: isDarkPage(),
      isLecture: false,
      isStep: this.hasMoved && this.isStep,
    });
    this.hasMoved = false;
    for (const part of this.parts) part.update(view);
  }
}
