// The actions that a visitor takes by pointer or key. Every view is given them and changes no state itself.

import { clamp } from "../core/numbers.js";
import { isLecturing } from "../dom/screen.js";

/** @import { Origin } from "./tree.js" */
/** @import { Run } from "../core/run.js" */
/** @import { Player } from "./player.js" */

/**
 * The inspector shows the held position until it is released.
 * @typedef {object} Actions
 * @property {(position: number | null) => void} hover point at a position, null: at none
 * @property {(position: number) => void} toggleHold hold a position, or release it if it is held
 * @property {(position: number | null) => void} setHeld hold a position, null: none
 * @property {() => void} release release the held position
 * @property {() => void} holdCursor hold or release the position pointed at
 * @property {() => void} previousPosition
 * @property {() => void} nextPosition
 * @property {(token: number) => void} choose choose a candidate in the inspector, by its token id
 * @property {boolean} canRedo whether this page can decode again
 * @property {(changes: Record<string, unknown>, origin: Origin) => void} redo decode again with some settings changed
 * @property {(run: Run | null) => void} show show another run of the tree
 * @property {() => void} previousBranch show the run one row up the tree
 * @property {() => void} nextBranch show the run one row down the tree
 * @property {() => void} pin press Pin in the inspector
 * @property {() => void} branch press Branch in the inspector
 * @property {(gamma: number | null) => void} previewGamma show what a gamma would reveal; null ends that
 * @property {() => number} gamma the previewed gamma, else the run's
 * @property {(pass: number) => void} seek
 * @property {() => void} first
 * @property {() => void} last
 * @property {() => void} back
 * @property {() => void} forward
 * @property {() => void} togglePlay
 * @property {() => void} playNtp play next-token prediction to its end
 * @property {(speed: number) => void} setSpeed
 * @property {() => void} lecture turn lecture mode on or off
 * @property {() => void} help open or close the help sheet
 * @property {() => void} hood open or close the panel Under the hood
 * @property {() => void} share open or close the sheet Take it home
 * @property {() => void} toggleHindsight turn the marks of hindsight in the text on or off
 * @property {() => void} timeRun decode the run several times more to time the engine
 * @property {() => void} closeAll close the details, release the position, end previews and lecture mode
 */

/** @typedef {Pick<Actions, "hover" | "toggleHold">} Pointing */

/**
 * Hover a position while the pointer is over a node, and hold it when the node is clicked.
 * @param {HTMLElement} node
 * @param {Pointing} actions
 * @param {() => number} at returns the position that the node stands for now
 */
export function listenForPointer(node, actions, at) {
  node.addEventListener("pointerenter", () => actions.hover(at()));
  node.addEventListener("pointerleave", () => actions.hover(null));
  node.addEventListener("click", () => actions.toggleHold(at()));
}

/** Make the actions of a player. @param {Player} player @returns {Actions} */
export function makeActions(player) {
  const { state } = player;
  /** @type {Actions["setHeld"]} */
  const setHeld = (position) => {
    player.set({ held: position, alternative: null });
    if (position === null) return;
    player.parts.details.setOpen(false);
    player.parts.tiles.scrollIntoSight();
  };
  /** @type {Actions["toggleHold"]} */
  const toggleHold = (position) => setHeld(state.held === position ? null : position);
  /** Press a button of the inspector; if no position is held, only hold one. @param {"pin" | "branch"} name */
  const redoShown = (name) => {
    const view = player.makeView();
    if (!view || view.isLecture) return;
    if (view.held === null) player.set({ held: view.focus, isPlaying: false });
    else player.parts.inspector.top[name].act();
  };
  return {
    hover: (position) => player.set({ hovered: position }),
    toggleHold,
    setHeld,
    // The release button disappears, so the focus goes back to the position's tile.
    release: () => {
      const { held } = state;
      setHeld(null);
      player.parts.tiles.move(0, held);
    },
    holdCursor: () => {
      if (state.hovered !== null) toggleHold(state.hovered);
    },
    previousPosition: () => movePosition(player, -1),
    nextPosition: () => movePosition(player, 1),
    choose: (token) => player.set({ alternative: token, held: player.makeView()?.focus ?? null }),
    canRedo: player.decode !== null,
    redo: (changes, origin) => player.redoWith(changes, origin),
    show: (run) => player.show(run),
    previousBranch: () => player.show(player.runTree.neighbour(player.run, -1)),
    nextBranch: () => player.show(player.runTree.neighbour(player.run, 1)),
    pin: () => redoShown("pin"),
    branch: () => redoShown("branch"),
    timeRun: () => player.timeRun(),
    previewGamma: (gamma) => player.set({ gammaPreview: gamma, isPlaying: false }),
    gamma: () => state.gammaPreview ?? player.run?.solver.gamma ?? 0,
    seek: (pass) => player.seek(pass, true),
    first: () => player.seek(0, true),
    last: () => player.seek(Infinity, true),
    back: () => player.seek(state.pass - 1, true),
    forward: () => player.seek(state.pass + 1, true),
    togglePlay: () => player.playhead.toggle(),
    playNtp: () => player.playhead.playNtp(),
    setSpeed: (speed) => player.set({ speed }),
    lecture: () => player.lecture.toggle(),
    help: () => player.parts.help.toggle(),
    hood: () => isLecturing(player.root) || player.parts.hood.toggle(),
    share: () => player.share.toggle(),
    toggleHindsight: () => player.set({ showsHindsight: !state.showsHindsight }),
    closeAll: () => {
      player.parts.details.close();
      player.set({ held: null, gammaPreview: null, alternative: null });
      player.lecture.leave();
    },
  };
}

/**
 * Move by some positions: between tiles, or, if a text or the staircase has the focus, along all positions.
 * @param {Player} player
 * @param {number} by
 */
function movePosition(player, by) {
  const view = player.makeView();
  if (!view) return;
  const host = document.activeElement?.closest("[data-cursor]");
  if (!host || !player.root.contains(host)) {
    player.parts.tiles.move(by, view.focus);
    return;
  }
  const { start, size } = view.run.windowAt(player.state.pass);
  const target = clamp((view.focus ?? start - by) + by, 0, start + size - 1);
  player.set({ hovered: target });
  player.sayPosition(target);
}
