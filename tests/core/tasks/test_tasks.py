"""Laws of every task: seeded, right, split by composition and phrasing, in everyday words."""

import re
from itertools import islice

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.tasks import TASKS, code, examples, held_out, infill, json, math, story, sudoku, task
from sbd_core.tasks.base import Example, split_of
from sbd_core.tasks.words import (
    CITIES,
    COUNTRIES,
    DAYS,
    MONTHS,
    NAMES,
    PET_NAMES,
)

NUM_TRAIN, NUM_TEST = 1200, 200
ASKED = {
    "math": math.FRAMES, "json": json.ASKS, "code": code.LEADS, "sudoku": sudoku.ASKS,
    "story": story.ASKS, "infill": infill.BEFORE,
}  # fmt: skip


def drawn(seed: int, split: str, name: str, count: int) -> list[Example]:
    return list(islice(examples(seed, split, [name]), count))


@pytest.fixture(scope="module")
def train() -> dict[str, list[Example]]:
    return {name: drawn(1, "train", name, NUM_TRAIN) for name in TASKS}


@pytest.fixture(scope="module")
def test() -> dict[str, list[Example]]:
    return {name: drawn(2, "test", name, NUM_TEST) for name in TASKS}


def test_same_seed_gives_the_same_stream_and_another_seed_another() -> None:
    first, again, other = (list(islice(examples(s, "train", list(TASKS)), 60)) for s in (5, 5, 6))
    assert first == again
    assert first != other
    assert {example.task for example in first} == set(TASKS)


def test_the_splits_are_the_same_in_every_version() -> None:
    """Pinned: a change here means that a checkpoint was trained on what is now test."""
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


@pytest.mark.parametrize("name", TASKS)
def test_no_test_prompt_occurs_in_train(name, train, test) -> None:
    assert not {e.prompt for e in train[name]} & {e.prompt for e in test[name]}


@pytest.mark.parametrize("name", ["math", "sudoku"])
def test_no_answer_of_the_test_is_one_of_training(name, train, test) -> None:
    assert not {e.answer for e in train[name]} & {e.answer for e in test[name]}


@pytest.mark.parametrize("name", TASKS)
def test_the_answer_passes_and_a_changed_one_fails(name, train, test) -> None:
    for example in train[name][:40] + test[name][:40]:
        assert task(name).check(example, example.answer), example
        assert not task(name).check(example, example.answer[:-2])
        assert not task(name).check(example, "")


@pytest.mark.parametrize("name", TASKS)
def test_examples_are_short_plain_ascii_without_open_slots(name, train, test) -> None:
    for example in train[name] + test[name]:
        assert (example.prompt + example.answer).isascii()
        assert name == "json" or not re.search(r"\{[a-zA-Z]\w*\}", example.prompt), example
        assert len(example.prompt.split()) <= 80
        assert len(example.answer.split()) <= 80


@pytest.mark.parametrize("name", TASKS)
def test_training_never_asks_in_a_phrasing_that_is_held_out(name, train, test) -> None:
    assert {example.wording for example in train[name]} == {"seen"}
    unseen = sum(example.wording == "unseen" for example in test[name])
    assert 0.35 * NUM_TEST < unseen < 0.65 * NUM_TEST
    asked = ASKED[name]
    assert len(asked.held_out) >= 3
    assert not set(asked.seen) & set(asked.held_out)
    starts = [re.split(r"[{:]", phrase)[0] for phrase in asked.held_out]
    own = [s for s in starts if len(s) > 5 and not any(seen.startswith(s) for seen in asked.seen)]
    assert own
    assert not any(e.prompt.startswith(tuple(own)) for e in train[name])
    assert any(e.prompt.startswith(tuple(own)) for e in test[name])


@pytest.mark.parametrize("name", ["math", "infill", "story"])
def test_a_word_with_a_capital_inside_a_sentence_is_a_name_that_everyone_knows(name, train) -> None:
    known = {*NAMES, *CITIES, *PET_NAMES, *COUNTRIES, *DAYS, *MONTHS}
    prompts = [example.prompt for example in train[name] if "\n" not in example.prompt]
    assert len(prompts) > 500
    for prompt in prompts:
        assert set(re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", prompt)) <= known, prompt


def test_held_out_examples_have_different_prompts() -> None:
    assert len({example.prompt for example in held_out("sudoku", 150)}) == 150
