// The colours of entropy: the scale, the ramp, and letters that can be read on it.

import assert from "node:assert/strict";
import test from "node:test";
import {
  entropyColour,
  inkOn,
  inkOnRgb,
  MAX_ENTROPY,
  rampRgb,
  unsureness,
} from "../../core/colours.ts";

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
  const numbers = (text: string) => (text.match(/\d+/g) ?? []).map(Number);
  const luminance = (rgb: number[]) => {
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
