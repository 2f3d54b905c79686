// Entropy to colour and height: one scale for tiles, text, budget and staircase.
// Sequential and colour-blind safe (cividis); the sure end is dark, lifted on a dark page so
// that it does not sink into the background.

const MAX_ENTROPY = 4;
const SCALE_TICKS = [0, 0.1, 0.5, 1, 2, 4];

const RAMPS = {
  light: ["#00204c", "#0b316e", "#31446b", "#4f576c", "#666970", "#7f7c75", "#9b9172", "#b9a868",
    "#d7c058", "#efd13f"],
  dark: ["#3d74cf", "#5179bd", "#667fab", "#7b879d", "#908f92", "#a59a86", "#bba778", "#d1b769",
    "#e7cb57", "#ffe645"],
};

/** 0 for certain, 1 at MAX_ENTROPY nats and above; the root gives small entropies room. */
function unsureness(entropy) {
  return Math.sqrt(clamp(entropy, 0, MAX_ENTROPY) / MAX_ENTROPY);
}

function parseHex(hex) {
  return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
}

/** The colour at a place of the ramp, 0 to 1, as [red, green, blue]. */
function rampRgb(ramp, place) {
  const low = Math.min(Math.floor(place * (ramp.length - 1)), ramp.length - 2);
  const [from, to] = [parseHex(ramp[low]), parseHex(ramp[low + 1])];
  const part = place * (ramp.length - 1) - low;
  return from.map((value, i) => Math.round(value + (to[i] - value) * part));
}

/** Black or white, whichever can be read on the colour. */
function inkOnRgb(rgb) {
  const [red, green, blue] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.24 ? "#14161c" : "#ffffff";
}

// Every colour of both ramps and the ink on it: the views ask for thousands a frame.
const SHADES = 512;
const PALETTES = Object.fromEntries(Object.entries(RAMPS).map(([scheme, ramp]) => [scheme,
  Array.from({ length: SHADES + 1 }, (_, i) => {
    const rgb = rampRgb(ramp, i / SHADES);
    return { colour: `rgb(${rgb.join(" ")})`, ink: inkOnRgb(rgb) };
  })]));

function shade(entropy, isDark) {
  return PALETTES[isDark ? "dark" : "light"][Math.round(unsureness(entropy) * SHADES)];
}

/** The colour of an entropy. */
function entropyColour(entropy, isDark) {
  return shade(entropy, isDark).colour;
}

/** What can be read on the colour of this entropy. */
function inkOn(entropy, isDark) {
  return shade(entropy, isDark).ink;
}

function isDarkPage() {
  return document.body.classList.contains("dark");
}

function formatNats(entropy) {
  return entropy.toFixed(2);
}

function formatPercent(probability) {
  return (probability * 100).toFixed(1) + "%";
}

function formatSeconds(seconds) {
  if (seconds < 0.0995) return Math.round(seconds * 1000) + " ms";
  return seconds.toFixed(seconds < 9.95 ? 2 : 1) + " s";
}

/** The legend: the ramp with its ticks in nats. */
function makeLegend() {
  const stops = (isDark) => Array.from({ length: 25 }, (_, i) =>
    entropyColour((i / 24) ** 2 * MAX_ENTROPY, isDark)).join(", ");
  const bar = make("div", "sbd-legend-bar");
  bar.style.setProperty("--ramp-light", `linear-gradient(to right, ${stops(false)})`);
  bar.style.setProperty("--ramp-dark", `linear-gradient(to right, ${stops(true)})`);
  const ticks = make("div", "sbd-legend-ticks", { "aria-hidden": "true" });
  for (const entropy of SCALE_TICKS) {
    const tick = make("span", "", {}, String(entropy));
    tick.style.left = `${unsureness(entropy) * 100}%`;
    ticks.append(tick);
  }
  const ends = make("div", "sbd-legend-ends", {}, make("span", "", {}, "sure"),
    make("span", "", {}, "entropy, nats"), make("span", "", {}, "unsure"));
  return make("div", "sbd-legend", {}, bar, ticks, ends);
}
