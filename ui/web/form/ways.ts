// The choice of how to decode: three or four strategies and solvers, and for Set Block Decoding a slider of gammas from
// safer to bolder; below them what is unusual, what was measured to be best, and the switch for all other settings.
//
// The form starts from the best settings. A recorded run brings its own into the form; when the visitor then writes
// another prompt, the form goes back to the settings last made by hand or, if there are none, to the best.

import constants from "../constants.json" with { type: "json" };
import { kindTitle, LANE_TITLES, laneWords } from "../core/words.ts";
import { elementOf, find, make, setAttribute, setText } from "../dom/elements.ts";
import { numberBox, pollForm, promptBox, typeInto } from "../dom/gradio.ts";
import { makeTermNote, makeUnfoldButton, question, setTerm } from "../dom/terms.ts";
import { playerOf } from "../dom/views.ts";
import type { Mount } from "../stub.ts";
import { differences, onUseSettings } from "../watch/form_difference.ts";
import { choiceOf, type FieldName, numberOf, settingDifferences } from "./fields.ts";

/** Return the index of the nearest gamma. @param gammas rising @param gamma nats */
export function nearestStep(gammas: number[], gamma: number) {
  const distance = (index: number) => Math.abs((gammas[index] ?? 0) - gamma);
  return gammas.reduce((best, _, index) => (distance(index) < distance(best) ? index : best), 0);
}

/** Return a sentence on values outside the usual ranges; "" if there are none. */
export function outsideWords(
  { gammas, block_range: range }: { gammas: number[]; block_range: number[] },
  gamma: number,
  blockSize: number,
) {
  const most = Math.max(...gammas);
  const [low = 0, high = 0] = range;
  const parts = [];
  if (gamma > most) parts.push(`γ ${gamma} is above the usual 0 to ${most}`);
  if (blockSize < low || blockSize > high) {
    parts.push(`blocks of ${blockSize} are outside the ${low} to ${high} it was trained on`);
  }
  return parts.length ? `This is unusual, and runs as it is: ${parts.join("; ")}.` : "";
}

/**
 * Return the text under the slider: what was measured to be best or, if the answer has blanks, that only Set Block
 * Decoding fills them in.
 */
export function adviceWords(best: string, hasBlanks: boolean) {
  return hasBlanks
    ? "Only Set Block Decoding fills in blanks; the slider sets its γ."
    : best.replaceAll("γ ", "γ\u00a0");
}

/** settings that have a γ */
type Choice = FormSettings & { gamma: number };
/** The settings that a model offers; see slider_value in ui/views/controls.py. */
interface ModelSetting {
  best: { strategy: string; gamma: number; words: string };
  gammas: number[];
  block_range: number[]; // smallest and largest block size that the model was trained on
  can_draft: boolean; // whether the model has a mask token
  paper: string; // a warning shown while Set Block Decoding is chosen, "" for none
  causal_first: [gamma: number, words: string] | null; // gamma and text; null: not offered
  other: string; // a model better suited to Set Block Decoding; "" for none
}

const ANSWER_MS = 1500; // how long the form may take to show a choice

const CAUSAL_FIRST = "causal-first";

const KINDS = ["verify", CAUSAL_FIRST, "sbd", "ntp"]; // three strategies, and a solver of sbd

function choiceWords({ strategy, gamma }: Choice) {
  return strategy === "sbd" ? `γ ${gamma}` : (LANE_TITLES[strategy] ?? strategy);
}

/** The choices, and the slider whose steps are the gammas. */
class DecodeChoice {
  setting: ModelSetting;
  /** a choice yet to be shown, until a time [ms] */
  pending: { choice: FormSettings; until: number } | null = null;
  byHand = new HandSettings();
  recording = ""; // id of the last recorded run that was shown
  range: HTMLInputElement;
  gammaOutput: HTMLOutputElement;
  warning: HTMLParagraphElement;
  bestButton: HTMLButtonElement;
  recordingNote: HTMLSpanElement;
  advice: HTMLSpanElement;
  why: HTMLParagraphElement;
  whyButton: HTMLButtonElement;
  ends: HTMLDivElement;
  slider: HTMLDivElement;
  kinds: { box: HTMLInputElement; help: HTMLElement; root: HTMLDivElement }[];
  otherModelButton: HTMLButtonElement;
  choices: HTMLFieldSetElement;

