// The bundle of the exported lesson: the scenes on a page of their own, reading the lesson beside
// them. Follows the system's scheme.

import { find } from "../dom/elements.js";
import { followScheme } from "../dom/screen.js";
import { LearnView } from "./view.js";

followScheme();

const text = document.querySelector("#sbd-lesson")?.textContent ?? "";
const view = new LearnView(find(document, ".sbd-learn"), text, new AbortController().signal);
view.follow();
