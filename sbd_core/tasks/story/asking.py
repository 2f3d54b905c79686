"""Draws the words of a request for a story. Knows no story.

A wording that leaves open what kind of story is asked for gets one of many; no two parts are
put together into a wording that is kept for the test split.
"""

import re
from functools import cache
from random import Random

from sbd_core.tasks.base import Pool, Wording
from sbd_core.tasks.story import prompts

MIN_FRAGMENT = 9
SLOT = re.compile(r"\{\w+\}")


def draw(random: Random, wording: Wording, pool: Pool[str]) -> str:
    """One wording of `pool`, with its kind of story."""
    text = pool.draw(random, wording)
    if "{kind}" not in text and "{Kind}" not in text:
        return text
    while True:
        kind = prompts.KINDS.draw(random, wording)
        filled = text.replace("{kind}", kind).replace("{Kind}", kind[0].upper() + kind[1:])
        if wording == "unseen" or not is_held_out(filled):
            return filled


def is_held_out(text: str) -> bool:
    """Whether a wording has words in it that only the test split has."""
    return any(fragment in text for fragment in fragments())


@cache
def fragments() -> tuple[str, ...]:
    """The longer pieces of reserved wordings that no seen wording has."""
    pools = [pool for pool in vars(prompts).values() if isinstance(pool, Pool)]
    pools += prompts.PETS.values()
    seen = " | ".join(text for pool in pools for text in pool.seen)
    pieces = {
        piece.strip() for pool in pools for text in pool.reserved for piece in SLOT.split(text)
    }
    return tuple(sorted(p for p in pieces if len(p) >= MIN_FRAGMENT and p not in seen))
