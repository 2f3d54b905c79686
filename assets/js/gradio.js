// The thin adapter between the player and Gradio's HTML component: `element`, `props`, `watch`
// and `trigger` come from Gradio, which evaluates this once when the component is on the page.

const host = element.querySelector(".sbd-host");
const player = SbdPlayer.mount(host, {
  redo: (settings) => trigger("redo", settings),
  host: { ask: (wish) => trigger("ask", wish), give: (file) => trigger("give", file) },
});
host.sbdPlayer = player;

function take(text) {
  if (!text) return;
  if (text === "stop") player.stop();
  else player.push(text);
}

take(props.value);
watch("value", () => take(props.value));
