// The player on the page: passes what Gradio sends on to it, and what it asks for back.

import { elementOf, find } from "../dom/elements.js";
import { goButtons, STOP_MS } from "../dom/gradio.js";
import { foldForm } from "../dom/screen.js";
import { currentView, onTurn, playerOf, turnTo } from "../dom/views.js";
import { doInBrowser, inBrowser, onNumAhead, onRefused } from "../in_browser/bridge.js";
import { TabKeeper } from "../saved_runs.js";
import { bareAddress, keepAddress, linkTo } from "../share/permalink.js";
import { replayPage } from "../share/replay_page.js";
import { Player } from "./player.js";

/** @import { PlayerElement } from "../dom/views.js" */
/** @import { Mount } from "../stub.js" */

/** @type {Mount} */
export function mountPlayer({ element, value, trigger, signal }) {
  /** @type {PlayerElement} */
  const host = find(element, ".sbd-host");
  const player = new Player(host, {
    redo: (settings) =>
      doInBrowser({ kind: "decode", form: settings }) || trigger("redo", settings),
    host: {
      replayPage: (run) => replayPage(run, player.parts.numbers.timingOf(run)),
      give: (file) => trigger("give", file),
      time: (settings) =>
        doInBrowser({ kind: "time", form: settings }) || trigger("time", settings),
      began: (run) => {
        turnTo("watch");
        const hasLink = !run.isRecorded && !run.isConversation;
        keepAddress(hasLink ? linkTo(run.settings()) : bareAddress());
      },
    },
  });
  host.sbdPlayer = player;
  signal.addEventListener("abort", () => player.destroy());
  document.addEventListener("input", forgetLink, { signal });
  // Nobody sees it behind another view, and drawing takes time from an engine on this machine.
  onTurn((name) => {
    foldForm(name === "watch");
    if (name !== "watch") player.set({ isPlaying: false });
  }, signal);
  /** @param {string} text wire lines, or "stop": no more will come */
  function take(text) {
    // What the server says last of a run that it gave up is not about one of this browser.
    if (text === "stop") inBrowser.isOn?.() || player.stop();
    else if (text) player.push(text);
  }
  take(value);
  if (currentView() !== "watch") player.set({ isPlaying: false });
  new TabKeeper(player, signal).restore();
  player.fit();
  player.paint(); // in its first frame: what comes in the next one would move the page
  onNumAhead((numAhead) => player.wait(numAhead > 0), signal);
  onRefused(() => player.wait(false), signal);
  stopWithoutServer(player, signal);
  return take;
}

/**
 * While the server is away nobody answers Stop: the run stands as it came, if any of it did.
 * @param {Player} player
 * @param {AbortSignal} signal
 */
function stopWithoutServer(player, signal) {
  let timer = 0;
  /** @param {Event} event */
  const click = (event) => {
    const pressed = elementOf(event);
    if (pressed?.closest("#sbd-go button")) clearTimeout(timer); // another decode is asked for
    if (pressed && goButtons()[0]?.contains(pressed)) {
      foldForm(true); // at the press, not when the run comes
      player.wait(true);
    }
    if (!pressed?.closest("#sbd-stop")) return;
    player.wait(false);
    const { run } = player;
    timer = window.setTimeout(() => {
      const [go, stop] = goButtons();
      if (signal.aborted || player.run !== run || !go || !stop || stop.disabled) return;
      [go.disabled, stop.disabled] = [false, true];
      if (!run || run.isComplete) {
        player.tellVisitor("The server does not answer; nothing of the new run has come.");
        return;
      }
      player.stop();
      player.tellVisitor("The server does not answer; the run stands here as far as it came.");
    }, STOP_MS);
  };
  document.addEventListener("click", click, { signal });
}

/**
 * A prompt that is being rewritten is not that of the link any more, and must outlive a reload.
 * @param {Event} event
 */
function forgetLink(event) {
  const linked = new URLSearchParams(window.location.search).get("prompt");
  const box = elementOf(event);
  if (!(box instanceof HTMLTextAreaElement) || !box.closest("#sbd-prompt-box")) return;
  if (linked !== null && linked !== box.value) keepAddress(bareAddress());
}

/** @type {Mount} */
export function mountServerMessages() {
  return (text) => {
    if (!text) return;
    const { timing, ...message } = JSON.parse(text);
    const player = playerOf(document);
    if (timing) player?.takeTiming(timing);
    else player?.share.receive(message);
  };
}
