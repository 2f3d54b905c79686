// The share dialogs. That of a run saves it as a replay page, a trace or a picture, copies its link, and opens a trace. A
// trace is opened by the server, through `host`; without a host the dialog only saves pictures.

import { html, render } from "lit-html";
import constants from "../constants.json" with { type: "json" };
import { failureWords } from "../core/numbers.ts";
import type { Run, WireLine } from "../core/run.ts";
import type { Timing } from "../core/times.ts";
import { traceText } from "../core/trace.ts";
import { make, makeDialog } from "../dom/elements.ts";
import { saveFile } from "../dom/save.ts";
import { isDarkPage } from "../dom/screen.ts";
import { buttonTemplate, closeButton } from "../dom/templates.ts";
import { settingsOf } from "../models.ts";
import { makeGif } from "./gif.ts";
import { linkTo } from "./permalink.ts";
import { staircasePicture } from "./picture.ts";

/** Format a file size: "84 kB", "1.2 MB". */
function fileSize(bytes: number) {
  return bytes < 1e6
    ? `${Math.max(Math.round(bytes / 1000), 1)} kB`
    : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** What the dialog needs of the page around the player. */
export interface ShareHost {
  replayPage: (run: Run) => Promise<string>; // returns the HTML of a page that replays a run
  sendTrace: (text: string) => void; // sends a trace file to be checked and shown
}

const { limits } = constants;

/** A row of a dialog: what its button does. */
type Row = [title: string, words: string, label: string, act: () => void];

/** A dialog of rows, each with a button, and of a line that says what a button did. */
export class Sheet {
  said = { text: "", isError: false };
  rows: Row[] = [];
  part = 1; // of an animation that is being drawn, 1: none is
  root = makeDialog("sbd-help sbd-share", { "aria-label": "Take it home", "data-key": "s" });

  draw() {
    const { text, isError } = this.said;
    const row = ([title, words, label, act]: Row) =>
      html`<div class="sbd-share-row"
        ><div><h3>${title}</h3><p>${words}</p></div
        >${buttonTemplate("sbd-action sbd-share-do", label, act)}</div>`;
    const content = html`<div class="sbd-help-head"
        ><h2>Take it home</h2>${closeButton("Close sharing", () => this.root.close())}</div>
      <div class="sbd-share-rows">${this.rows.map(row)}</div>
      <div class="sbd-share-foot"
        ><progress
          class="sbd-share-bar"
          max="1"
          aria-label="Progress"
          value=${this.part}
          ?hidden=${this.part === 1}
        ></progress
        ><p class="sbd-share-status ${isError ? "is-error" : ""}" role="status">${text}</p></div>`;
    render(content, this.root);
  }

  linkRow(words: string, link: () => string): Row {
    const copy = async () => {
      const address = link();
      try {
        await navigator.clipboard.writeText(address);
        this.say("Copied the link.");
      } catch {
        this.say(address); // no access to the clipboard: to be copied by hand
      }
    };
    return ["Link", words, "Copy link", copy];
  }

  save(name: string, blob: Blob) {
    saveFile(name, blob);
    this.say(`Saved ${name}, ${fileSize(blob.size)}.`);
  }

  say(text: string, isError: boolean = false) {
    this.said = { text, isError };
    this.draw();
  }

  show() {
    this.draw();
    if (!this.root.open) this.root.showModal();
  }

  toggle() {
    this.say("");
    if (this.root.open) this.root.close();
    else this.show();
  }
}

/** The dialog of one run; of the player it only knows which run is shown. */
export class Share extends Sheet {
  file = make("input", "", { type: "file", accept: ".json,application/json" });

  /** @param signal removes the listeners, and ends an animation that is being drawn */
  constructor(
    readonly player: { readonly run: Run | null },
    host: ShareHost | null,
    readonly signal: AbortSignal,
  ) {
    super();
    this.rows = [...(host ? this.serverRows(host) : []), ...this.pictureRows()];
    if (host) this.listenToFiles(host);
  }

  /** Return a row whose button acts on the run shown. */
  runRow(title: string, words: string, label: string, act: (run: Run) => void): Row {
    return [title, words, label, () => this.player.run && act(this.player.run)];
  }

  serverRows(host: ShareHost): Row[] {
    const replay = "One file that plays this run anywhere, with no network.";
    const trace =
      "Every number of this run, without next-token prediction beside it; opens here again.";
    const file = "Or drop the file anywhere on this page.";
    const linkWords = "Opens the page with these settings and decodes again.";
    const { player } = this;
    return [
      this.linkRow(linkWords, () => (player.run ? linkTo(settingsOf(player.run)).href : "")),
      this.runRow("Replay page", replay, "Save HTML", (run) => this.saveReplay(host, run)),
      this.runRow("Trace", trace, "Save JSON", (run) => {
        this.save(fileName(run, "json"), new Blob([traceText(run)], { type: "application/json" }));
      }),
      ["Open a trace", file, "Open file", () => this.file.click()],
    ];
  }

  pictureRows(): Row[] {
    const frames = "The staircase, a forward pass a frame, 1280 pixels wide, for a slide.";
    const double = "A picture at double size, for a paper.";
    return [
      this.runRow("Staircase", double, "Save PNG", (run) => this.savePng(run)),
      this.runRow("Animation", frames, "Save GIF", (run) => this.saveGif(run)),
    ];
  }

  async saveReplay(host: ShareHost, run: Run) {
    this.say("Preparing the file …");
    try {
      const page = await host.replayPage(run);
      this.save(fileName(run, "html"), new Blob([page], { type: "text/html" }));
    } catch {
      this.say("The parts of the replay page cannot be reached.", true);
    }
  }

  savePng(run: Run) {
    staircasePicture(run, isDarkPage(), 2).toBlob((blob) => {
      if (blob) this.save(fileName(run, "png"), blob);
      else this.say("The picture cannot be drawn in this browser.", true);
    }, "image/png");
  }

  async saveGif(run: Run) {
    if (this.part < 1) return; // another is being drawn
    const show = (part: number, text = this.said.text) => {
      this.part = part;
      this.say(text);
    };
    show(0, "Drawing the animation …");
    try {
      this.save(fileName(run, "gif"), await makeGif(run, isDarkPage(), show, this.signal));
    } catch (failure) {
      this.say(`The animation cannot be made: ${failureWords(failure)}.`, true);
    } finally {
      this.part = 1;
      this.draw();
    }
  }

  /** Open files that are chosen, or dropped anywhere on the page. */
  listenToFiles(host: ShareHost) {
    const { file, signal } = this;
    file.addEventListener("change", () => {
      this.open(host, file.files?.[0]);
      file.value = "";
    });
    const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const over = (event: DragEvent) => holdsFiles(event) && event.preventDefault();
    const drop = (event: DragEvent) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      this.open(host, event.dataTransfer?.files[0]);
    };
    document.addEventListener("dragover", over, { signal });
    document.addEventListener("drop", drop, { signal });
  }

  /** Send a trace file to be checked and shown, unless it is too large. */
  async open(host: ShareHost, file: File | undefined) {
    if (!file) return;
    const { name } = file;
    if (file.size > limits.fileBytes) {
      const limit = fileSize(limits.fileBytes);
      this.show();
      this.say(`${name} must be at most ${limit}; got ${fileSize(file.size)}.`, true);
      return;
    }
    this.say(`Reading ${name} …`);
    host.sendTrace(await file.text());
  }

  /** Take the server's answer about a trace: close the dialog if the trace is shown, else say the error. */
  receive({ error = "", isShown }: { error?: string; isShown?: boolean }) {
    if (isShown) this.root.close();
    else this.show();
    this.say(error, !isShown);
  }

  override toggle() {
    if (this.root.open || this.player.run) super.toggle();
  }
}

