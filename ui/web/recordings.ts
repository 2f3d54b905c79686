// Opens recorded runs of the gallery in the player, and gives the form their settings.

import { pageAddress } from "./dom/page.ts";
import { playerOf } from "./dom/views.ts";
import { form } from "./form/form.ts";
import { sayFormChanges, sayStatus } from "./form/status.ts";

const RECORDED_TEXT =
  "This run is recorded, and the form has its settings. Press Decode to run it here.";

let numAsked = 0;

/** Show a recorded run in the player, which takes a run with a new id as a new one, also when it is shown again. */
export function showRecorded(lines: string) {
  const id = `r${Date.now().toString(36)}`;
  playerOf(document)?.push(lines.replaceAll(/^\{"run":"[^"]*"/gm, `{"run":"${id}"`));
}

/** Show a recorded run. @param prompt of a chip that was pressed, which the form gets at once */
export async function chooseRecording(name: string, prompt?: string) {
  numAsked += 1;
  const asked = numAsked;
  if (prompt !== undefined) form.set({ prompt });
  try {
    const response = await fetch(pageAddress(`gallery/${encodeURIComponent(name)}.json`));
    if (!response.ok) throw new Error(String(response.status));
    const { lines }: { lines: string } = await response.json();
    if (asked !== numAsked) return; // another was chosen meanwhile
    showRecorded(lines);
    const settings: Record<string, unknown> = playerOf(document)?.run?.settings() ?? {};
    // A prompt that the visitor has changed meanwhile stays.
    if (prompt !== undefined && form.prompt !== prompt) {
      form.follow({ ...settings, prompt: form.prompt });
      return;
    }
    const follow = () => form.follow(settings);
    if (prompt === undefined) follow();
    else if (sayFormChanges("Recorded:", follow)) return;
    sayStatus(RECORDED_TEXT, false, true);
  } catch {
    if (asked === numAsked) sayStatus("This recorded run cannot be reached.", true);
  }
}
