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

const knownPieces = new Map();
const MAX_KNOWN_PIECES = 20000;

/** lanePieces, remembered: a lane asks for the same tokens in every frame. */
function rememberedPieces(text, before, after) {
  const key = `${before}\u0000${text}\u0000${after}`;
  if (knownPieces.size > MAX_KNOWN_PIECES) knownPieces.clear();
  if (!knownPieces.has(key)) knownPieces.set(key, lanePieces(text, before, after));
  return knownPieces.get(key);
}

const NO_PIECES = [];
const END_PIECES = [["end", ""]];

/** The pieces of a part between its neighbours; a blank or the end mark hides nothing. */
function partPieces(parts, index) {
  const { kind, text } = parts[index];
  if (kind !== "token") return kind === "end" ? END_PIECES : NO_PIECES;
  const previous = parts[index - 1];
  const next = parts[index + 1];
  const before = index === 0 ? "" : (previous.kind === "token" && previous.text.at(-1)) || "…";
  const after = (next?.kind === "token" && next.text[0]) || "…";
  return rememberedPieces(text, before, after);
}

function makeToken(actions) {
  const span = make("span", "sbd-token");
  span.addEventListener("pointerenter", () => actions.hover(span.position));
  span.addEventListener("pointerleave", () => actions.hover(null));
  span.addEventListener("click", () => actions.hold(span.position));
  return span;
}

/** Bring a span up to date, touching only what differs. */
function showPart(span, parts, index, view, lane) {
  const { item, kind, position } = parts[index];
  const isNew = item !== null && item.pass === view.pass;
  const isFocused = view.showsFocus && view.focus === position;
  const colour = item?.entropy == null ? "transparent" : entropyColour(item.entropy, view.isDark);
  const pieces = partPieces(parts, index);
  const name = `sbd-token sbd-token-${kind}${isNew ? " is-new" : ""}${isFocused ? " is-focused" : ""}`;
  span.position = position;
  if (isNew && view.isArriving) {
    view.reveals.play(span, "text", item.rank, lane.steps[view.pass].reveals.length);
  }
  if (span.shownName !== name) span.className = span.shownName = name;
  if (span.shownColour !== colour) span.style.setProperty("--ink", (span.shownColour = colour));
  if (span.shownPieces !== pieces) showPieces(span, (span.shownPieces = pieces));
}

function makeLaneText(label, actions) {
  const inner = make("div", "sbd-text-inner");
  // Laid out from below (see the style sheet): the newest line stays in sight by itself.
  const root = make("div", "sbd-text",
    { role: "group", "aria-label": label, tabindex: "0", "data-cursor": "" }, inner);
  root.addEventListener("blur", () => actions.hover(null));
  const spans = [];
  let numShown = 0;

  function showCount(count) {
    if (count > numShown) inner.append(...spans.slice(numShown, count));
    for (let index = numShown - 1; index >= count; index -= 1) spans[index].remove();
    numShown = count;
  }

  function update(view, lane) {
    const parts = textParts(view.run, lane, Math.min(view.pass, lane.lastPass));
    parts.forEach((part, index) => {
      spans[index] ??= makeToken(actions);
      showPart(spans[index], parts, index, view, lane);
    });
    showCount(parts.length);
    if (document.activeElement !== root || !view.showsFocus) return;
    const focused = parts.findIndex((part) => part.position === view.focus);
    spans[focused]?.scrollIntoView({ block: "nearest" });
  }

  return { root, update };
}
