"""Requests that lose a word or are given one that nobody knows, for training."""

from collections import Counter
from itertools import islice
from random import Random

import pytest

from sbd_core.tasks import examples
from sbd_core.tasks.base import Example
from sbd_core.training.data.blur import (
    BLUR_RATE,
    MAX_WORDS,
    blurred,
    spare_words,
    telling_words,
    words_of,
)
from sbd_core.training.data.sources import mixed

TASKS = ("code", "json", "story", "infill")


def pairs_of(name: str, count: int = 2000) -> list[tuple[Example, Example]]:
    random = Random(5)
    return [(one, blurred(random, one)) for one in islice(examples(9, "train", [name]), count)]


@pytest.mark.parametrize("name", TASKS)
def test_a_share_of_requests_lose_some_spare_words_and_nothing_else(name) -> None:
    changed = 0
    for before, after in pairs_of(name):
        assert (before.answer, before.case, before.wording) == (
            after.answer, after.case, after.wording,
        )  # fmt: skip
        lost = Counter(words_of(before.prompt)) - Counter(words_of(after.prompt))
        changed += bool(lost)
        assert lost.total() <= MAX_WORDS + (before.kind == "classic")
        telling = {word for word in lost if word not in spare_words()[name]}
        assert len(telling) <= (before.kind == "classic")
        assert telling <= telling_words()
        assert not set(lost) & set(words_of(before.answer))
        assert after.prompt.count("\n") == before.prompt.count("\n")
    assert 0.8 * BLUR_RATE < changed / 2000 <= 1.1 * BLUR_RATE


@pytest.mark.parametrize("name", ["math", "sudoku"])
def test_other_tasks_keep_their_words(name) -> None:
    assert all(before is after for before, after in pairs_of(name, 300))


def test_what_says_which_function_is_asked_for_is_never_spare() -> None:
    words = "sum largest even list string reverse count vowels without each loop recursion sorted"
    assert not spare_words()["code"] & set(words.split())


def test_training_draws_them() -> None:
    drawn = [item.prompt for _, item in islice(mixed(3, {"story": 1.0}, []), 400)]
    plain = {one.prompt for one in islice(examples(3, "train", ["story"]), 400)}
    assert sum(prompt not in plain for prompt in drawn) > 120
