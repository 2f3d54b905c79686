// A sudoku of the visitor's own, typed cell by cell. The page checks it; an accepted one becomes
// the prompt, as if it had been typed. Evaluated by Gradio.

const grid = element.querySelector(".sbd-puzzle-grid");
const news = element.querySelector(".sbd-puzzle-news");
const inputs = Array.from({ length: 16 }, (_, cell) => make("input", "",
  { maxlength: "1", inputmode: "numeric", autocomplete: "off",
    "aria-label": `Row ${Math.floor(cell / 4) + 1}, column ${(cell % 4) + 1}` }));

function solve() {
  trigger("solve", { cells: inputs.map((input) => input.value.trim() || "0").join("") });
}

/** A digit typed goes on to the next cell. */
function goOn(event) {
  const next = inputs[inputs.indexOf(event.target) + 1];
  if (event.target.value && next) next.focus();
}

function hear(text) {
  const { prompt_id: promptId, prompt, error } = JSON.parse(text);
  if (!prompt && !error) return;
  news.classList.toggle("is-error", Boolean(error));
  setText(news, error || "It has one solution and is the prompt now; press Decode.");
  if (!prompt) return;
  const box = document.querySelector(`#${promptId} textarea`);
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(box, prompt);
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

grid.replaceChildren(...inputs);
grid.addEventListener("input", goOn);
grid.addEventListener("keydown", (event) => event.key === "Enter" && solve());
element.querySelector(".sbd-puzzle-use").addEventListener("click", solve);
watch("value", () => hear(props.value));
