// The name of the loaded model, as text. Evaluated by Gradio.

element.querySelector(".sbd-model").textContent = props.value;
