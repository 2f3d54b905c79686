// One line under the buttons: what is going on, or what was wrong. Evaluated by Gradio.

const line = element.querySelector(".sbd-notice");
let lastOrder = [-1, -1];

function show(text) {
  if (!text) return;
  const { kind, text: words, order } = JSON.parse(text);
  const isOld = order[0] < lastOrder[0] || (order[0] === lastOrder[0] && order[1] <= lastOrder[1]);
  if (isOld) return;
  lastOrder = order;
  line.setAttribute("role", kind === "error" ? "alert" : "status");
  line.className = `sbd-notice is-${kind}`;
  if (line.textContent !== words) line.textContent = words;
}

show(props.value);
watch("value", () => show(props.value));
