// The thin adapter between the player and Gradio's HTML component: `element`, `props`, `watch`
// and `trigger` come from Gradio, which evaluates this once when the component is on the page.

const host = element.querySelector(".sbd-host");
const player = SbdPlayer.mount(host, {
  redo: (settings) => trigger("redo", settings),
  host: {
    ask: (wish) => trigger("ask", wish),
    give: (file) => trigger("give", file),
    began: (run) => {
      document.dispatchEvent(new CustomEvent("sbd-view", { detail: "watch" }));
      keepAddress(run.isRecorded ? bareAddress() : linkTo(run.settings()));
    },
  },
});
host.sbdPlayer = player;

function take(text) {
  if (!text) return;
  if (text === "stop") player.stop();
  else player.push(text);
}

// A prompt that is being rewritten is not that of the link any more, and must outlive a reload.
document.addEventListener("input", (event) => {
  const linked = new URLSearchParams(window.location.search).get("prompt");
  const isPrompt = event.target.closest("#sbd-prompt-box");
  if (isPrompt && linked !== null && linked !== event.target.value) keepAddress(bareAddress());
});

// Nobody sees it behind another view, and drawing takes time from an engine on this machine.
document.addEventListener("sbd-view", ({ detail }) =>
  detail !== "watch" && player.set({ isPlaying: false }));

take(props.value);
watch("value", () => take(props.value));
