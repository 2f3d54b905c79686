"""Prompts for the laws: seeded ids for random-weight models, corpus text for the bundled one."""

import random
from itertools import islice

from sbd_core.tasks import TASKS, examples


def random_ids(count: int, vocabulary_size: int, longest: int = 12) -> list[list[int]]:
    """`count` prompts of 1 to `longest` ids each, special tokens left out, always the same."""
    draw = random.Random(1)
    return [
        [draw.randrange(5, vocabulary_size) for _ in range(draw.randint(1, longest))]
        for _ in range(count)
    ]


def corpus_texts(count: int) -> list[str]:
    """`count` prompts of the test split, every task among them, the shortest first."""
    drawn = islice(examples(3, "test", list(TASKS)), 3 * count)
    return sorted({example.prompt for example in drawn}, key=len)[:count]
