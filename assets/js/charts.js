// The bar that opens and closes the charts under the player. Nothing is asked of the server while
// they are closed; open, they follow the run that the player shows, once it is complete.

const toggle = make("button", "sbd-charts-toggle", { type: "button", "aria-expanded": "false" },
  make("span", "sbd-charts-arrow", { "aria-hidden": "true" }), make("span", "", {}, "Charts"));
const status = make("p", "sbd-charts-status", { role: "status" });
const CLOSED_WORDS = "This run as charts: entropy, tokens a pass, agreement, what parallelism cost.";
const state = { isOpen: false, asked: "" };

function sectionOf() {
  return document.querySelector("#sbd-charts");
}

/** Ask for the charts of the run shown, unless they are asked for already. */
function follow() {
  const player = document.querySelector(".sbd-host")?.sbdPlayer;
  if (!state.isOpen || !player?.run) return;
  const { run } = player;
  const wish = { run: run.id, isDark: isDarkPage() };
  const key = [wish.run, wish.isDark].join();
  if (!run.isComplete) {
    state.asked = "";
    sectionOf().dataset.isOld = "";
    setText(status, "The charts are drawn when this run is complete.");
  } else if (key !== state.asked) {
    state.asked = key;
    sectionOf().dataset.isOld = "";
    setText(status, "Drawing …");
    trigger("draw_charts", wish);
  }
}

toggle.addEventListener("click", () => {
  state.isOpen = !state.isOpen;
  toggle.setAttribute("aria-expanded", state.isOpen);
  sectionOf().toggleAttribute("data-is-open", state.isOpen);
  if (!state.isOpen) setText(status, CLOSED_WORDS);
  state.asked = "";
  follow();
});

function take(text) {
  if (!text || !state.isOpen) return;
  const { run, error } = JSON.parse(text);
  status.classList.toggle("is-error", Boolean(error));
  if (error) setText(status, error);
  else if (state.asked.startsWith(`${run},`)) {
    delete sectionOf().dataset.isOld;
    setText(status, "Zoom by dragging, read by pointing, save with the camera.");
  }
}

setText(status, CLOSED_WORDS);
element.querySelector(".sbd-charts-bar").replaceChildren(toggle, status);
document.addEventListener("sbd-run", follow);
new MutationObserver(follow).observe(document.body, { attributes: true, attributeFilter: ["class"] });
watch("value", () => take(props.value));
