// The player: one history, one playhead, several views of both. Knows nothing of Gradio.
//
//   const player = SbdPlayer.mount(element, { redo(settings) {} });
//   player.push(wireText);   // any number of wire lines, see history.js
//
// `redo` is asked to decode again with other settings; without it the player only replays.
//
// Drawing happens at most once a frame, and only when something changed.

/** The position worth looking at when nobody points: the most uncertain one in this pass. */
function hardestPosition(run, pass) {
  const masked = [...(run.main.steps[pass]?.masked.values() ?? [])];
  if (!masked.length) return null;
  return masked.reduce((most, item) => (item.entropy > most.entropy ? item : most)).position;
}

function wouldReveal(view) {
  if (view.gammaPreview === null) return null;
  const { solver } = view.run;
  const order = solverOrder(solver, view.run.main.steps[view.pass]?.masked ?? new Map());
  const costs = revealCosts(solver, order);
  const count = costs ? countRevealed(solver, costs, view.gammaPreview) : 0;
  return new Set(order.slice(0, count).map((item) => item.position));
}

function makeLane(title, label, actions) {
  const name = make("h2", "sbd-lane-name", {}, title);
  const place = make("span", "sbd-lane-place");
  const fill = make("span", "sbd-lane-fill");
  const text = makeLaneText(label, actions);
  const head = make("div", "sbd-lane-head", {}, name,
    make("span", "sbd-lane-meter", { "aria-hidden": "true" }, fill), place);
  return { head, name, place, fill, text };
}

function updateLane(parts, view, lane) {
  const count = lane.steps.length;
  const pass = Math.min(view.pass, lane.lastPass);
  const tokens = lane.numTokensAt(pass);
  const whole = lane.finish === null ? "" : ` of ${lane.numCommitted}`;
  setText(parts.place, `${tokens}${whole} tokens · pass ${pass + 1}${
    lane.finish === null ? "" : ` of ${count}`}`);
  const share = lane.finish === null ? 0 : tokens / Math.max(lane.numCommitted, 1);
  setStyle(parts.fill, "width", `${share * 100}%`);
  parts.text.update(view, lane);
}

const LANE_TITLES = {
  sbd: "Set Block Decoding", verify: "Verify (lossless)", ntp: "Next-token prediction",
};

