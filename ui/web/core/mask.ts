// Derives the rows of a forward pass from its trace: what each row may attend to, by the same rule as
// sbd_core/masks.py (a test compares them), and which keys and values stay in the KV cache. Rows are the causal tokens,
// then the blocks. Keys are the cached tokens, then the rows. Knows no DOM.

import { tokenName } from "./letters.ts";
import { countOf } from "./numbers.ts";
import { checkedDraft, type Lane, type Predraft, type Run, type Step } from "./run.ts";

/**
 * A block of rows. seen: number of the causal rows that it sees. size: number of its own rows. numCausal: how many
 * of these, the first ones, are read causally.
 */
export type SeenBlock = { seen: number; size: number; numCausal: number };
/**
 * The rows that a row sees besides the whole cache: those before `seen`, and those from `first` to before `stop`.
 * isCausal: whether it sees nothing to its right. position: in the text, counted from the end of the cache.
 */
type VisibleRow = {
  seen: number;
  first: number;
  stop: number;
  isCausal: boolean;
  position: number;
};
type RowKind =
  | "prompt"
  | "final"
  | "exact"
  | "draft"
  | "block"
  | "given"
  | "predraft"
  | "alternative";
/** A row as read. position: in the answer, below 0 in the prompt. token: undefined if it is unknown or a mask. */
export type Row = { kind: RowKind; position: number; token: number | undefined; isMask: boolean };
export type Mask = NonNullable<ReturnType<typeof maskOf>>;

/** Return the blocks that a forward pass read; next-token prediction reads none. */
export function blocksOf(
  step: Pick<Step, "block" | "cached" | "causal" | "predrafts">,
  strategy: string,
  numPrompt: number,
): SeenBlock[] {
  if (strategy === "ntp") return [];
  const known = numPrompt - step.cached;
  const predrafts = step.predrafts.map(({ position, size, alternative }) => {
    const numCausal = alternative === undefined ? 0 : 1;
    return { seen: known + position - numCausal, size: size + numCausal, numCausal };
  });
  const own = { seen: step.causal, size: step.block.size, numCausal: 0 };
  return own.size ? [own, ...predrafts] : predrafts;
}

/**
 * Return what each row sees; see visible_rows() in sbd_core/masks.py.
 * @param numCausal causal tokens of the pass
 */
export function visibleRows(numCausal: number, blocks: SeenBlock[]): VisibleRow[] {
  const rows = Array.from({ length: numCausal }, (_, i) => {
    return { seen: i + 1, first: 0, stop: 0, isCausal: true, position: i };
  });
  for (const { seen, size, numCausal: numOwn } of blocks) {
    const first = rows.length;
    for (let i = 0; i < size; i += 1) {
      const isCausal = i < numOwn;
      const stop = first + (isCausal ? i + 1 : size);
      rows.push({ seen, first, stop, isCausal, position: seen + i });
    }
  }
  return rows;
}

export function maskOf(run: Run, pass: number) {
  const step = run.main.steps[pass];
  if (!step) return null;
  const blocks = blocksOf(step, run.main.name, run.numPrompt);
  const { cached: numCached, causal: numCausal } = step;
  return { numCached, numCausal, blocks, visible: visibleRows(numCausal, blocks) };
}

/** Return the token at a position of the text that a pass reads: of the prompt, final, or drafted. */
function tokenRead(run: Run, pass: number, position: number) {
  if (position < 0) return run.promptIds[position + run.numPrompt];
  const lane = run.main;
  const step = lane.steps[pass];
  const before = step?.committedBefore ?? 0;
  if (position < before || lane.name !== "verify") return lane.fixed.get(position)?.token;
  return lane.steps[pass - 1]?.draft[position - before];
}

/** Return what each row of a forward pass reads, in the order of the mask's rows. */
export function rowsOf(run: Run, pass: number): Row[] {
  const { main: lane, numPrompt } = run;
  const step = lane.steps[pass];
  if (!step) return [];
  const causal = Array.from({ length: step.causal }, (_, i) => {
    const position = step.cached + i - numPrompt;
    const kind = causalKind(lane.name, position, step.committedBefore);
    return { kind, position, token: tokenRead(run, pass, position), isMask: false };
  });
  if (lane.name === "ntp") return causal;
  const { start, size } = step.block;
  const block = Array.from({ length: size }, (_, i) => blockRow(lane, pass, start + i));
  return [...causal, ...block, ...step.predrafts.flatMap(predraftRows)];
}

