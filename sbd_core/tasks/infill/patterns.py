r"""What a pattern of lines is: words that may become blanks, and slots. Knows no task.

«red» may become a blank; «red|crimson» accepts either, the first is the answer. Of the words
marked with one group number, as in «1=Mia» and «1=Mia», at most one is blanked, as the others
tell it. Patterns are written one a line, with \n for a new line inside; those without an empty
line between are ways to say much the same, some of which are reserved for test.
"""

import re
from random import Random

from sbd_core.tasks.base import Pool

BLANK = "___"
ORDINARY = "the ordinary way"
MARK = re.compile(r"«(?:(\d)=)?([^«»]*)»")
ARTICLE = re.compile(r"\b([Aa]) (?=«?(?:\d=)?[aeiouAEIO])")
BLANKS_WEIGHTS = (5, 3, 2)

Groups = tuple[Pool[str], ...]


def split_words(text: str) -> tuple[str, ...]:
    """The words of a list written with spaces."""
    return tuple(text.split())


def groups(text: str) -> Groups:
    """The patterns of a table, those said in much the same way together.

    The first of those is the ordinary way to say it, which training must know: never reserved.
    Nor do two that differ in what is blanked alone belong to different splits.
    """
    parts = (part.replace(r"\n", "\0").split("\n") for part in text.strip().split("\n\n"))
    return tuple(_pool([line.replace("\0", "\n") for line in lines]) for lines in parts)


def _pool(lines: list[str]) -> Pool[str]:
    ordinary = filled(lines[0])
    return Pool(lines, lambda line: ORDINARY if filled(line) == ordinary else filled(line))


def with_articles(marked: str) -> str:
    """The line with "an" where "a" comes before a vowel."""
    return ARTICLE.sub(r"\1n ", marked)


def filled(marked: str) -> str:
    """The line with every mark's first word."""
    return MARK.sub(lambda mark: mark[2].split("|")[0], marked)


def blanked(random: Random, marked: str, most: int = 3) -> tuple[str, list[list[str]]]:
    """The line with `most` marked words blank or fewer, and for each the words it may hold."""
    marks = list(MARK.finditer(marked))
    random.shuffle(marks)
    num_blanks = min(most, random.choices((1, 2, 3), BLANKS_WEIGHTS)[0])
    chosen: dict[str, re.Match[str]] = {}
    for mark in marks:
        if len(chosen) < num_blanks:
            chosen.setdefault(mark[1] or f"at {mark.start()}", mark)
    blanks = sorted(chosen.values(), key=lambda mark: mark.start())
    starts = {mark.start() for mark in blanks}
    line = MARK.sub(lambda m: BLANK if m.start() in starts else m[2].split("|")[0], marked)
    return line, [mark[2].split("|") for mark in blanks]
