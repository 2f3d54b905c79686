import assert from "node:assert/strict";
import test from "node:test";
import { againstPlain } from "../../core/differences.js";
import { passesOf } from "../../watch/results.js";
import { partLead, partPieces, textExtent, textParts } from "../../watch/text.js";
import { END, FIRST, masks, PREFILL, runOf, SECOND, start, wire } from "../core/lines.js";

/** @import { View } from "../../watch/playhead.js" */

/** The texts of a lane's places at a pass, with what each is. */
function placesAt(run = runOf(), pass = 1) {
  const { count } = textExtent(run, run.main, pass);
  return textParts(run, run.main, pass, 0, count).map(({ text, kind }) => [text, kind]);
}

test("a masked place is as wide as the token that comes there, or as the best guess", () => {
  const tokens = [
    ["Hello", "hole"],
    [" world", "token"],
  ];
  assert.deepEqual(placesAt(), tokens);
  const live = runOf(wire(start(), PREFILL, FIRST));
  assert.deepEqual(placesAt(live), tokens, "the guess that later came");
  const other = { ...FIRST, masked: [...masks([0, 2, 3, 0.5]), ...FIRST.masked.slice(1)] };
  assert.deepEqual(placesAt(runOf(wire(start(), PREFILL, other)))[0], ["Bye", "hole"]);
  assert.equal(placesAt(runOf(wire(start(), PREFILL)), 0).length, 2, "nothing is known yet");
});

test("a place has the same pieces before and after its token lands, so that lines break alike", () => {
  const run = runOf();
  const [masked, landed] = [1, 2].map((pass) => textParts(run, run.main, pass, 0, 2));
  assert.ok(masked && landed);
  assert.deepEqual(partPieces(masked, 0), partPieces(landed, 0));
});

test("white space before a word stands outside it, and alone it is the word", () => {
  assert.deepEqual(partLead([[" world", ""]]), { lead: [[" ", ""]], word: [["world", ""]] });
  const code = partLead([
    ["\n", "break"],
    ["    ", "space"],
    ["return", ""],
  ]);
  assert.deepEqual(
    code.lead.map(([text]) => text),
    ["\n", "    "],
  );
  assert.deepEqual(partLead([["\n", "break"]]), { lead: [], word: [["\n", "break"]] });
});

/** A run whose next-token prediction says these two tokens. @param {number[]} committed */
function beside(committed) {
  const plain = committed.map((token, index) => ({
    ...PREFILL,
    kind: index ? "decode" : "prefill",
    seq: 5 + index,
    lane: "ntp",
    committed: [token],
  }));
  const end = { ...END, seq: 5 + committed.length, lane: "ntp" };
  return runOf(
    wire(start({ strategies: ["sbd", "ntp"] }), PREFILL, FIRST, SECOND, END, ...plain, end),
  );
}

test("an answer is laid beside next-token prediction's token by token", () => {
  assert.equal(againstPlain(runOf()), null, "there is none");
  assert.equal(againstPlain(beside([0, 1]))?.words, "");
  const other = againstPlain(beside([0, 2]));
  assert.deepEqual(
    [[...(other?.positions ?? [])], other?.words, other?.parting],
    [[1], "1 differs", 1],
  );
  assert.equal(againstPlain(beside([0, 1]))?.parting, null, "the texts never part");
});

test("the two numbers are those of the moment, and at the end next-token prediction's own", () => {
  const run = beside([0, 1]);
  /** @param {number} pass @param {boolean} isOver */
  const at = (pass, isOver) => {
    const view = /** @type {View} */ (/** @type {unknown} */ ({ run, pass, isOver }));
    return passesOf(view, run.numbersAt(pass));
  };
  assert.deepEqual(at(1, false), { own: 2, plain: 1 });
  assert.deepEqual(at(2, true), { own: 3, plain: 2 });
});
