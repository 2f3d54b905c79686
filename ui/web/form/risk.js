// One slider from safer to bolder: verify, which is exact, then the gammas. Also what is unusual in
// words, what was measured to be best, and the switch for all the rest.
//
// The form starts from the best settings. A recorded run that is chosen brings its own into it; a
// prompt of the visitor's own goes back to what was set by hand, or, if nothing was, to the best.

import constants from "../constants.json" with { type: "json" };
import { adviceWords, nearestStep, outsideWords, recordingWords } from "../core/risk.js";
import { find, make, setAttribute, setText } from "../dom/elements.js";
import { numberBox, promptBox, typeInto, watchForm } from "../dom/page.js";
import { playerOf } from "../watch/mount.js";
import { differences, onUseSettings } from "../watch/stale.js";
import { ByHand, heldByForm } from "./by_hand.js";
import { choiceOf, numberOf, settingDifferences } from "./fields.js";

/** @import { Mount, Trigger } from "../stub.js" */
/** @import { Held } from "./by_hand.js" */

/** @typedef {Held & { gamma: number }} Choice where verify or a gamma decides */
/** @typedef {{ best: { strategy: string, gamma: number, words: string }, gammas: number[], block_range: number[], can_draft: boolean }} Setting */

const ANSWER_MS = 1500; // how long the form may take to follow

/** @param {Choice} choice */
function wordsOf({ strategy, gamma }) {
  if (strategy === "ntp") return "next-token prediction";
  return strategy === "verify" ? "exact: verify" : `γ ${gamma}`;
}

/** The slider; its steps are verify and the gammas. */
class RiskSlider {
  /**
   * @param {Setting} setting
   * @param {Trigger} trigger
   */
  constructor(setting, trigger) {
    this.setting = setting;
    this.trigger = trigger;
    /** @type {{ choice: Held, isAgain: boolean, until: number } | null} what the form is still to follow */
    this.asked = null;
    this.byHand = new ByHand();
    this.recording = ""; // the id of the last that came
    this.range = make("input", "", {
      type: "range",
      min: 0,
      max: setting.gammas.length,
      step: 1,
      "aria-label": "Safer to bolder",
    });
    this.now = make("output", "sbd-risk-now");
    this.outside = make("p", "sbd-risk-outside", { role: "status" });
    this.best = make("button", "sbd-risk-best", { type: "button" });
    this.own = make("span", "", { role: "status" });
    this.advice = make("span");
    this.why = make("p", "sbd-risk-why", {}, this.advice, " ", this.own, this.best);
    const ends = [make("span", "", {}, "safer"), this.now, make("span", "", {}, "bolder")];
    this.ends = make("div", "sbd-risk-ends", {}, ...ends);
    this.range.addEventListener("input", () =>
      this.chooseByHand(this.choiceAt(Number(this.range.value))),
    );
    this.best.addEventListener("click", () => this.chooseByHand(this.bestChoice));
    setText(
      this.best,
      `Use ${setting.best.strategy === "verify" ? "verify" : wordsOf(setting.best)}`,
    );
  }

  /** @returns {Choice} */
  get bestChoice() {
    const { strategy, gamma } = this.setting.best;
    return { strategy, gamma, solver: "entropy-bound" };
  }

  /**
   * @param {number} step
   * @returns {Choice}
   */
  choiceAt(step) {
    const { gammas, best } = this.setting;
    if (step === 0) return { strategy: "verify", gamma: best.gamma };
    return { strategy: "sbd", gamma: gammas[step - 1] ?? 0 };
  }

  /** @param {Choice} choice */
  chooseByHand(choice) {
    this.byHand.choose(choice);
    this.choose(choice);
  }

  /**
   * @param {Held} choice
   * @param {boolean} isAgain once more, because an earlier answer came after the last one
   */
  choose(choice, isAgain = false) {
    this.asked = { choice, isAgain, until: performance.now() + ANSWER_MS };
    if (choice.gamma !== null) typeInto(numberBox(constants.formIds.gamma), String(choice.gamma));
    this.trigger("choose", { ...choice });
    this.look();
  }

  /** What is asked of the form, or what it holds. */
  get held() {
    return this.asked?.choice ?? heldByForm();
  }

  /**
   * What settings come to on the slider; null where neither verify nor a gamma decides.
   * @param {Held | null} held
   * @returns {Choice | null}
   */
  onSlider(held) {
    if (!held || held.strategy === "ntp") return null;
    const gamma = held.gamma ?? (held.strategy === "verify" ? this.setting.best.gamma : null);
    return gamma === null ? null : { ...held, gamma };
  }

