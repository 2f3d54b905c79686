// The decoding algorithms in plain words, with a mark at the lines that a forward pass executes.

import { html, render } from "lit-html";
import { checkedDraft, type LaneStep, type Run, rightAlternative } from "../core/run.ts";
import { SOLVER_LINES } from "../core/words.ts";
import { make } from "../dom/elements.ts";
import type { View } from "./playhead.ts";

/** isLit: whether the forward pass executes the line. */
type Line = [depth: number, words: string, isLit: boolean];
type Program = { title: string; lines: Line[] };

const PROMPT = "Read the prompt causally; keep its keys and values.";
const UNTIL = "Until the answer ends or reaches its limit:";

/** Return the algorithms of the run's strategy, as a forward pass executes them. */
export function programsAt(run: Run, pass: number): Program[] {
  const step = run.main.steps[pass];
  if (!step) return [];
  const isPrefill = step.kind === "prefill";
  if (run.strategy === "ntp")
    return [{ title: "Next-token prediction", lines: ntpLines(step, isPrefill) }];
  if (run.strategy === "verify")
    return [{ title: "Draft and verify", lines: verifyLines(run, pass, step) }];
  const before = run.main.steps[pass - 1];
  const isOther = before?.kind === "prefill" || before?.block.start !== step.block.start;
  const isAtWork = !isPrefill && step.block.size > 0;
  const isFirst = isAtWork && (isOther || !before?.block.size);
  return [
    {
      title: "Algorithm 2 · the answer, block after block",
      lines: [
        [0, PROMPT, isPrefill],
        [0, UNTIL, !isPrefill],
        ...(run.pins.size ? [aloneLine(!isPrefill && !isAtWork)] : []),
        [1, "Put a block of k mask tokens behind the text.", isFirst],
        [1, "Fill it in: Algorithm 3.", isAtWork],
        [
          1,
          "Add what is final to the answer; the next forward pass, if there is one, reads it causally.",
          step.committed.length > 0,
        ],
      ],
    },
    { title: "Algorithm 3 · one block", lines: blockLines(run, step, isAtWork, isFirst) },
  ];
}

function aloneLine(isLit: boolean): Line {
  return [1, "If all that is left was given, one forward pass reads it without a block.", isLit];
}

function blockLines(run: Run, step: LaneStep, isAtWork: boolean, isFirst: boolean): Line[] {
  const [hasMasks, hasChosen] = [step.masked.size > 0, step.reveals.length > 0];
  const { name } = run.solver;
  const rule =
    name === "entropy-bound"
      ? "Sort by entropy; choose the most positions s with H₁ + … + H₍s−1₎ ≤ γ, at least one."
      : `Choose: ${SOLVER_LINES[name] ?? name}`;
  return [
    [0, "While the block holds a mask:", isAtWork && hasMasks],
    [
      1,
      "First time: one forward pass reads the block before, if there is one, causally, and this block both ways.",
      isFirst,
    ],
    [1, "Other times: one forward pass reads this block alone, both ways.", isAtWork && !isFirst],
    [1, "Keep the keys and values of causal tokens; drop the block’s.", isAtWork],
    [1, "At every mask i: the prediction pᵢ and its entropy Hᵢ.", hasMasks],
    [1, rule, hasChosen],
    [1, "Write the likeliest token at each position chosen.", hasChosen],
  ];
}

function verifyLines(run: Run, pass: number, step: LaneStep): Line[] {
  const { tokens: drafted, numAccepted } = checkedDraft(run.main, pass);
  const isPrefill = step.kind === "prefill";
  const hasPredraft = step.predrafts.some(({ isUsed }) => isUsed);
  const isBehind = rightAlternative(step.predrafts) !== undefined && step.draft.length > 0;
  return [
    [0, "Read the prompt causally, with masks behind it.", isPrefill],
    [0, UNTIL, !isPrefill],
    [
      1,
      "One forward pass reads the last exact token, the draft, alternatives to its tokens and new masks.",
      !isPrefill,
    ],
    [
      1,
      "Keep the draft as far as the causal rows agree with it.",
      !isPrefill && drafted.length > 0,
    ],
    [
      1,
      "Add the next token that the causal rows give, which is exact, unless the answer has ended.",
      step.committed.length > numAccepted,
    ],
    [
      1,
      "If that token was read as an alternative, the one that its own row gives begins the next draft.",
      isBehind,
    ],
    [
      1,
      "Take back the keys and values of rejected tokens; drop those of alternatives and masks.",
      !isPrefill,
    ],
    [
      1,
      "The masks’ predictions are the next draft, as far as they are sure.",
      step.draft.length > 0 && !hasPredraft,
    ],
    [1, "After a rejection, use the draft made ahead for it, if there is one.", hasPredraft],
  ];
}

function ntpLines({ committed }: LaneStep, isPrefill: boolean): Line[] {
  return [
    [0, PROMPT, isPrefill],
    [0, UNTIL, !isPrefill],
    [1, "One forward pass reads the newest token alone; keep its key and value.", !isPrefill],
    [0, "Add the likeliest next token to the answer.", committed.length > 0],
  ];
}

/** The algorithms on the page, with the lines highlighted that the forward pass executes. */
export class Programs {
  body = make("div", "sbd-hood-program");
  summary = make("summary", "", "Lines of the algorithm");
  root = make("details", "sbd-hood-programs", this.summary, this.body);

  update({ run, pass }: View) {
    const line = ([depth, words, isLit]: Line) =>
      html`<li
        class="sbd-hood-line ${isLit ? "is-lit" : ""}"
        data-depth=${depth}
        aria-current=${isLit ? "step" : "false"}
        ><span>${words}</span></li>`;
    const programs = programsAt(run, pass).map(
      ({ title, lines }) =>
        html`<div>
          <h3>${title}</h3>
          <ol class="sbd-hood-code">${lines.map(line)}</ol>
        </div>`,
    );
    render(programs, this.body);
  }
}
