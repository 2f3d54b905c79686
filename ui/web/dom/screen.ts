// How the page is displayed: light or dark, with or without motion, on a phone, and in lecture mode. A lecture fills
// the screen or, where the browser refuses that, as for a page inside a frame, the window.

export function prefersReducedMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Return how to scroll: smoothly, unless the visitor prefers reduced motion. */
export function scrollBehavior(): ScrollBehavior {
  return prefersReducedMotion() ? "auto" : "smooth";
}

const PHONE_WIDTH = 900; // width of the window in pixels below which the player is under the form

/** On a phone, scroll a node into view: the form above it can fill the screen. */
export function scrollOnPhone(node: HTMLElement) {
  if (innerWidth < PHONE_WIDTH) node.scrollIntoView({ behavior: scrollBehavior(), block: "start" });
}

/** Hide the form, whose prompt the player then shows, or show it again; the style sheet does so only on a phone. */
export function foldForm(isFolded: boolean) {
  document.querySelector("#sbd-watch")?.classList.toggle("is-folded", isFolded);
}

export function isDarkPage() {
  return document.body.classList.contains("dark");
}

/** Keep the page light or dark as the visitor's system is. */
export function followScheme() {
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.body.classList.toggle("dark", scheme.matches);
  scheme.addEventListener("change", follow);
  follow();
}

export function onScheme(act: () => void, signal: AbortSignal) {
  const seen = new MutationObserver(act);
  seen.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  signal.addEventListener("abort", () => seen.disconnect());
}

export function onResize(node: Element, act: () => void, signal: AbortSignal) {
  const seen = new ResizeObserver(act);
  seen.observe(node);
  signal.addEventListener("abort", () => seen.disconnect());
}

export function isLecturing(root: HTMLElement) {
  return root.classList.contains("is-lecture");
}

/** Return functions that toggle and leave lecture mode of `root`. */
export function makeLecture(root: HTMLElement, onChange: () => void, signal: AbortSignal) {
  function show(isOn: boolean) {
    if (isLecturing(root) === isOn) return;
    root.classList.toggle("is-lecture", isOn);
    document.documentElement.classList.toggle("sbd-has-lecture", isOn);
    onChange();
  }

  async function enter() {
    show(true);
    try {
      await root.requestFullscreen?.();
      if (!isLecturing(root)) leave(); // left before the browser filled the screen
    } catch {
      // Full screen is refused: the lecture fills the window.
    }
  }

  function leave() {
    show(false);
    if (document.fullscreenElement === root) document.exitFullscreen();
  }

  // A slider that keeps the focus after a drag would also take the arrow keys.
  function blurSlider() {
    const held = document.activeElement;
    const isSlider = held instanceof HTMLElement && held.matches("[role=slider], [type=range]");
    if (isLecturing(root) && isSlider && root.contains(held)) held.blur();
  }
  root.addEventListener("pointerup", blurSlider, { signal });

  const follow = () => document.fullscreenElement === null && show(false);
  document.addEventListener("fullscreenchange", follow, { signal });
  return { leave, toggle: () => (isLecturing(root) ? leave() : enter()) };
}
