// What the help sheet says of lanes that are compared: sights and keys.

/** @import { HelpWords } from "../watch/help.js" */

/** @type {HelpWords} */
export const COMPARE_HELP = {
  hasScale: false,
  sights: [
    [
      "Lanes",
      "One prompt, the same weights, up to four ways to decode it, a forward pass of each in turn. " +
        "Played again, all lanes stand at the same forward pass, or where they were by the engine’s " +
        "time.",
    ],
    [
      "SBD and γ",
      "Set Block Decoding by the paper’s entropy bound: a higher γ is bolder; as a rule it needs " +
        "fewer forward passes and errs more. The other solvers pick by other rules.",
    ],
    [
      "Staircases",
      "Position to the right, forward pass downwards, all lanes on one scale. Dashed: one token a " +
        "pass, as next-token prediction writes.",
    ],
    [
      "Verify",
      "Drafts several tokens and checks them in the next forward pass: the answer is that of " +
        "next-token prediction. How many rows a forward pass has follows what rows cost on the " +
        "machine that decodes, unless the form says how many it may have.",
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
    ["S", "copy the link to these lanes"],
    ["?", "this help"],
  ],
};
