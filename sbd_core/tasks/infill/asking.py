"""How a line with blanks is asked to be filled. Knows no patterns.

A request has the slots {it}, what the line is called, and {blank}, blank or blanks.
"""

import re
from random import Random

from sbd_core.tasks.base import Grammar, Pool, Wording
from sbd_core.tasks.infill.patterns import BLANK
from sbd_core.tasks.infill.requests import PARTS, SHAPES

BEFORE = Pool((
    "Fill in the {blank}:", "Fill the {blank}:", "Fill in the {blank} in this {it}:", "Fill in:",
    "Fill in the missing parts:", "Fill in the missing words:", "Fill in what is missing:",
    "Fill in the {blank} to make the {it} right:", "Fill in the {it}:", "Fill the gaps:",
    "Fill the gaps in the {it}:", "Fill in the gap:", "Please fill in the {blank}:",
    "Please fill the gaps:", "Complete the {it}:", "Complete this {it}:", "Complete:",
    "Complete this:", "Complete the following {it}:", "Please complete the {it}:",
    "Write the {it} with the {blank} filled:", "Write the whole {it}:", "Write the full {it}:",
    "Write out the {it} without {blank}:", "What is missing?", "What is missing here?",
    "What is missing in this {it}?", "What goes in the {blank}?", "What belongs in the {blank}?",
    "What fits in the {blank}?", "What should stand in the {blank}?", "Which words are missing?",
    "Put the right words in the {blank}:", "Put in what is missing:", "Finish this {it}:",
    "Finish the {it}:", "Replace the {blank}:", "Replace each blank:", "Replace the {blank} in the {it}:",
    "Add the missing parts:", "Add what is missing:", "Can you fill the gaps?",
    "Can you fill in the {blank}?", "Can you complete the {it}?", "Could you finish the {it}?",
    "Make the {it} complete:", "Make this {it} whole:", "Give the complete {it}:", "Give the {it} in full:",
    "Copy the {it} and fill in the {blank}:", "Repeat the {it} with the {blank} filled in:",
    "Restore the {it}:", "Solve the {blank}:",
    "Find the missing parts:", "Find what is missing:", "Guess the {blank}:",
    "The {it} has gaps. Fill them:", "Fill this in:", "Help me complete this {it}:", "Blanks to fill:",
    "Insert the missing parts:", "Insert what is missing in the {it}:", "Supply the missing words:",
))  # fmt: skip
AFTER = Pool((
    "Fill in the {blank}.", "Fill the gaps.", "What is missing?", "Complete the {it}.", "Fill it in.",
    "What goes in the {blank}?", "Write the whole {it}.", "Please complete it.", "Finish the {it}.",
    "Fill in what is missing.", "Please fill in the {blank}.", "Which words are missing?",
    "What belongs in the {blank}?", "Can you complete the {it}?", "Give the complete {it}.",
    "Replace the {blank}.", "Put in what is missing.", "Can you fill the gaps?",
))  # fmt: skip
COMPOSED = Grammar(SHAPES, PARTS, BEFORE.reserved + AFTER.reserved)
NAMES = {
    "told": ("sentence", "text", "line"), "grammar": ("sentence", "line", "text"),
    "knowledge": ("sentence", "line", "fact"), "numbers": ("line", "sum", "exercise"),
    "rows": ("row", "series", "sequence", "list", "line"), "code": ("code", "program", "line"),
    "records": ("JSON", "line", "record"),
}  # fmt: skip
AFTER_RATE, NEW_LINE_RATE, NAKED_RATE, OTHER_MARK_RATE = 0.15, 0.4, 0.03, 0.25
COMPOSED_RATE, SMALL_RATE = 0.7, 0.06
ENDS_BEFORE, ENDS_AFTER = (":", ":", ":", "."), (".", ".", ":", "")
QUESTION = re.compile(r"(?i)(can|could|would|do) (you|I)\b[^.?:]*$")
OTHER_MARKS = ("_", "_", "__", "____", "_____", "______", "[blank]", "...", "?", "(?)", "[...]")


def ask(random: Random, wording: Wording, kind: str, line: str, num_blanks: int) -> str:
    """The request to fill `line`, whose blanks may be drawn in another way."""
    shown = line
    if random.random() < OTHER_MARK_RATE:
        mark = random.choice(OTHER_MARKS)
        rest = line.replace(BLANK, "")
        if kind not in ("code", "records") and mark.strip("()[]") not in rest:
            shown = line.replace(BLANK, mark)
    if wording == "seen" and random.random() < NAKED_RATE:
        return shown
    space = "\n" if "\n" in line or random.random() < NEW_LINE_RATE else " "
    is_after = random.random() < AFTER_RATE
    if wording == "seen" and random.random() < COMPOSED_RATE:
        request = _composed(random, is_after=is_after)
    else:
        request = (AFTER if is_after else BEFORE).draw(random, wording)
    blank, s = ("blank", "") if num_blanks == 1 else ("blanks", "s")
    request = request.format(it=random.choice(NAMES[kind]), blank=blank, s=s)
    return f"{shown}{space}{request}" if is_after else f"{request}{space}{shown}"


def _composed(random: Random, *, is_after: bool) -> str:
    """A request put together, with a mark at its end and at times small letters."""
    request = COMPOSED.draw(random)
    if random.random() < SMALL_RATE and request[1].islower():
        request = request[0].lower() + request[1:]
    if request.endswith("?"):
        return request
    if QUESTION.match(request):
        return request + "?"
    return request + random.choice(ENDS_AFTER if is_after else ENDS_BEFORE)