  /** @param writeToForm writes a choice into the form */
  constructor(
    setting: ModelSetting,
    readonly writeToForm: (choice: FormSettings) => void,
  ) {
    this.setting = setting;
    const steps = { type: "range", min: 1, max: setting.gammas.length, step: 1 };
    this.range = make("input", "", { ...steps, "aria-label": "Safer to bolder" });
    this.gammaOutput = make("output", "sbd-ways-now");
    this.warning = make("p", "sbd-ways-outside", { role: "status" });
    this.bestButton = make("button", "sbd-ways-best", () => this.chooseByHand(this.bestChoice));
    this.recordingNote = make("span", "", { role: "status" });
    this.advice = make("span");
    this.why = make("p", "sbd-ways-why", this.advice, " ", this.recordingNote, this.bestButton);
    this.whyButton = makeUnfoldButton("", this.why, "Why the form starts from these settings");
    const ends = [make("span", "", "safer"), this.gammaOutput, make("span", "", "bolder")];
    this.ends = make("div", "sbd-ways-ends", ...ends);
    this.slider = make("div", "sbd-ways-bold", this.range, this.ends);
    this.kinds = KINDS.map((kind) => this.makeKind(kind));
    const roots = this.kinds.map(({ root }) => root);
    this.otherModelButton = make("button", "sbd-ways-other", "Use nano, which does", () =>
      modelBox(this.setting.other)?.click(),
    );
    this.choices = make("fieldset", "sbd-ways", { "aria-label": "How to decode" }, ...roots);
    this.range.addEventListener("input", () =>
      this.chooseByHand(this.choiceAt(Number(this.range.value))),
    );
    this.nameBest();
  }

  /** @param setting of the model chosen now */
  setModel(setting: ModelSetting) {
    this.setting = setting;
    setAttribute(this.range, "max", setting.gammas.length);
    this.nameBest();
    this.update();
  }

  nameBest() {
    for (const { box, root, help } of this.kinds) {
      if (box.value !== CAUSAL_FIRST) continue;
      root.hidden = !this.setting.causal_first;
      setTerm(help, "", this.setting.causal_first?.[1] ?? "");
    }
    const { best } = this.setting;
    setText(this.bestButton, `Use ${choiceWords(best)}`);
  }

  makeKind(kind: string) {
    const box = make("input", "", { type: "radio", name: "sbd-way", value: kind });
    box.addEventListener("change", () => this.chooseByHand(this.choiceOfKind(kind)));
    const label = make("label", "", box, kindTitle(kind));
    const help = question(kindTitle(kind), laneWords(kind));
    return { box, help, root: make("div", "sbd-way", label, help) };
  }

  choiceOfKind(kind: string): FormSettings {
    const { best, causal_first: first } = this.setting;
    if (kind === CAUSAL_FIRST)
      return { strategy: "sbd", solver: CAUSAL_FIRST, gamma: first?.[0] ?? best.gamma };
    if (kind === "ntp") return { strategy: kind, gamma: null };
    const settings = readSettings();
    const gamma =
      (settings?.solver !== CAUSAL_FIRST && this.onSlider(settings)?.gamma) || best.gamma;
    return {
      strategy: kind,
      gamma,
      solver: settings?.solver === CAUSAL_FIRST ? "entropy-bound" : null,
    };
  }

  /** Return the member of KINDS that some settings belong to. */
  kindOf(settings: FormSettings | null) {
    const isFirst = settings?.strategy === "sbd" && settings.solver === CAUSAL_FIRST;
    return isFirst && this.setting.causal_first ? CAUSAL_FIRST : settings?.strategy;
  }

  get bestChoice(): Choice {
    const { strategy, gamma } = this.setting.best;
    return { strategy, gamma, solver: "entropy-bound" };
  }

  choiceAt(step: number): Choice {
    return { strategy: "sbd", gamma: this.setting.gammas[step - 1] ?? 0 };
  }

  chooseByHand(choice: FormSettings) {
    this.byHand.choose(choice);
    this.choose(choice);
  }

  choose(choice: FormSettings) {
    this.pending = { choice, until: performance.now() + ANSWER_MS };
    this.writeToForm(choice);
    this.update();
  }

  /** The choice that the form is to show, or else its settings. */
  get shownSettings() {
    return this.pending?.choice ?? readSettings();
  }

  /** Return settings with the γ that the slider shows for them; null if they have none. */
  onSlider(settings: FormSettings | null): Choice | null {
    if (!settings || settings.strategy === "ntp") return null;
    const gamma =
      settings.gamma ?? (settings.strategy === "verify" ? this.setting.best.gamma : null);
    return gamma === null ? null : { ...settings, gamma };
  }

