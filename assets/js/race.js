// The race view in Gradio: asks for races, takes their boards. Built when it is first looked at.

const host = element.querySelector(".sbd-race");
const setting = JSON.parse(props.value);
let form = null;
let lastOrder = [-1, -1];
let isLinkTaken = false;

function isRacing() {
  return document.body.classList.contains("sbd-is-racing");
}

function build() {
  const player = new RacePlayer(host);
  form = makeRaceForm(setting, {
    start: (choice) => {
      player.rest();
      trigger("start", choice);
    },
    halt: () => trigger("halt", {}),
  });
  host.replaceChildren(form.root, player.card, player.result, player.live);
  host.sbdRace = player;
  if (setting.board) player.open(setting.board);
}

/** The page was opened by the link of a race: turn to it, once, and choose what it says. */
function takeLink(choice) {
  if (isLinkTaken) return;
  isLinkTaken = true;
  document.dispatchEvent(new CustomEvent("sbd-view", { detail: "race" }));
  form.choose(choice);
  host.sbdRace.rest();
}

function take(text) {
  const { order, text: words, is_error: isError, is_running: isRunning, board, link, choice } =
    JSON.parse(text);
  if (choice) takeLink(choice);
  if (!form) return;
  const isOld = order[0] < lastOrder[0] || (order[0] === lastOrder[0] && order[1] <= lastOrder[1]);
  if (isOld) return;
  lastOrder = order;
  form.showRunning(isRunning);
  form.say(words, isError);
  if (board) host.sbdRace.open(board);
  if (link) keepAddress(linkToRace(link));
}

// A view that is left stands still.
document.addEventListener("sbd-view", ({ detail }) => {
  if (detail === "race" && !form) build();
  if (detail === "watch") host.sbdRace?.rest();
});

// The prompt is Watch's too: the keys that send it decode there and race here.
document.addEventListener("keydown", (event) => {
  const isSent = event.key === "Enter" && event.shiftKey && isRacing() && form;
  if (!isSent || !event.target.closest(`#${setting.prompt_id}`)) return;
  event.preventDefault();
  event.stopPropagation();
  form.start();
}, true);

watch("value", () => take(props.value));
