// What goes wrong: one story at rising gammas; the reader finds where it breaks.

import { countOf } from "../../core/numbers.js";
import { make, setStyle, setText } from "../../dom/elements.js";
import { STILL } from "../../dom/reveal.js";
import { makeSlider } from "../parts/slider.js";
import { storyPieces } from "../states.js";

/** @import { Edge } from "../lesson.js" */
/** @import { MakeScene } from "../view.js" */

const STEP_MS = 1100;

/** @param {Edge} edge */
function storyNodes(edge) {
  return storyPieces(edge).map(({ text, isClash, isTogether, call }) => {
    const span = make("span", isClash ? "sbd-learn-clash" : "", {}, text);
    if (isTogether) span.append(make("sub", "", { title: `filled in call ${call}` }, String(call)));
    return span;
  });
}

/** @type {MakeScene} */
export function makeWrongScene({ lesson, signal, did, say }) {
  const { edges } = lesson;
  const most = Math.max(...edges.map(({ calls }) => calls));
  const broken = edges.findIndex(({ is_right: isRight }) => !isRight);
  const story = make("p", "sbd-learn-story");
  const verdict = make("p", "sbd-learn-verdict", { role: "status" });
  const fill = make("span", "sbd-learn-bar is-computing");
  const calls = make("span", "sbd-learn-bar-number");
  const slider = makeSlider(
    "γ",
    edges.length - 1,
    (index) => `${edges[index]?.gamma ?? 0} nats`,
    (index) => {
      stop();
      show(index);
      if (index >= broken) did();
    },
  );
  let timer = 0;
  function stop() {
    clearInterval(timer);
    timer = 0;
  }
  signal.addEventListener("abort", stop);

  /** @param {number} index */
  function show(index) {
    const edge = edges[index];
    if (!edge) return;
    story.replaceChildren(...storyNodes(edge));
    const words = edge.is_right
      ? "Holds: every fact of the prompt is kept."
      : `Broken: “${edge.clash.replace(/\s+/g, " ")}”, filled together in call ${edge.call + 1}.`;
    setText(verdict, words);
    verdict.classList.toggle("is-wrong", !edge.is_right);
    setText(calls, countOf(edge.calls, "call"));
    setStyle(fill, "--part", String(edge.calls / most));
  }

  function answer() {
    stop();
    did();
    let index = STILL.matches ? edges.length - 1 : 0;
    slider.set(index);
    show(index);
    if (STILL.matches) return;
    timer = window.setInterval(() => {
      index += 1;
      slider.set(index);
      show(index);
      if (index + 1 < edges.length) return;
      stop();
      say(verdict.textContent ?? "");
    }, STEP_MS);
  }
  show(0);
  const root = make(
    "div",
    "sbd-learn-wrong",
    {},
    make("p", "sbd-learn-source", {}, `Prompt: ${lesson.story}`),
    story,
    verdict,
    slider.root,
    make(
      "div",
      "sbd-learn-bar-row",
      {},
      make("span", "sbd-learn-bar-name", {}, "calls"),
      make("span", "sbd-learn-bar-track", {}, fill),
      calls,
    ),
  );
  return { root, answer };
}
