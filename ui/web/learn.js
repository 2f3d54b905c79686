// The bundle of the exported lesson: the scenes on a page of their own, reading the lesson beside
// them. Follows the system's scheme.

import { find } from "./dom/elements.js";
import { LearnView } from "./learn/view.js";

const scheme = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.body.classList.toggle("dark", scheme.matches);
scheme.addEventListener("change", followScheme);
followScheme();

const text = document.querySelector("#sbd-lesson")?.textContent ?? "";
const view = new LearnView(find(document, ".sbd-learn"), text, new AbortController().signal);
view.follow();
