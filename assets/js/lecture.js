// Lecture mode: the stage and the transport alone, large, on the whole screen. Where the browser
// refuses full screen (a page inside a frame), it still fills the window.

function isLecturing(root) {
  return root.classList.contains("is-lecture");
}

function makeLecture(root, onChange) {
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

  document.addEventListener("fullscreenchange", () => {
    if (document.fullscreenElement === null) show(false);
  });
  return { leave, toggle: () => (isLecturing(root) ? leave() : enter()) };
}
