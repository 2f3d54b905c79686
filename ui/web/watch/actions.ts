// The actions that a visitor takes by pointer or key. Every view is given them and changes no state itself.

import { clamp } from "../core/numbers.ts";
import type { Run } from "../core/run.ts";
import { isLecturing } from "../dom/screen.ts";
import type { Player } from "./player.ts";
import type { Origin } from "./tree.ts";

export type Actions = ReturnType<typeof makeActions>;

export type Pointing = Pick<Actions, "hover" | "toggleHold">;

/** Return what a visitor may do. The inspector shows the held position until it is released. */
export function makeActions(player: Player) {
  const { state } = player;
  const setHeld = (position: number | null) => {
    player.set({ held: position, alternative: null });
    if (position === null) return;
    player.parts.details.setOpen(false);
    player.parts.tiles.scrollIntoSight();
  };
  const toggleHold = (position: number) => setHeld(state.held === position ? null : position);
  /** Press a button of the inspector; if no position is held, only hold one. */
  const redoShown = (name: "pin" | "branch") => {
    const view = player.makeView();
    if (!view || view.isLecture) return;
    if (view.held === null) player.set({ held: view.focus, isPlaying: false });
    else player.parts.inspector.give(name);
  };
  return {
    hover: (position: number | null) => player.set({ hovered: position }), // null: at none
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
    /** Choose a candidate in the inspector, by its token id. */
    choose: (token: number) =>
      player.set({ alternative: token, held: player.makeView()?.focus ?? null }),
    canRedo: player.host !== null, // whether this page can decode again
    redo: (changes: Record<string, unknown>, origin: Origin) => player.redoWith(changes, origin),
    show: (run: Run | null) => player.show(run),
    previousBranch: () => player.show(player.runTree.neighbour(player.run, -1)),
    nextBranch: () => player.show(player.runTree.neighbour(player.run, 1)),
    pin: () => redoShown("pin"),
    branch: () => redoShown("branch"),
    timeRun: () => player.timeRun(),
    /** Show what a gamma would reveal; null ends that. */
    previewGamma: (gamma: number | null) => player.set({ gammaPreview: gamma, isPlaying: false }),
    gamma: () => state.gammaPreview ?? player.run?.solver.gamma ?? 0,
    seek: (pass: number) => player.seek(pass, true),
    first: () => player.seek(0, true),
    last: () => player.seek(Infinity, true),
    back: () => player.seek(state.pass - 1, true),
    forward: () => player.seek(state.pass + 1, true),
    togglePlay: () => player.playhead.toggle(),
    playNtp: () => player.playhead.playNtp(),
    setSpeed: (speed: number) => player.set({ speed }),
    measureBy: (isByTime: boolean) => player.set({ isByTime }),
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
