// What the wire has told so far, and every question the views ask of it.
// Knows no DOM. A pass is an index into a lane's steps; a position an offset in the answer.

const WIRE_UNITS = 10000;

/** One lane's passes. `fixed` maps a position to when, how and as what it was revealed. */
class Lane {
  constructor(name, pins) {
    this.name = name;
    this.pins = pins;
    this.steps = [];
    this.fixed = new Map();
    this.hindsight = new Map();
    this.numCommitted = 0;
    this.finish = null;
    this.text = "";
  }

  append(step) {
    const pass = this.steps.length;
    step.committedBefore = this.numCommitted;
    this.steps.push(step);
    for (const reveal of step.reveals) {
      const masked = step.masked.get(reveal.position);
      this.fixed.set(reveal.position, { ...reveal, pass, entropy: masked?.entropy ?? null });
    }
    for (const [position, token] of this.pins) {
      if (position < step.block.start + step.block.size) this.give(position, token, pass, true);
    }
    step.committed.forEach((token, offset) =>
      this.give(this.numCommitted + offset, token, pass, this.pins.has(this.numCommitted + offset)));
    this.numCommitted += step.committed.length;
    for (const item of step.hindsight) this.hindsight.set(item.position, { ...item, pass });
  }

  /** A position that no solver revealed: it was pinned, or came with the commit. */
  give(position, token, pass, isPinned) {
    if (this.fixed.has(position)) return;
    this.fixed.set(position,
      { position, token, pass, rank: 0, probability: null, entropy: null, isPinned });
  }

  get lastPass() {
    return this.steps.length - 1;
  }

  /** Where the answer ends, exclusive; unknown (Infinity) while the lane still runs. */
  get end() {
    return this.finish === null ? Infinity : this.numCommitted;
  }

  /** Tokens of the answer fixed by the end of each pass. */
  get tokensByPass() {
    const state = `${this.steps.length}/${this.finish}`;
    if (this.countedState === state) return this.counts;
    this.countedState = state;
    this.counts = new Array(this.steps.length).fill(0);
    for (const item of this.fixed.values()) {
      if (item.position < this.end) this.counts[item.pass] += 1;
    }
    for (let pass = 1; pass < this.counts.length; pass += 1) {
      this.counts[pass] += this.counts[pass - 1];
    }
    return this.counts;
  }

  /** Tokens fixed by the end of `pass` that belong to the answer. */
  numTokensAt(pass) {
    return this.tokensByPass[Math.min(pass, this.lastPass)] ?? 0;
  }

  /** How many of those the model did not decode: they were pinned. */
  numGivenAt(pass) {
    if (!this.pins.size) return 0;
    return [...this.fixed.values()]
      .filter((item) => item.isPinned && item.pass <= pass && item.position < this.end).length;
  }

  /** Engine seconds up to and including `pass`. */
  secondsAt(pass) {
    return this.steps.slice(0, pass + 1).reduce((sum, step) => sum + step.seconds, 0);
  }

  /** The reveal of `position` if it happened by `pass`. */
  fixedAt(position, pass) {
    const item = this.fixed.get(position);
    return item && item.pass <= pass ? item : null;
  }

  /** Entropy of `position` at every pass that saw it masked: [{pass, entropy}]. */
  entropyHistory(position) {
    const history = [];
    this.steps.forEach((step, pass) => {
      const masked = step.masked.get(position);
      if (masked) history.push({ pass, entropy: masked.entropy });
    });
    return history;
  }
}

/** One run: its settings, its token texts and its lanes. The first lane is the main one. */
class Run {
  constructor(line) {
    this.id = line.run;
    this.prompt = line.prompt ?? "";
    this.model = line.model ?? "";
    this.strategy = line.strategy;
    this.ask = line.ask ?? "";
    this.solver = line.solver;
    this.blockSize = line.block_size;
    this.isRecorded = Boolean(line.is_recorded);
    this.maxNewTokens = line.max_new_tokens;
    this.seed = line.seed ?? 0;
    this.tokens = [];
    this.hasBytes = false;
    this.addTokens(line.tokens ?? []);
    this.pins = new Map(line.pinned ?? []);
    this.lanes = new Map(line.lanes.map((name) =>
      [name, new Lane(name, name === line.strategy ? this.pins : new Map())]));
    this.main = this.lanes.get(line.lanes[0]);
    this.ntp = line.lanes[0] === "ntp" ? null : this.lanes.get("ntp") ?? null;
    this.isStopped = false;
    this.revision = 0;
  }

  addTokens(pairs) {
    for (const [id, text] of pairs) this.tokens.push({ id, text });
    this.hasBytes ||= pairs.some(([, text]) => BYTE.test(text));
  }

  /** Characters that tokens fixed by `pass` spell together, see joinBytes. */
  joinedAt(lane, pass) {
    if (!this.hasBytes) return new Map();
    const known = [...lane.fixed.values()].filter((item) => item.pass <= pass)
      .sort((a, b) => a.position - b.position);
    return joinBytes(known.map(({ position, token }) => ({ position, text: this.tokenText(token) })));
  }

  tokenText(token) {
    return this.tokens[token]?.text ?? "";
  }

