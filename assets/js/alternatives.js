// The best candidates of one position as bars; where the page can decode again, each can be
// chosen to be pinned there, or to branch from there.

const TOP_ROWS = 5;

/** The candidate to act on: the one chosen by hand, else the best that is not the token itself. */
function chosenAlternative(view, top, fixedToken) {
  const byHand = top.find((entry) => entry.token === view.alternative);
  return byHand ?? top.find((entry) => entry.token !== fixedToken) ?? null;
}

/** Tokens fixed by the view's pass, as [position, token id]. */
function tokensSoFar(view) {
  const { run, pass } = view;
  return [...run.main.fixed.values()]
    .filter((item) => item.pass <= pass && item.position < run.main.end)
    .map((item) => [item.position, run.tokens[item.token].id]);
}

/** Why nothing can be pinned here or branched, "" if it can. */
function whyNoAction({ run, focus, pass }, alternative) {
  if (run.strategy !== "sbd") return "Only Set Block Decoding can decode round a given token.";
  if (alternative || focus === null) return "";
  if (run.pins.has(focus)) return "This token was given; branch at another position.";
  if (focus >= run.main.end) return "This position is after the end of the answer.";
  const isKnown = run.main.fixedAt(focus, pass) !== null;
  return isKnown ? "The model weighed no other token here: choose another position."
    : "No candidates yet: go to a pass whose block holds this position.";
}

class Alternatives {
  constructor(actions) {
    this.actions = actions;
    this.rows = Array.from({ length: TOP_ROWS }, () => this.makeRow());
    this.pin = this.makeAction("pin", "Pin", "p",
      "Decode again with this token fixed here", (pair) => [...this.view.run.settings().pinned, pair]);
    this.branch = this.makeAction("branch", "Branch", "b",
      "Keep what is revealed so far, put this token here, decode the rest",
      (pair) => [...this.view.run.settings().pinned, ...tokensSoFar(this.view), pair]);
    this.buttons = make("div", "sbd-alternative-actions", {}, this.pin.button, this.branch.button);
    this.note = make("p", "sbd-action-note");
    this.acting = make("div", "sbd-alternative-acting", {}, this.buttons, this.note);
    this.root = make("div", "sbd-top", {}, ...this.rows.map((row) => row.root), this.acting);
  }

  makeRow() {
    const token = make("span", "sbd-top-token");
    const bar = make("span", "sbd-top-bar");
    const value = make("span", "sbd-top-value");
    const root = make("button", "sbd-top-row", { type: "button" }, token,
      make("span", "sbd-top-track", {}, bar), value);
    const row = { root, token, bar, value, entry: null };
    root.addEventListener("click", () => row.entry && this.actions.choose(row.entry.token));
    return row;
  }

  makeAction(name, word, key, title, pinsOf) {
    const label = make("span", "sbd-action-token");
    const button = make("button", `sbd-action sbd-action-${name}`, { type: "button", title },
      make("span", "", {}, word), label, make("kbd", "", { "aria-hidden": "true" }, key.toUpperCase()));
    const act = () => {
      if (button.disabled || button.hidden) return;
      const pair = [this.view.focus, this.view.run.tokens[this.alternative.token].id];
      const pins = new Map(pinsOf(pair).filter(([position]) => position !== pair[0]));
      pins.set(...pair);
      this.actions.redo({ pinned: [...pins].sort((a, b) => a[0] - b[0]) },
        { kind: name, position: pair[0], pass: this.view.pass });
    };
    button.addEventListener("click", act);
    return { button, label, act };
  }

  update(view, top) {
    const { run, focus } = view;
    const fixedToken = focus === null ? undefined : run.main.fixedAt(focus, view.pass)?.token;
    this.view = view;
    this.alternative = chosenAlternative(view, top, fixedToken);
    const note = this.actions.canRedo ? whyNoAction(view, this.alternative) : "";
    this.acting.hidden = !this.actions.canRedo;
    this.buttons.hidden = this.acting.hidden || note !== "";
    this.note.hidden = note === "";
    setText(this.note, note);
    this.rows.forEach((row, index) => this.showRow(row, top[index] ?? null));
    for (const { button, label } of [this.pin, this.branch]) {
      button.disabled = this.alternative === null || note !== "";
      showToken(label, this.alternative ? run.tokenText(this.alternative.token) : "\u200a");
    }
  }

  showRow(row, entry) {
    const { run } = this.view;
    const name = entry ? tokenName(run.tokenText(entry.token)) : "";
    row.entry = entry;
    row.root.disabled = !entry;
    setStyle(row.root, "visibility", entry ? "visible" : "hidden");
    setAttribute(row.root, "title", name);
    const isChosen = entry !== null && entry === this.alternative && !this.buttons.hidden;
    setAttribute(row.root, "aria-pressed", isChosen);
    row.root.classList.toggle("is-chosen", isChosen);
    showToken(row.token, entry ? run.tokenText(entry.token) : "\u200a");
    setText(row.value, entry ? formatPercent(entry.probability) : "");
    setStyle(row.bar, "transform", `scaleX(${entry?.probability ?? 0})`);
  }
}
