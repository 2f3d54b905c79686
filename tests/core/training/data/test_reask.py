"""Requests for functions in words composed anew, for training."""

import re
from collections import Counter
from itertools import islice
from random import Random

import pytest

from sbd_core.tasks import TASKS, examples
from sbd_core.tasks.base import Example, Pool, is_reserved
from sbd_core.tasks.code import asks, task, wordings
from sbd_core.tasks.code.asks import Phrase
from sbd_core.tasks.code.classics import CLASSICS
from sbd_core.training.data.reask import asking as reask
from sbd_core.training.data.reask import words as reask_words
from sbd_core.training.data.reask.asking import REASK_RATE, is_held_out, reasked, said_anew
from sbd_core.training.data.reask.descriptions import DESCRIPTIONS
from sbd_core.training.data.sources import mixed

COUNT = 1500
POOLS = [value for value in vars(wordings).values() if isinstance(value, Pool)]
PARTS = {name: value for name, value in vars(reask_words).items() if isinstance(value, tuple)}


@pytest.fixture(scope="module")
def pairs() -> list[tuple[Example, Example]]:
    random = Random(5)
    return [(one, reasked(random, one)) for one in islice(examples(9, "train", ["code"]), COUNT)]


@pytest.fixture(scope="module")
def changed(pairs) -> list[Example]:
    return [after for before, after in pairs if after is not before]


def header_of(example: Example) -> tuple[str, list[str]]:
    """The function's name and those of its parameters."""
    found = re.match(r"def (\w+)\((.*)", example.answer)
    assert found is not None
    return found[1], asks.parameters_of(found[2])


def test_a_share_is_asked_anew_and_its_answer_is_right(pairs, changed) -> None:
    assert 0.85 * REASK_RATE < len(changed) / COUNT < 1.15 * REASK_RATE
    assert all(before.kind == after.kind for before, after in pairs)
    assert {(one.task, one.wording) for one in changed} == {("code", "seen")}
    for example in changed[:120]:
        assert TASKS["code"].check(example, example.answer), example


@pytest.mark.parametrize("name", ["math", "json", "story", "infill", "sudoku"])
def test_other_tasks_are_asked_as_they_were(name) -> None:
    random = Random(1)
    assert all(reasked(random, one) is one for one in islice(examples(3, "train", [name]), 60))


def test_a_name_of_the_answer_that_is_not_its_own_stands_in_the_prompt(changed) -> None:
    own = {item.name for item in CLASSICS} | {"solve"}
    told = 0
    for example in changed:
        function, parameters = header_of(example)
        if function not in own:
            told += 1
            assert re.search(rf"(?<!\w){function}(?!\w)", example.prompt), example
        assert function.isidentifier()
        assert len(set(parameters)) == len(parameters)
    assert told > 0.6 * len(changed)


def test_names_are_odd_and_none_is_kept_for_test(changed) -> None:
    own = {item.name for item in CLASSICS} | {"number", "text", "numbers", "words"} | {
        name for item in CLASSICS for name in asks.parameters_of(item.signature)
    }  # fmt: skip
    names = {name for one in changed for part in header_of(one) for name in
             ([part] if isinstance(part, str) else part)} - own  # fmt: skip
    assert len(names) > 0.5 * len(changed)
    assert {name for name in names if is_reserved(name)} == set()


def test_no_words_that_are_kept_for_test_are_asked_in(changed) -> None:
    assert len(reask.fragments()) > 150
    unseen = [e for e in islice(examples(4, "test", ["code"]), 300) if e.wording == "unseen"]
    assert sum(is_held_out(one.prompt) for one in unseen) > 0.7 * len(unseen)
    assert [one.prompt for one in changed if is_held_out(one.prompt)] == []


def test_no_part_is_one_of_the_test() -> None:
    reserved = {text for pool in POOLS for text in pool.reserved}
    assert reserved & {text for part in PARTS.values() for text in part} == set()
    plain = " ".join(text for name, part in PARTS.items() for text in part if name != "SYNONYMS")
    for verb in wordings.NOUN_VERBS.reserved:
        assert f"{verb} " not in plain


def test_every_description_is_one_of_training_alone_and_has_all_parameters_or_none() -> None:
    of_key = {item.key: item for item in CLASSICS}
    known = {text for item in CLASSICS for text in item.wordings}
    told = Counter(text for texts in DESCRIPTIONS.values() for text in texts.split("|"))
    assert [text for text, count in told.items() if count > 1] == []
    for key, texts in DESCRIPTIONS.items():
        count = len(of_key[key].takes.split())
        for text in (text.lstrip("!?") for text in texts.split("|")):
            slots = {int(number) for number in re.findall(r"\{(\d)\}", text)}
            assert slots in (set(), set(range(count))), text
            assert text not in known
            assert not is_held_out(text), text
            assert reask.shape(text) not in reask.reserved_shapes(), text


def test_no_other_words_make_a_description_of_the_test() -> None:
    random = Random(2)
    seen = [text for item in CLASSICS for _, text in task.classic_wordings(item, "seen")]
    drawn = {said_anew(random, Phrase.of_command(f"return {text}")).do for text in seen * 3}
    assert len(drawn) > 1.5 * len(seen)
    ends = {reask.shape(do.partition(" ")[2]) for do in drawn}
    assert ends & reask.reserved_shapes() == set()


def test_every_part_of_a_request_is_filled(changed) -> None:
    assert [one.prompt for one in changed if re.search(r"[{}]|,[.,:?!]", one.prompt)] == []


def test_training_draws_them_and_the_same_ones_again() -> None:
    def drawn() -> list[str]:
        return [item.prompt for _, item in islice(mixed(3, {"code": 1.0}, []), 60)]

    assert drawn() == drawn()
    asked = " ".join(drawn())
    assert any(sentence.replace("{fn}", "").strip(" .") in asked for sentence in reask_words.WANTS)


@pytest.mark.parametrize(
    ("do", "does"),
    [
        ("take {0} and {1} and add {0} to {1}", "takes {0} and {1} and adds {0} to {1}"),
        ("take {L} and reverse it", "takes {L} and reverses it"),
        ("take {1} off {0} with a loop", "takes {1} off {0} with a loop"),
    ],
)
def test_both_forms_of_what_is_said_anew_agree(monkeypatch, do: str, does: str) -> None:
    monkeypatch.setattr(reask, "_synonym", lambda random, found: found[0])
    monkeypatch.setattr(reask, "_with_verb", lambda random, do: do + " now")
    assert said_anew(Random(0), Phrase(do, does)) == Phrase(do + " now", does + " now")
