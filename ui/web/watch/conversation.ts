// The conversation before a run's prompt, and the field for a follow-up question. Knows no server.

import { make, setText } from "../dom/elements.ts";
import { promptBox, typeInto } from "../dom/gradio.ts";
import { foldForm } from "../dom/screen.ts";
import { doesAnyTakeFollowUps, takesFollowUps } from "../models.ts";
import type { Actions } from "./actions.ts";
import type { View } from "./playhead.ts";

const MAX_CHARACTERS = 1000;
const WHO: Readonly<Record<string, string>> = { system: "System", user: "You", assistant: "Model" };

export class Conversation {
  run: View["run"] | null = null;
  summary: HTMLElement;
  turnsBox: HTMLDivElement;
  before: HTMLDetailsElement;
  box: HTMLInputElement;
  form: HTMLFormElement;

  constructor(readonly actions: Actions) {
    this.summary = make("summary");
    this.turnsBox = make("div", "sbd-turns-said");
    this.before = make("details", "sbd-turns", this.summary, this.turnsBox);
    this.box = make("input", "sbd-follow-up-box", {
      type: "text",
      maxlength: String(MAX_CHARACTERS),
      placeholder: "Ask a follow-up",
      "aria-label": "A follow-up to this answer",
    });
    const ask = make("button", "sbd-action", { type: "submit" }, "Ask");
    const start = () => startAnew(this.box.value.trim());
    const anew = make("button", "sbd-action", "Start anew", start);
    this.form = make("form", "sbd-follow-up", this.box, ask, anew);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.box.value.trim();
      if (!this.run || !text) return;
      actions.redo(this.run.followUp(text), { kind: "follow-up" });
    });
  }

  update({ run, isLecture }: View) {
    const isOther = run !== this.run;
    this.run = run;
    // Where this run allows no follow-up the form keeps its space, so that nothing moves with the next run.
    this.form.hidden = isLecture || !this.actions.canRedo || !doesAnyTakeFollowUps();
    this.form.inert = run.main.finish === null || !takesFollowUps(run.model);
    this.before.hidden = isLecture || !run.turns.length;
    if (!isOther) return;
    // Emptied only now, when the question's run is there: a refused question stays in the box.
    if (run.prompt === this.box.value.trim()) this.box.value = "";
    const count = run.turns.filter(([role]) => role === "user").length;
    const asked = `Question ${count + 1} of this conversation: ${run.prompt}`;
    setText(this.summary, run.isConversation ? asked : "Its system message");
    this.turnsBox.replaceChildren(
      ...run.turns.map(([role, content]) => make("p", "", `${WHO[role] ?? role}: ${content}`)),
    );
  }
}

/**
 * Open the form for a prompt without the conversation so far.
 * @param text typed as a follow-up, moves to the form; "" for none
 */
function startAnew(text: string) {
  foldForm(false);
  const box = promptBox("sbd-prompt-box");
  if (text) typeInto(box, text);
  box?.focus();
  box?.select();
}
