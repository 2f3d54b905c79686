// The scene “Your turn”: what to do about a doubtful word, and a box for the reader's own prompt, which the player then
// decodes. The exported lesson, which has no model, says what to run instead.

import { html, render } from "lit-html";
import constants from "../../constants.json" with { type: "json" };
import { tokenName } from "../../core/letters.ts";
import { formatPercent } from "../../core/numbers.ts";
import { make } from "../../dom/elements.ts";
import { buttonTemplate } from "../../dom/templates.ts";
import { currentModel, modelNamed, onModels } from "../../models.ts";
import type { MakeScene } from "../view.ts";
import { guessesTemplate } from "./guess.ts";

type Pin = [position: number, token: number];

export const makeYoursScene: MakeScene = ({ lesson, signal, onActed, host, say, draw }) => {
  const { text: run } = lesson.runs;
  const { main, blockSize } = run;
  const doubted = [...main.hindsight.keys()].filter((at) => main.disagrees(at, main.lastPass));
  let shown = Math.min(...doubted);
  const start = shown - (shown % blockSize);
  const limits = { rows: 2, maxlength: constants.limits.typedCharacters };
  const box = make("textarea", "sbd-learn-prompt", { ...limits, "aria-label": "Your prompt" });
  const card = make("div", "sbd-learn-inspected");

  /**
   * Return what the player shows of a word: the model's guesses, what the rereading would have written, and two ways to
   * decode again.
   */
  function inspected(position: number) {
    const { token = 0, pass = 0 } = main.fixed.get(position) ?? {};
    const reread = main.hindsight.get(position);
    const { argmax = 0, probability = 0, argmaxProbability = 0 } = reread ?? {};
    const top = main.steps[pass]?.masked.get(position)?.top ?? [];
    const guesses = top.map((entry): [string, number] => [
      run.tokenText(entry.token),
      entry.probability,
    ]);
    const [own, other] = [token, argmax].map((id) => tokenName(run.tokenText(id).trim()));
    /** Return a button that decodes again with these tokens given; only its name where nothing decodes. */
    const act = (name: string, given: Pin[]) => {
      const all = new Map([...given, [position, argmax] as Pin]);
      const pinned = [...all].sort((a, b) => a[0] - b[0]);
      const redo = () => host?.redo(run, { pinned }, { kind: name.toLowerCase(), position, pass });
      return host ? buttonTemplate("sbd-learn-choice", name, redo) : html`<b>${name}:</b>`;
    };
    const before = main.knownAt(pass - 1).map((item): Pin => [item.position, item.token]);
    return html`<h3>Guesses in forward pass ${pass + 1}</h3>
      ${guessesTemplate(guesses)}
      <p
        ><b>Hindsight:</b> reread, ${own} gets ${formatPercent(probability)}, ${other}
        ${formatPercent(argmaxProbability)}. To differ is not to be wrong.</p>
      <p>${act("Pin", [])} decode again with ${other} fixed here.</p>
      <p>${act("Branch", before)} keep what stood before it, put ${other} here, decode the rest.</p>`;
  }

  /** Return the first block of the story with words that can be clicked, as the rereading would have written others. */
  function doubts() {
    const word = (at: number) => {
      const whole = run.tokenText(main.fixed.get(at)?.token);
      const text = at === start ? whole.trimStart() : whole;
      if (!doubted.includes(at)) return html`<span>${text}</span>`;
      const show = () => {
        shown = at;
        draw();
        say(card.textContent ?? "");
      };
      return buttonTemplate("sbd-learn-doubt", text, show, { isPressed: at === shown });
    };
    render(inspected(shown), card);
    const places = Array.from({ length: blockSize }, (_, offset) => start + offset);
    return html`<section class="sbd-learn-doubts" aria-label="A doubted word">
      <div>
        <h3>Do you doubt a word? Click it, here as in the player</h3>
        <p class="sbd-learn-story">${places.map(word)}</p>
        <p class="sbd-learn-source"
          >By nano. Underlined: the rereading would write another token.</p>
      </div>
      ${card}
    </section>`;
  }

  const promptsNow = () => (currentModel()?.isChat ? lesson.chat_prompts : lesson.prompts);
  function ask() {
    const { title = "The model", paper = "", other = "" } = currentModel() ?? {};
    const way = paper ? "by verify, as it was not trained for the rule of these scenes. " : "by γ.";
    box.placeholder = promptsNow()[0] ?? "";
    const chip = (prompt: string) => {
      const take = () => {
        box.value = prompt;
      };
      const look = "sbd-learn-choice is-prompt";
      return buttonTemplate(look, prompt, take, { title: prompt });
    };
    const change = () => host?.chooseModel(other);
    const isHidden = !modelNamed(other);
    return html`${box}
      <div class="sbd-learn-choices" role="group" aria-label="Examples">${promptsNow().map(chip)}</div>
      <p class="sbd-learn-source" role="status"
        ><span>${title} decodes it, ${way}</span
        >${buttonTemplate("sbd-learn-link", "Use nano, which was", change, { isHidden })}</p>`;
  }
  const notes = () =>
    html`<p class="sbd-learn-yours"
        >This file has no model inside. On a machine with the repository, run: python app.py</p>
      <h3>Prompts to try there</h3>
      <ul class="sbd-learn-examples">
        ${lesson.prompts.map((prompt) => html`<li>${prompt}</li>`)}
      </ul>`;
  onModels(draw, signal);
  onActed();
  const view = () =>
    html`<div class="sbd-learn-yours-card">
      ${doubted.length ? doubts() : ""}${host ? ask() : notes()}
    </div>`;
  return { view, answer: onActed, prompt: () => box.value.trim() || box.placeholder };
};