/** Return the file name of a run: "sbd-tara-has-49-pencils.json". */
const fileName = (run: Run, kind: string) => `${run.fileStem}.${kind}`;

/** engine seconds of each repeat; null: none */
type RepeatTimes = Pick<Timing, "seconds" | "ntpSeconds"> | null;

/** Make a run's replay page; rejects if a file cannot be fetched. */
export async function replayPage(run: Run, timing: RepeatTimes) {
  const styles = constants.replayStyles.map((name) => `../css/${name}.css`);
  const parts = ["../html/replay.html", "replay.js", ...styles];
  const [frame = "", code = "", ...sheets] = await Promise.all(parts.map(read));
  // Functions, because "$&" has a special meaning in a string that replaces another.
  return frame
    .replace("/*STYLES*/", () => sheets.join("\n"))
    .replace("/*SCRIPTS*/", () => code)
    .replace("<!--LINES-->", () => recordedLines(run, timing).join("\n"));
}

async function read(path: string) {
  const response = await fetch(new URL(path, import.meta.url));
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.text();
}

/** Return a run's lines, marked as recorded, and its timing's line. */
export function recordedLines(run: Run, timing: RepeatTimes) {
  return linesOf(run, timing).map((line) =>
    line.replace('"is_recorded":false', '"is_recorded":true'),
  );
}

/** Return a run's lines and its timing's line. */
export function linesOf({ id, lines, timing: read }: Run, timing: RepeatTimes) {
  if (!timing?.seconds.length || timing === read) return lines; // one that was read is among them
  const { seconds, ntpSeconds } = timing;
  const { seq } = JSON.parse(lines.at(-1) ?? "{}") as WireLine;
  return [...lines, JSON.stringify({ run: id, seq: seq + 1, type: "timing", seconds, ntpSeconds })];
}
