"""Says what a function does in other words that mean the same. Knows no function.

A description is parted into words that stay and words with synonyms; each of the latter keeps
its word or draws another. Descriptions that are kept for the test split are never drawn.
"""

import re
from collections.abc import Iterable
from functools import cache
from random import Random

from sbd_core.tasks.base import is_reserved
from sbd_core.tasks.code.rewording.synonyms import NOT_BEFORE, SYNONYMS, WORDS_OF

KEEP_RATE = 0.4
MAX_TRIES = 4
MIN_FRAGMENT = 12
SLOT = re.compile(r"\{\w+\}")
LITERAL_SLOT = re.compile(
    r"\{\w\}|\b(?:an?|the|some|my|one|any|given) (?:given )?"
    r"(?:list|array|text|string|number|integer|dictionary|dict)(?: of (?:numbers|words))?\b"
)
ARTICLE = re.compile(r"\b([Aa])n? (?=[a-z])")
AN_BEFORE = re.compile(r"[aei]|o(?!n[ce])|u(?!ni|pp?er c)")

Part = tuple[str, ...]
"""A word that stays, or the word as it is and then its synonyms."""


def _groups() -> dict[str, Part]:
    groups = [tuple(line.split("|")) for line in SYNONYMS]
    for nouns, places in WORDS_OF:
        groups.append(tuple(f"{n} {p}" for n in nouns.split("|") for p in places.split("|")))
    found: dict[str, Part] = {}
    for group in groups:
        for word in group:
            assert word not in found, f"{word!r} is in two lines"
            found[word] = group
    return found


GROUPS = _groups()


def _pattern(word: str) -> str:
    barred = f"(?!{NOT_BEFORE[word]})" if word in NOT_BEFORE else ""
    if word.startswith("^"):
        return rf"^{re.escape(word[1:])}{barred}"
    return rf"(?<![\w\"{{]){re.escape(word)}(?![\w\"}}]){barred}"


WORD = re.compile("|".join(_pattern(word) for word in sorted(GROUPS, key=len, reverse=True)))


@cache
def parts_of(text: str) -> tuple[Part, ...]:
    """`text` as words that stay and words with synonyms, in order."""
    parts: list[Part] = []
    end = 0
    for found in WORD.finditer(text):
        parts.append((text[end : found.start()],))
        word = found[0]
        group = GROUPS.get(f"^{word}" if found.start() == 0 else word) or GROUPS[word]
        parts.append((word, *(other.lstrip("^") for other in group if other.lstrip("^") != word)))
        end = found.end()
    parts.append((text[end:],))
    return tuple(part for part in parts if part != ("",))


def num_wordings(text: str) -> int:
    """In how many ways `text` can be said."""
    count = 1
    for part in parts_of(text):
        count *= len(part)
    return count


class Rewording:
    """Other words for descriptions, but for those that are kept for test."""

    def __init__(self, seen: Iterable[str], reserved: Iterable[str]) -> None:
        held_out = tuple(reserved)
        every_seen = "\n".join(seen).lower()
        self._held_out = frozenset(shape(text) for text in held_out)
        self._fragments = tuple(
            {
                part.strip().lower()
                for text in held_out
                for part in SLOT.split(text)
                if len(part.strip()) >= MIN_FRAGMENT and part.strip().lower() not in every_seen
            }
        )

    def is_held_out(self, text: str) -> bool:
        """Whether a description is one of the test split, or would be one with its slots filled."""
        lowered = text.lower()
        return (
            is_reserved(text)
            or shape(lowered) in self._held_out
            or any(fragment in lowered for fragment in self._fragments)
        )

    def reword(self, random: Random, text: str) -> str:
        """`text` in words drawn; as it is where what was drawn is kept for test."""
        parts = parts_of(text)
        if len(parts) < 2 and len(parts[0]) < 2:
            return text
        for _ in range(MAX_TRIES):
            drawn = "".join(_draw(random, part) for part in parts)
            drawn = ARTICLE.sub(lambda found: _article(found, drawn), drawn)  # noqa: B023
            if not self.is_held_out(drawn):
                return drawn
        return text


def _draw(random: Random, part: Part) -> str:
    if len(part) == 1 or random.random() < KEEP_RATE:
        return part[0]
    return part[int(random.random() * (len(part) - 1)) + 1]


def _article(found: re.Match[str], text: str) -> str:
    return f"{found[1]}n " if AN_BEFORE.match(text, found.end()) else f"{found[1]} "


def shape(text: str) -> str:
    """A description without what its slots are filled with."""
    return LITERAL_SLOT.sub("_", text.lower())
