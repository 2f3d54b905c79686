// The scene “Your turn”: what to do about a doubtful word, and a box for the reader's own prompt, which the player then
// decodes. The exported lesson, which has no model, says what to run instead.

import constants from "../../constants.json" with { type: "json" };
import { tokenName } from "../../core/letters.ts";
import { formatPercent } from "../../core/numbers.ts";
import type { Run } from "../../core/run.ts";
import { make, setText } from "../../dom/elements.ts";
import { currentModel, isChatChosen, modelNamed, onModels } from "../../models.ts";
import type { MakeScene, Redo } from "../view.ts";
import { makeGuesses } from "./guess.ts";

type Pin = [position: number, token: number];

export const makeYoursScene: MakeScene = ({ lesson, signal, onActed, host, say }) => {
  const doubt = makeDoubt(lesson.runs.text, say, host?.redo ?? null);
  const root = make("div", "sbd-learn-yours-card", doubt);
  onActed();
  if (!host) {
    root.append(...makeNotes(lesson.prompts));
    return { root, answer: onActed };
  }
  const box = makePromptBox();
  const examples = make("div", "sbd-learn-choices", { role: "group", "aria-label": "Examples" });
  const who = make("span", "");
  const other = make("button", "sbd-learn-link", "Use nano, which was", () =>
    host.chooseModel(currentModel()?.other ?? ""),
  );
  root.append(box, examples, make("p", "sbd-learn-source", { role: "status" }, who, other));
  const suggest = () => {
    const { title = "The model", paper = "", other: name = "" } = currentModel() ?? {};
    const way = paper ? "by verify, as it was not trained for the rule of these scenes. " : "by γ.";
    setText(who, `${title} decodes it, ${way}`);
    other.hidden = !modelNamed(name);
    const prompts = isChatChosen() ? lesson.chat_prompts : lesson.prompts;
    if (box.placeholder === prompts[0]) return;
    box.placeholder = prompts[0] ?? "";
    examples.replaceChildren(...prompts.map((prompt) => makeExample(prompt, box)));
  };
  onModels(suggest, signal);
  suggest();
  return { root, answer: onActed, prompt: () => box.value.trim() || box.placeholder };
};

/**
 * Return what the player shows of a word: the model's guesses, what the rereading would have written, and two ways to
 * decode again.
 */
function inspect(run: Run, position: number, redo: Redo | null) {
  const { main } = run;
  const { token = 0, pass = 0 } = main.fixed.get(position) ?? {};
  const { argmax = 0, probability = 0, argmaxProbability = 0 } = main.hindsight.get(position) ?? {};
  const top = main.steps[pass]?.masked.get(position)?.top ?? [];
  const guesses: [string, number][] = top.map((entry) => [
    run.tokenText(entry.token),
    entry.probability,
  ]);
  const [own, other] = [token, argmax].map((id) => tokenName(run.tokenText(id).trim()));
  const line = (name: Node, words: string) => make("p", "", name, ` ${words}`);
  /** A button that decodes again with these tokens given; only its name where nothing decodes. */
  const act = (name: string, given: Pin[]) => {
    const pinned = [...new Map([...given, [position, argmax] as Pin])].sort((a, b) => a[0] - b[0]);
    const origin = { kind: name.toLowerCase(), position, pass };
    return redo
      ? make("button", "sbd-learn-choice", name, () => redo(run, { pinned }, origin))
      : make("b", "", `${name}:`);
  };
  const before = main.knownAt(pass - 1).map((item): Pin => [item.position, item.token]);
  return [
    make("h3", "", `Guesses in forward pass ${pass + 1}`),
    makeGuesses(guesses),
    line(
      make("b", "", "Hindsight:"),
      `reread, ${own} gets ${formatPercent(probability)}, ${other} ${formatPercent(argmaxProbability)}. To differ is not to be wrong.`,
    ),
    line(act("Pin", []), `decode again with ${other} fixed here.`),
    line(act("Branch", before), `keep what stood before it, put ${other} here, decode the rest.`),
  ];
}

/**
 * Make the first block of the story with words that the rereading would not have written; these can be clicked, as in
 * the player.
 */
function makeDoubt(run: Run, say: (words: string) => void, redo: Redo | null) {
  const { main, blockSize } = run;
  const doubted = [...main.hindsight.keys()].filter((at) => main.disagrees(at, main.lastPass));
  const first = Math.min(...doubted);
  if (!doubted.length) return "";
  const start = first - (first % blockSize);
  const card = make("div", "sbd-learn-inspected");
  const words = Array.from({ length: blockSize }, (_, offset) => {
    const at = start + offset;
    const text = run.tokenText(main.fixed.get(at)?.token);
    if (!doubted.includes(at)) return make("span", "", text);
    const word = make("button", "sbd-learn-doubt", { "aria-pressed": "false" });
    word.textContent = text;
    word.addEventListener("click", () => show(at));
    return word;
  });
  function show(at: number) {
    words.forEach((word, offset) => {
      if (word instanceof HTMLButtonElement)
        word.setAttribute("aria-pressed", String(start + offset === at));
    });
    card.replaceChildren(...inspect(run, at, redo));
    say(card.textContent ?? "");
  }
  show(first);
  return make(
    "section",
    "sbd-learn-doubts",
    { "aria-label": "A doubted word" },
    make(
      "div",
      "",
      make("h3", "", "Do you doubt a word? Click it, here as in the player"),
      make("p", "sbd-learn-story", ...words),
      make(
        "p",
        "sbd-learn-source",
        "By nano. Underlined: the rereading would write another token.",
      ),
    ),
    card,
  );
}

function makePromptBox() {
  return make("textarea", "sbd-learn-prompt", {
    rows: 2,
    maxlength: constants.limits.typedCharacters,
    "aria-label": "Your prompt",
  });
}

/** @param box gets the prompt at a click */
function makeExample(prompt: string, box: HTMLTextAreaElement) {
  const chip = make("button", "sbd-learn-choice is-prompt", { title: prompt }, prompt);
  chip.addEventListener("click", () => {
    box.value = prompt;
  });
  return chip;
}

function makeNotes(prompts: string[]) {
  return [
    make(
      "p",
      "sbd-learn-yours",
      "This file has no model inside. On a machine with the repository, run: python app.py",
    ),
    make("h3", "", "Prompts to try there"),
    make("ul", "sbd-learn-examples", ...prompts.map((prompt) => make("li", "", prompt))),
  ];
}
