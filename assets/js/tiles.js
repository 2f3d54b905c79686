// The current block as tiles of fixed size: position, pass of its reveal, token or best guess,
// and the entropy as a bar that sinks as the model grows sure.

const MAX_HEAD_LETTERS = 5; // as many as stand side by side over a token

/** What one tile shows at the view's pass. */
function tileState(view, position) {
  const { run, pass } = view;
  const step = run.main.steps[pass];
  const item = run.main.fixedAt(position, pass);
  const masked = step?.masked.get(position) ?? null;
  if (item) {
    const kind = item.isPinned ? "pinned" : item.pass === pass ? "new" : "fixed";
    return { kind, token: item.token, entropy: item.entropy, item };
  }
  const draft = step?.draft[position - step.committedBefore - step.committed.length];
  if (draft !== undefined) return { kind: "draft", token: draft, entropy: masked?.entropy ?? null };
  if (masked) return { kind: "masked", token: masked.top[0]?.token, entropy: masked.entropy };
  return { kind: position >= run.main.end ? "beyond" : "empty", token: undefined, entropy: null };
}

/** A position in words, as its tile shows it. */
function positionTitle(view, position, state = tileState(view, position)) {
  const text = state.token === undefined ? "" : ", " + tokenName(view.run.tokenText(state.token));
  const entropy = state.entropy === null ? "" : `, entropy ${formatNats(state.entropy)} nats`;
  const kinds = {
    new: `revealed in this pass${text}`,
    pinned: `pinned${text}`,
    fixed: `revealed in pass ${(state.item?.pass ?? 0) + 1}${text}`,
    masked: `masked, best guess${text}`,
    draft: `drafted${text}`,
    beyond: "after the end of the answer",
    empty: "masked",
  };
  return `Position ${position}: ${kinds[state.kind]}${entropy}`;
}

class Tile {
  constructor(actions) {
    this.position = make("span", "sbd-tile-position");
    this.pass = make("span", "sbd-tile-pass");
    this.token = make("span", "sbd-tile-token");
    this.bar = make("span", "sbd-tile-bar");
    this.node = make("button", "sbd-tile", { type: "button", tabindex: "-1" },
      make("span", "sbd-tile-head", {}, this.position, this.pass), this.token,
      make("span", "sbd-tile-well", {}, this.bar));
    this.listen(actions);
  }

  listen(actions) {
    const { node } = this;
    node.addEventListener("pointerenter", () => actions.hover(node.position));
    node.addEventListener("pointerleave", () => actions.hover(null));
    node.addEventListener("focus", () => {
      if (node.matches(":focus-visible")) actions.hover(node.position);
    });
    node.addEventListener("blur", () => actions.hover(null));
    node.addEventListener("click", () => actions.hold(node.position));
  }

  update(view, position, joined) {
    const state = tileState(view, position);
    const { node } = this;
    node.position = position;
    const pass = state.kind === "pinned" ? "pin" : state.item ? `#${state.item.pass + 1}` : "";
    setText(this.position, String(position));
    setText(this.pass, pass);
    this.isCrowded = pass !== "" && String(position).length + pass.length > MAX_HEAD_LETTERS;
    const own = state.token === undefined ? "\u200a" : view.run.tokenText(state.token);
    if (joined) showToken(this.token, joined.text, `${joined.index + 1}/${joined.count}`);
    else showToken(this.token, own);
    const title = positionTitle(view, position, state) +
      (joined ? `, part ${joined.index + 1} of ${joined.count} of “${joined.text}”` : "");
    setAttribute(node, "title", title);
    setAttribute(node, "aria-label", title);
    this.showState(view, position, state);
  }

  showState(view, position, state) {
    const { node } = this;
    const classes = ["sbd-tile", `is-${state.kind}`];
    if (this.isCrowded) classes.push("is-crowded");
    if (view.wouldReveal?.has(position)) classes.push("is-would");
    if (view.focus === position && view.showsFocus) classes.push("is-focused");
    if (view.held === position) classes.push("is-held");
    if (node.className !== classes.join(" ")) node.className = classes.join(" ");
    const hasBar = state.entropy !== null;
    const isLanding = state.kind === "new" && view.isArriving;
    const count = isLanding ? view.run.main.steps[view.pass].reveals.length : 0;
    const delay = isLanding ? view.reveals.delay(state.item.rank, count) : 0;
    // On the bar, not on the tile: what a tile hands down, all of its parts work out anew.
    setStyle(this.bar, "--level", hasBar ? unsureness(state.entropy).toFixed(3) : "0");
    setStyle(this.bar, "background-color", hasBar ? entropyColour(state.entropy, view.isDark) : "");
    setStyle(this.bar, "transition-delay", `${delay.toFixed(0)}ms`);
    if (!isLanding) return;
    view.reveals.play(node, "tile", state.item.rank, count);
    view.reveals.play(this.token, "token", state.item.rank, count);
  }
}

/** The tiles, one of them in the tab order; up and down move between them. */
class Tiles {
  constructor(actions) {
    this.actions = actions;
    this.tiles = [];
    this.followed = null; // the position shown for the sake of the focus, given by keys
    this.window = { start: 0, size: 0 };
    this.root = make("div", "sbd-tiles",
      { role: "group", "aria-label": "Current block; up and down keys move between tiles" });
    this.root.addEventListener("focusin", ({ target }) => {
      this.followed = target.matches(":focus-visible") ? target.position : null;
    });
    this.root.addEventListener("focusout", () => (this.followed = null));
  }

  update(view) {
    const { start, size } = (this.window = view.run.windowAt(view.pass));
    while (this.tiles.length < size) this.tiles.push(new Tile(this.actions));
    if (this.root.childNodes.length !== size) {
      this.root.replaceChildren(...this.tiles.slice(0, size).map((tile) => tile.node));
      setStyle(this.root, "--columns", String(Math.min(size, 16)));
      setStyle(this.root, "--narrow-columns", String(Math.min(size, 8)));
    }
    const joined = view.run.joinedAt(view.run.main, view.pass);
    const stop = this.indexOf(view.focus) ?? 0;
    for (let i = 0; i < size; i += 1) {
      this.tiles[i].update(view, start + i, joined.get(start + i));
      setAttribute(this.tiles[i].node, "tabindex", i === stop ? "0" : "-1");
    }
    this.followFocus();
  }

  /** On a phone the inspector comes up from below: keep the tiles above it. */
  keepInSight() {
    const behavior = STILL.matches ? "auto" : "smooth";
    if (this.root.closest(".is-narrow")) this.root.scrollIntoView({ block: "nearest", behavior });
  }

  /** The tile of a position, null if the block does not hold it. */
  indexOf(position) {
    const index = position === null ? -1 : position - this.window.start;
    return index >= 0 && index < this.window.size ? index : null;
  }

  get focusedIndex() {
    const index = this.tiles.findIndex((tile) => tile.node === document.activeElement);
    return index >= 0 && index < this.window.size ? index : null;
  }

  /** A tile that has the focus may stand for another position now. */
  followFocus() {
    const position = this.tiles[this.focusedIndex]?.node.position ?? null;
    if (this.followed === null || position === null || position === this.followed) return;
    this.followed = position;
    this.actions.hover(position);
  }

  /** Move the focus by a number of tiles; from outside, to the tile of `position` first. */
  move(by, position) {
    const { size } = this.window;
    if (!size) return;
    const from = this.focusedIndex;
    const target = from === null ? this.indexOf(position) ?? 0 : clamp(from + by, 0, size - 1);
    this.tiles[target].node.focus();
  }
}
