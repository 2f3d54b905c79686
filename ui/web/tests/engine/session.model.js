// A session's decodes with the exported checkpoint of SBD_WEB_MODEL. Run by tests/ui/test_browser_engine.py.

import assert from "node:assert/strict";
import { test } from "node:test";
import { engine, NANO, openFolder, page } from "./exported.js";

/** @import { News } from "../../engine/session.ts" */

const { Session } = engine;
const { History, traceText } = page;
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

/** Return the run that the player would show. @param {News[]} said */
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
  assert.equal(run.requestId, "7:1");
  assert.deepEqual([...run.lanes.keys()], ["sbd", "ntp"]);
  assert.ok(run.isComplete);
  assert.ok(run.main.steps.length > 1);
  assert.deepEqual([last()?.text, last()?.isRunning], ["", false]);
});

test("every answer is said to be not checked", async () => {
  const { session, said } = makeSession();
  await session.decode({ prompt: PROMPT, max_new_tokens: 40 });
  for (const { text, verdict } of played(said).lanes.values()) {
    assert.match(text, / 42\.$/);
    assert.equal(verdict?.right, null);
    assert.match(verdict?.words ?? "", /^Not checked/);
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
    [{ prompt: PROMPT, block_size: 7.5 }, "Block size must be a whole number >= 1; got 7.5."],
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
  session.receivedAt = -Infinity;
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

test("lanes to compare are one run, each the decode that its name says", async () => {
  const { session, said, last } = makeSession();
  const lanes = ["ntp", "sbd:0.1", "verify:7", "top-k:3"];
  await session.compare(lanes, { prompt: PROMPT, max_new_tokens: 30 });
  const run = played(said);
  assert.deepEqual([...run.lanes.keys()], lanes);
  assert.ok(run.isComplete);
  assert.deepEqual([last()?.about, last()?.isRunning], ["compare", false]);
  const [ntp, sbd, verify, topK] = [...run.lanes.values()];
  assert.equal(ntp?.text, verify?.text);
  assert.equal(ntp?.steps.length, ntp?.numCommitted);
  for (const lane of [sbd, verify, topK])
    assert.ok((lane?.steps.length ?? 99) < (ntp?.steps.length ?? 0));
  await session.compare(["fast"], { prompt: PROMPT });
  assert.match(last()?.text ?? "", /^lanes must each be one of ntp, verify, sbd/);
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