class Player {
  constructor(root, options = {}) {
    this.root = root;
    this.redo = options.redo ?? null;
    this.history = new History();
    this.state = { pass: 0, isPlaying: false, speed: 1, hovered: null, held: null,
      gammaPreview: null, alternative: null };
    this.build();
    this.clock = makeClock(() => this.state.isPlaying, () => this.state.speed, () => this.advance());
    listenToKeys(root, this.actions);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.fit()).observe(root);
    new MutationObserver(() => this.draw())
      .observe(document.body, { attributes: true, attributeFilter: ["class"] });
  }

  get run() {
    return this.history.run;
  }

  build() {
    this.actions = this.makeActions();
    const { actions } = this;
    this.numbers = makeNumbers();
    this.prompt = make("p", "sbd-prompt");
    this.main = makeLane(LANE_TITLES.sbd, "Text decoded so far", actions);
    this.tiles = makeTiles(actions);
    this.budget = new Budget(actions);
    this.ntp = makeLane(LANE_TITLES.ntp, "Next-token text so far", actions);
    this.staircase = new Staircase(actions);
    this.transport = makeTransport(actions);
    this.inspector = new Inspector(actions);
    this.live = make("div", "sbd-live", { "aria-live": "polite" });
    this.ntpSection = make("section", "sbd-lane sbd-lane-ntp", {}, this.ntp.head, this.ntp.text.root);
    this.root.classList.add("sbd-player");
    this.root.replaceChildren(
      make("div", "sbd-stage", {},
        make("div", "sbd-card sbd-watch", {}, this.numbers.root, this.prompt,
          make("section", "sbd-lane", {}, this.main.head, this.main.text.root),
          this.tiles.root, this.budget.root, this.ntpSection),
        make("div", "sbd-card sbd-replay", {}, this.staircase.root, this.transport.root)),
      this.inspector.root, this.live);
  }

  /** The layout follows the width of the player, not of the window. */
  fit() {
    const width = this.root.clientWidth;
    this.root.classList.toggle("is-wide", width >= 880);
    this.root.classList.toggle("is-roomy", width >= 1400);
    this.root.classList.toggle("is-narrow", width < 640);
  }

  makeActions() {
    const step = (by) => () => this.seek(this.state.pass + by, true);
    return {
      hover: (position) => this.set({ hovered: position }),
      hold: (position) => this.actions.holdAt(this.state.held === position ? null : position),
      holdAt: (position) => this.set({ held: position, alternative: null }),
      choose: (token) => this.set({ alternative: token, held: this.makeView().focus }),
      canRedo: this.redo !== null,
      redo: (changes) => this.redo?.(this.run.settings(changes)),
      pin: () => this.makeView().showsFocus && this.inspector.top.pin.act(),
      branch: () => this.makeView().showsFocus && this.inspector.top.branch.act(),
      previewGamma: (gamma) => this.set({ gammaPreview: gamma, isPlaying: false }),
      gamma: () => this.state.gammaPreview ?? this.run.solver.gamma,
      seek: (pass) => this.seek(pass, true),
      first: () => this.seek(0, true),
      last: () => this.seek(Infinity, true),
      back: step(-1),
      forward: step(1),
      togglePlay: () => this.togglePlay(),
      setSpeed: (speed) => {
        this.set({ speed });
        this.clock.restart();
      },
    };
  }

  /** Take in wire text; a new run starts playing from its first pass. */
  push(text) {
    const news = this.history.accept(text);
    if (news === "run") {
      const isCalm = this.run.isRecorded && matchMedia("(prefers-reduced-motion: reduce)").matches;
      const pass = isCalm ? Math.floor(this.run.main.lastPass * 0.6) : 0;
      this.set({ pass, isPlaying: !isCalm, held: null, hovered: null, gammaPreview: null,
        alternative: null });
      this.clock.restart();
    } else if (news) {
      this.draw();
    }
  }

  /** The consumer left the run: no more lines will come. */
  stop() {
    if (!this.run) return;
    this.run.isStopped = true;
    this.draw();
  }

  set(change) {
    Object.assign(this.state, change);
    this.draw();
    this.clock.start();
  }

  seek(pass, isManual) {
    if (!this.run) return;
    const target = clamp(pass, 0, Math.max(this.run.main.lastPass, 0));
    this.set({ pass: target, gammaPreview: null, ...(isManual ? { isPlaying: false } : {}) });
    if (isManual) setText(this.live, `Pass ${target + 1}`);
  }

  togglePlay() {
    if (!this.run) return;
    const isAtEnd = this.state.pass >= this.run.main.lastPass && this.run.isComplete;
    if (!this.state.isPlaying && isAtEnd) this.state.pass = 0;
    this.set({ isPlaying: !this.state.isPlaying, gammaPreview: null });
    this.clock.restart();
  }

  advance() {
    if (!this.run) return;
    const { main } = this.run;
    if (this.state.pass < main.lastPass) {
      this.seek(this.state.pass + 1, false);
    } else if (main.finish !== null || this.run.isStopped) {
      this.set({ isPlaying: false });
    }
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.run) this.paint();
    });
  }

  makeView() {
    const { run, state } = this;
    const chosen = state.hovered ?? state.held;
    const view = { ...state, run, isDark: isDarkPage(), showsFocus: chosen !== null };
    view.focus = chosen ?? hardestPosition(run, state.pass);
    view.wouldReveal = wouldReveal(view);
    return view;
  }

  paint() {
    const view = this.makeView();
    const { run } = view;
    setText(this.main.name, LANE_TITLES[run.strategy] ?? run.strategy);
    setText(this.prompt, run.prompt);
    setAttribute(this.prompt, "title", run.prompt);
    this.numbers.update(view);
    updateLane(this.main, view, run.main);
    this.tiles.update(view);
    this.budget.root.hidden = run.strategy !== "sbd";
    if (run.strategy === "sbd") this.budget.update(view);
    this.ntpSection.hidden = run.ntp === null;
    if (run.ntp) updateLane(this.ntp, view, run.ntp);
    this.staircase.update(view);
    this.transport.update(view);
    this.inspector.update(view);
  }
}

const SbdPlayer = { mount: (root, options) => new Player(root, options) };
globalThis.SbdPlayer = SbdPlayer;
