// What the help sheet says in the race: its sights and its keys.

/** @import { HelpWords } from "../watch/help.js" */

/** @type {HelpWords} */
export const RACE_HELP = {
  hasScale: false,
  sights: [
    [
      "Lanes",
      "One prompt, the same weights, several ways to decode it. Each lane is decoded to its end " +
        "first; then they are shown side by side, all at the same forward pass or by the time the " +
        "engine took.",
    ],
    [
      "SBD, two γ",
      "Set Block Decoding with two entropy bounds: the higher one is bolder; as a rule it needs " +
        "fewer forward passes and errs more.",
    ],
    [
      "Verify",
      "Drafts several tokens and checks them in the next forward pass: the answer is that of " +
        "next-token prediction. With predrafts it has another draft to check if a drafted token the " +
        "model is unsure of is thrown away, and it drafts on for longer, by a lower draft threshold.",
    ],
    [
      "Marks",
      "Underlined: a token that differs from next-token prediction’s, which is not to be wrong. " +
        "Right or wrong stands beside a lane where something can check the answer.",
    ],
  ],
  keys: [
    ["space", "play or pause"],
    ["← →", "one forward pass back or ahead; by engine time, of the lane whose turn it is"],
    ["↑ ↓", "move between lanes"],
    ["Home End", "start or finish"],
    ["Esc", "leave lecture mode"],
    ["L", "lecture mode, full screen"],
    ["S", "copy the link to this race"],
    ["?", "this help"],
  ],
};
