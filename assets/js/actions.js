// What a visitor can do, by pointer or key: every view is given these and changes nothing itself.

function makeActions(player) {
  const { state } = player;
  const step = (by) => () => player.seek(state.pass + by, true);
  const redoHere = (name) => () =>
    player.makeView().showsFocus && player.inspector.top[name].act();

  /** Up and down: between tiles, or, in a text or the staircase, along all positions. */
  function movePosition(by) {
    if (!player.run) return;
    const { focus } = player.makeView();
    const host = document.activeElement?.closest("[data-cursor]");
    if (!host || !player.root.contains(host)) return player.tiles.move(by, focus);
    const window = player.run.windowAt(state.pass);
    const target = clamp((focus ?? window.start - by) + by, 0, window.start + window.size - 1);
    actions.hover(target);
    player.say(positionTitle(player.makeView(), target));
  }

  const actions = {
    hover: (position) => player.set({ hovered: position }),
    hold: (position) => actions.holdAt(state.held === position ? null : position),
    holdAt: (position) => {
      player.set({ held: position, alternative: null });
      if (position !== null) player.tiles.keepInSight();
    },
    /** Let the held position go; the focus goes back to its tile, as the button goes away. */
    release: () => {
      const { held } = state;
      actions.holdAt(null);
      player.tiles.move(0, held);
    },
    holdCursor: () => state.hovered !== null && actions.hold(state.hovered),
    previousPosition: () => movePosition(-1),
    nextPosition: () => movePosition(1),
    choose: (token) => player.set({ alternative: token, held: player.makeView().focus }),
    canRedo: player.redo !== null,
    redo: (changes, origin) => player.askAgain(changes, origin),
    show: (run) => player.show(run),
    previousBranch: () => player.show(player.family.neighbour(player.run, -1)),
    nextBranch: () => player.show(player.family.neighbour(player.run, 1)),
    pin: redoHere("pin"),
    branch: redoHere("branch"),
    previewGamma: (gamma) => player.set({ gammaPreview: gamma, isPlaying: false }),
    gamma: () => state.gammaPreview ?? player.run.solver.gamma,
    seek: (pass) => player.seek(pass, true),
    first: () => player.seek(0, true),
    last: () => player.seek(Infinity, true),
    back: step(-1),
    forward: step(1),
    togglePlay: () => player.togglePlay(),
    setSpeed: (speed) => player.set({ speed }),
    lecture: () => player.lecture.toggle(),
    help: () => player.help.toggle(),
    share: () => player.share.toggle(),
    letGo: () => {
      player.set({ held: null, gammaPreview: null, alternative: null });
      player.lecture.leave();
    },
  };
  return actions;
}
