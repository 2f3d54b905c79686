// The current block as tiles of fixed size: position, pass of its reveal, token or best guess,
// and the entropy as a bar that sinks as the model grows sure.

/** What one tile shows at the view's pass. */
function tileState(view, position) {
  const { run, pass } = view;
  const step = run.main.steps[pass];
  const item = run.main.fixedAt(position, pass);
  const masked = step?.masked.get(position) ?? null;
  if (item) {
    const isNew = item.pass === pass && !item.isPinned;
    return { kind: item.isPinned ? "pinned" : isNew ? "new" : "fixed", token: item.token, entropy: item.entropy, item };
  }
  const draft = step?.draft[position - step.committedBefore - step.committed.length];
  if (draft !== undefined) return { kind: "draft", token: draft, entropy: masked?.entropy ?? null };
  if (masked) return { kind: "masked", token: masked.top[0]?.token, entropy: masked.entropy };
  return { kind: position >= run.main.end ? "beyond" : "empty", token: undefined, entropy: null };
}

function tileTitle(view, position, state) {
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

function makeTile(actions) {
  const parts = {
    position: make("span", "sbd-tile-position"),
    pass: make("span", "sbd-tile-pass"),
    token: make("span", "sbd-tile-token"),
    bar: make("span", "sbd-tile-bar"),
  };
  const node = make("button", "sbd-tile", { type: "button" },
    make("span", "sbd-tile-head", {}, parts.position, parts.pass), parts.token,
    make("span", "sbd-tile-well", {}, parts.bar));
  node.addEventListener("pointerenter", () => actions.hover(node.position));
  node.addEventListener("pointerleave", () => actions.hover(null));
  node.addEventListener("focus", () => node.matches(":focus-visible") && actions.hover(node.position));
  node.addEventListener("blur", () => actions.hover(null));
  node.addEventListener("click", () => actions.hold(node.position));

  function update(view, position, wouldReveal) {
    const state = tileState(view, position);
    node.position = position;
    setText(parts.position, String(position));
    setText(parts.pass, state.kind === "pinned" ? "pin" : state.item ? `#${state.item.pass + 1}` : "");
    showToken(parts.token, state.token === undefined ? "\u200a" : view.run.tokenText(state.token));
    const title = tileTitle(view, position, state);
    setAttribute(node, "title", title);
    setAttribute(node, "aria-label", title);
    const classes = ["sbd-tile", `is-${state.kind}`];
    if (wouldReveal?.has(position)) classes.push("is-would");
    if (view.focus === position && view.showsFocus) classes.push("is-focused");
    if (view.held === position) classes.push("is-held");
    if (node.className !== classes.join(" ")) node.className = classes.join(" ");
    const hasBar = state.entropy !== null;
    setStyle(node, "--level", hasBar ? unsureness(state.entropy).toFixed(3) : "0");
    setStyle(node, "--ink", hasBar ? entropyColour(state.entropy, view.isDark) : "transparent");
  }

  return { node, update };
}

function makeTiles(actions) {
  const root = make("div", "sbd-tiles", { role: "group", "aria-label": "Current block" });
  const tiles = [];

  function update(view) {
    const window = view.run.windowAt(view.pass);
    while (tiles.length < window.size) tiles.push(makeTile(actions));
    if (root.childNodes.length !== window.size) {
      root.replaceChildren(...tiles.slice(0, window.size).map((tile) => tile.node));
      setStyle(root, "--columns", String(Math.min(window.size, 16)));
      setStyle(root, "--narrow-columns", String(Math.min(window.size, 8)));
    }
    for (let i = 0; i < window.size; i += 1) {
      tiles[i].update(view, window.start + i, view.wouldReveal);
    }
  }

  return { root, update };
}
