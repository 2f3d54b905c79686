// The runs that grew out of one another: a first run, and what pins, branches and other gammas
// made of it. Also what differs between two answers. Knows no DOM.

/** Indexes of `left` and of `right` that have no partner in their longest common subsequence. */
function differences(left, right) {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      lengths[i][j] = left[i] === right[j] ? lengths[i + 1][j + 1] + 1
        : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const [onlyLeft, onlyRight] = [new Set(left.keys()), new Set(right.keys())];
  for (let i = 0, j = 0; i < left.length && j < right.length;) {
    if (left[i] === right[j]) {
      onlyLeft.delete(i++);
      onlyRight.delete(j++);
    } else if (lengths[i + 1][j] >= lengths[i][j + 1]) i += 1;
    else j += 1;
  }
  return [onlyLeft, onlyRight];
}

/** The tokens of a lane's answer, left to right, as [{id, text, isEnd}]; joined bytes count as one text. */
function answerTokens(run, lane) {
  const joined = run.joinedAt(lane, lane.lastPass);
  return [...lane.fixed.values()].filter((item) => item.position < lane.end)
    .sort((a, b) => a.position - b.position)
    .map(({ position, token }) => {
      const { id, text } = run.tokens[token];
      const part = joined.get(position);
      const isEnd = lane.finish === "end_of_sequence" && position === lane.end - 1;
      return { id, isEnd, text: part ? (part.index ? "" : part.text) : text };
    });
}

/** How a run came out of the one before it, in words. */
function originWords(run, { kind, position, pass }) {
  const token = run.pins.get(position);
  const name = token === undefined ? "" : tokenName(run.tokenText(token));
  if (kind === "pin") return `pin ${name} at ${position}`;
  if (kind === "branch") return `branch at pass ${pass + 1}, ${name} at ${position}`;
  return `γ ${formatNats(run.solver.gamma)}`;
}

class Family {
  constructor() {
    this.nodes = [];
    this.asked = null;
    this.numAsked = 0;
  }

  /** Remember what was asked of `run`; the run that answers carries the id given back. */
  ask(run, origin) {
    this.numAsked += 1;
    this.asked = { id: `a${this.numAsked}`, parent: this.nodeOf(run), origin };
    return this.asked.id;
  }

  /** A run began: a branch of the one it was asked of, or else the first of a new family. */
  take(run) {
    const isBranch = this.asked !== null && run.ask === this.asked.id;
    const { parent, origin } = isBranch ? this.asked : { parent: null, origin: null };
    const node = { run, parent, depth: parent ? parent.depth + 1 : 0,
      words: origin ? originWords(run, origin) : "first run" };
    this.asked = null;
    if (!parent) this.nodes = [node];
    else this.nodes.splice(this.endOf(parent), 0, node);
  }

  nodeOf(run) {
    return this.nodes.find((node) => node.run === run) ?? null;
  }

  /** The index after the last descendant of `node`, where its next child goes. */
  endOf(node) {
    const after = this.nodes.findIndex((other, index) =>
      index > this.nodes.indexOf(node) && other.depth <= node.depth);
    return after < 0 ? this.nodes.length : after;
  }

  /** The run `by` rows further down the tree, the same one at either end. */
  neighbour(run, by) {
    const index = this.nodes.indexOf(this.nodeOf(run)) + by;
    return this.nodes[clamp(index, 0, this.nodes.length - 1)]?.run ?? run;
  }
}
