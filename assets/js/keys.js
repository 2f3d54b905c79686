// The keys of the player: which key does what, where they work, and their list in words.

const KEYS = {
  " ": "togglePlay", ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last",
  ArrowUp: "previousPosition", ArrowDown: "nextPosition", Enter: "holdCursor", Escape: "letGo",
  p: "pin", b: "branch", "[": "previousBranch", "]": "nextBranch", l: "lecture", s: "share",
  "?": "help",
};

const KEY_WORDS = [
  ["space", "play or pause"], ["← →", "back or forward one pass"],
  ["↑ ↓", "move between positions"], ["Home End", "first or last pass"],
  ["Enter", "hold the position, or let it go"], ["Esc", "let go of everything"],
  ["P", "pin the chosen token here"], ["B", "branch from here"],
  ["[ ]", "previous or next branch"],
  ["L", "lecture mode, full screen"], ["S", "take this run home, or open another"],
  ["?", "this help"],
];
const SHORT_KEY_WORDS = [
  ["space", "play or pause"], ["← →", "step by passes"], ["↑ ↓", "move between positions"],
  ["P B", "pin here, branch here"], ["L", "lecture mode"], ["?", "help"],
];

function makeKeyList(words, canRedo) {
  const rows = words.filter(([key]) => canRedo || !/^[PB[]/.test(key));
  return make("div", "sbd-keys", {}, ...rows.flatMap(([key, meaning]) =>
    [make("kbd", "", {}, key), make("span", "", {}, meaning)]));
}

/** Whether the element with the focus needs this key for itself. */
function isTaken(root, target, key) {
  const isScrubber = root.contains(target) && target.classList.contains("sbd-range");
  if (isScrubber) return !/^( |[pbls?[\]]|Escape)$/.test(key);
  if (target.closest("input, textarea, select, [contenteditable], [role=listbox]")) return true;
  if (key === "Enter") return !target.matches("[data-cursor]");
  return key === " " && target.closest("button, a, summary, [role=tab]") !== null;
}

/** Call the action of a key pressed anywhere on the page, unless the focus needs the key. */
function listenToKeys(root, actions) {
  document.addEventListener("keydown", (event) => {
    const key = /^[A-Z]$/.test(event.key) ? event.key.toLowerCase() : event.key;
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.defaultPrevented;
    if (!(KEYS[key] in actions) || !isPlain || root.offsetParent === null && !isLecturing(root)) return;
    const target = event.target instanceof Element ? event.target : document.body;
    const sheet = target.closest("dialog[open]");
    if (sheet ? key !== sheet.dataset.key : isTaken(root, target, key)) return;
    event.preventDefault();
    actions[KEYS[key]]();
  });
}
