import assert from "node:assert/strict";
import test from "node:test";
import {
  entropyColour,
  inkOn,
  inkOnRgb,
  MAX_ENTROPY,
  rampRgb,
  unsureness,
} from "../../core/scale.js";
import { drawPasses, stairsKey } from "../../watch/staircase.js";
import { FIRST, masks, PREFILL, reveals, runOf, SECOND, start, wire } from "../core/lines.js";

/** How much each dot is seen, in the order in which they are drawn, and how many cells are. @param {string} lines */
function drawn(lines) {
  /** @type {number[]} */
  const seen = [];
  let cells = 0;
  const context = {
    globalAlpha: 1,
    fillRect() {
      cells += 1;
    },
    beginPath() {},
    arc() {
      seen.push(this.globalAlpha);
    },
    fill() {},
  };
  const canvas = /** @type {CanvasRenderingContext2D} */ (/** @type {unknown} */ (context));
  const view = {
    run: runOf(lines),
    pass: 2,
    isDark: false,
    focus: null,
    showsFocus: false,
    reveals: { progress: () => 1 },
  };
  drawPasses(canvas, view, { width: 9, height: 9, cellWidth: 3, cellHeight: 3, gap: 1 }, 0, 3);
  return { dots: seen, cells };
}

/** @param {string} lines */
const dots = (lines) => drawn(lines).dots;

test("a dot is pale only where its own forward pass knew that it is after the end", () => {
  const opening = start({ end_token_ids: [0] });
  assert.deepEqual(dots(wire(opening, PREFILL, FIRST, SECOND)), [1, 1], "the end came later");
  const both = { ...FIRST, reveals: reveals([0, 0], [1, 1]) };
  assert.deepEqual(dots(wire(opening, PREFILL, both)), [1, 0.3]);
});

test("only what was masked has a colour; a checked draft is a dot alone, and the key says so", () => {
  const opening = start({ strategies: ["verify"], solver: { name: "" } });
  const fixed = { masked: masks([1, 0.05, 1, 0.99]), reveals: reveals([0, 0], [1, 1]) };
  const checked = { ...FIRST, lane: "verify", ...fixed };
  const lines = wire(opening, { ...PREFILL, lane: "verify" }, checked);
  assert.deepEqual(drawn(lines), { dots: [1, 1], cells: 1 });
  assert.match(stairsKey(runOf(lines)).dots, /dot alone: was no mask/);
  assert.equal(stairsKey(runOf()).dots, "dot: revealed");
});

test("unsureness grows by the root and stays within 0 and 1", () => {
  assert.deepEqual([-1, 0, 1, MAX_ENTROPY, 99].map(unsureness), [0, 0, 0.5, 1, 1]);
});

test("a ramp is met at its ends and between", () => {
  const ramp = ["#000000", "#ff8000", "#ffffff"];
  assert.deepEqual(rampRgb(ramp, 0), [0, 0, 0]);
  assert.deepEqual(rampRgb(ramp, 0.25), [128, 64, 0]);
  assert.deepEqual(rampRgb(ramp, 1), [255, 255, 255]);
});

test("letters on every colour can be read: contrast at least 4.5", () => {
  /** @param {string} text */
  const numbers = (text) => (text.match(/\d+/g) ?? []).map(Number);
  /** @param {number[]} rgb */
  const luminance = (rgb) => {
    const [r = 0, g = 0, b = 0] = rgb.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const isDark of [false, true]) {
    for (let entropy = 0; entropy <= 4; entropy += 0.05) {
      const ground = luminance(numbers(entropyColour(entropy, isDark)));
      const letters = inkOn(entropy, isDark) === "#ffffff" ? 1 : 0;
      const [light, dark] = [Math.max(ground, letters), Math.min(ground, letters)];
      assert.ok((light + 0.05) / (dark + 0.05) >= 4.5, `${entropy} ${isDark}`);
    }
  }
  assert.equal(inkOnRgb([255, 255, 255]), "#000000");
  assert.equal(inkOnRgb([0, 0, 0]), "#ffffff");
});
