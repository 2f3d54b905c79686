// The help sheet: what the page shows, and the keys. It is a modal dialog, so the browser keeps the focus inside,
// closes it on Escape, and then gives the focus back.

import { html, nothing, render } from "lit-html";
import { GLOSSARY, plainWords, SOLVER_LINES, SOLVER_TITLES } from "../core/words.ts";
import { makeDialog } from "../dom/elements.ts";
import { KEY_WORDS, type KeyWords, keyList, letterSwitch } from "../dom/keys.ts";
import { closeButton } from "../dom/templates.ts";
import { LEGEND, paperTemplate } from "../dom/terms.ts";
import { TILES } from "./tiles.ts";
import { CHECK, MORE } from "./verify_legend.ts";

const HELP_SIGHTS: [name: string, words: string][] = [
  ["Tiles", TILES],
  [
    "Reveals",
    "A forward pass guesses all masks and keeps its surest guesses together, wherever they stand. " +
      "#4 means revealed in forward pass 4, “set” given before: pinned, kept by a branch, or " +
      "written round a blank. A number without # is the position. Where a tile has room for one of " +
      "them it is the forward pass; the inspector has both. If an end of the answer is revealed, " +
      "what stands behind it turns grey and counts no more.",
  ],
  [
    "Entropy budget",
    "The guesses sorted from sure to unsure, each ending where the sum of entropies stands. " +
      "What is kept may spend γ; the largest kept entropy, hatched, is left out of the sum, so " +
      "that one token always comes. Drag γ to see what else would have been kept. The heading " +
      "says where the solver has another rule: a threshold bounds each entropy, not their sum, and " +
      "solvers without γ have no budget.",
  ],
  [
    "Verify",
    `${plainWords(`${CHECK} ${MORE}`)} Both save forward passes and make each one larger, which a GPU ` +
      "hardly feels and a processor does: the default is fewer rows there, and “Rows at most” sets " +
      "another number.",
  ],
];

const HELP_ACTIONS: [name: string, words: string][] = [
  [
    "Pin and branch",
    "Choose a candidate in the inspector, or leave it at the best one that is not written there. " +
      "Pin it, and the answer is decoded anew round it; branch, and what was revealed by this forward pass stays. Every run is kept in a tree, its " +
      "ending beside that of the run it came from.",
  ],
  [
    "Blanks",
    "Give the answer with ___ where the model is to fill in: one token, or ___3 for three. " +
      "It reads what stands behind a blank as well, as far as the block reaches.",
  ],
];

/** The text of a view's help. hasScale: whether the sheet explains the colours of entropy. */
export type HelpWords = {
  sights: [name: string, words: string][];
  keys: KeyWords[];
  hasScale: boolean;
};

/** The help sheet; `toggle` opens and closes it. */
export class Help {
  root = makeDialog("sbd-help", { "aria-labelledby": "sbd-help-title", "data-key": "?" });

  constructor(
    canRedo: boolean,
    { sights, keys, hasScale }: HelpWords = {
      sights: canRedo ? [...HELP_SIGHTS, ...HELP_ACTIONS] : HELP_SIGHTS,
      keys: KEY_WORDS,
      hasScale: true,
    },
  ) {
    const words = Object.values(GLOSSARY).map(({ name, words }) => [name, words]);
    const solvers = Object.entries(SOLVER_LINES).map(([name, line]) => [
      SOLVER_TITLES[name] ?? name,
      line,
    ]);
    const list = (rows: string[][]) =>
      html`<dl class="sbd-help-words"
        >${rows.map(([name, line]) => html`<dt>${name}</dt><dd>${line}</dd>`)}</dl>`;
    const sheet = html`<div class="sbd-help-head">
        <h2 id="sbd-help-title">What you see</h2>
        ${closeButton("Close help", () => this.root.close())}
      </div>
      <div class="sbd-help-body">
        <div>
          <dl class="sbd-help-sights"
            >${sights.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>
          <div>
            <h3>Words</h3>
            ${list(words)}
            <h3>Solvers, ${paperTemplate("the paper’s is Eq. 8")}</h3>
            ${list(solvers)}
          </div>
        </div>
        <div class="sbd-help-side">
          ${hasScale ? html`<h3>Colour, and a guess’s bar height</h3>${LEGEND}` : nothing}
          <h3>Keys</h3>
          ${keyList(keys, canRedo)}${letterSwitch()}
        </div>
      </div>`;
    render(sheet, this.root);
  }

  toggle() {
    if (this.root.open) this.root.close();
    else this.root.showModal();
  }
}
