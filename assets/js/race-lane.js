// One lane of a race: its track with the finish line, and its text appearing where it will stand.
// What is not decoded yet keeps its place, empty, so that nothing moves while the lanes run.

const LINE_GAP = 8; // pixels of a line below its letters, with the edge of the text
const DIFFERS_TITLE = "differs from next-token prediction";

/** Seconds for a reader: 84 ms, 1.25 s. */
function raceSeconds(seconds) {
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  return `${seconds.toFixed(seconds < 9.995 ? 2 : 1)} s`;
}

function countOf(count, word) {
  return `${count} ${word}${count === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;
}

/** The text of each token, bytes that spell a character together joined at the first. */
function raceTexts(tokens) {
  const joined = joinBytes(tokens.map(([text], position) => ({ position, text })));
  return tokens.map(([text], position) => {
    const whole = joined.get(position);
    return !whole ? text : whole.index === 0 ? whole.text : "";
  });
}

function makeMissing(count) {
  const words = `${countOf(count, "token")} of next-token prediction missing here`;
  return make("span", "sbd-race-missing", { title: words, role: "img", "aria-label": words },
    `−${count}`);
}

class RaceLane {
  constructor(row) {
    this.row = row;
    this.shownPass = -2;
    this.ends = [];
    row.times.reduce((sum, time) => (this.ends.push(sum + time), sum + time), 0);
    this.counts = row.times.map(() => 0);
    for (const [, pass] of row.tokens) this.counts[pass] += 1;
    this.counts.forEach((count, pass) => (this.counts[pass] = count + (this.counts[pass - 1] ?? 0)));
    this.build();
  }

  build() {
    const { row } = this;
    this.place = make("span", "sbd-race-place");
    this.fill = make("span", "sbd-race-fill");
    this.text = make("div", "sbd-race-text",
      { role: "group", tabindex: "0", "aria-label": `Text of ${row.label}` }, ...this.makeTokens());
    this.root = make("section", `sbd-race-lane sbd-race-${row.name}`, {},
      make("div", "sbd-race-run", {}, make("h3", "sbd-race-name", {}, row.label),
        make("div", "sbd-race-track", { "aria-hidden": "true" }, this.fill,
          make("span", "sbd-race-line")), this.place),
      make("div", "sbd-race-answer", {}, make("p", "sbd-race-tag", { "aria-hidden": "true" },
        row.label), this.text));
  }

  makeTokens() {
    const { tokens, missing, has_end: hasEnd } = this.row;
    const texts = raceTexts(tokens);
    const gaps = new Map(missing);
    this.spans = tokens.map(([, , differs], position) => {
      const span = make(differs ? "mark" : "span", "sbd-race-token");
      if (differs) span.title = DIFFERS_TITLE;
      const isEnd = hasEnd && position === tokens.length - 1;
      if (isEnd) span.append(make("span", "sbd-race-end", {}, "end"));
      else showPieces(span, lanePieces(texts[position], texts[position - 1]?.at(-1) ?? "",
        texts[position + 1]?.[0] ?? "…"));
      return span;
    });
    this.gaps = [];
    return this.spans.concat(null).flatMap((span, position) => {
      const gap = gaps.has(position) ? makeMissing(gaps.get(position)) : null;
      if (gap) this.gaps.push(gap);
      return [gap, span].filter(Boolean);
    });
  }

  get lastPass() {
    return this.ends.length - 1;
  }

  /** Engine microseconds of the whole lane. */
  get duration() {
    return this.ends.at(-1) ?? 0;
  }

  /** The last pass that is over at `clock`: passes begun, or microseconds; -1 before the first. */
  passAt(clock, isByTime) {
    if (!isByTime) return Math.min(clock - 1, this.lastPass);
    return this.ends.findLastIndex((end) => end <= clock);
  }

  /** Bring the lane to where it is at `clock`. Returns whether it has finished. */
  update(clock, isByTime) {
    const pass = this.passAt(clock, isByTime);
    const isFinished = pass >= this.lastPass;
    if (pass !== this.shownPass) this.show(pass, isFinished);
    return isFinished;
  }

  show(pass, isFinished) {
    this.shownPass = pass;
    const { row } = this;
    const count = this.counts[pass] ?? 0;
    this.spans.forEach((span, position) => {
      span.classList.toggle("is-ahead", row.tokens[position][1] > pass);
      span.classList.toggle("is-new", row.tokens[position][1] === pass && !isFinished);
    });
    for (const gap of this.gaps) gap.classList.toggle("is-ahead", !isFinished);
    setStyle(this.fill, "width", `${(count / Math.max(row.num_tokens, 1)) * 100}%`);
    this.root.classList.toggle("is-finished", isFinished);
    const seconds = raceSeconds((this.ends[pass] ?? 0) / 1e6);
    setText(this.place, isFinished
      ? `Finished: ${countOf(row.num_passes, "pass")}, ${seconds}`
      : `${count} of ${row.num_tokens} tokens · pass ${pass + 1} · ${seconds}`);
    this.keepNewestInSight();
  }

  keepNewestInSight() {
    const { text } = this;
    if (text.scrollHeight <= text.clientHeight) return;
    const newest = this.spans.findLast((span) => !span.classList.contains("is-ahead"));
    const bottom = newest ? newest.offsetTop + newest.offsetHeight + LINE_GAP : 0;
    text.scrollTop = Math.max(0, bottom - text.clientHeight);
  }
}