  /** The settings of this run with some changed, flat, as the form sends them. */
  settings(changes = {}) {
    const { name, ...parameters } = this.solver;
    const pinned = [...this.pins].map(([position, token]) => [position, this.tokens[token].id]);
    return { prompt: this.prompt, strategy: this.strategy, solver: name, ...parameters,
      block_size: this.blockSize, max_new_tokens: this.maxNewTokens, seed: this.seed, pinned,
      ...changes };
  }

  get isComplete() {
    return this.isStopped || [...this.lanes.values()].every((lane) => lane.finish !== null);
  }

  /** The positions shown as tiles at `pass`: the block predicted, or the one about to be. */
  windowAt(pass) {
    const step = this.main.steps[pass];
    if (!step) return { start: 0, size: this.blockSize };
    if (this.strategy === "sbd" && step.block.size > 0) return step.block;
    return { start: step.committedBefore, size: this.blockSize };
  }

  /** First pass of each block (or of each window, for other strategies none). */
  get blockPasses() {
    const passes = [];
    let last = -1;
    this.main.steps.forEach((step, pass) => {
      if (this.strategy !== "sbd" || step.block.size === 0 || step.block.start === last) return;
      last = step.block.start;
      passes.push(pass);
    });
    return passes;
  }

  /** The numbers of the header at `pass`; the same definitions as view_model.summary. */
  numbersAt(pass) {
    const { main, ntp } = this;
    const isWhole = main.finish !== null && (ntp === null || ntp.finish !== null);
    const numPasses = Math.min(pass, main.lastPass) + 1;
    const numTokens = main.numTokensAt(pass);
    const numGiven = main.numGivenAt(pass);
    const ntpPasses = this.ntpPassesFor(isWhole ? main.lastPass : pass, isWhole);
    const isTimed = isWhole && ntp !== null && main.finish !== "stopped" && ntp.finish !== "stopped";
    return {
      numPasses,
      numTokens,
      numGiven,
      tokensPerPass: numPasses ? (numTokens - numGiven) / numPasses : 0,
      passesSaved: isWhole ? ntpPasses / main.steps.length : numPasses ? ntpPasses / numPasses : 0,
      isWhole,
      seconds: isTimed ? main.secondsAt(main.lastPass) : null,
      ntpSeconds: isTimed ? ntp.secondsAt(ntp.lastPass) : null,
    };
  }

  /** Passes that next-token prediction takes for what is there at `pass`. With pins both lanes have
   * different work: one pass a decoded token is the fair measure. */
  ntpPassesFor(pass, isWhole) {
    const { main, ntp } = this;
    if (main.pins.size) return main.numTokensAt(pass) - main.numGivenAt(pass);
    return isWhole ? (ntp?.steps.length ?? main.numCommitted) : main.numTokensAt(pass);
  }
}

/** Folds wire lines into the latest run; drops what was seen and what belongs to old runs. */
class History {
  constructor() {
    this.run = null; // the run on the page: the latest, or one of its family
    this.latest = null;
    this.lastSequence = -1;
  }

  /** Read wire text. Returns "run" when a new run began, "more" for news, else null. */
  accept(text) {
    let news = null;
    for (const row of text.split("\n")) {
      if (!row) continue;
      const line = JSON.parse(row);
      const isNewRun = line.type === "run" && line.run !== this.latest?.id;
      if (!isNewRun && (line.run !== this.latest?.id || line.seq <= this.lastSequence)) continue;
      this.lastSequence = line.seq;
      if (isNewRun) {
        this.run = this.latest = new Run(line);
        news = "run";
      } else {
        this.applyLine(line);
        news ??= "more";
      }
    }
    return news;
  }

  applyLine(line) {
    const run = this.latest;
    run.revision += 1;
    run.addTokens(line.tokens ?? []);
    const lane = run.lanes.get(line.lane);
    if (line.type === "step") lane.append(readStep(line));
    if (line.type === "end") {
      lane.finish = line.finish;
      lane.text = line.text ?? "";
    }
  }
}

function readStep(line) {
  const masked = new Map();
  for (const [position, entropy, ...flat] of line.masked ?? []) {
    const top = [];
    for (let i = 0; i < flat.length; i += 2) {
      top.push({ token: flat[i], probability: flat[i + 1] / WIRE_UNITS });
    }
    masked.set(position, { position, entropy: entropy / WIRE_UNITS, top });
  }
  return {
    kind: line.kind ?? "decode",
    cached: line.context[0],
    causal: line.context[1],
    block: { start: line.block[0], size: line.block[1] },
    masked,
    reveals: (line.reveals ?? []).map(([position, token, probability], rank) => ({
      position,
      token,
      rank,
      probability: probability === undefined
        ? masked.get(position)?.top.find((entry) => entry.token === token)?.probability ?? 0
        : probability / WIRE_UNITS,
    })),
    committed: line.committed ?? [],
    draft: line.draft ?? [],
    hindsight: (line.hindsight ?? []).map(([position, probability, argmax, argmaxProbability]) => ({
      position,
      probability: probability / WIRE_UNITS,
      argmax,
      argmaxProbability: argmaxProbability / WIRE_UNITS,
    })),
    seconds: line.time / 1e6,
  };
}
