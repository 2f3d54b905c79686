"""Endless seeded streams of made-up tasks. Knows neither model nor tokenizer.

To add a family: write a module with a `Family`, and add one line to `FAMILIES`.
"""

from collections.abc import Iterator, Sequence
from random import Random

from sbd_core.errors import ArgumentError
from sbd_core.tasks import code, drills, infill, json, math, story, sudoku
from sbd_core.tasks.base import SPLITS, Example, Family, Split

FAMILIES: dict[str, Family] = {
    "math": math.FAMILY,
    "json": json.FAMILY,
    "code": code.FAMILY,
    "sudoku": sudoku.FAMILY,
    "story": story.FAMILY,
    "infill": infill.FAMILY,
    "drill": drills.FAMILY,
}
SUITES: tuple[str, ...] = tuple(name for name, item in FAMILIES.items() if item.is_suite)


def family(name: str) -> Family:
    """The family called `name`; ArgumentError if there is none."""
    if not isinstance(name, str) or name not in FAMILIES:
        raise ArgumentError("family", f"must be one of {', '.join(FAMILIES)}", name)
    return FAMILIES[name]


def examples(seed: int, split: Split, families: Sequence[str]) -> Iterator[Example]:
    """Examples without end, each from a family drawn uniformly; same arguments, same stream.

    ArgumentError, raised by the call itself, for an unknown split, an unknown family or none.
    """
    if split not in SPLITS:
        raise ArgumentError("split", f"must be one of {', '.join(SPLITS)}", split)
    if isinstance(families, str) or not families:
        raise ArgumentError("families", "must be a list of at least one family name", families)
    return _stream(Random(f"{seed}/{split}"), split, [family(name) for name in families])


def _stream(random: Random, split: Split, chosen: Sequence[Family]) -> Iterator[Example]:
    while True:
        yield random.choice(chosen).generate(random, split)
