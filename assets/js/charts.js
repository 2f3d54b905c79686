// The bar that opens and closes the charts under the player. Nothing is asked of the server while
// they are closed; open, they follow the run that the player shows, once it is complete.

const toggle = make("button", "sbd-charts-toggle", { type: "button", "aria-expanded": "false" },
  make("span", "sbd-charts-arrow", { "aria-hidden": "true" }), make("span", "", {}, "Charts"));
const status = make("p", "sbd-charts-status", { role: "status" });
const CLOSED_WORDS = "This run as charts: entropy, tokens a pass, agreement, what parallelism cost.";
const OPEN_WORDS = "Zoom by dragging, read by pointing, save with the camera.";
const setting = JSON.parse(props.value);
const library = makeLibrary(setting.library, "Plotly");
const section = element.querySelector(".sbd-charts");
const state = { isOpen: false, asked: "" };
let cards = null;

function say(words, isError = false) {
  status.classList.toggle("is-error", isError);
  setText(status, words);
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
    section.dataset.isOld = "";
    say("The charts are drawn when this run is complete.");
  } else if (key !== state.asked) {
    state.asked = key;
    section.dataset.isOld = "";
    say("Drawing …");
    trigger("draw_charts", wish);
  }
}

function open() {
  library().catch(() => {}); // while the figures are made; who draws them hears of a failure
  if (!cards) {
    cards = new ChartCards(setting.cards, library);
    section.append(cards.root);
  }
}

toggle.addEventListener("click", () => {
  state.isOpen = !state.isOpen;
  toggle.setAttribute("aria-expanded", state.isOpen);
  if (state.isOpen) open();
  else say(CLOSED_WORDS);
  section.toggleAttribute("data-is-open", state.isOpen);
  state.asked = "";
  follow();
});

async function take({ run, name, figures, error }) {
  if (!state.isOpen) return;
  if (error) return say(error, true);
  if (!state.asked.startsWith(`${run},`)) return;
  try {
    await cards.show(figures, name);
    delete section.dataset.isOld;
    say(OPEN_WORDS);
  } catch (failure) {
    state.asked = "";
    say(`The charts cannot be drawn: ${failure.message}.`, true);
  }
}

say(CLOSED_WORDS);
element.querySelector(".sbd-charts-bar").replaceChildren(toggle, status);
document.addEventListener("sbd-run", follow);
new MutationObserver(follow).observe(document.body, { attributes: true, attributeFilter: ["class"] });
watch("value", () => take(JSON.parse(props.value)));
