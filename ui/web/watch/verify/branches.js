// The drafts made ahead, as pale branches under the tiles; the one that was used is joined on.

import { MAX_TILES } from "../../core/limits.js";
import { branchesOf, branchWords } from "../../core/run/predrafts.js";
import { tokenName } from "../../core/text/letters.js";
import { make, setStyle, setText } from "../../dom/elements.js";
import { showToken } from "../../dom/tokens.js";

/** @import { Branch } from "../../core/run/predrafts.js" */
/** @import { Run } from "../../core/run/run.js" */
/** @import { View } from "../view.js" */

const MAX_RESERVED = 4; // rows kept free, so that nothing moves from pass to pass

/**
 * @param {Run} run
 * @param {Branch} branch
 * @param {number} row from 0, the uppermost
 */
function makeBranch(run, { position, column, isUsed, tokens, numHidden }, row) {
  const joint = make("span", "sbd-branch-joint", { "aria-hidden": "true" });
  joint.style.setProperty("--row", String(row));
  const nodes = tokens.map((token) => {
    const node = make("span", "sbd-branch-token");
    showToken(node, run.tokenText(token));
    return node;
  });
  const names = tokens.map((token) => tokenName(run.tokenText(token))).join(" ");
  const title =
    `Drafted ahead in case position ${position} is thrown away: ${names}` +
    `${numHidden ? ` and ${numHidden} more` : ""}; ${isUsed ? "used" : "not needed"}`;
  const look = `sbd-branch${isUsed ? " is-used" : ""}`;
  const root = make("li", look, { title }, joint, ...nodes);
  root.style.setProperty("--column", String(column + 1));
  nodes.forEach((node, index) => {
    node.style.setProperty("--at", String(column + 2 + index));
  });
  return root;
}

/** The branches of the pass, and a sentence under them. */
export class Branches {
  constructor() {
    this.list = make("ul", "sbd-branches-list", { "aria-label": "Drafted ahead" });
    this.words = make("p", "sbd-branches-words");
    this.root = make("div", "sbd-branches", {}, this.list, this.words);
    this.shown = "";
  }

  /** @param {View} view */
  update({ run, pass }) {
    this.root.hidden = run.numPredrafts === 0;
    const key = `${run.id}/${pass}/${run.main.steps.length > pass}`;
    if (this.root.hidden || key === this.shown) return;
    this.shown = key;
    const window = run.windowAt(pass);
    const size = Math.min(window.size, MAX_TILES);
    const predrafts = run.main.steps[pass]?.predrafts ?? [];
    const branches = branchesOf(predrafts, { ...window, size });
    setStyle(this.list, "--columns", String(Math.min(size, 16)));
    setStyle(this.list, "--rows", String(Math.min(run.numPredrafts, MAX_RESERVED)));
    this.list.replaceChildren(...branches.map((branch, row) => makeBranch(run, branch, row)));
    setText(this.words, branchWords(predrafts));
  }
}
