// Derives the rows of a forward pass from its trace: what each row may attend to, by the same rule as
// sbd_core/masks.py (a test compares them), and which keys and values stay in the KV cache. Rows are the causal tokens,
// then the blocks. Keys are the cached tokens, then the rows. Knows no DOM.

import { tokenName } from "./letters.ts";
import { countOf, listInWords } from "./numbers.ts";
import {
  checkedDraft,
  type Lane,
  type Predraft,
  type Run,
  rightAlternative,
  type Step,
} from "./run.ts";

/**
 * A block of rows. seen: number of the causal rows that it sees. size: number of its own rows. numCausal: how many
 * of these, the first ones, are read causally.
 */
export type SeenBlock = { seen: number; size: number; numCausal: number };
const ROW_NAMES = {
  prompt: "the prompt",
  final: "final by now, riding along to the cache",
  exact: "exact, not in the cache yet",
  draft: "the draft being checked",
  block: "the block",
  given: "the block, given",
  predraft: "a draft made ahead",
  alternative: "an alternative to a drafted token",
};
type RowKind = keyof typeof ROW_NAMES;
/** A row as read. position: in the answer, below 0 in the prompt. token: undefined if it is unknown or a mask. */
export type Row = { kind: RowKind; position: number; token: number | undefined; isMask: boolean };
export type Mask = NonNullable<ReturnType<typeof maskOf>>;

