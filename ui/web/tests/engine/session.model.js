import assert from "node:assert/strict";
import { test } from "node:test";
import { History } from "../../core/run/history.js";
import { traceText } from "../../core/run/trace.js";
import { Session } from "../../engine/session/session.js";
import { NANO, openFolder } from "./node/exported.js";

/** @import { News } from "../../engine/session/session.js" */

const PROMPT = "What is 12 + 30?";

const checkpoint = await openFolder(NANO);

function makeSession() {
  /** @type {News[]} */
  const said = [];
  const breathe = () => new Promise((/** @type {(value: void) => void} */ go) => setImmediate(go));
  const session = new Session(checkpoint, (news) => said.push(news), breathe);
  const last = () => said.at(-1);
  return { session, said, last };
}

/** @param {News[]} said what the player makes of it */
function played(said) {
  const history = new History();
  for (const { wire } of said) if (wire && wire !== "stop") history.accept(wire);
  assert.ok(history.run);
  return history.run;
}

test("a decode is a run that the player can play, beside next-token prediction", async () => {
  const { session, said, last } = makeSession();
  await session.decode({ prompt: PROMPT, ask: "7:1", max_new_tokens: 40 });
  const run = played(said);
  assert.equal(run.prompt, PROMPT);
  assert.equal(run.ask, "7:1");
  assert.deepEqual([...run.lanes.keys()], ["sbd", "ntp"]);
  assert.ok(run.isComplete);
  assert.ok(run.main.steps.length > 1);
  assert.deepEqual([last()?.text, last()?.isRunning], ["", false]);
});

test("every answer is said to be not checked", async () => {
  const { session, said, last } = makeSession();
  await session.decode({ prompt: PROMPT, max_new_tokens: 40 });
  for (const { text, verdict } of played(said).lanes.values()) {
    assert.match(text, / 42\.$/);
    assert.equal(verdict?.right, null);
    assert.match(verdict?.words ?? "", /^Not checked/);
  }
  const lanes = ["ntp", "verify"];
  await session.race({ prompt: PROMPT, lanes, low: null, high: null, max_new_tokens: 40 });
  for (const lane of last()?.board?.lanes ?? assert.fail("no board")) {
    assert.match(lane.verdict?.words ?? "", /^Not checked/);
  }
});

test("settings of the form reach the decode, and the same run can be asked for again", async () => {
  const { session, said } = makeSession();
  const form = {
    prompt: PROMPT,
    strategy: "sbd",
    solver: "top-k",
    k: 3,
    by: "margin",
    block_size: 8,
  };
  await session.decode({ ...form, max_new_tokens: 20, pinned: [[2, 9]] });
  const run = played(said);
  assert.deepEqual(run.solver, { name: "top-k", k: 3, by: "margin" });
  assert.equal(run.blockSize, 8);
  assert.equal(run.main.fixed.get(2)?.token, 9);
  const again = makeSession();
  await again.session.decode(run.settings());
  assert.equal(played(again.said).main.text, run.main.text);
});

test("an answer with blanks keeps what is not blank", async () => {
  const { session, said } = makeSession();
  await session.decode({ prompt: PROMPT, template: "The answer is ___2.", max_new_tokens: 40 });
  assert.match(played(said).main.text, /^The answer is .*\.$/s);
});

test("a bad field is refused in a sentence, before any forward pass", async () => {
  for (const [form, words] of /** @type {[Record<string, unknown>, string][]} */ ([
    [{ prompt: " " }, "Prompt must not be empty."],
    [{ prompt: PROMPT, solver: "best" }, "Solver must be one of"],
    [{ prompt: PROMPT, gamma: -1 }, "γ must be a finite number >= 0; got -1."],
    [{ prompt: PROMPT, max_new_tokens: 1000 }, "Longest answer must be at most 256 tokens"],
    [
      { prompt: PROMPT, strategy: "ntp", block_size: 100_000 },
      "Block size must be a whole number >= 1 and <= 1024",
    ],
    [{ prompt: PROMPT, strategy: "ntp", block_size: 65 }, "Block size must be at most 64"],
    [{ prompt: PROMPT, block_size: 1 }, "Block size must be from"],
    [{ prompt: PROMPT, pinned: "3" }, "Pins must be a list of offsets and token ids"],
    [{ prompt: PROMPT, template: "all given" }, "Answer with blanks must hold a blank"],
    [{ prompt: "x".repeat(3000) }, "Prompt must be at most 2,000 characters; got 3000."],
  ])) {
    const { session, said } = makeSession();
    await session.decode(form);
    assert.equal(said.length, 1, JSON.stringify(form));
    assert.ok(said[0]?.isError && !said[0].isRunning);
    assert.ok(said[0]?.text?.startsWith(words), said[0]?.text);
  }
});

