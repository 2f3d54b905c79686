// Reads [prompt, text, examples] as one JSON a line and answers each with its verdict. Run by
// tests/scripts/test_browser_verdicts.py.

import { createInterface } from "node:readline";
import { judge } from "../../engine/session/verdict.js";

for await (const line of createInterface({ input: process.stdin })) {
  const [prompt, text, examples] = JSON.parse(line);
  console.log(JSON.stringify(judge(prompt, text, examples)));
}