function predraftRows({ position, size, alternative: token }: Predraft): Row[] {
  const masks: Row[] = Array.from({ length: size }, (_, i) => {
    return { kind: "predraft", position: position + i, token: undefined, isMask: true };
  });
  if (token === undefined) return masks;
  return [{ kind: "alternative", position: position - 1, token, isMask: false }, ...masks];
}

/** @param committed tokens of the answer before the pass */
function causalKind(strategy: string, position: number, committed: number): RowKind {
  if (position < 0) return "prompt";
  if (strategy === "sbd") return "final";
  return position < committed ? "exact" : "draft";
}

function blockRow(lane: Lane, pass: number, position: number): Row {
  const pin = lane.pins.get(position);
  const known = lane.name === "sbd" ? (pin ?? lane.fixedAt(position, pass - 1)?.token) : undefined;
  const kind = pin !== undefined ? "given" : "block";
  return { kind, position, token: known, isMask: known === undefined };
}

/** Return the text of the token that a row reads: <m> for the mask token. */
export function rowText(run: Run, row: Row) {
  return row.isMask ? "<m>" : row.token === undefined ? "?" : run.tokenText(row.token);
}

/**
 * Return the text of a cached token.
 * @param place counted from the start of the prompt
 */
export function cachedText(run: Run, place: number) {
  const position = place - run.numPrompt;
  const token = position < 0 ? run.promptIds[place] : run.main.fixed.get(position)?.token;
  return token === undefined ? "?" : run.tokenText(token);
}

const ROW_NAMES: Readonly<Record<RowKind, string>> = {
  prompt: "the prompt",
  final: "final by now, riding along to the cache",
  exact: "exact, not in the cache yet",
  draft: "the draft being checked",
  block: "the block",
  given: "the block, given",
  predraft: "a draft made ahead",
  alternative: "an alternative to a drafted token",
};

/** Describe what the rows of a mask see, with a sentence per group of rows. */
export function maskSentences(mask: Mask, rows: Row[]) {
  const { numCached, numCausal, blocks } = mask;
  const cached = numCached ? `all ${countOf(numCached, "cached token")}` : "";
  const sentences = [];
  if (numCausal === 1) {
    sentences.push(`1 token is read causally: it sees ${join([cached, "itself"])}.`);
  } else if (numCausal) {
    const who = rows[0]?.kind === "prompt" ? "tokens of the prompt" : "tokens";
    const seen = join([cached, "those of them to its left", "itself"]);
    sentences.push(
      `${numCausal} ${who} are read causally: each sees ${seen}, nothing to its right.`,
    );
  }
  const alternatives = blocks.filter(({ numCausal: own }) => own);
  blocks.forEach(({ seen, size, numCausal: numOwn }, index) => {
    if (numOwn) return;
    const name =
      rows[numCausal]?.kind === "predraft" || index > 0
        ? "The masks of a draft made ahead"
        : "The block";
    const before = seen ? `${countOf(seen, "causal token")} before it` : "";
    const own = `all ${countOf(size, "position")} of its own, to the left and to the right`;
    sentences.push(`${name}: each of ${countOf(size, "row")} sees ${join([cached, before, own])}.`);
  });
  if (alternatives.length) sentences.push(alternativeSentence(alternatives.length, cached));
  return sentences;
}

/** Describe what alternatives and the masks after them see. */
function alternativeSentence(count: number, cached: string) {
  const seen = join([cached, "the causal tokens before its place", "itself"]);
  const isOne = count === 1;
  const who = isOne
    ? "1 alternative to a drafted token is read causally: it"
    : `${count} alternatives to drafted tokens are read causally: each`;
  return `${who} sees ${seen}; the masks behind it see the same and one another.`;
}

/** Say why a forward pass of verify read fewer masks than the block size; "" if it did not. */
export function fewMasksWords(
  { strategy, blockSize }: Pick<Run, "strategy" | "blockSize">,
  numMasks: number,
) {
  if (strategy !== "verify" || numMasks >= blockSize) return "";
  return numMasks
    ? `Of at most ${blockSize} masks, the block size, it reads ${numMasks}: fewer after a forward pass ` +
        "that gave few tokens, near the limit of the answer’s length, or where other rows are worth more."
    : "It reads no masks behind the draft, which ends the answer or reaches the limit of its length.";
}

