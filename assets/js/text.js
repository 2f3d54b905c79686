// A lane's text so far: real line breaks, each token underlined in the colour of its entropy
// when it was revealed; positions still masked inside the current block are small blanks.

const HOLE = " ";
const LONGEST_CHARACTER = 4; // bytes

/** How many positions the lane shows at `pass`, and how many of them were fixed before it. */
function textExtent(run, lane, pass) {
  const settled = lane.steps[pass]?.committedBefore ?? 0;
  if (lane === run.main && run.strategy === "sbd") {
    const window = run.windowAt(pass);
    const stop = lane.lastPass < 0 ? 0 : Math.min(window.start + window.size, lane.end);
    return { count: stop, settled: Math.min(settled, stop) };
  }
  let count = settled;
  while (count < lane.numCommitted && lane.fixedAt(count, pass)) count += 1;
  return { count, settled };
}

/** What the lane shows at the positions [from, to): [{position, kind, item, text}]. */
function textParts(run, lane, pass, from, to) {
  const isOver = lane.finish === "end_of_sequence";
  const joined = run.joinedAt(lane, pass);
  const parts = [];
  for (let position = from; position < to; position += 1) {
    const item = lane.fixedAt(position, pass);
    const isEnd = item !== null && isOver && position === lane.end - 1;
    const whole = joined.get(position);
    const own = item && (!whole ? run.tokenText(item.token) : whole.index === 0 ? whole.text : "");
    parts.push({ position, item, text: isEnd ? "end" : own ?? HOLE,
      kind: isEnd ? "end" : item ? "token" : "hole" });
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
  const { kind, text, position } = parts[index];
  if (kind !== "token") return kind === "end" ? END_PIECES : NO_PIECES;
  const previous = parts[index - 1];
  const next = parts[index + 1];
  const before = position === 0 ? "" : (previous.kind === "token" && previous.text.at(-1)) || "…";
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
  root.addEventListener("copy", (event) => {
    // The browser would copy a line break between two parts of the text.
    event.clipboardData.setData("text/plain", getSelection().getRangeAt(0).cloneContents().textContent);
    event.preventDefault();
  });
  const spans = [];
  const flow = new Flow(inner);
  let shown = { run: null, settled: 0, focus: null };

  function showRange(view, lane, from, to, count) {
    const pass = Math.min(view.pass, lane.lastPass);
    const first = Math.max(from - 1, 0);
    const parts = textParts(view.run, lane, pass, first, Math.min(to + 1, count));
    for (let position = from; position < to; position += 1) {
      spans[position] ??= makeToken(actions);
      showPart(spans[position], parts, position - first, view, lane);
    }
  }

  /** Bring the tokens up to date: all of them, or those that this pass or the focus can change. */
  function update(view, lane) {
    const { run } = view;
    const { count, settled } = textExtent(run, lane, Math.min(view.pass, lane.lastPass));
    const look = { run, finish: lane.finish, isDark: view.isDark, hasBytes: run.hasBytes };
    const focus = view.showsFocus && view.focus < count ? view.focus : null;
    const isSame = Object.keys(look).every((key) => look[key] === shown[key]);
    if (!isSame) flow.clear();
    // The letters of a token can depend on the next one; bytes can join over several.
    const reach = run.hasBytes ? LONGEST_CHARACTER : 1;
    const from = isSame ? Math.max(Math.min(settled, shown.settled) - reach, 0) : 0;
    showRange(view, lane, from, count, count);
    for (const position of [shown.focus, focus]) {
      if (position !== null && position < from) showRange(view, lane, position, position + 1, count);
    }
    flow.show(spans, count, Math.max(settled - reach, 0));
    shown = { ...look, settled, focus };
    if (document.activeElement !== root || focus === null) return;
    spans[focus].scrollIntoView({ block: "nearest" });
  }

  return { root, update };
}
