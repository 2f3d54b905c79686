"""Arithmetic: every line of every answer is right and worked out by places."""

import re
from itertools import islice

import pytest

from sbd_core.tasks import examples
from sbd_core.tasks.math import PROBLEMS, calculate

SUM = re.compile(r"\d+ [-+*/] \d+|\(\d+(?: \+ \d+)+\) / \d+|\d+(?: \+ \d+)+|\d+")


@pytest.mark.parametrize("split", ["train", "test"])
def test_every_line_of_every_answer_is_right(split) -> None:
    for example in islice(examples(1, split, ["math"]), 2000):
        *lines, last = example.answer.split("\n")
        assert 1 <= len(lines) <= 3
        for line in lines:
            sums = line.split(" = ")
            assert all(SUM.fullmatch(text) for text in sums), line
            assert len({eval(text) for text in sums}) == 1, line
        assert last == f"The answer is {example.case}."
        assert lines[-1].endswith(f" = {example.case}")


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ((47, "+", 86), "47 + 86 = 120 + 13 = 133"),
        ((47, "+", 8), "47 + 8 = 55"),
        ((133, "-", 86), "133 - 86 = 53 - 6 = 47"),
        ((12, "*", 8), "12 * 8 = 80 + 16 = 96"),
        ((14, "*", 17), "14 * 17 = 140 + 98 = 238"),
        ((741, "/", 3), "741 / 3 = (600 + 120 + 21) / 3 = 247"),
    ],
)
def test_what_takes_several_digits_is_worked_out_by_places(asked, written) -> None:
    assert str(calculate(*asked)) == written


@pytest.mark.parametrize("asked", [(7, "/", 2), (3, "-", 4), (999, "+", 1)])
def test_what_leaves_the_whole_numbers_up_to_999_is_not_asked(asked) -> None:
    assert calculate(*asked) is None


def test_every_kind_of_problem_is_told() -> None:
    asked = " ".join(example.prompt for example in islice(examples(3, "train", ["math"]), 3000))
    for problem in PROBLEMS:
        parts = re.split(r"\{\w+\}", problem.facts[-1].seen[0])
        assert max(parts, key=len) in asked, problem