export function rowSentence(run: Run, mask: Mask, rows: Row[], index: number) {
  const row = rows[index];
  const visible = mask.visible[index];
  if (!row || !visible) return "";
  const who = row.isMask ? "the mask token" : tokenName(rowText(run, row));
  const place = row.position < 0 ? "of the prompt" : `at position ${row.position}`;
  const { seen, first, stop } = visible;
  const parts = [mask.numCached ? `the ${countOf(mask.numCached, "cached token")}` : ""];
  if (index < mask.numCausal)
    parts.push(index ? `${countOf(index, "row")} above it` : "", "itself");
  else parts.push(seen ? countOf(seen, "causal row") : "", ...ownParts(rows, index, visible));
  const all = mask.numCached + mask.visible.length;
  const count = mask.numCached + seen + (stop - first);
  return `Row ${index + 1}, ${who} ${place} (${ROW_NAMES[row.kind]}), may attend to ${join(parts)}: ${count} of ${all} keys.`;
}

/** Describe in parts of a sentence what a row of a block sees of that block. */
function ownParts(rows: Row[], index: number, { first, stop }: VisibleRow) {
  const hasAlternative = rows[first]?.kind === "alternative";
  if (hasAlternative && index === first) return ["itself"];
  const size = stop - first - (hasAlternative ? 1 : 0);
  return [hasAlternative ? "the alternative before it" : "", `its block of ${size}, both ways`];
}

function join(parts: string[]) {
  const kept = parts.filter(Boolean);
  if (kept.length < 2) return kept.join("");
  return `${kept.slice(0, -1).join(", ")} and ${kept.at(-1)}`;
}

/** What a forward pass changes in the KV cache, in tokens. */
type CacheStep = NonNullable<ReturnType<typeof cacheAt>>;

export function cacheAt(run: Run, pass: number) {
  const { main: lane, numPrompt } = run;
  const step = lane.steps[pass];
  if (!step) return null;
  const written = step.cached + step.causal;
  const after = Math.min(lane.steps[pass + 1]?.cached ?? lastLength(lane, pass), written);
  const dropped = blocksOf(step, lane.name, numPrompt).reduce((sum, { size }) => sum + size, 0);
  const alternatives = step.predrafts.filter(({ alternative }) => alternative !== undefined).length;
  return {
    numPrompt, // tokens of the prompt
    before: step.cached, // tokens in the cache before the pass
    after, // tokens in the cache after the pass
    rejected: written - after, // drafted tokens that were written and removed again
    dropped, // rows of blocks, whose keys and values are not kept; includes the alternatives
    alternatives, // rows that read an alternative to a drafted token
  };
}

/** Return the length of the cache after a pass that is the last so far: verify removes rejected tokens. */
function lastLength(lane: Lane, pass: number) {
  const step = lane.steps[pass];
  if (!step) return 0;
  const written = step.cached + step.causal;
  if (lane.name !== "verify") return written;
  const { tokens, numAccepted } = checkedDraft(lane, pass);
  return written - tokens.length + numAccepted;
}

/** Say how a forward pass changed the cache, and why its content is exact. */
export function cacheSentences(lane: Lane, pass: number, cache: CacheStep) {
  const { before, after, rejected, dropped, alternatives } = cache;
  const numMasked = dropped - alternatives;
  const kept = after - before;
  const step = lane.steps[pass];
  const sentences = [];
  if (!kept) sentences.push(`Nothing is added: the cache stays at ${countOf(after, "token")}.`);
  else
    sentences.push(
      `${countOf(kept, "token")} written: the cache grows from ${before} to ${after}.`,
    );
  if (kept && step && lane.name === "sbd" && step.kind !== "prefill") {
    sentences.push(
      "They became final since the last tokens were written (the block before, and what was given after it). The model read them causally: each saw only what stands to its left, so its keys and values are those that next-token prediction would have stored.",
      step.block.size
        ? "They are exact, and the forward pass was needed anyway."
        : "Exact. All that was left of the answer was given, so this forward pass reads it without a block.",
    );
  } else if (kept) {
    sentences.push(
      "Each was read causally and saw only what stands to its left: its keys and values are those of next-token prediction, exact.",
    );
  }
  if (rejected) {
    sentences.push(
      `${countOf(rejected, "drafted token")} written and taken back: read causally, the model gave another token there, so all behind it is of a text that will not be.`,
    );
  }
  if (numMasked) {
    sentences.push(
      `The keys and values of ${countOf(numMasked, "block row")} are dropped: they were made while masks stood in the block and looked to the right, so a causal model would not have them.`,
    );
  }
  if (alternatives) {
    const isRight = step?.predrafts.some((each) => each.isUsed && each.alternative !== undefined);
    const again = isRight ? "; the one that was right is read again next, for the cache" : "";
    sentences.push(
      `Those of ${countOf(alternatives, "alternative")} are dropped too, as each stood beside a drafted token${again}.`,
    );
  }
  return sentences;
}
