// The sheet to take a run home, and to bring one: files to save, the link, a trace to open.
// What needs the server is asked of `host`; without one only what the browser can make is offered.
//
//   host.ask({ kind: "json" | "html", run })   the file comes back through receive()
//   host.give({ name, text })                  a trace file to show
//   host.began(run)                            a run takes the place of the last one

const MAX_TRACE_BYTES = 5e6;

/** Hand a file to the browser to save. */
function saveFile(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = make("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function fileSize(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

class Share {
  constructor(player, host) {
    this.player = player;
    this.host = host;
    this.status = make("p", "sbd-share-status", { role: "status" });
    this.bar = make("progress", "sbd-share-bar", { max: "1", "aria-label": "Progress" });
    this.bar.hidden = true;
    const close = make("button", "sbd-button", { type: "button", "aria-label": "Close sharing",
      title: "Close (Esc)" }, icon("close"));
    close.addEventListener("click", () => this.root.close());
    this.rows = make("div", "sbd-share-rows", {}, ...(host ? this.serverRows() : []));
    this.root = make("dialog", "sbd-help sbd-share",
      { "aria-labelledby": "sbd-share-title", "data-key": "s" },
      make("div", "sbd-help-head", {}, make("h2", "", { id: "sbd-share-title" }, "Take it home"), close),
      this.rows, make("div", "sbd-share-foot", {}, this.bar, this.status));
    this.root.addEventListener("click", (event) => {
      if (event.target === this.root) this.root.close();
    });
    if (host) this.listenToDrops();
  }

  serverRows() {
    return [
      this.linkRow(),
      this.row("Replay page", "One file that plays this run anywhere, with no network.", "Save HTML",
        () => this.ask("html")),
      this.row("Trace", "Every number of the run; opens here again.", "Save JSON",
        () => this.ask("json")),
      this.openRow(),
    ];
  }

  row(title, words, label, act) {
    const button = make("button", "sbd-action sbd-share-do", { type: "button" }, label);
    button.addEventListener("click", act);
    return make("div", "sbd-share-row", {},
      make("div", "", {}, make("h3", "", {}, title), make("p", "", {}, words)), button);
  }

  /** The link that decodes this run again; also what the address bar holds after a decode. */
  linkRow() {
    return this.row("Link", "Opens the page with these settings and decodes again.", "Copy link",
      async () => {
        const address = linkTo(this.player.run.settings()).href;
        try {
          await navigator.clipboard.writeText(address);
          this.say("Copied the link.");
        } catch {
          this.say(address);  // the browser keeps its clipboard: to be copied by hand
        }
      });
  }

  /** A file button; the whole page takes dropped files too. */
  openRow() {
    const input = make("input", "", { type: "file", accept: ".json,application/json",
      "aria-label": "Trace file", tabindex: "-1" });
    input.hidden = true;
    input.addEventListener("change", () => {
      this.open(input.files[0]);
      input.value = "";
    });
    const row = this.row("Open a trace", "Or drop the file anywhere on this page.", "Open file",
      () => input.click());
    row.append(input);
    return row;
  }

  listenToDrops() {
    const holdsFiles = (event) => [...event.dataTransfer?.types ?? []].includes("Files");
    document.addEventListener("dragover", (event) => holdsFiles(event) && event.preventDefault());
    document.addEventListener("drop", (event) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      this.open(event.dataTransfer.files[0]);
    });
  }

  /** Send a file to be checked and shown; a file too large is not even read. */
  async open(file) {
    if (!file) return;
    const { name } = file;
    if (file.size > MAX_TRACE_BYTES) {
      const limit = fileSize(MAX_TRACE_BYTES);
      this.show();
      return this.say(`${name} must be at most ${limit}; got ${fileSize(file.size)}.`, true);
    }
    this.say(`Reading ${name} …`);
    this.host.give({ name, text: await file.text() });
  }

  ask(kind) {
    this.say("Preparing the file …");
    this.host.ask({ kind, run: this.player.run.id });
  }

  /** An answer of the server: a file to save, or a sentence; `isShown` closes the sheet. */
  receive({ file, text, error, isShown }) {
    if (file) {
      saveFile(file, text, file.endsWith(".html") ? "text/html" : "application/json");
      this.say(`Saved ${file}, ${fileSize(new Blob([text]).size)}.`);
    } else if (isShown) {
      this.say("");
      this.root.close();
    } else {
      this.show();
      this.say(error, true);
    }
  }

  say(text, isError = false) {
    this.status.classList.toggle("is-error", isError);
    setText(this.status, text);
  }

  show() {
    if (!this.root.open) this.root.showModal();
  }

  toggle() {
    this.say("");
    if (this.root.open) this.root.close();
    else if (this.player.run) this.show();
  }
}