  update() {
    const { range, setting, pending } = this;
    const settings = readSettings();
    const isSame = settings !== null && pending !== null && decodesAlike(settings, pending.choice);
    if (pending && (isSame || performance.now() > pending.until)) this.pending = null;
    if (!this.pending && isChangingToSbd()) return;
    const isMounting = choiceOf("strategy") === null && setting.can_draft;
    const choice = this.onSlider(this.shownSettings) ?? (isMounting ? this.bestChoice : null);
    const isSettable = setting.can_draft && (choice !== null || choiceOf("strategy") === "sbd");
    const hasBlanks = templateText() !== "";
    range.disabled = choice === null || !setting.can_draft;
    setText(this.advice, adviceWords(setting.best.words, hasBlanks));
    if (choice) range.value = String(nearestStep(setting.gammas, choice.gamma) + 1);
    const kind = this.kindOf(this.shownSettings) ?? (isMounting ? setting.best.strategy : "ntp");
    for (const { box } of this.kinds) box.checked = box.value === kind;
    this.slider.classList.toggle("is-off", kind !== "sbd");
    range.disabled ||= kind !== "sbd";
    this.choices.hidden = !setting.can_draft;
    const share = ((Number(range.value) - 1) / (setting.gammas.length - 1)) * 100;
    range.style.setProperty("--done", `${share}%`);
    const other = isSettable ? "set by another setting" : "one token a forward pass";
    const words = choice ? choiceWords(choice) : other;
    setText(this.gammaOutput, words);
    setAttribute(range, "aria-valuetext", words);
    const gamma = kind === "sbd" && choice ? choice.gamma : 0;
    const known =
      kind === "sbd" ? setting.paper : kind === CAUSAL_FIRST ? setting.causal_first?.[1] : "";
    const unusual = outsideWords(setting, gamma, numberOf("block_size") ?? 2);
    setText(this.warning, [known, unusual].filter(Boolean).join(" "));
    this.otherModelButton.hidden = kind !== "sbd" || !modelBox(setting.other);
    const isBest = choice
      ? decodesAlike(choice, this.bestChoice)
      : choiceOf("strategy") === setting.best.strategy;
    this.bestButton.hidden = !setting.can_draft || isBest || hasBlanks;
    const run = playerOf(document)?.run;
    const isOther = choice !== null && !this.bestButton.hidden && !this.byHand.isInForm;
    const isBrought = isOther && run?.isRecorded === true && !differences(run).length;
    const brought = `The recording shown was made with ${words}, so the form has that. `;
    setText(this.recordingNote, isBrought ? brought : "");
  }

  /** Choose Set Block Decoding if the answer has blanks, which nothing else fills in. */
  followTemplate() {
    if (!templateText() || choiceOf("strategy") === "sbd") return;
    const gamma = this.onSlider(readSettings())?.gamma ?? this.setting.best.gamma;
    this.choose({ strategy: "sbd", gamma });
  }

  /** Note a new recorded run, whose settings replace those made by hand. */
  followRun() {
    const run = playerOf(document)?.run;
    if (run?.isRecorded && run.id !== this.recording) {
      this.recording = run.id;
      this.byHand.markReplaced();
    }
    this.update();
  }

  /** Once a recorded run's prompt is changed, restore the settings made by hand, or else the best. */
  followPrompt() {
    const { byHand } = this;
    const run = playerOf(document)?.run;
    const text = promptBox("sbd-prompt-box")?.value.trim();
    byHand.readField(this.shownSettings);
    if (!run?.isRecorded || !text || text === run.prompt.trim() || !this.setting.can_draft) return;
    if (templateText() || byHand.isInForm) return;
    if (this.pending !== null || settingDifferences(run).length > 0) return;
    const wanted = byHand.choice ?? this.bestChoice;
    const settings = readSettings();
    byHand.restoreNumbers();
    if (!settings || !decodesAlike(settings, wanted)) this.choose(wanted);
  }
}

/** Whether the form shows Set Block Decoding, but not yet its solver and γ. */
const isChangingToSbd = () => choiceOf("strategy") === "sbd" && choiceOf("solver") === null;

/** Return the radio button of a model in the page's head; null if there is none. */
const modelBox = (name: string) =>
  [...document.querySelectorAll('input[name="sbd-model"]')]
    .filter((box) => box instanceof HTMLInputElement)
    .find(({ value }) => value === name) ?? null;

/** @returns the box of an answer with blanks; an input if it has one line */
const templateBox = (): HTMLTextAreaElement | null =>
  document.querySelector("#sbd-template-box :is(textarea, input)");

const templateText = () => templateBox()?.value.trim() ?? "";

/** Whether choices decode alike; no solver equals any. */
function decodesAlike(choice: FormSettings, other: FormSettings) {
  if (choice.strategy !== other.strategy || choice.strategy === "verify")
    return choice.strategy === other.strategy;
  const isSameRule = !choice.solver || !other.solver || choice.solver === other.solver;
  return choice.gamma === other.gamma && isSameRule;
}

