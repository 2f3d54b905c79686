// The choice of how to decode: three or four strategies and solvers, and for Set Block Decoding a slider of gammas from
// safer to bolder; below them what is unusual, what was measured to be best, and the switch for all other settings.

import { kindTitle, LANE_TITLES, laneWords, PAPER_SOLVER } from "../core/words.ts";
import { find, make, setAttribute, setText } from "../dom/elements.ts";
import { makeTermNote, makeUnfoldButton, question, setTerm } from "../dom/terms.ts";
import { CAUSAL_FIRST } from "../engine/decoding/settings.ts";
import { chooseModel } from "../head.ts";
import { type Model, modelNamed } from "../models.ts";
import { form, onForm } from "./form.ts";

/** Return the index of the nearest gamma. @param gammas rising @param gamma nats */
export function nearestStep(gammas: number[], gamma: number) {
  const distance = (index: number) => Math.abs((gammas[index] ?? 0) - gamma);
  return gammas.reduce((best, _, index) => (distance(index) < distance(best) ? index : best), 0);
}

/** Return a sentence on values outside the usual ranges; "" if there are none. */
export function outsideWords(
  { gammas, blockRange: range }: { gammas: number[]; blockRange: number[] },
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

const OTHER_MODEL_WORDS = "Watch nano fill in masks by entropy, as the paper does";

const KINDS = ["verify", CAUSAL_FIRST, "sbd", "ntp"]; // three strategies, and a solver of sbd

/** The choices, and the slider whose steps are the gammas. */
class DecodeChoice {
  range = make("input", "", { type: "range", min: 1, step: 1, "aria-label": "Safer to bolder" });
  gammaOutput = make("output", "sbd-ways-now");
  warning = make("p", "sbd-ways-outside", { role: "status" });
  recordingNote = make("span", "", { role: "status" });
  advice = make("span");
  bestButton: HTMLButtonElement;
  why: HTMLParagraphElement;
  whyButton: HTMLButtonElement;
  slider: HTMLDivElement;
  kinds: { box: HTMLInputElement; help: HTMLElement; root: HTMLDivElement }[];
  otherModelButton: HTMLButtonElement;
  choices: HTMLFieldSetElement;

  constructor() {
    this.bestButton = make("button", "sbd-ways-best", () => form.setByHand(this.best));
    this.why = make("p", "sbd-ways-why", this.advice, " ", this.recordingNote, this.bestButton);
    this.whyButton = makeUnfoldButton("", this.why, "Why the form starts from these settings");
    const ends = [make("span", "", "safer"), this.gammaOutput, make("span", "", "bolder")];
    this.slider = make("div", "sbd-ways-bold", this.range, make("div", "sbd-ways-ends", ...ends));
    this.kinds = KINDS.map((kind) => this.makeKind(kind));
    this.otherModelButton = make("button", "sbd-ways-other", OTHER_MODEL_WORDS, () =>
      chooseModel(form.model?.other ?? ""),
    );
    const roots = this.kinds.map(({ root }) => root);
    this.choices = make("fieldset", "sbd-ways", { "aria-label": "How to decode" }, ...roots);
    this.range.addEventListener("input", () => {
      const gamma = form.model?.gammas[Number(this.range.value) - 1];
      if (gamma !== undefined) form.setByHand({ strategy: "sbd", gamma });
    });
  }

  makeKind(kind: string) {
    const box = make("input", "", { type: "radio", name: "sbd-way", value: kind });
    box.addEventListener("change", () => this.choose(kind));
    const label = make("label", "", box, kindTitle(kind));
    const help = question(kindTitle(kind), laneWords(kind));
    return { box, help, root: make("div", "sbd-way", label, help) };
  }

  /** The settings that were measured to be best. */
  get best() {
    const { strategy = "ntp", gamma = 0 } = form.model?.best ?? {};
    return { strategy, gamma, solver: PAPER_SOLVER };
  }

  /** Choose one of KINDS, with the γ that it had or the best. */
  choose(kind: string) {
    const first = form.model?.causalFirst;
    if (kind === CAUSAL_FIRST && first)
      form.setByHand({ strategy: "sbd", solver: CAUSAL_FIRST, gamma: first[0] });
    else if (form.values.solver === CAUSAL_FIRST)
      form.setByHand({ strategy: kind, solver: PAPER_SOLVER, gamma: this.best.gamma });
    else form.setByHand({ strategy: kind });
  }

  update() {
    const { model, kind, values } = form;
    if (!model) return;
    const { strategy, block_size: blockSize } = values;
    const gamma = Number(values.gamma);
    const isSbd = kind === "sbd";
    const hasBlanks = form.template !== "";
    for (const { box, root, help } of this.kinds) {
      box.checked = box.value === kind;
      // What the model was not trained for waits under Advanced.
      if (box.value === "sbd") root.classList.toggle("is-advanced", model.paper !== "" && !isSbd);
      if (box.value !== CAUSAL_FIRST) continue;
      root.hidden = !model.causalFirst;
      setTerm(help, "", model.causalFirst?.[1] ?? "");
    }
    this.choices.hidden = !model.canDraft;
    setAttribute(this.range, "max", model.gammas.length);
    this.range.value = String(nearestStep(model.gammas, gamma) + 1);
    this.range.disabled = !isSbd || !model.canDraft;
    this.slider.classList.toggle("is-off", !isSbd);
    const share = ((Number(this.range.value) - 1) / (model.gammas.length - 1)) * 100;
    this.range.style.setProperty("--done", `${share}%`);
    const words = isSbd ? `γ ${gamma}` : nowWords(String(strategy), kind);
    setText(this.gammaOutput, words);
    setAttribute(this.range, "aria-valuetext", words);
    const known = isSbd ? model.paper : kind === CAUSAL_FIRST ? model.causalFirst?.[1] : "";
    const unusual = outsideWords(model, isSbd ? gamma : 0, Number(blockSize));
    setText(this.warning, [known, unusual].filter(Boolean).join(" "));
    this.otherModelButton.hidden = !modelNamed(model.other);
    setText(this.advice, adviceWords(model.best.words, hasBlanks));
    setText(this.bestButton, `Use ${bestWords(model)}`);
    const isBest =
      kind === model.best.strategy && (!isSbd || gamma === model.best.gamma) && isUsual();
    this.bestButton.hidden = !model.canDraft || isBest || hasBlanks;
    const isBrought = form.recordedPrompt !== null && !this.bestButton.hidden;
    const brought = `The recording shown was made with ${words}, so the form has that. `;
    setText(this.recordingNote, isBrought ? brought : "");
  }
}

/** Whether the solver is the paper's or decides nothing. */
const isUsual = () => form.values.strategy !== "sbd" || form.values.solver === PAPER_SOLVER;

function nowWords(strategy: string, kind: string) {
  return strategy === "ntp" ? "one token a forward pass" : kindTitle(kind);
}

function bestWords({ best }: Model) {
  return best.strategy === "sbd" ? `γ ${best.gamma}` : (LANE_TITLES[best.strategy] ?? "");
}

export function mountWays(element: HTMLElement, signal: AbortSignal) {
  const root = find(element, ".sbd-ways-view");
  const choice = new DecodeChoice();
  const advanced = make("button", "sbd-advanced-switch", "Advanced", () =>
    openAdvanced(!document.body.classList.contains("sbd-is-advanced")),
  );
  const foot = make("div", "sbd-ways-foot", advanced, choice.whyButton);
  const note = makeTermNote(root, signal);
  const { choices, slider, warning, otherModelButton, why } = choice;
  root.replaceChildren(choices, slider, warning, otherModelButton, foot, why, note);
  function openAdvanced(isOpen: boolean) {
    document.body.classList.toggle("sbd-is-advanced", isOpen);
    advanced.setAttribute("aria-expanded", String(isOpen));
  }
  openAdvanced(false);
  const update = () => choice.update();
  onForm(update, signal);
  document.addEventListener("sbd-run", update, { signal });
}
