"""A line with blanks, answered by the whole line filled. Knows lines of text and code as data.

What is not blank stays as it is in the answer, so most of a block can be known beforehand. The
composition that decides the split is the filled line: no test line occurs in training, with
whatever blanks.
"""

import json
import re
from random import Random

from sbd_core.tasks.base import Example, Split, Task, split_of
from sbd_core.tasks.infill import code, lines
from sbd_core.tasks.story.plots import OPENINGS, OPENINGS_OF_TWO
from sbd_core.tasks.story.task import draft_story
from sbd_core.tasks.story.words import ANIMAL_NAMES, OBJECTS, PEOPLE, PLACES, SPECIES
from sbd_core.tasks.words import CITIES, COLORS, DAYS, MONTHS, WOMEN

NAME = "infill"
BLANK = "___"
SOURCE_WEIGHTS = {
    "facts": 24,
    "story": 16,
    "grammar": 10,
    "pairs": 12,
    "numbers": 12,
    "rows": 6,
    "code": 20,
}
BLANKS_WEIGHTS = (5, 3, 2)
ASK_AFTER_RATE, NEW_LINE_RATE = 0.12, 0.4
MARK = re.compile(r"«(?:(\d)=)?([^«»]*)»")
ARTICLE = re.compile(r"\b([Aa]) (?=«?(?:\d=)?[aeiou])")
COUNT = "one two three four five six seven eight nine ten eleven twelve"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def generate(random: Random, split: Split) -> Example:
    """A line with one to three blanks, whose filled line belongs to `split`."""
    while True:
        source = random.choices(list(SOURCE_WEIGHTS), list(SOURCE_WEIGHTS.values()))[0]
        marked = _line(random, source)
        answer = MARK.sub(lambda match: match[2].split("|")[0], marked)
        if split_of(answer) == split:
            break
    line, fills = _blanked(random, marked)
    space = "\n" if "\n" in line or random.random() < NEW_LINE_RATE else " "
    prompt = f"{random.choice(lines.ASKS)}{space}{line}"
    if random.random() < ASK_AFTER_RATE:
        prompt = f"{line}{space}{random.choice(lines.ASKS_AFTER)}"
    return Example(NAME, prompt, answer, json.dumps({"line": line, "fills": fills}))


def check(example: Example, text: str) -> bool:
    """True when `text` is the line of the case, each blank one of its fills, the rest the same."""
    case = json.loads(example.case)
    fixed = [re.escape(part) for part in case["line"].split(BLANK)]
    fills = ["(?:" + "|".join(map(re.escape, allowed)) + ")" for allowed in case["fills"]]
    pattern = fixed[0] + "".join(f + part for f, part in zip(fills, fixed[1:], strict=True))
    return re.fullmatch(pattern, text) is not None


def _line(random: Random, source: str) -> str:
    if source == "code":
        return random.choice(code.CODE).format(**_code_slots(random))
    if source == "rows":
        return ", ".join(f"«{word}»" for word in _row(random))
    if source == "story":
        return _story(random)
    slots = _slots(random)
    if source == "pairs":
        wordings, pairs = random.choice(list(lines.WORD_PAIRS.values()))
        slots["w"], slots["v"] = random.choice(pairs)
        wording = random.choice(wordings)
    else:
        pools = {
            "facts": lines.FACTS,
            "grammar": lines.GRAMMAR,
            "numbers": lines.NUMBERS,
        }
        wording = random.choice(pools[source])
    return ARTICLE.sub(r"\1n ", wording.format(**slots))


def _story(random: Random) -> str:
    """The beginning of a story, with the facts marked that it names more than once."""
    draft = draft_story(random)
    plot, slots = draft.plot, dict(draft.slots)
    person, animal = slots["A"], slots["N"]
    slots |= {
        "A": f"«1={person}|{slots['He']}|{animal}»",
        "N": f"«2={animal}|it|the {slots['S']}|{person}»",
        "k": f"«3={slots['k']}»", "o": f"{slots['color']} «3={slots['k']}»".strip(),
        "his": f"«{slots['his']}»",
    }  # fmt: skip
    openings = OPENINGS_OF_TWO if plot.is_of_two else OPENINGS
    wording = " ".join(random.choice(beat) for beat in (openings, *plot.beats))
    marked = ARTICLE.sub(r"\1n ", wording.format(**slots))
    groups = [mark[1] for mark in MARK.finditer(marked)]
    return MARK.sub(
        lambda mark: mark[2].split("|")[0] if mark[1] and groups.count(mark[1]) == 1 else mark[0],
        marked,
    )


