// A long text in parts that are laid out on their own: a new token costs the layout of the last
// part, not that of the whole text. The parts read as one text: each begins on the line, and at
// the place, where the one before it ended. Knows nodes and their letters, no tokens.

import { make, setStyle } from "../../dom/elements.js";

const PART_LENGTH = 48; // nodes

/**
 * Whether a new part may begin with this node without a line breaking elsewhere.
 * @param {HTMLElement[]} nodes
 * @param {number} index
 */
function mayPart(nodes, index) {
  const endsLine = nodes[index - 1]?.textContent?.endsWith("\n") ?? false;
  return endsLine || (nodes[index]?.textContent?.startsWith(" ") ?? false);
}

/** Where the lines of a part begin. @param {HTMLElement} node */
function startOf(node) {
  return node.getBoundingClientRect().left + Number.parseFloat(getComputedStyle(node).paddingLeft);
}

/** A text in parts. */
export class Flow {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {{ start: number, node: HTMLElement }[]} */
    this.parts = [];
    /** @type {HTMLElement[]} */
    this.nodes = [];
    this.count = 0;
    new ResizeObserver(() => this.align(1)).observe(root);
  }

  /** The part that grows; there is one once `open` was called. */
  get last() {
    return this.parts.at(-1) ?? this.open(0);
  }

  /** Forget how the text was parted: other letters are to come. */
  clear() {
    this.parts = [];
    this.count = 0;
    this.root.replaceChildren();
  }

  /**
   * Show the first `count` of the nodes; of these the first `settled` keep their letters.
   * @param {HTMLElement[]} nodes
   * @param {number} count
   * @param {number} settled
   */
  show(nodes, count, settled) {
    this.nodes = nodes;
    for (let index = this.count - 1; index >= count; index -= 1) nodes[index]?.remove();
    const kept = Math.min(this.count, count);
    while (this.parts.length > 1 && this.last.start > settled) this.join(kept);
    this.count = count;
    const bounds = this.boundsUpTo(settled);
    this.last.node.append(...nodes.slice(kept, Math.max(kept, bounds[0] ?? count)));
    const first = this.parts.length;
    bounds.forEach((start, index) => {
      this.open(start).node.append(...nodes.slice(start, bounds[index + 1] ?? count));
    });
    if (bounds.length) this.align(first);
  }

  /** @param {number} start */
  open(start) {
    const node = make("div", "sbd-part-of-text");
    const part = { start, node };
    this.parts.push(part);
    this.root.append(node);
    return part;
  }

  /**
   * Give the last part's nodes back to the one before it.
   * @param {number} count
   */
  join(count) {
    const { start, node } = this.last;
    this.parts.pop();
    this.last.node.append(...this.nodes.slice(start, count));
    node.remove();
  }

  /**
   * Where the last part is to be parted further; it keeps a part's length at least.
   * @param {number} settled
   */
  boundsUpTo(settled) {
    /** @type {number[]} */
    const bounds = [];
    let { start } = this.last;
    for (let index = start + PART_LENGTH; index <= settled - PART_LENGTH; index += 1) {
      if (index - start < PART_LENGTH || !mayPart(this.nodes, index)) continue;
      bounds.push(index);
      start = index;
    }
    return bounds;
  }

  /**
   * Let the parts from `first` on begin where the one before each ends.
   * @param {number} first
   */
  align(first) {
    const [head, ...more] = this.parts;
    const left = head && more.length ? startOf(head.node) : 0;
    for (const { start, node } of this.parts.slice(first)) {
      const before = this.nodes[start - 1];
      const isOnLine = !before?.textContent?.endsWith("\n");
      const end = [...(before?.getClientRects() ?? [])].at(-1)?.right ?? left;
      node.classList.toggle("is-on-line", isOnLine);
      setStyle(node, "text-indent", isOnLine ? `${end - left}px` : "0px");
    }
  }
}
