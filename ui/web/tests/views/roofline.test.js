// The address of the calculator holds what is not the default, and gives it back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hashOf, wishAt } from "../../roofline.js";

const DEFAULTS = { device: "h100", block: 16, speed: 3.4 };

test("an address gives back the wish it was made of", () => {
  const wish = { device: "a b&c=d#", block: "8", speed: 3.4 };
  const hash = hashOf(wish, DEFAULTS);
  assert.equal(hash, "#roofline?device=a+b%26c%3Dd%23&block=8");
  assert.deepEqual(wishAt(hash, DEFAULTS), { ...wish, speed: 3.4 });
});

test("the defaults need no words, other views no wish", () => {
  assert.equal(hashOf({ ...DEFAULTS, block: "16" }, DEFAULTS), "#roofline");
  for (const hash of ["#roofline", "#roofline?"]) {
    assert.deepEqual(wishAt(hash, DEFAULTS), DEFAULTS);
  }
  for (const hash of ["", "#learn/2", "#rooflinex"]) {
    assert.equal(wishAt(hash, DEFAULTS), null);
  }
});

test("a field that is empty, unknown or broken does no harm", () => {
  const found = wishAt("#roofline?block=&what=1&device=%E0%A4%A&speed=NaN", DEFAULTS);
  assert.equal(found?.block, "");
  assert.equal(found?.speed, "NaN");
  assert.deepEqual(Object.keys(found ?? {}), Object.keys(DEFAULTS));
});
