// Parts that scenes share: bars, choices, a slider, animation, and a recorded run shown by the player's parts.

import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { clamp } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import { isDarkPage, onScheme, prefersReducedMotion } from "../dom/screen.ts";
import { buttonTemplate } from "../dom/templates.ts";
import type { Pointing } from "../watch/actions.ts";
import type { BudgetActions } from "../watch/budget.ts";
import { initialState, type PlayerState, Reveals, type View, viewOf } from "../watch/playhead.ts";

export function passName({ item }: { item?: { pass: number; isPinned?: boolean } }) {
  return item ? `pass ${item.pass + 1}` : "";
}

/**
 * Return a bar with its name and number.
 * @param part share of the full length, 0 to 1
 */
export function bar(kind: string, name: string, part: number, value: string) {
  return html`<div class="sbd-learn-bar-row">
    <span class="sbd-learn-bar-name">${name}</span>
    <span class="sbd-learn-bar-track"
      ><span class="sbd-learn-bar is-${kind}" style="--part: ${part}"></span
    ></span>
    <span class="sbd-learn-bar-number">${value}</span>
  </div>`;
}

/**
 * Return a group of buttons, one for each option.
 * @param right the right option, which gets a mark; undefined before it is known
 */
export function choices<Value>(
  label: string,
  options: readonly { name: string; value: Value }[],
  chosen: Value | null,
  choose: (value: Value) => void,
  { right, isNamed }: { right?: Value; isNamed?: boolean } = {},
) {
  const name = html`<span class="sbd-learn-knob-name" aria-hidden="true">${label}</span>`;
  const buttons = options.map(({ name, value }) => {
    const look = `sbd-learn-choice ${value === right ? "is-right" : ""}`;
    return buttonTemplate(look, name, () => choose(value), { isPressed: value === chosen });
  });
  const look = isNamed ? "sbd-learn-knob" : "";
  return html`<div class="sbd-learn-choices ${look}" role="group" aria-label=${label}>
    ${isNamed ? name : ""}${buttons}
  </div>`;
}

/** Call `show` in every frame with a number that rises to 1; only with 1 if the visitor wants no motion. */
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

const STEP_MS = 1100;

/** A slider that can also move by itself, step by step, until the reader moves it. */
export class PlayedSlider {
  value = 0;
  target = 0;
  timer = 0;

  constructor(
    readonly label: string,
    readonly last: number,
    readonly words: (value: number) => string,
    readonly draw: () => void,
    readonly onMoved: (value: number) => void,
    readonly onStopped: () => void,
    signal: AbortSignal,
  ) {
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  goTo(value: number) {
    clearTimeout(this.timer);
    this.value = value;
    this.draw();
  }

  step() {
    if (this.value < this.target) this.goTo(this.value + 1);
    if (this.value < this.target) this.timer = window.setTimeout(() => this.step(), STEP_MS);
    else this.onStopped();
  }

  /** Move by itself from one value to another; at once if the visitor wants no motion. */
  play(from: number, to: number) {
    this.target = to;
    this.goTo(prefersReducedMotion() ? to : Math.min(from, to));
    this.timer = window.setTimeout(() => this.step(), prefersReducedMotion() ? 0 : STEP_MS);
  }

  move({ target }: Event) {
    this.goTo(Number((target as HTMLInputElement).value));
    this.onMoved(this.value);
  }

  get template() {
    const words = this.words(this.value);
    return html`<div class="sbd-learn-slider">
      <span class="sbd-learn-slider-label">${this.label}</span>
      <input
        class="sbd-learn-range"
        type="range"
        min="0"
        max=${this.last}
        step="1"
        aria-label=${this.label}
        aria-valuetext=${words}
        style="--done: ${(this.value / Math.max(this.last, 1)) * 100}%"
        .value=${live(String(this.value))}
        @input=${(event: Event) => this.move(event)}
      />
      <output class="sbd-learn-slider-words">${words}</output>
    </div>`;
  }
}

export function news(words: string): TemplateResult {
  return html`<p class="sbd-learn-yours" role="status">${words}</p>`;
}

type Part = { update: (view: View) => void };
type FigureActions = Pointing & BudgetActions;

const PASS_MS = 830; // how long a pass is shown while a figure plays

/** A recorded run that a scene shows and plays with the player's parts. */
export class Figure {
  reveals = new Reveals();
  parts: Part[] = [];
  frame = 0;
  hasMoved = false;
  isStep = false;
  state = initialState();

  /** @param signal aborted when the reader leaves the scene */
  constructor(
    readonly run: Run,
    readonly signal: AbortSignal,
  ) {
    onScheme(() => this.draw(), signal);
    signal.addEventListener("abort", () => cancelAnimationFrame(this.frame));
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

  add(...parts: Part[]) {
    this.parts.push(...parts);
    this.draw();
  }

  set(change: Partial<PlayerState>) {
    Object.assign(this.state, change);
    this.draw();
  }

  /** Show a forward pass. @param isStep whether to animate what the pass reveals */
  seek(pass: number, isStep: boolean) {
    this.hasMoved = true;
    this.isStep = isStep;
    this.set({ pass: clamp(pass, 0, this.run.main.lastPass), gammaPreview: null });
  }

  /** Play up to a forward pass; show it at once if the visitor wants no motion. */
  play(target: number, onArrived: () => void) {
    if (prefersReducedMotion() || this.state.pass >= target) {
      this.seek(target, false);
      onArrived();
      return;
    }
    const timer = setInterval(() => {
      this.seek(this.state.pass + 1, true);
      if (this.state.pass < target) return;
      clearInterval(timer);
      onArrived();
    }, PASS_MS);
    this.signal.addEventListener("abort", () => clearInterval(timer));
  }

  draw() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  paint() {
    if (this.hasMoved) this.reveals.begin(this.isStep ? PASS_MS : null);
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
