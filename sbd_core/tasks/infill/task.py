"""A line with blanks, answered by the whole line filled. Knows the lines as patterns.

What a blank holds follows from the rest of the line, or is known from a closed list that is all
trained on. What is not blank stays as it is in the answer, so most of a block can be known
beforehand. The composition that decides the split is the filled line: no test line occurs in
training, with whatever blanks.
"""

import json
import re
from collections.abc import Mapping
from random import Random

from sbd_core.tasks.base import Example, Split, Task, Wording, draw_wording, split_of
from sbd_core.tasks.infill.asking import ask
from sbd_core.tasks.infill.code import CODE
from sbd_core.tasks.infill.grammar import GRAMMAR
from sbd_core.tasks.infill.knowledge import FACTS
from sbd_core.tasks.infill.numbers import NUMBERS, row
from sbd_core.tasks.infill.patterns import BLANK, blanked, filled, with_articles
from sbd_core.tasks.infill.records import RECORDS
from sbd_core.tasks.infill.slots import code_slots, slots
from sbd_core.tasks.infill.told import TOLD

NAME = "infill"
KIND_WEIGHTS = {
    "told": 27,
    "grammar": 11,
    "knowledge": 16,
    "numbers": 14,
    "rows": 8,
    "code": 17,
    "records": 7,
}
TABLES = {
    "told": TOLD,
    "grammar": GRAMMAR,
    "numbers": NUMBERS,
    "records": RECORDS,
    "code": CODE,
}
POOLS = {kind: tuple(pool for pool in table for _ in pool.seen) for kind, table in TABLES.items()}
"""Each as often as it has patterns."""
MOST_BLANKS_OF_A_ROW, MAX_SIZE, SPEAKER_RATE = 2, 520, 0.35
SPEAKERS = ("{A} says: ", "{A} knows: ", "{A} told {B}: ", "{A} learned this: ", "{B} to {A}: ")


def generate(random: Random, split: Split) -> Example:
    """A line with one to three blanks, whose filled line belongs to `split`."""
    return _generate(random, split, KIND_WEIGHTS)


def _generate(random: Random, split: Split, weights: Mapping[str, float]) -> Example:
    """The same, of a kind drawn by these weights."""
    wording = draw_wording(random, split)
    while True:
        kind = random.choices(tuple(weights), tuple(weights.values()))[0]
        marked = _line(random, wording, kind)
        if is_fit(marked, split):
            return asked(random, wording, kind, marked)


def is_fit(marked: str, split: Split) -> bool:
    """Whether a line, its words marked, belongs to `split` and is not too long."""
    answer = filled(marked)
    return split_of(answer) == split and 3 * len(answer) <= MAX_SIZE


def asked(random: Random, wording: Wording, kind: str, marked: str) -> Example:
    """The request to fill one to three blanks of a line."""
    most = MOST_BLANKS_OF_A_ROW if kind == "rows" else 3
    line, fills = blanked(random, marked, most)
    prompt = ask(random, wording, kind, line, len(fills))
    case = json.dumps({"line": line, "fills": fills})
    return Example(NAME, prompt, filled(marked), case, wording, kind)


def check(example: Example, text: str) -> bool:
    """True when `text` is the line of the case, each blank one of its fills, the rest the same."""
    case = json.loads(example.case)
    fixed = [re.escape(part) for part in case["line"].split(BLANK)]
    fills = ["(?:" + "|".join(map(re.escape, allowed)) + ")" for allowed in case["fills"]]
    pattern = fixed[0] + "".join(f + part for f, part in zip(fills, fixed[1:], strict=True))
    return re.fullmatch(pattern, text) is not None


def _line(random: Random, wording: Wording, kind: str) -> str:
    if kind == "rows":
        return row(random, wording)
    if kind == "knowledge":
        tables, left, right = random.choice(FACTS)
        values = slots(random, wording)
        pattern = random.choice(tables).draw(random, wording)
        return known_line(random, pattern, values, left, right)
    pattern = random.choice(POOLS[kind]).draw(random, wording)
    return line_of(random, wording, kind, pattern)


def line_of(random: Random, wording: Wording, kind: str, pattern: str) -> str:
    """A line of a pattern, its words marked; of every kind but knowledge and rows."""
    if kind == "code":
        return pattern.format(**code_slots(random, wording))
    line = pattern.format(**slots(random, wording))
    return line if kind == "records" else with_articles(line)


def known_line(
    random: Random, pattern: str, values: Mapping[str, str], left: str, right: str
) -> str:
    """A line that tells the pair of knowledge `left` and `right`; values: of the slots."""
    pair = {"all_w": left, "all_v": right, "w": left.split("|")[0], "v": right.split("|")[0]}
    values = {**values, **pair}
    line = with_articles(pattern.format(**values))
    line = line[0].upper() + line[1:]
    if "{A}" not in pattern and random.random() < SPEAKER_RATE:
        return random.choice(SPEAKERS).format(**values) + line
    return line


def generate_kind(random: Random, split: Split, kind: str) -> Example:
    """A line of one kind of `KIND_WEIGHTS`."""
    return _generate(random, split, {kind: 1})


TASK = Task(NAME, generate, check, kinds=KIND_WEIGHTS, generate_kind=generate_kind)
"""Fill in the blanks of a line."""