def _blanked(random: Random, marked: str) -> tuple[str, list[list[str]]]:
    """The line with some marked words blank, and for each blank the words it may hold."""
    marks = list(MARK.finditer(marked))
    random.shuffle(marks)
    num_blanks = random.choices((1, 2, 3), BLANKS_WEIGHTS)[0]
    chosen: dict[str, re.Match[str]] = {}
    for mark in marks:
        if len(chosen) < num_blanks:
            chosen.setdefault(mark[1] or f"at {mark.start()}", mark)
    blanks = sorted(chosen.values(), key=lambda mark: mark.start())
    starts = {mark.start() for mark in blanks}
    line = MARK.sub(lambda m: BLANK if m.start() in starts else m[2].split("|")[0], marked)
    return line, [mark[2].split("|") for mark in blanks]


def _slots(random: Random) -> dict[str, str]:
    (first, second), (thing, other) = random.sample(PEOPLE, 2), random.sample(OBJECTS, 2)
    (color, hue), (town, far_town) = random.sample(COLORS, 2), random.sample(CITIES, 2)
    species, other_species = random.sample(list(SPECIES), 2)
    he, him, his = ("she", "her", "her") if first in WOMEN else ("he", "him", "his")
    return {
        "A": first, "B": second, "he": he, "him": him, "his": his, "He": he.title(),
        "S": species, "T": other_species, "N": random.choice(ANIMAL_NAMES),
        "k": thing, "l": other, "ks": _plural(thing), "ls": _plural(other),
        "color": color, "hue": hue, "town": town, "other": far_town,
        "place": random.choice(list(PLACES)), **_numbers(random),
    }  # fmt: skip


def _numbers(random: Random) -> dict[str, str]:
    limit = random.choice((9, 20, 49))
    a, b, m, n = (random.randint(2, top) for top in (limit, limit, 9, 9))
    values = {"a": a, "b": b, "c": a + b, "m": m, "n": n, "p": m * n}
    values |= {"next_a": a + 1, "before_a": a - 1, "double": 2 * n}
    return {name: str(value) for name, value in values.items()}


def _code_slots(random: Random) -> dict[str, str]:
    x, y = random.sample(code.VARIABLES.split(), 2)
    word = random.choice(code.WORDS.split())
    return {
        "x": x, "y": y, "w": word, "W": word.upper(), "w0": word[0],
        "f": random.choice(code.FUNCTIONS.split()),
        "xs": random.choice(code.LISTS.split()),
        "Cls": random.choice(code.CLASSES.split()), **_numbers(random),
    }  # fmt: skip


def _row(random: Random) -> list[str]:
    """Five or six things in a known order: days, months, numbers by a step, letters."""
    count, start = random.randint(5, 6), random.randint(1, 30)
    kind = random.choice(("days", "months", "words", "letters", "numbers", "numbers", "down"))
    orders = {"days": DAYS, "months": MONTHS, "words": COUNT.split(), "letters": LETTERS}
    if kind in orders:
        order = orders[kind]
        first = random.randrange(len(order) if kind in ("days", "months") else len(order) - count)
        return [order[(first + place) % len(order)] for place in range(count)]
    step = random.choice((1, 2, 3, 5, 10))
    numbers = [str(start + step * place) for place in range(count)]
    return numbers if kind == "numbers" else numbers[::-1]


def _plural(thing: str) -> str:
    return thing + ("es" if thing.endswith(("s", "x", "ch", "sh")) else "s")


TASK = Task(NAME, generate, check)
"""Fill in the blanks of a line."""
