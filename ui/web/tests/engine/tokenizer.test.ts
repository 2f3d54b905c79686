// Prompts as token ids by the chat template, and single tokens as text.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Tokenizer } from "../../engine/tokenizer.ts";

const FOLDER = new URL("../../../../assets/checkpoints/sbd-nano/", import.meta.url);
const read = (name: string) => readFile(new URL(name, FOLDER), "utf8");
const file = JSON.parse(await read("tokenizer.json"));
const settings = JSON.parse(await read("tokenizer_config.json"));
const template = await read("chat_template.jinja");
const tokenizer = new Tokenizer(file, settings, template);
const [USER, ASSISTANT] = ["<user>", "<assistant>"].map((name) =>
  tokenizer.encoder.token_to_id(name),
);

test("what looks like a control token in a prompt is plain text, and spaces around it stay", () => {
  const prompt = "  Say <m> and <assistant>. \n";
  const ids = tokenizer.encodePrompt(prompt, false);
  assert.deepEqual([ids[0], ids.at(-1)], [USER, ASSISTANT]);
  const inside = ids.slice(1, -1);
  assert.equal(tokenizer.decode(inside), prompt);
  assert.deepEqual(inside, tokenizer.encode(prompt));
  assert.ok(
    ![USER, ASSISTANT, tokenizer.encoder.token_to_id("<m>")].some((id) => inside.includes(id ?? 0)),
  );
});

test("a prompt without control tokens has the ids of the template's whole text", () => {
  const ids = tokenizer.encodePrompt("What is 12 + 30?", false);
  const whole = tokenizer.encoder.encode("<user>What is 12 + 30?<assistant>").ids;
  assert.deepEqual(ids, whole);
  assert.deepEqual(tokenizer.encodePrompt("What is 12 + 30?", true), ids.slice(1, -1));
});

test("an added token that is a word or spaces is one in a prompt, too", () => {
  const id = file.added_tokens.length + Object.keys(file.model.vocab).length;
  const more = ["pencils", "<tool_call>"].map((content, index) => ({
    ...{ id: id + index, content, single_word: false, lstrip: false, rstrip: false },
    ...{ normalized: false, special: false },
  }));
  const other = new Tokenizer(
    { ...file, added_tokens: [...file.added_tokens, ...more] },
    settings,
    template,
  );
  const ids = other.encodePrompt("pencils <tool_call>", false);
  assert.ok(ids.includes(id) && !ids.includes(id + 1));
});

test("a template that fails, or leaves out what the user says, is a sentence", () => {
  const broken = new Tokenizer(file, settings, "{{ raise_exception('not today') }}");
  assert.throws(() => broken.encodePrompt("Hi", false), /template cannot be used: .*not today/);
  const silent = new Tokenizer(file, settings, "Hello");
  assert.throws(() => silent.encodePrompt("Hi", false), /leaves out what the user says/);
  assert.throws(() => new Tokenizer(file, settings, "{% for %}"), /tokenizer cannot be read/);
});

test("one token reads as text: lone bytes as such, special ones by name", () => {
  const { vocab } = file.model;
  assert.equal(tokenizer.tokenText(vocab.Ġa), " a");
  assert.equal(tokenizer.tokenText(USER ?? 0), "<user>");
  const lone = Object.entries(vocab).find(([piece]) => piece === "â");
  if (lone) assert.equal(tokenizer.tokenText(Number(lone[1])), "\\xE2");
  assert.equal(tokenizer.tokenText(1e6), "[1000000]");
  assert.equal(tokenizer.decode([]), "");
});
