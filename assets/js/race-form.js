// What to race: the lanes, the two gammas, Race and Stop, and one line of news.

const IDLE_WORDS = "Same prompt, same weights: each lane is decoded to its end first, then they race.";

function makeLaneChoice({ name, label }, gamma) {
  const box = make("input", "", { type: "checkbox" });
  box.checked = true;
  const root = make("div", `sbd-race-choice sbd-race-${name}`, {}, make("label", "", {}, box, label));
  if (gamma === undefined) return { name, box, root, gamma: null };
  const field = make("input", "sbd-race-gamma", { type: "number", min: "0", step: "0.05",
    value: String(gamma), "aria-label": `γ of ${label}, nats` });
  root.append(field);
  return { name, box, root, gamma: field };
}

/** `actions` can start({lanes, low, high}) and halt(). */
function makeRaceForm({ choice, gammas }, actions) {
  const choices = choice.map((item) => makeLaneChoice(item, gammas[item.name]));
  const go = make("button", "sbd-race-go", { type: "button" }, "Race");
  const stop = make("button", "sbd-race-stop", { type: "button", disabled: "" }, "Stop");
  const news = make("p", "sbd-race-news", { role: "status" }, IDLE_WORDS);
  const root = make("div", "sbd-card sbd-race-form", {},
    make("fieldset", "sbd-race-choices", {}, make("legend", "", {}, "Lanes"),
      ...choices.map((each) => each.root)),
    make("div", "sbd-race-buttons", {}, go, stop), news);

  function gammaOf(name) {
    const field = choices.find((each) => each.name === name)?.gamma;
    return field ? (field.value === "" ? null : Number(field.value)) : gammas[name];
  }

  function start() {
    if (go.disabled) return;
    showRunning(true);
    say("", false);
    const lanes = choices.filter(({ box }) => box.checked).map(({ name }) => name);
    actions.start({ lanes, low: gammaOf("sbd-low"), high: gammaOf("sbd-high") });
  }

  /** Take the lanes and gammas of a link; what makes no sense there leaves its field empty. */
  function choose({ lanes, low, high }) {
    const gammaNamed = { "sbd-low": low, "sbd-high": high };
    for (const { name, box, gamma } of choices) {
      box.checked = lanes.includes(name);
      if (gamma) gamma.value = gammaNamed[name];
    }
  }

  function showRunning(isRunning) {
    go.disabled = isRunning;
    stop.disabled = !isRunning;
  }

  function say(text, isError) {
    setAttribute(news, "role", isError ? "alert" : "status");
    news.classList.toggle("is-error", isError);
    setText(news, text || IDLE_WORDS);
  }

  go.addEventListener("click", start);
  stop.addEventListener("click", actions.halt);
  root.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("input")) start();
  });
  return { root, start, choose, showRunning, say };
}
