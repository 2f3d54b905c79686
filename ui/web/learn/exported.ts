// Starts the exported lesson: the Learn view on a page of its own, which also contains the lesson's data. The page is
// light or dark as the system is.

import { find } from "../dom/elements.ts";
import { followScheme } from "../dom/screen.ts";
import { LearnView } from "./view.ts";

followScheme();

const text = document.querySelector("#sbd-lesson")?.textContent ?? "";
const view = new LearnView(find(document, ".sbd-learn"), text, new AbortController().signal);
view.follow();