export const mountWays: Mount = ({ element, value, trigger, signal }) => {
  const root = find(element, ".sbd-ways-view");
  const decodeChoice = new DecodeChoice(JSON.parse(value), (choice) => {
    root.dataset.choice = JSON.stringify(choice);
    trigger("choose", choice);
  });
  const advanced = make("button", "sbd-advanced-switch", "Advanced", () =>
    openAdvanced(!document.body.classList.contains("sbd-is-advanced")),
  );
  const foot = make("div", "sbd-ways-foot", advanced, decodeChoice.whyButton);
  const note = makeTermNote(root, signal);
  root.replaceChildren(
    decodeChoice.choices,
    decodeChoice.slider,
    decodeChoice.warning,
    decodeChoice.otherModelButton,
    foot,
    decodeChoice.why,
    note,
  );
  function openAdvanced(isOpen: boolean) {
    document.body.classList.toggle("sbd-is-advanced", isOpen);
    advanced.setAttribute("aria-expanded", String(isOpen));
  }
  openAdvanced(false);
  const onInput = (event: Event) => {
    const hasSettings = event instanceof CustomEvent && event.detail?.hasSettings;
    if (event.target === promptBox("sbd-prompt-box") && !hasSettings) decodeChoice.followPrompt();
    if (event.target === templateBox()) decodeChoice.followTemplate();
  };
  document.addEventListener("input", onInput, { signal });
  const onTouch = (event: Event) =>
    decodeChoice.byHand.noteField(event, decodeChoice.shownSettings);
  for (const type of ["mousedown", "keydown", "input"])
    document.addEventListener(type, onTouch, { capture: true, signal });
  onUseSettings((settings) => decodeChoice.chooseByHand(settings), signal);
  pollForm(() => decodeChoice.update(), signal);
  document.addEventListener("sbd-run", () => decodeChoice.followRun(), { signal });
  decodeChoice.update();
  return (text) => decodeChoice.setModel(JSON.parse(text));
};

/** Settings of the form. gamma: null where no γ decides. solver: null or missing where none does or any may. */
type FormSettings = { strategy: string; gamma: number | null; solver?: string | null };

const CHOSEN = ["strategy", "solver", "gamma"];

/** Read the form; null while it is not on the page. */
function readSettings(): FormSettings | null {
  const strategy = choiceOf("strategy");
  if (strategy === null) return null;
  return { strategy, gamma: numberOf("gamma"), solver: choiceOf("solver") };
}

/** The settings that the visitor made by hand, and whether a recorded run has replaced them in the form. */
class HandSettings {
  /** the last settings made by hand, null for none */
  choice: FormSettings | null = null;
  /** Whether no recorded run has replaced the settings made by hand. */
  isInForm = false;
  /** numbers set by hand in the other fields */
  numbers: Map<FieldName, number> = new Map();
  /** the field that the visitor is changing */
  field: FieldName | null = null;

  choose(choice: FormSettings) {
    this.choice = choice;
    this.isInForm = true;
  }

  /**
   * Note which field the visitor, not the page, is changing; the next click or key press reads its value.
   * @param settings the form's settings
   */
  noteField(event: Event, settings: FormSettings | null) {
    if (!event.isTrusted) return;
    if (event.type !== "input") this.readField(settings);
    const field = fieldOf(event);
    if (field && isSetting(event)) [this.field, this.isInForm] = [field, true];
  }

  /** Read the value of the field that was changed. @param settings the form's settings */
  readField(settings: FormSettings | null) {
    const { field } = this;
    if (!field) return;
    this.field = null;
    this.choice = settings ?? this.choice;
    const number = CHOSEN.includes(field) ? null : numberOf(field);
    if (number !== null) this.numbers.set(field, number);
  }

  /** Note that a recorded run has replaced the settings made by hand. */
  markReplaced() {
    this.isInForm = false;
  }

  /** Write the numbers made by hand into the form again. */
  restoreNumbers() {
    for (const [name, number] of this.numbers) {
      if (numberOf(name) === number) continue;
      typeInto(numberBox(constants.formIds[name]), String(number));
    }
  }
}

/** Return the field in which an event happens, null for none. */
function fieldOf(event: Event) {
  const element = elementOf(event);
  const names = Object.keys(constants.formIds) as FieldName[];
  return names.find((name) => element?.closest(`#${constants.formIds[name]}`)) ?? null;
}

/** Whether an event sets a field's value; opening a list does not. */
function isSetting(event: Event) {
  if (event instanceof KeyboardEvent) return event.key === "Enter";
  return event.type === "input" || elementOf(event)?.closest("[role=option]") != null;
}
