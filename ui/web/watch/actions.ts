// The actions that a visitor takes by pointer or key. Every view is given them and changes no state itself.

import { clamp } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import { isLecturing } from "../dom/screen.ts";
import type { Player } from "./player.ts";
import type { Origin } from "./tree.ts";

/** The inspector shows the held position until it is released. */
export interface Actions {
  hover: (position: number | null) => void; // point at a position, null: at none
  toggleHold: (position: number) => void; // hold a position, or release it if it is held
  setHeld: (position: number | null) => void; // hold a position, null: none
  release: () => void; // release the held position
  holdCursor: () => void; // hold or release the position pointed at
  previousPosition: () => void;
  nextPosition: () => void;
  choose: (token: number) => void; // choose a candidate in the inspector, by its token id
  canRedo: boolean; // whether this page can decode again
  redo: (changes: Record<string, unknown>, origin: Origin) => void; // decode again with some settings changed
  show: (run: Run | null) => void; // show another run of the tree
  previousBranch: () => void; // show the run one row up the tree
  nextBranch: () => void; // show the run one row down the tree
  pin: () => void; // press Pin in the inspector
  branch: () => void; // press Branch in the inspector
  previewGamma: (gamma: number | null) => void; // show what a gamma would reveal; null ends that
  gamma: () => number; // the previewed gamma, else the run's
  seek: (pass: number) => void;
  first: () => void;
  last: () => void;
  back: () => void;
  forward: () => void;
  togglePlay: () => void;
  playNtp: () => void; // play next-token prediction to its end
  setSpeed: (speed: number) => void;
  measureBy: (isByTime: boolean) => void; // play by time or by forward pass
  lecture: () => void; // turn lecture mode on or off
  help: () => void; // open or close the help sheet
  hood: () => void; // open or close the panel Under the hood
  share: () => void; // open or close the sheet Take it home
  toggleHindsight: () => void; // turn the marks of hindsight in the text on or off
  timeRun: () => void; // decode the run several times more to time the engine
  closeAll: () => void; // close the details, release the position, end previews and lecture mode
}

export type Pointing = Pick<Actions, "hover" | "toggleHold">;

/** Hover a position while the pointer is over a node, and hold it when the node is clicked. */
export function listenForPointer(node: HTMLElement, actions: Pointing, at: () => number) {
  node.addEventListener("pointerenter", () => actions.hover(at()));
  node.addEventListener("pointerleave", () => actions.hover(null));
  node.addEventListener("click", () => actions.toggleHold(at()));
}

/** Make the actions of a player. */
export function makeActions(player: Player): Actions {
  const { state } = player;
  const setHeld: Actions["setHeld"] = (position) => {
    player.set({ held: position, alternative: null });
    if (position === null) return;
    player.parts.details.setOpen(false);
    player.parts.tiles.scrollIntoSight();
  };
  const toggleHold: Actions["toggleHold"] = (position) =>
    setHeld(state.held === position ? null : position);
  /** Press a button of the inspector; if no position is held, only hold one. */
  const redoShown = (name: "pin" | "branch") => {
    const view = player.makeView();
    if (!view || view.isLecture) return;
    if (view.held === null) player.set({ held: view.focus, isPlaying: false });
    else player.parts.inspector.give(name);
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
    measureBy: (isByTime) => player.set({ isByTime }),
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

/** Move by some positions: between tiles, or, if a text or the staircase has the focus, along all positions. */
function movePosition(player: Player, by: number) {
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
