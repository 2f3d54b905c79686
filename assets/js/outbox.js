// What the server hands over to the share sheet of the player: one JSON object a value.

function hand(text) {
  if (text) document.querySelector(".sbd-host").sbdPlayer.share.receive(JSON.parse(text));
}

watch("value", () => hand(props.value));
