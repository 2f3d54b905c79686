// The examples: a button for each kind of text; pressing it again gives the next one. Writes into
// the prompt as typing would, so the form knows. Keeps the prompt over a reload of this tab.

const KEPT = "sbd-prompt";
const { presets, line: promise, prompt: promptId } = JSON.parse(props.value);

function promptBox() {
  return document.querySelector(`#${promptId} textarea`);
}

/** Put text in the prompt; the form listens to the same event as for typing. */
function write(text) {
  const box = promptBox();
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(box, text);
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

function makeChip({ label, prompts }) {
  const count = make("span", "sbd-chip-count");
  const chip = make("button", "sbd-chip", { type: "button" }, label, count);
  chip.addEventListener("click", () =>
    write(prompts[(prompts.indexOf(promptBox().value) + 1) % prompts.length]));

  function update(text) {
    const index = prompts.indexOf(text);
    setAttribute(chip, "aria-pressed", index >= 0);
    setText(count, index >= 0 ? `${index + 1}/${prompts.length}` : "");
    setAttribute(chip, "title", index >= 0 ? "Press again for another one" : `Try ${label}`);
  }

  return { chip, update };
}

/** The tab's own storage; a browser may refuse it, then nothing is kept. */
function keep(text) {
  try {
    sessionStorage.setItem(KEPT, text);
  } catch {
    // Refused.
  }
}

function kept() {
  try {
    return sessionStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

const chips = presets.map(makeChip);

function follow(text) {
  for (const { update } of chips) update(text);
}

element.querySelector(".sbd-presets").replaceChildren(...chips.map(({ chip }) => chip));
element.querySelector(".sbd-promise").textContent = promise;
document.addEventListener("input", (event) => {
  if (event.target !== promptBox()) return;
  keep(event.target.value);
  follow(event.target.value);
});

/** The box may be mounted after this script ran. */
function begin() {
  if (!promptBox()) return requestAnimationFrame(begin);
  const isLinked = new URLSearchParams(window.location.search).has("prompt");
  if (kept() !== null && !isLinked) write(kept());
  follow(promptBox().value);
}

begin();
