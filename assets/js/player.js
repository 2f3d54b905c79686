// The player: one history, one playhead, several views of both. Knows nothing of Gradio.
//
//   const player = SbdPlayer.mount(element, { redo(settings) {}, host });
//   player.push(wireText);   // any number of wire lines, see history.js
//
// `redo` is asked to decode again with other settings; without it the player only replays. `host` serves the
// share sheet, see share.js.
//
// Drawing happens at most once a frame, and only when something changed.

const MANUAL_STEP_MS = 500;

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

class Player {
  constructor(root, options = {}) {
    this.root = root;
    this.redo = options.redo ?? null;
    this.host = options.host ?? null;
    this.history = new History();
    this.family = new Family();
    this.reveals = new Reveals();
    this.arrival = null;
    this.state = { pass: 0, isPlaying: false, speed: 1, hovered: null, held: null,
      gammaPreview: null, alternative: null };
    this.build();
    this.clock = makeClock(() => this.state.isPlaying, () => this.rate(), () => this.advance());
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
    this.actions = makeActions(this);
    const { actions } = this;
    this.numbers = makeNumbers();
    this.prompt = make("p", "sbd-prompt");
    this.tree = new Tree(this.family, actions);
    this.main = new LaneView("Text decoded so far", actions);
    this.tiles = new Tiles(actions);
    this.sudoku = new SudokuView(actions);
    this.budget = new Budget(actions);
    this.ntp = new LaneView("Next-token text so far", actions);
    this.ntp.root.classList.add("sbd-lane-ntp");
    this.staircase = new Staircase(actions);
    this.transport = makeTransport(actions);
    this.inspector = new Inspector(actions);
    this.help = new Help(actions.canRedo);
    this.share = new Share(this, this.host);
    this.lecture = makeLecture(this.root, () => this.fit());
    this.live = make("div", "sbd-live", { "aria-live": "polite" });
    this.watch = make("div", "sbd-card sbd-watch", {}, this.numbers.root, this.prompt,
      this.tree.root, this.main.root, this.tiles.root,
      make("p", "sbd-hint", {}, "Tap a tile to look inside it."), this.sudoku.root, this.budget.root, this.ntp.root);
    this.root.classList.add("sbd-player");
    this.root.replaceChildren(
      make("div", "sbd-stage", {}, this.watch,
        make("div", "sbd-card sbd-replay", {}, this.staircase.root, this.transport.root)),
      this.inspector.root, this.help.root, this.share.root, this.live);
  }

  /** The layout follows the width of the player, not of the window. */
  fit() {
    const width = this.root.clientWidth;
    const isLecture = isLecturing(this.root);
    this.root.classList.toggle("is-wide", width >= 880 && !isLecture);
    this.root.classList.toggle("is-roomy", width >= 1400 && !isLecture);
    this.root.classList.toggle("is-narrow", width < 640);
    this.draw();
  }

  /** Take in wire text; a new run starts playing from its first pass. */
  push(text) {
    const news = this.history.accept(text);
    if (news === "run") {
      if (this.run.id !== "opening") this.host?.began(this.run);
      const isCalm = this.run.isRecorded && STILL.matches;
      this.family.take(this.run);
      const first = this.firstPass();
      this.open(isCalm ? Math.floor(this.run.main.lastPass * 0.6) : first, !isCalm);
      this.arrival = first > 0 ? 1000 / this.pace() : null;
    } else if (news) {
      this.draw();
    }
    this.clock.hurry();
  }

  /** Where a run opens: a live one after the pass that only read the prompt, if it came along. */
  firstPass() {
    const { isRecorded, main } = this.run;
    return !isRecorded && main.steps[0]?.kind === "prefill" && main.lastPass > 0 ? 1 : 0;
  }

  /** Turn to the run that the history holds now. */
  open(pass, isPlaying) {
    this.reveals.takeOver(this.watch);
    this.arrival = null;
    this.hasMoved = true;
    this.clock.stop();
    this.set({ pass, isPlaying, held: null, hovered: null, gammaPreview: null, alternative: null });
  }

