// The name of the loaded model, as text, and the switch between the views. Evaluated by Gradio.

const VIEW_EVENT = "sbd-view"; // its detail names the view; anyone on the page may send it
const views = [...element.querySelectorAll(".sbd-view")];

/** Show one view; the style sheet hides what belongs to the other. */
function show(name) {
  document.body.classList.toggle("sbd-is-racing", name === "race");
  for (const button of views) button.setAttribute("aria-pressed", button.dataset.view === name);
}

for (const button of views) {
  button.addEventListener("click", () =>
    document.dispatchEvent(new CustomEvent(VIEW_EVENT, { detail: button.dataset.view })));
}
document.addEventListener(VIEW_EVENT, ({ detail }) => show(detail));
const tell = () => (element.querySelector(".sbd-model").textContent = props.value);
tell();
watch("value", tell);
