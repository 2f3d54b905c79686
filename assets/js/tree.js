// The tree of runs: one row a run, indented below the one it came from; press a row to see that
// run. Below it the ending of the run shown beside the one it came from, what differs marked.

/** Tokens in a row, those at the indexes `marked` marked; their text stays text. */
function showMarkedTokens(node, tokens, marked) {
  node.replaceChildren(...tokens.map(({ text, isEnd }, index) => {
    const differs = marked.has(index) ? "sbd-differs" : "";
    if (isEnd) return make("span", `sbd-token-end ${differs}`, {}, "end");
    const span = make("span", differs);
    const [before, after] = [tokens[index - 1]?.text.at(-1), tokens[index + 1]?.text[0]];
    showPieces(span, lanePieces(text, before ?? "", after ?? "…"));
    return span;
  }));
}

function endingWords(node, count) {
  if (node.run.main.finish === null) return node.run.isStopped ? "stopped" : "decoding …";
  if (count === null) return "";
  return count === 0 ? "same ending" : `${count} ${count === 1 ? "token differs" : "tokens differ"}`;
}

class Tree {
  constructor(family, actions) {
    this.family = family;
    this.actions = actions;
    this.rows = make("div", "sbd-tree-rows");
    this.before = make("p", "sbd-ending-text");
    this.after = make("p", "sbd-ending-text");
    this.names = [make("span", "sbd-ending-name"), make("span", "sbd-ending-name")];
    this.endings = make("div", "sbd-endings", {}, make("div", "", {}, this.names[0], this.before),
      make("div", "", {}, this.names[1], this.after));
    this.root = make("section", "sbd-tree", { "aria-label": "Branches" },
      make("div", "sbd-tree-head", {}, make("h3", "", {}, "Branches"),
        make("span", "sbd-tree-key", { "aria-hidden": "true" }, make("kbd", "", {}, "["),
          make("kbd", "", {}, "]"), " step through them")),
      this.rows, this.endings);
    this.shown = "";
    this.compared = new Map();
  }

  /** [tokens of the parent, of the node, and the indexes that differ], null while either runs. */
  compare(node) {
    if (!node.parent || !node.run.main.finish || !node.parent.run.main.finish) return null;
    if (!this.compared.has(node.run)) {
      const pair = [node.parent.run, node.run].map((run) => answerTokens(run, run.main));
      const ids = pair.map((tokens) => tokens.map(({ id }) => id));
      this.compared.set(node.run, [...pair, ...differences(...ids)]);
    }
    return this.compared.get(node.run);
  }

  makeRow(node, isShown) {
    const pair = this.compare(node);
    const { main } = node.run;
    const row = make("button", `sbd-tree-row${isShown ? " is-shown" : ""}`,
      { type: "button", "aria-pressed": isShown },
      make("span", "sbd-tree-words", {}, node.words),
      make("span", "sbd-tree-count", {}, `${main.steps.length} passes · ${main.numCommitted} tokens`),
      make("span", "sbd-tree-ending", {}, endingWords(node, pair ? pair[3].size : null)));
    row.style.setProperty("--depth", node.depth);
    row.addEventListener("click", () => this.actions.show(node.run));
    return row;
  }

  update(view) {
    const { nodes } = this.family;
    this.root.hidden = nodes.length < 2;
    const state = nodes.map(({ run }) => [run.id, run.isStopped, run.main.steps.length, run.main.finish]);
    const key = [view.run.id, ...state].join();
    if (this.root.hidden || key === this.shown) return;
    this.shown = key;
    const current = this.family.nodeOf(view.run);
    const hadFocus = this.rows.contains(document.activeElement);
    this.rows.replaceChildren(...nodes.map((node) => this.makeRow(node, node === current)));
    this.showEndings(current);
    this.keepInSight(this.rows.querySelector(".is-shown"), hadFocus);
  }

  /** Scroll the rows, never the page, to the row of the run shown. */
  keepInSight(row, hadFocus) {
    if (!row) return;
    const { rows } = this;
    const bottom = row.offsetTop + row.offsetHeight;
    rows.scrollTop = clamp(rows.scrollTop, bottom - rows.clientHeight, row.offsetTop);
    if (hadFocus) row.focus({ preventScroll: true });
  }

  showEndings(node) {
    const pair = node && this.compare(node);
    this.endings.hidden = !pair;
    this.root.classList.toggle("has-endings", Boolean(pair));
    if (!pair) return;
    const [left, right, onlyLeft, onlyRight] = pair;
    setText(this.names[0], node.parent.words);
    setText(this.names[1], node.words);
    showMarkedTokens(this.before, left, onlyLeft);
    showMarkedTokens(this.after, right, onlyRight);
  }
}