test("stop ends a decode after its forward pass, and the player is told", async () => {
  const { session, said, last } = makeSession();
  const whole = session.decode({ prompt: PROMPT, strategy: "sbd", solver: "left-to-right", k: 1 });
  session.breathed = -Infinity;
  session.stop();
  await whole;
  assert.ok(said.some(({ wire }) => wire === "stop"));
  assert.equal(last()?.text, "Stopped.");
});

test("memory is given back: many decodes do not grow it", async () => {
  const { session } = makeSession();
  await session.decode({ prompt: PROMPT, max_new_tokens: 64 });
  const size = () => checkpoint.model.runtime.module.HEAPU8.buffer.byteLength;
  const before = size();
  for (let i = 0; i < 10; i += 1) await session.decode({ prompt: PROMPT, max_new_tokens: 64 });
  assert.equal(size(), before);
});

test("no memory for a decode is a sentence, and a shorter one goes on", async () => {
  const { session, said, last } = makeSession();
  const { runtime } = checkpoint.model;
  const allocate = runtime.allocate.bind(runtime);
  runtime.allocate = (bytes) => allocate(bytes > 100_000 ? 2 ** 32 - 1 : bytes);
  try {
    await session.decode({ prompt: PROMPT, max_new_tokens: 40 });
  } finally {
    runtime.allocate = allocate;
  }
  assert.match(last()?.text ?? "", /^This browser has not enough memory left/);
  assert.deepEqual([last()?.isError, last()?.isRunning], [true, false]);
  await session.decode({ prompt: PROMPT, max_new_tokens: 8 });
  assert.ok(played(said).isComplete);
});

test("a race runs every lane to its end and compares them", async () => {
  const { session, said, last } = makeSession();
  const lanes = ["ntp", "sbd-low", "verify", "verify-predraft"];
  await session.race({ prompt: PROMPT, lanes, low: 0.1, high: 0.35, max_new_tokens: 30 });
  const board = last()?.board;
  assert.deepEqual(
    board?.lanes.map(({ name }) => name),
    lanes,
  );
  const told = said.flatMap(({ text = "" }) => text.match(/^Ran (.+) …$/)?.[1] ?? []);
  assert.deepEqual(
    told,
    board?.lanes.map(({ label }) => label),
  );
  const [ntp, , verify, predraft] = board?.lanes ?? [];
  assert.equal(predraft?.label, "Verify, 4 predrafts, threshold 0.3");
  assert.deepEqual(
    verify?.tokens.map(([id]) => id),
    ntp?.tokens.map(([id]) => id),
  );
  assert.equal(ntp?.num_passes, ntp?.num_tokens);
  assert.deepEqual(
    ntp?.tokens.map(([, , pass]) => pass),
    ntp?.tokens.map((_, index) => index),
  );
  for (const { seconds, times } of board?.lanes ?? [])
    assert.equal(seconds, times.reduce((sum, time) => sum + time, 0) / 1e6, "one number for both");
});

test("a decode can be timed a few times", async () => {
  const { session, last } = makeSession();
  await session.time({ prompt: PROMPT, ask: "r", max_new_tokens: 12 });
  assert.equal(last()?.timing?.seconds.length, 5);
});

test("a run is taken home as a trace of what was decoded, whole or stopped", async () => {
  const { session, said } = makeSession();
  await session.decode({ prompt: PROMPT, max_new_tokens: 40 });
  const run = played(said);
  const trace = JSON.parse(traceText(run));
  assert.deepEqual([trace.format, trace.version], ["sbd-trace", 4]);
  assert.deepEqual([trace.text, trace.finish], [run.main.text, run.main.finish]);
  assert.equal(trace.events.length, run.main.steps.length);
  assert.deepEqual(trace.end_token_ids, [...checkpoint.endIds]);
  assert.ok(trace.prompt_token_ids.every((/** @type {number} */ id) => id in trace.tokens));
  const ntp = JSON.parse(traceText(run, run.ntp ?? assert.fail()));
  assert.deepEqual([ntp.config.strategy, ntp.text], ["ntp", run.ntp?.text]);
  run.main.finish = null;
  const cut = JSON.parse(traceText(run));
  assert.deepEqual([cut.finish, cut.text.trim()], ["stopped", trace.text.trim()]);
});
