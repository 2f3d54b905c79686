"""Lines with blanks; the answer is the whole line with its blanks filled.

The word in a blank follows from the rest of the line or is common knowledge. The answer repeats the
rest of the line unchanged. The filled line decides the split, so no line of the test split occurs
in training, not even with other blanks.

Patterns are in phrasings/infill.json. A word marked as «red» may become a blank. If «red|crimson»
becomes a blank, either word is right, and the example's answer has the first. Of the words marked
with the same number, as in «1=Mia» and «1=Mia», at most one becomes a blank, so that the others
tell the answer.
"""

import json
import re
from random import Random

from sbd_core.tasks import words
from sbd_core.tasks.base import (
    Example,
    Phrasings,
    Split,
    draw_wording,
    read_phrasings,
    sentences,
    split_of,
)

NAME = "infill"
BLANK = "___"
MARK = re.compile(r"«(?:(\d)=)?([^«»]*)»")
NUM_BLANKS, NUM_BLANKS_WEIGHTS = (1, 2, 3), (5, 3, 2)
KINDS = {"told": 35, "knowledge": 20, "rows": 10, "code": 30}
DATA = read_phrasings(NAME)
BEFORE = Phrasings.of(DATA["before"])
CALLED = {"told": "sentence", "knowledge": "sentence", "rows": "list", "code": "code"}

# Slots: {A} {B} {C} people, with {he} {his} {He} for {A}; {S} {T} species, {N} {M} names of animals;
# {k} {l} things, {color} {hue} colors, {place} {site} places, {town} {other} cities, {day} {date} days,
# {job} {work} jobs, {food} {meal} dishes.
TOLD: list[str] = DATA["told"]
# {w} and {v} are a pair; what {v} says first is the answer.
KNOWN: list[tuple[str, list[str]]] = [(each["pattern"], each["pairs"]) for each in DATA["known"]]
# {f} a function, {x} {y} variables, {xs} a list, {a} {b} {m} numbers.
CODE: list[str] = DATA["code"]


def generate(random: Random, split: Split) -> Example:
    """Make an example with one to three blanks whose filled line belongs to `split`."""
    wording = draw_wording(random, split)
    while True:
        kind = random.choices(tuple(KINDS), tuple(KINDS.values()))[0]
        marked = _line(random, kind)
        if split_of(filled(marked)) == split:
            break
    line, fills = blanked(random, marked, 2 if kind == "rows" else 3)
    request = BEFORE.draw(random, wording).format(
        it=CALLED[kind], blank="blank" if len(fills) == 1 else "blanks"
    )
    space = "\n" if "\n" in line or random.random() < 0.4 else " "
    return Example(
        NAME,
        request + space + line,
        filled(marked),
        json.dumps({"line": line, "fills": fills}),
        wording,
    )


def check(example: Example, text: str) -> bool:
    """Whether `text` is the example's line with every blank filled by an allowed word."""
    case = json.loads(example.case)
    fixed = [re.escape(part) for part in case["line"].split(BLANK)]
    fills = ["(?:" + "|".join(map(re.escape, allowed)) + ")" for allowed in case["fills"]]
    pattern = fixed[0] + "".join(f + part for f, part in zip(fills, fixed[1:], strict=True))
    return re.fullmatch(pattern, text) is not None


def filled(marked: str) -> str:
    """Remove the marks from a line; of «red|crimson», the first word stays."""
    return MARK.sub(lambda mark: mark[2].split("|")[0], marked)


def blanked(random: Random, marked: str, most: int) -> tuple[str, list[list[str]]]:
    """Blank up to `most` marked words; return the line and, for each blank, the right words."""
    marks = list(MARK.finditer(marked))
    random.shuffle(marks)
    num_blanks = min(most, random.choices(NUM_BLANKS, NUM_BLANKS_WEIGHTS)[0])
    chosen: dict[str, re.Match[str]] = {}
    for mark in marks:
        if len(chosen) < num_blanks:
            chosen.setdefault(mark[1] or f"at {mark.start()}", mark)
    blanks = sorted(chosen.values(), key=lambda mark: mark.start())
    starts = {mark.start() for mark in blanks}
    line = MARK.sub(lambda m: BLANK if m.start() in starts else m[2].split("|")[0], marked)
    return line, [mark[2].split("|") for mark in blanks]


def _line(random: Random, kind: str) -> str:
    if kind == "rows":  # five consecutive days or months
        order = random.choice((words.DAYS, words.MONTHS))
        first = random.randrange(len(order))
        return ", ".join(f"«{order[(first + number) % len(order)]}»" for number in range(5))
    if kind == "code":
        x, y = random.sample(DATA["variables"], 2)
        a, b, m = (str(random.randint(2, 20)) for _ in range(3))
        function, numbers = random.choice(DATA["functions"]), random.choice(DATA["lists"])
        return random.choice(CODE).format(f=function, x=x, y=y, xs=numbers, a=a, b=b, m=m)
    pattern, pair = random.choice(TOLD), ""
    if kind == "knowledge":
        pattern, pairs = random.choice(KNOWN)
        pair = random.choice(pairs)
    left, _, right = pair.partition("=")
    people = random.sample(words.NAMES, 3)
    he, his = ("she", "her") if people[0] in words.WOMEN else ("he", "his")
    slots = {"he": he, "his": his, "He": he.title(), "w": left, "v": right}
    for names, items in (
        ("ABC", people), ("ST", tuple(words.SPECIES)), ("NM", words.PET_NAMES), ("kl", words.OBJECTS),
        (("color", "hue"), words.COLORS), (("place", "site"), tuple(words.PLACES)), (("town", "other"), words.CITIES),
        (("day", "date"), words.DAYS), (("job", "work"), words.JOBS), (("food", "meal"), words.FOODS),
    ):  # fmt: skip
        slots |= dict(zip(names, random.sample(items, len(names)), strict=True))
    return sentences(pattern.format(**slots))
