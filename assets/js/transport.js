// First, back, play, forward, last, the scrubber with a tick at each block, and the speed.
// Also the clock that moves the playhead through the passes known so far.

const PASSES_PER_SECOND = 4;
const SPEEDS = [0.25, 0.5, 1, 2, 4];

/** Calls `advance` at the speed's pace while `isPlaying()`; costs nothing otherwise. */
function makeClock(isPlaying, speed, advance) {
  let timer = 0;
  function tick() {
    timer = 0;
    if (!isPlaying()) return;
    advance();
    start();
  }
  function start() {
    if (!timer && isPlaying()) timer = setTimeout(tick, 1000 / (PASSES_PER_SECOND * speed()));
  }
  function restart() {
    clearTimeout(timer);
    timer = 0;
    start();
  }
  return { start, restart };
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
    scrubber.root, place, speed);
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

/** Space, arrows, Home and End anywhere on the page, unless the focus needs the key itself. */
function listenToKeys(root, actions) {
  const keys = {
    " ": actions.togglePlay, ArrowLeft: actions.back, ArrowRight: actions.forward,
    Home: actions.first, End: actions.last, p: actions.pin, b: actions.branch,
  };
  document.addEventListener("keydown", (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented;
    if (!(event.key in keys) || !isPlain || root.offsetParent === null) return;
    const target = event.target instanceof Element ? event.target : document.body;
    const ours = root.contains(target);
    const isField = target.closest("input, textarea, select, [contenteditable], [role=listbox]");
    const isScrubber = ours && target.classList.contains("sbd-range");
    if (isField && !(isScrubber && event.key === " ")) return;
    if (event.key === " " && !isScrubber && target.closest("button, a, summary, [role=tab]")) return;
    event.preventDefault();
    keys[event.key]();
  });
}

const KEY_HELP = [["space", "play or pause"], ["← →", "back or forward one pass"],
  ["Home End", "first or last pass"]];
const REDO_KEY_HELP = ["P B", "pin here, branch here"];

function makeKeyHelp(canRedo) {
  const rows = canRedo ? [...KEY_HELP, REDO_KEY_HELP] : KEY_HELP;
  return make("div", "sbd-keys", {}, ...rows.flatMap(([key, meaning]) =>
    [make("kbd", "", {}, key), make("span", "", {}, meaning)]));
}
