// A lane's text so far: real line breaks, each token underlined in the colour of its entropy
// when it was revealed; positions still masked inside the current block are small blanks.

const HOLE = " ";

/** What the lane shows at the view's pass: [{position, kind, item, text}]. */
function textParts(run, lane, pass) {
  const isMain = lane === run.main;
  const window = isMain ? run.windowAt(pass) : null;
  const isBlockwise = isMain && run.strategy === "sbd";
  const stop = Math.min(isBlockwise ? window.start + window.size : lane.numCommitted, lane.end);
  const isOver = lane.finish === "end_of_sequence";
  const joined = run.joinedAt(lane, pass);
  const parts = [];
  for (let position = 0; position < stop; position += 1) {
    const item = lane.fixedAt(position, pass);
    if (item) {
      const isEnd = isOver && position === lane.end - 1;
      const whole = joined.get(position);
      const text = !whole ? run.tokenText(item.token) : whole.index === 0 ? whole.text : "";
      parts.push({ position, item, text: isEnd ? "end" : text, kind: isEnd ? "end" : "token" });
    } else if (isBlockwise && lane.lastPass >= 0) {
      parts.push({ position, item: null, text: HOLE, kind: "hole" });
    }
  }
  return parts;
}

/** The letters that a part stands between; a blank or the end mark hides nothing. */
function partPieces(parts, index) {
  const { kind, text } = parts[index];
  if (kind !== "token") return kind === "end" ? [[text, ""]] : [];
  const neighbour = (part, letter) => (part?.kind === "token" ? letter(part.text) : "…") || "…";
  const before = index === 0 ? "" : neighbour(parts[index - 1], (other) => other.at(-1));
  const after = neighbour(parts[index + 1], (other) => other[0]);
  return lanePieces(text, before, after);
}

function makeToken(actions) {
  const span = make("span", "sbd-token");
  span.addEventListener("pointerenter", () => actions.hover(span.position));
  span.addEventListener("pointerleave", () => actions.hover(null));
  span.addEventListener("click", () => actions.hold(span.position));
  return span;
}

function showPart(span, parts, index, view, lane) {
  const { item, kind, position } = parts[index];
  const isNew = item !== null && item.pass === view.pass;
  const isFocused = view.showsFocus && view.focus === position;
  const colour = item?.entropy == null ? "" : entropyColour(item.entropy, view.isDark);
  const pieces = partPieces(parts, index);
  const key = [pieces.flat().join("\u0000"), kind, isNew, isFocused, colour].join("\u0001");
  span.position = position;
  if (isNew && view.isArriving) {
    view.reveals.play(span, "text", item.rank, lane.steps[view.pass].reveals.length);
  }
  if (span.shownKey === key) return;
  span.shownKey = key;
  span.className = `sbd-token sbd-token-${kind}` + (isNew ? " is-new" : "") +
    (isFocused ? " is-focused" : "");
  setStyle(span, "--ink", colour || "transparent");
  showPieces(span, pieces);
}

function makeLaneText(label, actions) {
  const inner = make("div", "sbd-text-inner");
  const root = make("div", "sbd-text",
    { role: "group", "aria-label": label, tabindex: "0", "data-cursor": "" }, inner);
  root.addEventListener("blur", () => actions.hover(null));
  const spans = [];

  /** Keep what just happened in sight, scrolling no more than needed. */
  function follow(view, parts) {
    const key = [view.run.id, parts.length, view.pass, root.clientHeight].join();
    if (!parts.length || root.followed === key) return;
    root.followed = key;
    root.scrollTop = root.scrollHeight;
  }

  function update(view, lane) {
    const parts = textParts(view.run, lane, Math.min(view.pass, lane.lastPass));
    parts.forEach((part, index) => {
      spans[index] ??= makeToken(actions);
      showPart(spans[index], parts, index, view, lane);
      if (spans[index].parentNode !== inner) inner.append(spans[index]);
    });
    while (inner.childNodes.length > parts.length) inner.lastChild.remove();
    follow(view, parts);
    if (document.activeElement !== root || !view.showsFocus) return;
    const focused = parts.findIndex((part) => part.position === view.focus);
    spans[focused]?.scrollIntoView({ block: "nearest" });
  }

  return { root, update };
}
