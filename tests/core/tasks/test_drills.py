"""Laws of the drills: right, of named kinds, weighted, never what a problem asks."""

import re
from collections import Counter
from itertools import islice
from random import Random

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.tasks import SUITES, TASKS, drills, examples
from sbd_core.tasks.base import Example, is_reserved
from sbd_core.tasks.drills import KIND_WEIGHTS, PROMPTS

SUM_KINDS = ("add", "subtract", "table", "times", "divide", "part", "join", "mixed")


def drawn(split: str, count: int) -> list[Example]:
    return list(islice(examples(3, split, ["drill"]), count))


def test_every_sum_drilled_is_right_step_by_step() -> None:
    for example in drawn("train", 2000):
        if example.kind in SUM_KINDS:
            for line in example.answer.split("\n"):
                assert len({eval(part) for part in line.split(" = ")}) == 1, line


def test_lists_are_sorted_reversed_counted_and_copied_right() -> None:
    seen = Counter()
    for example in drawn("train", 3000):
        given = example.prompt
        items = example.answer.split(", ")
        seen[example.kind] += 1
        if example.kind in ("ascending", "descending"):
            numbers = list(map(int, items))
            assert numbers == sorted(numbers, reverse=example.kind == "descending")
        elif example.kind == "alphabet":
            assert items == sorted(items)
        elif example.kind == "reverse":
            assert ", ".join(reversed(items)) in given
        elif example.kind == "copy":
            assert example.answer in given
        elif example.kind == "count":
            for line in example.answer.split("\n"):
                word, number = line.split(": ")
                assert sum(
                    part.strip(".?") == word for part in given.replace(",", " ").split()
                ) == int(number)
        elif example.kind == "compare":
            numbers = [
                int(part)
                for part in given.replace(",", " ").replace("?", " ").replace(".", " ").split()
                if part.isdigit()
            ]
            assert max(numbers) == int(example.answer)
    assert set(seen) == set(KIND_WEIGHTS)


def test_what_is_looked_up_stands_in_the_list_as_told() -> None:
    random, num_alike = Random(1), 0
    for _ in range(1000):
        example = drills.generate_kind(random, "train", "lookup")
        entries = dict(line.split(": ") for line in example.answer.split("\n"))
        for name, value in entries.items():
            told = re.findall(rf"(?<![a-z] ){name}(?:: | = | is | -> |=)(\w+)", example.prompt)
            assert told == [value], example
        num_alike += any(f" {name}" in other for name in entries for other in entries)
    assert num_alike > 50


def test_a_drill_never_asks_one_sum_alone() -> None:
    for example in drawn("train", 3000):
        if example.kind in SUM_KINDS:
            assert "\n" in example.answer


def test_the_tables_are_drilled_whole() -> None:
    random = Random(0)
    lines = {
        line.split(" = ")[0]
        for _ in range(6000)
        for line in drills.generate_kind(random, "train", "table").answer.split("\n")
    }
    wanted = {f"{left} * {right}" for left in range(2, 21) for right in range(2, 21)}
    assert len(wanted - lines) < 5


def test_weights_decide_which_kinds_are_drawn() -> None:
    task = drills.weighted({"add": 3, "copy": 1})
    kinds = Counter(task.generate(Random(seed), "train").kind for seed in range(800))
    assert set(kinds) == {"add", "copy"}
    assert 2 < kinds["add"] / kinds["copy"] < 4.5


@pytest.mark.parametrize("weights", [{}, {"add": 0}, {"chess": 1}, {"add": 2, "copy": -1}])
def test_weights_that_are_none_are_refused(weights) -> None:
    with pytest.raises(ArgumentError) as caught:
        drills.weighted(weights)
    assert caught.value.argument == "weights"


def test_no_prompt_reserved_for_test_is_trained_on() -> None:
    starts = {
        wording: prompt.split("{}")
        for pool in PROMPTS.values()
        for wording in ("seen", "unseen")
        for prompt in pool.of(wording)
    }
    assert starts
    for example in drawn("train", 3000):
        assert example.wording == "seen"
        prompts = PROMPTS.get(example.kind, PROMPTS["sums"])
        fits = [p for p in prompts.seen if _fits(p, example.prompt)]
        assert fits, example
    assert {example.wording for example in drawn("test", 200)} == {"seen", "unseen"}
    assert all(is_reserved(prompt) for pool in PROMPTS.values() for prompt in pool.reserved)
    assert sum(pool.has_reserved for pool in PROMPTS.values()) >= 6


def _fits(prompt: str, text: str) -> bool:
    start, end = prompt.split("{}")
    return text.startswith(start) and text.endswith(end)


def test_drills_are_no_suite() -> None:
    assert "drill" not in SUITES
    assert set(SUITES) < set(TASKS)


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("Sort", "1, 2, 10"),
        ("Count", "apples: 2\npears: 1"),
        ("Work out", "7 + 8 = 15\n9 - 2 = 7"),
    ],
)
def test_a_drill_is_right_only_line_by_line(prompt: str, answer: str) -> None:
    check = TASKS["drill"].check
    example = Example("drill", prompt, answer, answer)
    assert check(example, f" {answer} \n")
    assert not check(example, answer.replace("\n", " ") + ".")
    assert not check(example, answer[::-1])
    assert not check(example, "")
