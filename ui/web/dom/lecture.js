// Lecture mode: the stage and the transport alone, large, on the whole screen. Where the browser
// refuses full screen (a page inside a frame), it still fills the window.

/** Whether `root` is in lecture mode. @param {HTMLElement} root */
export function isLecturing(root) {
  return root.classList.contains("is-lecture");
}

/**
 * A switch for lecture mode of `root`.
 * @param {HTMLElement} root
 * @param {() => void} onChange
 * @param {AbortSignal} signal ends the listening
 */
export function makeLecture(root, onChange, signal) {
  /** @param {boolean} isOn */
  function show(isOn) {
    if (isLecturing(root) === isOn) return;
    root.classList.toggle("is-lecture", isOn);
    document.documentElement.classList.toggle("sbd-has-lecture", isOn);
    onChange();
  }

  async function enter() {
    show(true);
    try {
      await root.requestFullscreen?.();
      if (!isLecturing(root)) leave(); // left while the browser was still at it
    } catch {
      // Refused: the window is the screen.
    }
  }

  function leave() {
    show(false);
    if (document.fullscreenElement === root) document.exitFullscreen();
  }

  // A slider that keeps the focus after it was dragged would keep the arrows, too.
  function letGo() {
    const held = document.activeElement;
    const isSlider = held instanceof HTMLElement && held.matches("[role=slider], [type=range]");
    if (isLecturing(root) && isSlider && root.contains(held)) held.blur();
  }
  root.addEventListener("pointerup", letGo, { signal });

  const follow = () => document.fullscreenElement === null && show(false);
  document.addEventListener("fullscreenchange", follow, { signal });
  return { leave, toggle: () => (isLecturing(root) ? leave() : enter()) };
}