/** Return the blocks that a forward pass read; next-token prediction reads none. */
export function blocksOf(step: Step, strategy: string, numPrompt: number): SeenBlock[] {
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
 * Return the rows that each row sees besides the whole cache: those before `seen`, and those from `first` to before
 * `stop`; see visible_rows() in sbd_core/masks.py. isCausal: whether it sees nothing to its right. position: in the
 * text, counted from the end of the cache.
 * @param numCausal causal tokens of the pass
 */
export function visibleRows(numCausal: number, blocks: SeenBlock[]) {
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

/** Return a token of the text so far; positions below 0 are of the prompt. */
function tokenAt({ promptIds, numPrompt, main }: Run, position: number) {
  return position < 0 ? promptIds[position + numPrompt] : main.fixed.get(position)?.token;
}

/** Return what each row of a forward pass reads, in the order of the mask's rows. */
export function rowsOf(run: Run, pass: number): Row[] {
  const { main: lane, numPrompt } = run;
  const step = lane.steps[pass];
  if (!step) return [];
  const causal = Array.from({ length: step.causal }, (_, i): Row => {
    const position = step.cached + i - numPrompt;
    const index = position - step.committedBefore; // in the draft
    if (lane.name === "verify" && index >= 0)
      return { kind: "draft", position, token: lane.steps[pass - 1]?.draft[index], isMask: false };
    const kind = position < 0 ? "prompt" : lane.name === "sbd" ? "final" : "exact";
    return { kind, position, token: tokenAt(run, position), isMask: false };
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

/** Return the text of a cached token. @param place counted from the start of the prompt */
export function cachedText(run: Run, place: number) {
  const token = tokenAt(run, place - run.numPrompt);
  return token === undefined ? "?" : run.tokenText(token);
}

/** Describe what the rows of a mask see, with a sentence per group of rows. */
export function maskSentences({ numCached, numCausal, blocks }: Mask, rows: Row[]) {
  const cached = numCached ? `all ${countOf(numCached, "cached token")}` : "";
  const seen = (...parts: string[]) => listInWords([cached, ...parts].filter(Boolean));
  const sentences = [];
  if (numCausal) {
    const left = numCausal > 1 ? "those of them to its left" : "";
    sentences.push(
      `${readWords(numCausal, "token")} sees ${seen(left, "itself")}, nothing to its right.`,
    );
  }
  blocks.forEach(({ seen: numSeen, size, numCausal: numOwn }, index) => {
    if (numOwn) return;
    const isPredraft = rows[numCausal]?.kind === "predraft" || index > 0;
    const before = numSeen ? `${countOf(numSeen, "causal token")} before it` : "";
    const own = `all ${countOf(size, "position")} of its own, to the left and to the right`;
    sentences.push(
      `${isPredraft ? "The masks of a draft made ahead" : "The block"}: each of ${countOf(size, "row")} sees ${seen(before, own)}.`,
    );
  });
  const numAlternatives = blocks.filter(({ numCausal: own }) => own).length;
  if (numAlternatives) {
    const own = seen("the causal tokens before its place", "itself");
    sentences.push(
      `${readWords(numAlternatives, "alternative")} sees ${own}; the masks behind it see the same and one another.`,
    );
  }
  return sentences;
}

function readWords(count: number, noun: string) {
  return `${countOf(count, noun)} ${count === 1 ? "is read causally: it" : "are read causally: each"}`;
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
  const [row, visible] = [rows[index], mask.visible[index]];
  if (!row || !visible) return "";
  const { seen, first, stop, isCausal } = visible;
  const { numCached } = mask;
  const who = row.isMask ? "the mask token" : tokenName(rowText(run, row));
  const place = row.position < 0 ? "of the prompt" : `at position ${row.position}`;
  const numBefore = index < mask.numCausal ? index : seen;
  const isBehind = !isCausal && rows[first]?.kind === "alternative";
  const parts = [
    numCached ? `the ${countOf(numCached, "cached token")}` : "",
    numBefore ? countOf(numBefore, "causal row") : "",
    isBehind ? "the alternative before it" : "",
    isCausal ? "itself" : `its block of ${stop - first - Number(isBehind)}, both ways`,
  ];
  const count = `${numCached + seen + stop - first} of ${numCached + rows.length} keys`;
  return `Row ${index + 1}, ${who} ${place} (${ROW_NAMES[row.kind]}), may attend to ${listInWords(parts.filter(Boolean))}: ${count}.`;
}

/** What a forward pass changes in the KV cache, in tokens. */
type CacheStep = NonNullable<ReturnType<typeof cacheAt>>;

export function cacheAt(run: Run, pass: number) {
  const { main: lane, numPrompt } = run;
  const step = lane.steps[pass];
  if (!step) return null;
  const written = step.cached + step.causal;
  const { tokens, numAccepted } = checkedDraft(lane, pass);
  const known = lane.steps[pass + 1]?.cached ?? written - tokens.length + numAccepted;
  const after = Math.min(known, written);
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

/** Say how a forward pass changed the cache, and why its content is exact. */
export function cacheSentences(lane: Lane, pass: number, cache: CacheStep) {
  const { before, after, rejected, dropped, alternatives } = cache;
  const [kept, numMasked] = [after - before, dropped - alternatives];
  const step = lane.steps[pass];
  const isOfBlock = lane.name === "sbd" && step?.kind !== "prefill";
  const written = isOfBlock
    ? `They became final since the last tokens were written (the block before, and what was given after it). The model read them causally: each saw only what stands to its left, so its keys and values are those that next-token prediction would have stored. ${
        step?.block.size
          ? "They are exact, and the forward pass was needed anyway."
          : "Exact. All that was left of the answer was given, so this forward pass reads it without a block."
      }`
    : "Each was read causally and saw only what stands to its left: its keys and values are those of next-token prediction, exact.";
  const again = rightAlternative(step?.predrafts ?? [])
    ? "; the one that was right is read again next, for the cache"
    : "";
  return [
    kept
      ? `${countOf(kept, "token")} written: the cache grows from ${before} to ${after}.`
      : `Nothing is added: the cache stays at ${countOf(after, "token")}.`,
    kept && written,
    rejected &&
      `${countOf(rejected, "drafted token")} written and taken back: read causally, the model gave another token there, so all behind it is of a text that will not be.`,
    numMasked &&
      `The keys and values of ${countOf(numMasked, "block row")} are dropped: they were made while masks stood in the block and looked to the right, so a causal model would not have them.`,
    alternatives &&
      `Those of ${countOf(alternatives, "alternative")} are dropped too, as each stood beside a drafted token${again}.`,
  ].filter(Boolean);
}
