// Parts that scenes share: bars, choices, a slider, animation, boxes whose size does not change with their text, and a
// recorded run shown by the player's parts.

import { entropyColour, inkOn, unsureness } from "../core/colours.js";
import { clamp } from "../core/numbers.js";
import { make, setAttribute, setStyle, setText } from "../dom/elements.js";
import { isDarkPage, onScheme, prefersReducedMotion } from "../dom/screen.js";
import { initialState, makeClock, Reveals, viewOf } from "../watch/playhead.js";

/** @import { Run } from "../core/run.js" */
/** @import { Pointing } from "../watch/actions.js" */
/** @import { BudgetActions } from "../watch/budget.js" */
/** @import { PlayerState, View } from "../watch/playhead.js" */

/** Colour a node by an entropy. @param {HTMLElement} node @param {number} entropy nats */
export function paintEntropy(node, entropy) {
  node.classList.add("sbd-learn-ink");
  setStyle(node, "--ink-light", entropyColour(entropy, false));
  setStyle(node, "--ink-dark", entropyColour(entropy, true));
  setStyle(node, "--on-light", inkOn(entropy, false));
  setStyle(node, "--on-dark", inkOn(entropy, true));
  setStyle(node, "--level", unsureness(entropy).toFixed(3));
}

/**
 * Put a node into a box that is large enough for any of the texts, so that nothing moves when its text changes.
 * @param {HTMLElement} node has one class; the box gets that class with "-room" added
 * @param {string[]} texts that the node may show
 */
export function makeSizedBox(node, texts = []) {
  const root = make("div", `sbd-learn-room ${node.className}-room`, node);
  setSizedTexts(root, texts);
  return root;
}

/** Change the texts that a box fits. @param {HTMLElement} box made by makeSizedBox @param {string[]} texts */
export function setSizedTexts(box, texts) {
  for (const old of box.querySelectorAll(":scope > .sbd-learn-ghost")) old.remove();
  // The style sheet shows the attribute, so that the page does not contain these texts.
  const ghosts = [...new Set(texts)].map((text) =>
    make("span", "sbd-learn-ghost", { "data-text": text }),
  );
  box.prepend(...ghosts);
}

/** Write "pass 3" for "#3" on tiles. @param {HTMLElement} root of the tiles, updated before this part */
export function nameTilePasses(root) {
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

/** Write "3" for "#3" in a sudoku. @param {HTMLElement} root of the sudoku, updated before this part */
export function nameCellPasses(root) {
  return {
    update() {
      for (const node of root.querySelectorAll(".sbd-sudoku-pass")) {
        setText(node, (node.textContent ?? "").replace("#", ""));
      }
    },
  };
}

/** @typedef {ReturnType<typeof makeBar>} Bar */

/** Make a bar. @param {string} words its name @param {string} kind names its colour in the style sheet */
export function makeBar(words, kind) {
  const name = make("span", "sbd-learn-bar-name", words);
  const fill = make("span", `sbd-learn-bar is-${kind}`);
  const number = make("span", "sbd-learn-bar-number");
  const track = make("span", "sbd-learn-bar-track", fill);
  return {
    root: make("div", "sbd-learn-bar-row", name, track, number),
    /** @param {number} part share of the full length, 0 to 1 @param {string} value text of the number */
    set(part, value) {
      setStyle(fill, "--part", String(part));
      setText(number, value);
    },
    /** @param {string} other */
    rename(other) {
      setText(name, other);
    },
  };
}

/**
 * Call `show` in every frame with a number that rises to 1; only with 1 if the visitor wants no motion.
 * @param {number} duration milliseconds
 * @param {(part: number) => void} show
 * @param {AbortSignal} signal stops the calls
 */
export function animate(duration, show, signal) {
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
 * @param {string} label of the group
 * @param {string[]} options
 * @param {(option: string) => void} onChoose
 */
export function makeChoices(label, options, onChoose) {
  const buttons = options.map((option) => {
    const button = make("button", "sbd-learn-choice", option);
    button.addEventListener("click", () => {
      mark(option, true);
      onChoose(option);
    });
    return { option, button };
  });
  /** @type {string | null} */
  let right = null;
  /** @param {string} chosen @param {boolean} isByReader whether the reader chose it */
  function mark(chosen, isByReader) {
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
     * @param {string} option the right one, marked from now on
     * @param {string} sign its mark
     */
    reveal(option, sign = "✓") {
      right = option;
      for (const { button } of buttons) button.dataset.sign = sign;
      showRight();
    },
  };
}

const STEP_MS = 1100;

/**
 * @param {string} label
 * @param {number} last the largest value; the smallest is 0
 * @param {(value: number) => string} words puts a value into words
 * @param {(value: number) => void} onInput
 */
function makeSlider(label, last, words, onInput) {
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
    /** @param {number} value */
    set(value) {
      range.value = String(value);
      show();
    },
  };
}

/**
 * Make a slider that can also move by itself, step by step, until the reader moves it.
 * @param {string} label
 * @param {number} last the largest value; the smallest is 0
 * @param {(value: number) => string} words puts a value into words
 * @param {{ show: (value: number) => void, onMoved: (value: number) => void, onStopped?: () => void }} acts
 *   show: shows a value; onMoved: called when the reader moves the slider; onStopped: when it has moved by itself
 * @param {AbortSignal} signal stops the movement
 */
export function makePlayedSlider(
  label,
  last,
  words,
  { show, onMoved, onStopped = () => {} },
  signal,
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
  /** @param {number} next */
  function goTo(next) {
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
    /**
     * Move by itself from one value to another; at once if the visitor wants no motion.
     * @param {number} from
     * @param {number} to
     */
    play(from, to) {
      target = to;
      goTo(prefersReducedMotion() ? to : Math.min(from, to));
      timer = window.setTimeout(step, prefersReducedMotion() ? 0 : STEP_MS);
    },
  };
}

/** @typedef {{ update: (view: View) => void }} Part */
/** @typedef {Pointing & BudgetActions} FigureActions */

const PASSES_A_SECOND = 1.2;

/** A recorded run that a scene shows and plays with the player's parts. */
export class Figure {
  /** @param {Run} run @param {AbortSignal} signal aborted when the reader leaves the scene */
  constructor(run, signal) {
    this.run = run;
    this.reveals = new Reveals();
    /** @type {Part[]} */
    this.parts = [];
    this.frame = 0;
    this.target = 0;
    this.hasMoved = false;
    this.isStep = false;
    /** @type {() => void} */
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

  /**
   * Return the actions that the player's parts call; most do nothing unless the scene gives its own.
   * @param {Partial<FigureActions>} own
   * @returns {FigureActions}
   */
  actions(own = {}) {
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

  /** Add parts that show the run. @param {Part[]} parts */
  add(...parts) {
    this.parts.push(...parts);
    this.draw();
  }

  /** @param {Partial<PlayerState>} change */
  set(change) {
    Object.assign(this.state, change);
    this.draw();
    this.clock.start();
  }

  /**
   * Show a forward pass.
   * @param {number} pass
   * @param {boolean} isStep whether to animate what the pass reveals
   */
  seek(pass, isStep) {
    this.hasMoved = true;
    this.isStep = isStep;
    this.set({ pass: clamp(pass, 0, this.run.main.lastPass), gammaPreview: null });
  }

  /**
   * Play up to a forward pass; show it at once if the visitor wants no motion.
   * @param {number} target
   * @param {() => void} onArrived called when the pass is shown
   */
  play(target, onArrived = () => {}) {
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
