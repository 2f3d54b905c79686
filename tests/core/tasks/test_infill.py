"""Infill: blanks have one meaning, the rest of the line stays, no test line is in training."""

import json
import re
from itertools import islice

import pytest

from sbd_core.tasks import Example, examples
from sbd_core.tasks.infill import code as infill_code
from sbd_core.tasks.infill import lines as infill_lines
from sbd_core.tasks.infill import task as infill

BLANK = infill.BLANK


def drawn(seed: int, split: str, count: int) -> list[Example]:
    return list(islice(examples(seed, split, ["infill"]), count))


def asked(line: str, fills: list[list[str]]) -> Example:
    return Example("infill", "", "", json.dumps({"line": line, "fills": fills}))


def test_the_answer_is_the_line_with_its_first_fills_and_passes() -> None:
    for example in drawn(1, "train", 3000) + drawn(1, "test", 500):
        case = json.loads(example.case)
        assert case["line"] in example.prompt
        assert case["line"].count(BLANK) == example.prompt.count(BLANK) == len(case["fills"])
        assert 1 <= len(case["fills"]) <= 3
        filled = case["line"].replace(BLANK, "{}").replace("{}", "\x00")
        for fill in case["fills"]:
            filled = filled.replace("\x00", fill[0], 1)
        assert example.answer == filled
        assert infill.check(example, example.answer)


def test_a_prompt_has_one_answer_and_a_line_one_split() -> None:
    train, test = drawn(2, "train", 20000), drawn(2, "test", 2000)
    answers: dict[str, str] = {}
    for example in train + test:
        assert answers.setdefault(example.prompt, example.answer) == example.answer, example
    assert not {e.answer for e in train} & {e.answer for e in test}
    assert not {e.prompt for e in train} & {e.prompt for e in test}


def test_spoiled_answers_fail() -> None:
    for example in drawn(3, "test", 500):
        line, answer = json.loads(example.case)["line"], example.answer
        for text in (line, answer[:-1], answer + ".", "", answer.replace(" ", "  ", 1) + " "):
            assert not infill.check(example, text)
        wrong = line.replace(BLANK, "wrong")
        assert not infill.check(example, wrong)


def test_every_allowed_filler_passes_and_the_rest_must_stay() -> None:
    example = asked("Tom (a boy) is ___ than ___.", [["shorter", "smaller"], ["Mia"]])
    assert infill.check(example, "Tom (a boy) is shorter than Mia.")
    assert infill.check(example, "Tom (a boy) is smaller than Mia.")
    for text in (
        "Tom (a boy) is taller than Mia.",
        "Tom (a boy) is shorter than Tom.",
        "Tim (a boy) is shorter than Mia.",
        "Tom a boy is shorter than Mia.",
        "Tom (a boy) is shorter than MiaX",
        "Tom (a boy) is shorter than Mia.\n",
        "\ud800",
    ):
        assert not infill.check(example, text), text


def test_sums_in_filled_lines_are_right() -> None:
    num_sums = 0
    for example in drawn(4, "train", 4000):
        for left, operation, right, result in re.findall(
            r"(\d+) ([-+*/]) (\d+) = (\d+)\b(?! [-+])", example.answer
        ):
            num_sums += 1
            assert eval(f"{left} {operation} {right}") == int(result), example
    assert num_sums > 50


@pytest.mark.parametrize(
    "wording",
    [
        *infill_lines.FACTS,
        *infill_lines.GRAMMAR,
        *infill_lines.NUMBERS,
        *infill_code.CODE,
        *(wording for wordings, _ in infill_lines.WORD_PAIRS.values() for wording in wordings),
    ],
)
def test_a_wording_has_blanks_and_a_group_is_told_by_another_word(wording: str) -> None:
    marks = infill.MARK.findall(wording)
    assert marks
    assert wording.count("«") == wording.count("»") == len(marks)
    for group in {group for group, _ in marks if group}:
        assert sum(found == group for found, _ in marks) > 1


def test_the_lines_are_of_many_kinds() -> None:
    found = {e.answer for e in drawn(5, "train", 3000)}
    assert len(found) > 2000
    assert any("def " in answer for answer in found)
    assert any(" + " in answer for answer in found)
    assert any("Monday" in answer for answer in found)
