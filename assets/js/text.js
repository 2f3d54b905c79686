// A lane's text so far: real line breaks, each token underlined in the colour of its entropy
// when it was revealed; positions still masked inside the current block are small blanks.

const HOLE = " ";

/** What the lane shows at the view's pass: [{position, kind, item}]. */
function textParts(run, lane, pass) {
  const isMain = lane === run.main;
  const window = isMain ? run.windowAt(pass) : null;
  const isBlockwise = isMain && run.strategy === "sbd";
  const stop = Math.min(isBlockwise ? window.start + window.size : lane.numCommitted, lane.end);
  const isOver = lane.finish === "end_of_sequence";
  const parts = [];
  for (let position = 0; position < stop; position += 1) {
    const item = lane.fixedAt(position, pass);
    if (item) {
      const isEnd = isOver && position === lane.end - 1;
      parts.push({ position, item, kind: isEnd ? "end" : "token" });
    } else if (isBlockwise && lane.lastPass >= 0) {
      parts.push({ position, item: null, kind: "hole" });
    }
  }
  return parts;
}

function makeLaneText(label, actions) {
  const root = make("div", "sbd-text", { role: "group", "aria-label": label, tabindex: "0" });
  const inner = make("div", "sbd-text-inner");
  root.append(inner);
  const spans = [];

  function spanAt(index) {
    if (!spans[index]) {
      const span = make("span", "sbd-token");
      span.addEventListener("pointerenter", () => actions.hover(span.position));
      span.addEventListener("pointerleave", () => actions.hover(null));
      span.addEventListener("click", () => actions.hold(span.position));
      spans[index] = span;
    }
    return spans[index];
  }

  function showPart(span, part, view) {
    const { item, kind, position } = part;
    const text = kind === "token" ? view.run.tokenText(item.token) : kind === "end" ? "end" : HOLE;
    const isNew = item !== null && item.pass === view.pass;
    const isFocused = view.showsFocus && view.focus === position;
    const colour = item?.entropy == null ? "" : entropyColour(item.entropy, view.isDark);
    const key = [text, kind, isNew, isFocused, colour].join("\u0000");
    span.position = position;
    if (span.shownKey === key) return;
    span.shownKey = key;
    span.className = `sbd-token sbd-token-${kind}` + (isNew ? " is-new" : "") +
      (isFocused ? " is-focused" : "");
    setStyle(span, "--ink", colour || "transparent");
    span.replaceChildren(...visiblePieces(text, " \n\t").map(([piece, isMark]) =>
      isMark ? make("span", "sbd-mark", {}, piece) : piece));
  }

  function update(view, lane) {
    const parts = textParts(view.run, lane, Math.min(view.pass, lane.lastPass));
    parts.forEach((part, index) => {
      const span = spanAt(index);
      showPart(span, part, view);
      if (!span.isConnected || span.parentNode !== inner) inner.append(span);
    });
    while (inner.childNodes.length > parts.length) inner.lastChild.remove();
    const last = parts.length ? spans[parts.length - 1] : null;
    const key = `${view.run.id}/${parts.length}/${view.pass}`;
    if (last && root.followed !== key) {
      root.followed = key;
      root.scrollTop = root.scrollHeight;
    }
  }

  return { root, update };
}
