// The screen that the page is on: light or dark, motion, sizes, a phone, and the whole of it for a lecture.
// Where the browser refuses full screen (a page inside a frame), a lecture still fills the window.

/** Whether the visitor wants no motion. */
export function isStill() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** How to scroll to what is pointed out. @returns {ScrollBehavior} */
export function scrollBehavior() {
  return isStill() ? "auto" : "smooth";
}

const PHONE = 900; // pixels of the window: below that the stage stands under the form

/**
 * On a phone the form is as long as the screen: what was asked for must be seen.
 * @param {HTMLElement} node
 */
export function showOnPhone(node) {
  if (innerWidth < PHONE) node.scrollIntoView({ behavior: scrollBehavior(), block: "start" });
}

/**
 * Fold the form into the prompt that is on the stage, or unfold it; the style sheet does so on a phone alone.
 * @param {boolean} isFolded
 */
export function foldForm(isFolded) {
  document.querySelector("#sbd-watch")?.classList.toggle("is-folded", isFolded);
}

/** Whether the page is dark now. */
export function isDarkPage() {
  return document.body.classList.contains("dark");
}

/** Light or dark as the visitor's system is, on a page that Gradio does not serve. */
export function followScheme() {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.body.classList.toggle("dark", scheme.matches);
  scheme.addEventListener("change", follow);
  follow();
}

/** Act when the page turns light or dark. @param {() => void} act @param {AbortSignal} signal */
export function onScheme(act, signal) {
  const seen = new MutationObserver(act);
  seen.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  signal.addEventListener("abort", () => seen.disconnect());
}

/**
 * Act when a node gets another size.
 * @param {Element} node
 * @param {() => void} act
 * @param {AbortSignal} signal
 */
export function onResize(node, act, signal) {
  const seen = new ResizeObserver(act);
  seen.observe(node);
  signal.addEventListener("abort", () => seen.disconnect());
}

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
