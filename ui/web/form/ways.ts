// The choice of how to decode: three or four strategies and solvers, and for Set Block Decoding a slider of gammas from
// safer to bolder; below them what is unusual, what was measured to be best, and the switch for all other settings.

import { html, render } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { kindTitle, LANE_TITLES, laneWords, PAPER_SOLVER } from "../core/words.ts";
import { find } from "../dom/elements.ts";
import { buttonTemplate, questionTemplate } from "../dom/templates.ts";
import { makeTermNote, unfoldTemplate } from "../dom/terms.ts";
import { CAUSAL_FIRST } from "../engine/decoding/settings.ts";
import { chooseModel } from "../head.ts";
import { type Model, modelNamed } from "../models.ts";
import { FIELDS, form, onForm } from "./form.ts";

const WATCH_NANO = "Watch nano fill in masks by entropy, as the paper does";

/** Return the index of the nearest gamma. @param gammas rising @param gamma nats */
export function nearestStep(gammas: number[], gamma: number) {
  const distance = (index: number) => Math.abs((gammas[index] ?? 0) - gamma);
  return gammas.reduce((best, _, index) => (distance(index) < distance(best) ? index : best), 0);
}

/** Return a sentence on values outside the usual ranges; "" if there are none, or the page refuses them. */
export function outsideWords(
  { gammas, blockRange: range }: { gammas: number[]; blockRange: number[] },
  gamma: number,
  blockSize: number,
) {
  const most = Math.max(...gammas);
  const [low = 0, high = 0] = range;
  const { low: least, high: largest } = FIELDS.block_size ?? {};
  const isRefused = blockSize < Number(least) || blockSize > Number(largest);
  const parts = [];
  if (gamma > most) parts.push(`γ ${gamma} is above the usual 0 to ${most}`);
  if (!isRefused && (blockSize < low || blockSize > high)) {
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

const KINDS = ["verify", CAUSAL_FIRST, "sbd", "ntp"]; // three strategies, and a solver of sbd

function bestSettings() {
  const { strategy = "ntp", gamma = 0 } = form.model?.best ?? {};
  return { strategy, gamma, solver: PAPER_SOLVER };
}

/** Choose one of KINDS, with the γ that it had or the best. */
function choose(kind: string) {
  const first = form.model?.causalFirst;
  if (kind === CAUSAL_FIRST && first)
    form.setByHand({ strategy: "sbd", solver: CAUSAL_FIRST, gamma: first[0] });
  else if (form.values.solver === CAUSAL_FIRST)
    form.setByHand({ strategy: kind, solver: PAPER_SOLVER, gamma: bestSettings().gamma });
  else form.setByHand({ strategy: kind });
}

function wayTemplate(way: string, { causalFirst, paper }: Model) {
  const { kind } = form;
  // What the model was not trained for waits under Advanced.
  const isAdvanced = way === "sbd" && paper !== "" && kind !== "sbd";
  const words = way === CAUSAL_FIRST ? (causalFirst?.[1] ?? "") : laneWords(way);
  return html`<div
    class="sbd-way ${isAdvanced ? "is-advanced" : ""}"
    ?hidden=${way === CAUSAL_FIRST && !causalFirst}
  >
    <label
      ><input
        type="radio"
        name="sbd-way"
        value=${way}
        .checked=${live(way === kind)}
        @change=${() => choose(way)}
      />${kindTitle(way)}</label>
    ${questionTemplate(kindTitle(way), words)}
  </div>`;
}

const NOT_FILLED = "Only Set Block Decoding fills in blanks: this way leaves them out.";

/** Return the choices, and the slider whose steps are the gammas. */
function waysTemplate(model: Model) {
  const { kind, values, template } = form;
  const { strategy, block_size: blockSize, solver } = values;
  const { gammas, best, canDraft, causalFirst, paper } = model;
  const gamma = Number(values.gamma);
  const isSbd = kind === "sbd";
  const hasBlanks = template !== "";
  const step = nearestStep(gammas, gamma);
  const plain = strategy === "ntp" ? "one token a forward pass" : kindTitle(kind);
  const words = isSbd ? `γ ${gamma}` : plain;
  const known = isSbd ? paper : kind === CAUSAL_FIRST ? causalFirst?.[1] : "";
  const unusual = outsideWords(model, isSbd ? gamma : 0, Number(blockSize));
  const unused = hasBlanks && strategy !== "sbd" ? NOT_FILLED : "";
  const isUsual = strategy !== "sbd" || solver === PAPER_SOLVER;
  const isBest = kind === best.strategy && (!isSbd || gamma === best.gamma) && isUsual;
  const offersBest = canDraft && !isBest && !hasBlanks;
  const bestWords =
    best.strategy === "sbd" ? `γ ${best.gamma}` : (LANE_TITLES[best.strategy] ?? "");
  const move = ({ target }: Event) =>
    form.setByHand({
      strategy: "sbd",
      gamma: gammas[Number((target as HTMLInputElement).value) - 1] ?? gamma,
    });
  const useBest = () => form.setByHand(bestSettings());
  const openAdvanced = ({ currentTarget }: Event) => {
    const isOpen = document.body.classList.toggle("sbd-is-advanced");
    (currentTarget as HTMLElement).setAttribute("aria-expanded", String(isOpen));
  };
  return html`<fieldset class="sbd-ways" aria-label="How to decode" ?hidden=${!canDraft}>
      ${KINDS.map((way) => wayTemplate(way, model))}
    </fieldset>
    <div class="sbd-ways-bold ${isSbd ? "" : "is-off"}">
      <input
        class="sbd-range"
        type="range"
        min="1"
        max=${gammas.length}
        step="1"
        aria-label="Safer to bolder"
        aria-valuetext=${words}
        style="--done: ${(step / (gammas.length - 1)) * 100}%"
        .value=${live(String(step + 1))}
        ?disabled=${!isSbd || !canDraft}
        @input=${move}
      />
      <div class="sbd-ways-ends"
        ><span>safer</span><output class="sbd-ways-now">${words}</output><span>bolder</span></div>
    </div>
    <p class="sbd-ways-outside" role="status">${[unused, known, unusual].filter(Boolean).join(" ")}</p>
    ${buttonTemplate("sbd-ways-other", WATCH_NANO, () => chooseModel(model.other), {
      isHidden: !modelNamed(model.other),
    })}
    <div class="sbd-ways-foot"
      ><button
        type="button"
        class="sbd-advanced-switch"
        aria-expanded="false"
        @click=${openAdvanced}
        >Advanced</button
      >${unfoldTemplate("", "sbd-ways-why", "Why the form starts from these settings")}</div>
    <p class="sbd-ways-why" id="sbd-ways-why" hidden
      ><span>${adviceWords(best.words, hasBlanks)}</span>
      ${buttonTemplate("sbd-ways-best", `Use ${bestWords}`, useBest, { isHidden: !offersBest })}</p>`;
}

export function mountWays(element: HTMLElement, signal: AbortSignal) {
  const root = find(element, ".sbd-ways-view");
  makeTermNote(root, signal);
  const update = () => form.model && render(waysTemplate(form.model), root);
  onForm(update, signal);
  document.addEventListener("sbd-run", update, { signal });
}
