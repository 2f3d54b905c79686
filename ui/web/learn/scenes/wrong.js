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

/**
 * The plainest clash, and how many more there are.
 * @param {Edge} edge
 */
function verdictWords({ is_right: isRight, clashes: [first, ...others] }) {
  if (isRight || !first) return "Holds: every fact is kept, and no two words from one call clash.";
  const more = others.length ? ", and others" : "";
  const words = first.words.replace(/\s+/g, " ");
  return (
    `Broken: “${words}”, filled together in call ${first.call + 1}${more}. Underlined: neighbours ` +
    "from one call (the small number), the same twice or not fitting. Other faults: guesses kept " +
    "though unsure."
  );
}

/** @type {MakeScene} */
export function makeWrongScene({ lesson, signal, did, say }) {
  const { edges } = lesson;
  const most = Math.max(lesson.story_calls, ...edges.map(({ calls }) => calls));
  const broken = edges.findIndex(({ is_right: isRight }) => !isRight);
  const story = make("p", "sbd-learn-story");
  const verdict = make("p", "sbd-learn-verdict", { role: "status" });
  const held = edges[Math.min(1, broken - 1)];
  const own = makeBar("", "sbd");
  const bars = [makeBar("one at a time", "ntp", lesson.story_calls)];
  if (held) bars.push(makeBar(`γ = ${held.gamma}`, "sbd", held.calls));
  bars.push(own);

  /**
   * @param {string} words
   * @param {string} kind
   * @param {number} calls
   */
  function makeBar(words, kind, calls = 0) {
    const name = make("span", "sbd-learn-bar-name", {}, words);
    const fill = make("span", `sbd-learn-bar is-${kind}`);
    const number = make("span", "sbd-learn-bar-number");
    const row = make(
      "div",
      "sbd-learn-bar-row",
      {},
      name,
      make("span", "sbd-learn-bar-track", {}, fill),
      number,
    );
    /** @param {number} count */
    function set(count) {
      setText(number, countOf(count, "call"));
      setStyle(fill, "--part", String(count / most));
    }
    set(calls);
    return { row, name, set };
  }
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
    setText(verdict, verdictWords(edge));
    verdict.classList.toggle("is-wrong", !edge.is_right);
    setText(own.name, `now: γ = ${edge.gamma}`);
    own.set(edge.calls);
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
    make("div", "sbd-learn-bars", {}, ...bars.map(({ row }) => row)),
  );
  return { root, answer };
}
