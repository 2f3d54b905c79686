"""The words of stories and of requests for one, so that a word put together of pieces stands out.

Names are no part of it: a word that begins with a capital is looked up in small letters.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from sbd_core.tasks.base import Pool
from sbd_core.tasks.story import plots, prompts, words
from sbd_core.tasks.story.hints import HINTS

# A word that begins with no capital; what an apostrophe begins is the end of another.
SMALL_WORD = re.compile(r"(?<![\w'])(?![A-Z])\w+")
SLOT = re.compile(r"\{\w+\}")
OF_SLOTS = ("girl", "boy", "he", "him", "his", "she", "her", "an")
"""What slots of a wording stand for, beside words of lists; and the other form of "a"."""


def unheard_of(text: str, told: Iterable[str]) -> Iterator[re.Match[str]]:
    """The words in small letters that are of no story and not in `told`, as they occur."""
    words_told = {word for phrase in told for word in re.findall(r"\w+", phrase)}
    known = vocabulary().union(words_told, (word.lower() for word in words_told))
    return (found for found in SMALL_WORD.finditer(text) if not is_of(known, found[0]))


def is_of(known: frozenset[str], word: str) -> bool:
    """Whether `word` is known, be it as a plural."""
    return not known.isdisjoint((word, word.removesuffix("s"), word.removesuffix("es")))


@cache
def vocabulary() -> frozenset[str]:
    """Every word in small letters that a story or a request for one may have."""
    texts = " ".join(_texts())
    return frozenset(SMALL_WORD.findall(SLOT.sub(" ", texts))).union(OF_SLOTS)


def _texts() -> Iterator[str]:
    yield from (*plots.WORDINGS, *plots.GLAD, *plots.SAD, words.ANY_CRY)
    for listed in words.LISTS.values():
        yield from (word for word in listed if word.islower())
    for places in (words.PLACES, words.ODD_PLACES, words.SPECIES):
        yield from places.values()
    for pool in _pools():
        yield from (*pool.seen, *pool.reserved)


def _pools() -> Iterator[Pool[str]]:
    for module in (words, prompts):
        yield from (pool for pool in vars(module).values() if isinstance(pool, Pool))
    yield from (*prompts.PETS.values(), *HINTS.values())
