// Does the visitor's jobs: on the server or in this browser, as the visitor has chosen. Their news goes to the views.

import { foldForm } from "./dom/screen.ts";
import { type Channel, channel, playerOf } from "./dom/views.ts";
import type { News as EngineNews } from "./engine/session.ts";
import type { Job } from "./engine/worker.ts";
import { sayStatus } from "./form/status.ts";

/** numAhead: number of runs that are before this one in the server's line */
export type News = EngineNews & { numAhead?: number };

interface Place {
  take: (job: Job) => void;
}

let place: Place | null = null;

export function setPlace(next: Place) {
  place = next;
}

/** Whether a decode that the page shows is running or waits to run. */
const { say: sayBusy, hear: onBusy }: Channel<boolean> = channel();
const { say: sayCompared, hear: onCompared }: Channel<News> = channel();

export { onBusy, onCompared };

let isBusy = false;

export function doJob(job: Job) {
  if (job.kind === "decode") {
    showBusy(true);
    foldForm(true); // at once, not only when the run begins
    playerOf(document)?.wait(true);
  }
  place?.take(job);
}

export function hearNews(news: News) {
  const player = playerOf(document);
  if (news.about === "compare") sayCompared(news);
  if (news.timing) player?.takeTiming(news.timing);
  if (news.about !== "decode") return;
  if (news.wire === "stop") player?.stop();
  else if (news.wire) player?.push(news.wire);
  if (news.isRunning !== undefined) showBusy(news.isRunning);
  if (!news.isRunning) player?.wait(false);
  if (news.text !== undefined) sayStatus(news.text, news.isError);
}

function showBusy(next: boolean) {
  if (isBusy === next) return;
  isBusy = next;
  sayBusy(next);
}

export function isDecoding() {
  return isBusy;
}