  look() {
    const { range, setting, asked } = this;
    const held = heldByForm();
    const isSame = held !== null && asked !== null && isAlike(held, asked.choice);
    if (asked && (isSame || performance.now() > asked.until)) this.asked = null;
    if (asked && !isSame && !this.asked && !asked.isAgain) this.choose(asked.choice, true);
    if (!this.asked && isTurning()) return;
    const isMounting = choiceOf("strategy") === null && setting.can_draft;
    const choice = this.onSlider(this.held) ?? (isMounting ? this.bestChoice : null);
    const isSettable = setting.can_draft && (choice !== null || choiceOf("strategy") === "sbd");
    const hasBlanks = templateText() !== "";
    range.disabled = choice === null || !setting.can_draft;
    setAttribute(range, "min", hasBlanks ? 1 : 0);
    setText(this.advice, adviceWords(setting.best.words, hasBlanks));
    if (choice) {
      const isVerify = choice.strategy === "verify";
      range.value = String(isVerify ? 0 : nearestStep(setting.gammas, choice.gamma) + 1);
    }
    const least = Number(range.min);
    const share = ((Number(range.value) - least) / (setting.gammas.length - least)) * 100;
    range.style.setProperty("--done", `${share}%`);
    const other = isSettable ? "set by another setting" : "one token a forward pass";
    const words = choice ? wordsOf(choice) : other;
    setText(this.now, words);
    setAttribute(range, "aria-valuetext", words);
    const gamma = choice?.strategy === "sbd" ? choice.gamma : 0;
    setText(this.outside, outsideWords(setting, gamma, numberOf("block_size") ?? 2));
    const isBest = choice
      ? isAlike(choice, this.bestChoice)
      : choiceOf("strategy") === setting.best.strategy;
    this.best.hidden = !setting.can_draft || isBest || hasBlanks;
    const run = playerOf(document)?.run;
    const isOther = choice !== null && !this.best.hidden && !this.byHand.isInForm;
    const isBrought = isOther && run?.isRecorded === true && !differences(run).length;
    setText(this.own, recordingWords(isBrought, words));
  }

  /** Only Set Block Decoding fills in blanks. */
  followTemplate() {
    if (!templateText() || choiceOf("strategy") === "sbd") return;
    const gamma = this.onSlider(heldByForm())?.gamma ?? this.setting.best.gamma;
    this.choose({ strategy: "sbd", gamma });
  }

  /** Hear of the run on the stage. */
  followRun() {
    const run = playerOf(document)?.run;
    if (run?.isRecorded && run.id !== this.recording) {
      this.recording = run.id;
      this.byHand.giveWay();
    }
    this.look();
  }

  /** Put in the place of a recording's settings what the visitor set by hand, or the best. */
  followPrompt() {
    const { byHand } = this;
    const run = playerOf(document)?.run;
    const text = promptBox("sbd-prompt-box")?.value.trim();
    byHand.settle(this.held);
    if (!run?.isRecorded || !text || text === run.prompt.trim() || !this.setting.can_draft) return;
    if (templateText() || byHand.isInForm) return;
    if (this.asked !== null || settingDifferences(run).length > 0) return;
    const wanted = byHand.choice ?? this.bestChoice;
    const held = heldByForm();
    byHand.restoreNumbers();
    if (!held || !isAlike(held, wanted)) this.choose(wanted);
  }
}

/** Whether the form, turning to Set Block Decoding, is still to show the solver and its γ. */
const isTurning = () => choiceOf("strategy") === "sbd" && choiceOf("solver") === null;

/** @returns {HTMLTextAreaElement | null} the answer with blanks, which may be one line or more */
const templateBox = () => document.querySelector("#sbd-template-box :is(textarea, input)");

const templateText = () => templateBox()?.value.trim() ?? "";

/**
 * @param {Held} choice
 * @param {Held} other
 */
function isAlike(choice, other) {
  if (choice.strategy !== other.strategy || choice.strategy === "verify")
    return choice.strategy === other.strategy;
  const isSameRule = !choice.solver || !other.solver || choice.solver === other.solver;
  return choice.gamma === other.gamma && isSameRule;
}

/** @type {Mount} */
export function mountRiskSlider({ element, value, trigger, signal }) {
  const slider = new RiskSlider(JSON.parse(value), trigger);
  const advanced = make("button", "sbd-advanced-switch", { type: "button" }, "Advanced");
  const nodes = [slider.range, slider.ends, slider.outside, slider.why, advanced];
  find(element, ".sbd-risk-slider").replaceChildren(...nodes);
  /** @param {boolean} isOpen */
  function openAdvanced(isOpen) {
    document.body.classList.toggle("sbd-is-advanced", isOpen);
    advanced.setAttribute("aria-expanded", String(isOpen));
  }
  advanced.addEventListener("click", () => {
    openAdvanced(!document.body.classList.contains("sbd-is-advanced"));
  });
  openAdvanced(false);
  /** @param {Event} event */
  const typed = (event) => {
    const hasSettings = event instanceof CustomEvent && event.detail?.hasSettings;
    if (event.target === promptBox("sbd-prompt-box") && !hasSettings) slider.followPrompt();
    if (event.target === templateBox()) slider.followTemplate();
  };
  document.addEventListener("input", typed, { signal });
  /** @param {Event} event */
  const touched = (event) => slider.byHand.follow(event, slider.held);
  for (const type of ["mousedown", "keydown", "input"])
    document.addEventListener(type, touched, { capture: true, signal });
  onUseSettings((settings) => slider.chooseByHand(settings), signal);
  watchForm(() => slider.look(), signal);
  document.addEventListener("sbd-run", () => slider.followRun(), { signal });
  slider.look();
  return () => {};
}
