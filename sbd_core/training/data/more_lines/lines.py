"""Lines with blanks beyond those of the task, for training: more relations, more ways to say one.

Told in few ways, a relation is learnt with its wording. None of these lines is one that the task
keeps for its test split, whatever is blank in it.
"""

from collections.abc import Iterator
from functools import cache
from random import Random

from sbd_core.tasks.base import Example
from sbd_core.tasks.infill import task as infill
from sbd_core.tasks.infill.knowledge import TOPICS
from sbd_core.tasks.infill.slots import slots
from sbd_core.training.data.more_lines import sentences, signs

Pattern = tuple[str, str, str]
"""A line, and the pair that it tells, which is empty but for knowledge."""
MORE_RATE = 0.4
"""How many of the lines of a kind that has more are from here."""


def generate(random: Random, kind: str) -> Example:
    """A training example of one kind of `infill`, at times of a line from here."""
    patterns = lines().get(kind)
    if patterns is None or random.random() >= MORE_RATE:
        return infill.generate_kind(random, "train", kind)
    while True:
        marked = _line(random, kind, *random.choice(patterns))
        if infill.is_fit(marked, "train"):
            return infill.asked(random, "seen", kind, marked)


def _line(random: Random, kind: str, pattern: str, left: str, right: str) -> str:
    if kind == "knowledge":
        return infill.known_line(random, pattern, slots(random, "seen"), left, right)
    return infill.line_of(random, "seen", kind, pattern)


@cache
def lines() -> dict[str, tuple[Pattern, ...]]:
    """By kind, every line with every pair that it tells."""
    texts = {
        "told": sentences.TOLD,
        "grammar": sentences.GRAMMAR,
        "numbers": signs.NUMBERS,
        "records": signs.RECORDS,
        "code": signs.CODE,
    }
    plain = {
        kind: tuple((pattern, "", "") for pattern in read(text)) for kind, text in texts.items()
    }
    return {**plain, "knowledge": tuple(_known())}


def _known() -> Iterator[Pattern]:
    for (_, pairs), text in zip(TOPICS, sentences.KNOWLEDGE, strict=True):
        # Any word that the pair accepts may stand in a blank.
        patterns = read(text.replace("«{w}»", "«{all_w}»").replace("«{v}»", "«{all_v}»"))
        yield from ((pattern, left, right) for pattern in patterns for left, right in pairs)


def read(text: str) -> list[str]:
    """The patterns of a table, one a line."""
    return [line.replace(r"\n", "\n") for line in text.strip().split("\n")]
