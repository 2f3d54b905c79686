"""Laws of the made-up corpus: seeded, checkable, split by composition, safe to score."""

from itertools import islice
from random import Random

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.tasks import TASKS, examples, task
from sbd_core.tasks.base import Example, split_of
from sbd_core.tasks.words import MEN, NAMES, THINGS, WOMEN

NUM_TRAIN, NUM_TEST = 6000, 600
BASE = ("math", "json", "code", "drill")


def drawn(seed: int, split: str, name: str, count: int) -> list[Example]:
    return list(islice(examples(seed, split, [name]), count))


@pytest.fixture(scope="module")
def train() -> dict[str, list[Example]]:
    return {name: drawn(1, "train", name, NUM_TRAIN) for name in BASE}


@pytest.fixture(scope="module")
def test() -> dict[str, list[Example]]:
    return {name: drawn(2, "test", name, NUM_TEST) for name in BASE}


def test_same_seed_gives_the_same_stream_and_another_seed_another() -> None:
    first, again, other = (list(islice(examples(s, "train", BASE), 60)) for s in (5, 5, 6))
    assert first == again
    assert first != other
    assert {example.task for example in first} == set(BASE)


def test_the_stream_is_the_same_in_every_version() -> None:
    """Pinned: a change here means that a resumed run would see other data."""
    assert split_of("2 + 2 = 4") == "train"
    assert split_of("48 - 6 = 42") == "test"


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("task", lambda: task("chess")),
        ("task", lambda: examples(0, "train", ["chess"])),
        ("tasks", lambda: examples(0, "train", [])),
        ("tasks", lambda: examples(0, "train", "math")),
        ("split", lambda: examples(0, "dev", ["math"])),
    ],
)
def test_a_bad_argument_is_named_at_the_call(argument, call) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert caught.value.argument == argument


@pytest.mark.parametrize("name", BASE)
def test_no_test_prompt_occurs_in_train_and_a_prompt_has_one_answer(name, train, test) -> None:
    answers: dict[str, str] = {}
    for example in train[name] + test[name]:
        assert answers.setdefault(example.prompt, example.answer) == example.answer
    assert not {e.prompt for e in train[name]} & {e.prompt for e in test[name]}


@pytest.mark.parametrize("name", BASE)
def test_examples_are_short_plain_ascii(name, train, test) -> None:
    for example in train[name] + test[name]:
        assert (example.prompt + example.answer).isascii()
        # A request for JSON may show the object that is to be filled, and a blank may be "[blank]".
        assert name in ("json", "drill") or not set("{}[]") & set(example.prompt)
        assert len(example.prompt.split()) <= 80
        assert len(example.answer.split()) <= 60


def test_word_lists_are_wide_and_unambiguous() -> None:
    assert not set(WOMEN) & set(MEN)
    assert len(set(NAMES)) == len(NAMES) >= 300
    assert len(set(THINGS)) == len(THINGS) >= 100


@pytest.mark.parametrize("name", ["math", "json", "drill"])
def test_the_reference_passes_and_a_changed_one_fails(name, train, test) -> None:
    check = TASKS[name].check
    for example in train[name][:300] + test[name][:300]:
        assert check(example, example.answer)
        assert not check(example, example.answer[:-2])
        assert not check(example, "")


def test_generating_depends_on_the_given_generator_only() -> None:
    for name in BASE:
        first = TASKS[name].generate(Random(3), "test")
        assert first == TASKS[name].generate(Random(3), "test")


@pytest.mark.parametrize("name", [name for name, item in TASKS.items() if item.kinds])
def test_an_example_of_every_kind_can_be_asked_for(name) -> None:
    one = TASKS[name]
    for kind in one.kinds:
        example = one.generate_kind(Random(4), "train", kind)
        assert (example.task, example.kind) == (name, kind)
        assert one.check(example, example.answer)
