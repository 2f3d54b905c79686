// Decodes on the server: sends it a job by POST and reads its stream of events. A job ends the one before; the server
// stops decoding when its stream is closed. Also asks the server for what it computes at once.

import { pageAddress } from "./dom/page.ts";
import type { Job } from "./engine/worker.ts";
import type { News } from "./jobs.ts";
import { visitorHeaders } from "./zero_gpu.ts";

/** The parameters of the server's functions with their defaults, by the names of the functions. */
export type Functions = Record<string, Record<string, unknown>>;
/** A value of the streams `decode` and `compare`, see ui/server.py. */
type Value = { lines: string; message: string; num_ahead: number; is_running: boolean };
type About = "decode" | "compare" | "timing";

const STOPPED = "Stopped.";
const NO_ANSWER = "The server does not answer; press Decode to try again.";
const BROKEN =
  "The connection to the server broke; the run stands as far as it came. Decode again?";
/** The server sends a sign of life every 15 seconds. */
const SILENCE_MS = 40_000;

/** A refusal in the server's words. */
class Refused extends Error {}

export class ServerEngine {
  leaving: AbortController | null = null;
  about: About = "decode";
  hasLines = false;

  constructor(
    readonly functions: Functions,
    readonly hear: (news: News) => void,
  ) {}

  take(job: Job) {
    this.stop();
    if (job.kind === "decode") {
      void this.run("decode", "decode", { ...job.form, beside_ntp: true, traces: false });
    } else if (job.kind === "compare") {
      void this.run("compare", "compare", { ...job.form, lanes: job.lanes, traces: false });
    } else if (job.kind === "time") {
      void this.run("timing", "time_decode", { settings: job.form });
    }
  }

  stop() {
    if (!this.leaving) return;
    this.leaving.abort();
    this.end(STOPPED, false);
  }

  end(text: string, isError: boolean) {
    const { about } = this;
    this.leaving = null;
    if (about === "timing") return;
    if (this.hasLines && about === "decode") this.hear({ about, wire: "stop" });
    this.hear({ about, text, isError, isRunning: false });
  }

  async run(about: About, name: string, values: Record<string, unknown>) {
    const leaving = new AbortController();
    [this.leaving, this.about, this.hasLines] = [leaving, about, false];
    const { signal } = leaving;
    const isCurrent = () => this.leaving === leaving;
    const { ask } = (values.settings ?? {}) as { ask?: string };
    let timing = { run: String(ask), seconds: [], ntpSeconds: [] } as NonNullable<News["timing"]>;
    try {
      let isOver = false;
      for await (const value of this.stream(name, values, signal)) {
        if (!isCurrent()) return;
        isOver = about === "timing" || !(value as Value).is_running;
        if (about === "timing") timing = value as typeof timing;
        this.tell(about, value);
      }
      if (!isOver && isCurrent()) throw new Error("the stream ended early");
      if (isCurrent()) this.leaving = null;
    } catch (error) {
      if (!isCurrent()) return;
      leaving.abort();
      const words = error instanceof Refused ? error.message : this.hasLines ? BROKEN : NO_ANSWER;
      if (about === "timing") this.hear({ about, timing: { ...timing, error: words } });
      this.end(words, true);
    }
  }

  tell(about: About, value: unknown) {
    if (about === "timing") return this.hear({ about, timing: value as News["timing"] });
    const { lines, message, num_ahead: numAhead, is_running: isRunning } = value as Value;
    if (lines) this.hasLines = true;
    this.hear({ about, wire: lines, text: message, isRunning, numAhead });
  }

  /** Call a function of the server; yields what it yields. Throws Refused, and errors of the network. */
  async *stream(name: string, values: Record<string, unknown>, signal: AbortSignal) {
    const data = Object.entries(this.functions[name] ?? {}).map(
      ([key, first]) => values[key] ?? first,
    );
    const call = pageAddress(`gradio_api/call/${name}`);
    const headers = { ...JSON_POST.headers, ...(await visitorHeaders()) };
    const body = JSON.stringify({ data });
    const { event_id: id } = await asJson(
      await fetch(call, { ...JSON_POST, headers, body, signal }),
    );
    const response = await fetch(`${call}/${id}`, { signal });
    if (!response.ok || !response.body) await asJson(response);
    for await (const { event, data: text } of eventsOf(response.body as ReadableStream, signal)) {
      if (event === "generating") yield JSON.parse(text)[0] as unknown;
      if (event !== "error") continue;
      const words = JSON.parse(text)?.error; // none where the server itself is ending
      throw words ? new Refused(words) : new Error("the stream ended");
    }
  }
}

const JSON_POST = { method: "POST", headers: { "Content-Type": "application/json" } };

/** Read a response as JSON. Throws Refused with the server's words for an error. */
async function asJson(response: Response) {
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(answer.detail ?? `The server answered ${response.status}.`);
  return answer;
}

/** Yield the server-sent events of a stream. Throws an error if nothing comes for too long. */
async function* eventsOf(stream: ReadableStream<Uint8Array>, signal: AbortSignal) {
  const reader = stream.pipeThrough(new TextDecoderStream() as never).getReader();
  let text = "";
  try {
    for (;;) {
      let timer = 0;
      const silence = new Promise<never>((_, fail) => {
        timer = window.setTimeout(() => fail(new Error("silence")), SILENCE_MS);
      });
      const { done, value } = await Promise.race([reader.read(), silence]).finally(() =>
        clearTimeout(timer),
      );
      if (done || signal.aborted) return;
      const parts = (text + value).split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) {
        const lines = part.split("\n").map((line) => line.split(/: ?(.*)/s, 2));
        const { event = "", data = "" } = Object.fromEntries(lines) as Record<string, string>;
        yield { event, data };
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Ask the server for what it computes at once. Throws an error with the reason if it refuses. */
export async function askServer(name: string, sent: unknown = {}): Promise<any> {
  const answer = await asJson(
    await fetch(pageAddress(`ask/${name}`), { ...JSON_POST, body: JSON.stringify(sent) }),
  );
  if (answer.error) throw new Refused(answer.error);
  return answer;
}
