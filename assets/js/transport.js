// First, back, play, forward, last, the scrubber with a tick at each block, and the speed.
// Also the clock that moves the playhead through the passes known so far.

const PASSES_PER_SECOND = 3;
const SPEEDS = [0.25, 0.5, 1, 2, 4];
// While a run is still coming in, fall no further behind it than this.
const MAX_LAG_SECONDS = 0.75;

/** Passes a second: the speed's pace, or quicker while `backlog` passes of a live run wait. */
function playRate(speed, backlog) {
  const pace = PASSES_PER_SECOND * speed;
  return speed < 1 ? pace : Math.max(pace, backlog / MAX_LAG_SECONDS);
}

/** Calls `advance` at `rate()` a second while `isPlaying()`, at most once a frame. */
function makeClock(isPlaying, rate, advance) {
  let frame = 0;
  let due = 0;
  function tick() {
    if (!isPlaying()) {
      frame = 0;
      return;
    }
    // Not the time of the frame: what came in since it began may be due.
    const now = performance.now();
    // `frame` stays set meanwhile, so that start() adds no second tick.
    if (now >= due) {
      advance();
      due = Math.max(due + 1000 / rate(), now);
    }
    // After advance(): what it draws in the next frame must come before the next advance.
    frame = requestAnimationFrame(tick);
  }
  function start() {
    if (frame || !isPlaying()) return;
    due = performance.now() + 1000 / rate();
    frame = requestAnimationFrame(tick);
  }
  /** Something changed that may make the next pass due sooner. */
  function hurry() {
    due = Math.min(due, performance.now() + 1000 / rate());
  }
  /** The next start() begins anew: what the old run's next pass was due at says nothing. */
  function stop() {
    cancelAnimationFrame(frame);
    frame = 0;
  }
  return { start, hurry, stop };
}

function makeButton(name, label, onClick) {
  const button = make("button", `sbd-button sbd-button-${name}`,
    { type: "button", "aria-label": label, title: label }, icon(name));
  button.addEventListener("click", onClick);
  return button;
}

function makeScrubber(actions) {
  const range = make("input", "sbd-range", {
    type: "range", min: "1", max: "1", step: "1", "aria-label": "Forward pass",
  });
  range.addEventListener("input", () => actions.seek(Number(range.value) - 1));
  const ticks = make("div", "sbd-ticks", { "aria-hidden": "true" });
  const root = make("div", "sbd-scrubber", {}, ticks, range);
  let shownTicks = "";

  function update(view) {
    const count = Math.max(view.run.main.steps.length, 1);
    setAttribute(range, "max", count);
    if (Number(range.value) !== view.pass + 1) range.value = String(view.pass + 1);
    setAttribute(range, "aria-valuetext", `pass ${view.pass + 1} of ${count}`);
    const place = (pass) => (count > 1 ? pass / (count - 1) : 0);
    setStyle(range, "--done", `${place(view.pass) * 100}%`);
    const passes = view.run.blockPasses;
    const key = `${count}/${passes.join()}`;
    if (key === shownTicks) return;
    shownTicks = key;
    ticks.replaceChildren(...passes.map((pass) => {
      const tick = make("span", "sbd-tick");
      tick.style.left = `${place(pass) * 100}%`;
      return tick;
    }));
  }

  return { root, update };
}

function makeTransport(actions) {
  const play = makeButton("play", "Play", actions.togglePlay);
  const scrubber = makeScrubber(actions);
  const count = make("span");
  const place = make("span", "sbd-place", {}, make("span", "sbd-place-word", {}, "pass "), count);
  const speed = make("select", "sbd-speed", { "aria-label": "Speed" });
  for (const value of SPEEDS) {
    speed.append(make("option", "", { value: String(value) }, `${value}×`));
  }
  speed.value = "1";
  speed.addEventListener("change", () => actions.setSpeed(Number(speed.value)));
  const root = make("div", "sbd-transport", { role: "group", "aria-label": "Playback" },
    make("div", "sbd-buttons", {},
      makeButton("first", "First pass (Home)", actions.first),
      makeButton("back", "Back one pass (left arrow)", actions.back),
      play,
      makeButton("forward", "Forward one pass (right arrow)", actions.forward),
      makeButton("last", "Last pass (End)", actions.last)),
    scrubber.root, place, speed,
    make("div", "sbd-buttons sbd-extras", {},
      makeButton("share", "Take it home (S)", actions.share),
      makeButton("lecture", "Lecture mode (L)", actions.lecture),
      makeButton("help", "Help (?)", actions.help)));
  let shownPlaying = null;

  function update(view) {
    if (shownPlaying !== view.isPlaying) {
      shownPlaying = view.isPlaying;
      play.replaceChildren(icon(view.isPlaying ? "pause" : "play"));
      const label = view.isPlaying ? "Pause (space)" : "Play (space)";
      setAttribute(play, "aria-label", label);
      setAttribute(play, "title", label);
    }
    scrubber.update(view);
    const known = view.run.main.steps.length;
    const isOpen = view.run.main.finish === null && !view.run.isStopped;
    setText(count, `${known ? view.pass + 1 : 0} / ${known}${isOpen ? "…" : ""}`);
  }

  return { root, update };
}