  /** Show another run of the family, as it stands at its end. */
  show(run) {
    if (!run || run === this.run) return;
    this.history.run = run;
    this.host?.began(run);
    this.open(Math.max(run.main.lastPass, 0), false);
    this.say(this.family.nodeOf(run).words);
  }

  /** Decode this run again with some settings changed; the new run becomes its branch. */
  askAgain(changes, origin) {
    this.redo?.(this.run.settings({ ...changes, ask: this.family.ask(this.run, origin) }));
  }

  /** The consumer left the run: no more lines will come. */
  stop() {
    if (!this.run) return;
    this.history.latest.isStopped = true;
    this.draw();
  }

  set(change) {
    Object.assign(this.state, change);
    this.draw();
    this.clock.start();
  }

  /** Passes a second at the chosen speed, more while a live run is ahead. */
  pace() {
    const { run, state } = this;
    return playRate(state.speed, !run || run.isComplete ? 0 : run.main.lastPass - state.pass);
  }

  /** The pace, but the pass that only reads a new prompt shows nothing to wait for. */
  rate() {
    const { run, state } = this;
    const isReading = run && !run.isRecorded && run.main.steps[state.pass]?.kind === "prefill";
    return isReading && run.main.lastPass > state.pass ? Infinity : this.pace();
  }

  seek(pass, isManual) {
    if (!this.run) return;
    const target = clamp(pass, 0, Math.max(this.run.main.lastPass, 0));
    const isStep = target === this.state.pass + 1;
    this.arrival = !isStep ? null : isManual ? MANUAL_STEP_MS : 1000 / this.pace();
    this.hasMoved = true;
    this.set({ pass: target, gammaPreview: null, ...(isManual ? { isPlaying: false } : {}) });
    if (isManual) this.say(`Pass ${target + 1}`);
  }

  /** Tell a screen reader; for what the visitor did, never for what streams in. */
  say(text) {
    setText(this.live, text);
  }

  togglePlay() {
    if (!this.run) return;
    const isAtEnd = this.state.pass >= this.run.main.lastPass && this.run.isComplete;
    if (!this.state.isPlaying && isAtEnd) this.seek(0, false);
    this.set({ isPlaying: !this.state.isPlaying, gammaPreview: null });
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
    const { run, state, reveals } = this;
    const chosen = state.hovered ?? state.held;
    const view = { ...state, run, reveals, isDark: isDarkPage(), showsFocus: chosen !== null,
      isLecture: isLecturing(this.root),
      isArriving: this.hasMoved && this.arrival !== null };
    view.focus = chosen ?? hardestPosition(run, state.pass);
    view.wouldReveal = wouldReveal(view);
    return view;
  }

  paint() {
    if (this.hasMoved) this.reveals.begin(this.arrival);
    const view = this.makeView();
    this.hasMoved = false;
    const { run } = view;
    this.root.classList.toggle("is-holding", view.held !== null);
    this.root.classList.toggle("is-quick", this.reveals.isQuick);
    setText(this.prompt, run.prompt);
    setAttribute(this.prompt, "title", run.prompt);
    this.numbers.update(view);
    this.tree.update(view);
    this.main.update(view, run.main);
    this.tiles.update(view);
    this.sudoku.update(view);
    this.budget.root.hidden = run.strategy !== "sbd";
    if (run.strategy === "sbd") this.budget.update(view);
    this.ntp.root.hidden = run.ntp === null;
    if (run.ntp) this.ntp.update(view, run.ntp);
    this.transport.update(view);
    this.inspector.update(view);
    // Last: text on its canvas makes the browser work out all styles, once is enough.
    this.staircase.update(view);
    this.tell(run);
  }

  /** Tell the page round the player which run is shown, and when it is complete. */
  tell(run) {
    const news = `${run.id} ${run.isComplete}`;
    if (news === this.told) return;
    this.told = news;
    this.root.dispatchEvent(new CustomEvent("sbd-run", { bubbles: true }));
  }
}

const SbdPlayer = { mount: (root, options) => new Player(root, options) };
globalThis.SbdPlayer = SbdPlayer;
