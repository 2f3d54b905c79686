// The description of a chart, by the strategy of the run.

import assert from "node:assert/strict";
import test from "node:test";
import { wordsFor } from "../../charts.ts";

test("a chart says of a strategy what it has of it, else what it says of every other", () => {
  const row = { id: "a", title: "A", words: "read again", verify: "read at once" };
  const words = (strategy: string) => wordsFor([row], strategy)[0]?.words;
  assert.deepEqual(
    [words("verify"), words("ntp"), words("sbd"), words("id")],
    ["read at once", "read again", "read again", "read again"],
  );
});
