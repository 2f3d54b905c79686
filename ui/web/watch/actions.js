// The actions of a visitor, by pointer or key: every view is given these and changes nothing itself.

import { clamp } from "../core/numbers.js";
import { isLecturing } from "../dom/screen.js";

/** @import { Origin } from "./tree.js" */
/** @import { Run } from "../core/run.js" */
/** @import { Player } from "./player.js" */

/**
 * @typedef {object} Actions
 * @property {(position: number | null) => void} hover
 * @property {(position: number) => void} hold hold a position, or let it go
 * @property {(position: number | null) => void} holdAt
 * @property {() => void} release
 * @property {() => void} holdCursor
 * @property {() => void} previousPosition
 * @property {() => void} nextPosition
 * @property {(token: number) => void} choose
 * @property {boolean} canRedo whether this page can decode again
 * @property {(changes: Record<string, unknown>, origin: Origin) => void} redo
 * @property {(run: Run | null) => void} show
 * @property {() => void} previousBranch
 * @property {() => void} nextBranch
 * @property {() => void} pin
 * @property {() => void} branch
 * @property {(gamma: number | null) => void} previewGamma
 * @property {() => number} gamma
 * @property {(pass: number) => void} seek
 * @property {() => void} first
 * @property {() => void} last
 * @property {() => void} back
 * @property {() => void} forward
 * @property {() => void} togglePlay
 * @property {() => void} playPlain let next-token prediction go on to its end
 * @property {(speed: number) => void} setSpeed
 * @property {() => void} lecture
 * @property {() => void} help
 * @property {() => void} hood
 * @property {() => void} share
 * @property {() => void} toggleHindsight
 * @property {() => void} timeAgain run it some times more, for its engine time
 * @property {() => void} letGo
 */

/** @typedef {Pick<Actions, "hover" | "hold">} Pointing */

/**
 * Let a node point at a position, and hold it when it is pressed.
 * @param {HTMLElement} node
 * @param {Pointing} actions
 * @param {() => number} at the position it stands for now
 */
export function pointsAt(node, actions, at) {
  node.addEventListener("pointerenter", () => actions.hover(at()));
  node.addEventListener("pointerleave", () => actions.hover(null));
  node.addEventListener("click", () => actions.hold(at()));
}

/** The actions of a player. @param {Player} player @returns {Actions} */
export function makeActions(player) {
  const { state } = player;
  /** @type {Actions["holdAt"]} */
  const holdAt = (position) => {
    player.set({ held: position, alternative: null });
    if (position === null) return;
    player.parts.details.turn(false);
    player.parts.tiles.keepInSight();
  };
  /** @type {Actions["hold"]} */
  const hold = (position) => holdAt(state.held === position ? null : position);
  /** @param {"pin" | "branch"} name a button of the inspector, which comes first if it is not open */
  const redoShown = (name) => {
    const view = player.makeView();
    if (!view || view.isLecture) return;
    if (view.held === null) player.set({ held: view.focus, isPlaying: false });
    else player.parts.inspector.top[name].act();
  };
  return {
    hover: (position) => player.set({ hovered: position }),
    hold,
    holdAt,
    // The focus goes back to the position's tile, as the button that lets go goes away.
    release: () => {
      const { held } = state;
      holdAt(null);
      player.parts.tiles.move(0, held);
    },
    holdCursor: () => {
      if (state.hovered !== null) hold(state.hovered);
    },
    previousPosition: () => movePosition(player, -1),
    nextPosition: () => movePosition(player, 1),
    choose: (token) => player.set({ alternative: token, held: player.makeView()?.focus ?? null }),
    canRedo: player.redo !== null,
    redo: (changes, origin) => player.askAgain(changes, origin),
    show: (run) => player.show(run),
    previousBranch: () => player.show(player.family.neighbour(player.run, -1)),
    nextBranch: () => player.show(player.family.neighbour(player.run, 1)),
    pin: () => redoShown("pin"),
    branch: () => redoShown("branch"),
    timeAgain: () => player.timeAgain(),
    previewGamma: (gamma) => player.set({ gammaPreview: gamma, isPlaying: false }),
    gamma: () => state.gammaPreview ?? player.run?.solver.gamma ?? 0,
    seek: (pass) => player.seek(pass, true),
    first: () => player.seek(0, true),
    last: () => player.seek(Infinity, true),
    back: () => player.seek(state.pass - 1, true),
    forward: () => player.seek(state.pass + 1, true),
    togglePlay: () => player.playhead.toggle(),
    playPlain: () => player.playhead.playPlain(),
    setSpeed: (speed) => player.set({ speed }),
    lecture: () => player.lecture.toggle(),
    help: () => player.parts.help.toggle(),
    hood: () => isLecturing(player.root) || player.parts.hood.toggle(),
    share: () => player.share.toggle(),
    toggleHindsight: () => player.set({ showsHindsight: !state.showsHindsight }),
    letGo: () => {
      player.parts.details.close();
      player.set({ held: null, gammaPreview: null, alternative: null });
      player.lecture.leave();
    },
  };
}

/**
 * Up and down: between tiles, or, in a text or the staircase, along all positions.
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
