"""Descriptions of functions in other words: many, of one meaning, and none kept for test."""

from collections import defaultdict
from random import Random

import pytest

from sbd_core.tasks.base import is_reserved
from sbd_core.tasks.code import rewording
from sbd_core.tasks.code import task as functions
from sbd_core.tasks.code.asks import Phrase
from sbd_core.tasks.code.classics import CLASSICS
from sbd_core.tasks.code.rewording.reword import GROUPS, shape

SEEN = {text for item in CLASSICS for _, text in functions.classic_wordings(item, "seen")}
RESERVED = {text for item in CLASSICS for text in item.wordings} - SEEN


def reworded(seed: int, rounds: int) -> list[str]:
    random, words = Random(seed), functions.rewording()
    return [words.reword(random, text) for _ in range(rounds) for text in sorted(SEEN)]


def test_what_is_drawn_for_training_is_never_a_description_of_test() -> None:
    """No synonyms lead to one, nor to one with other slots: "divide {X}" for "divide {0}"."""
    shapes = {shape(text) for text in RESERVED}
    drawn = set(reworded(1, 20)) | SEEN
    assert len(RESERVED) > 150
    assert drawn & RESERVED == set()
    assert {text for text in drawn - SEEN if shape(text) in shapes} == set()
    assert {text for text in drawn - SEEN if is_reserved(text)} == set()


def test_most_descriptions_can_be_said_in_several_ways() -> None:
    ways = [rewording.num_wordings(text) for text in SEEN]
    assert sum(ways) > 20_000
    assert sum(count > 1 for count in ways) > 0.6 * len(ways)
    assert len(set(reworded(2, 10))) > 3 * len(SEEN)


def test_no_two_functions_are_said_in_words_that_mean_the_same() -> None:
    functions_of: dict[str, set[str]] = defaultdict(set)
    for item in CLASSICS:
        for text in item.wordings:
            plainest = "".join(min(part) for part in rewording.parts_of(text))
            functions_of[plainest].add(item.key)
    assert {text: keys for text, keys in functions_of.items() if len(keys) > 1} == {}


def test_words_with_the_same_meaning_have_the_same_slots() -> None:
    for word, group in GROUPS.items():
        assert word in group
        assert {"{0}" in other for other in group} in ({True}, {False}), group


@pytest.mark.parametrize(
    ("drawn", "text"), [("an element", "a number in {L}"), ("a value", "an item in {L}")]
)
def test_articles_fit_the_word_that_is_drawn(drawn: str, text: str) -> None:
    random, words = Random(0), functions.rewording()
    texts = {words.reword(random, f"find {text}") for _ in range(300)}
    assert any(drawn in one for one in texts)
    assert not any(f" {wrong}" in one for one in texts for wrong in ("a item", "an value", "an n"))


def test_a_noun_may_belong_to_its_list_and_a_command_may_take_it() -> None:
    random = Random(0)
    assert "{0}'s digit sum" in {
        rewording.possessive(random, "the digit sum of {0}") for _ in range(100)
    }
    taken = {rewording.taking(random, Phrase.of_command("reverse {T}"), 1).does for _ in range(100)}
    assert taken == {"reverses {T}", "takes {T} and reverses it"}
    both = Phrase.of_command("add {0} to {1}")
    taken = {rewording.taking(random, both, 2).do for _ in range(100)}
    assert taken == {"add {0} to {1}", "take {0} and {1} and add {0} to {1}"}
