"""Lines with blanks: what is asked is told by the line, and what is not blank must stay."""

import json
import re
from itertools import islice

import pytest

from sbd_core.tasks import Example, examples, infill
from sbd_core.tasks.infill import BLANK, CODE, KNOWN, MARK, TOLD

PATTERNS = (*TOLD, *CODE, *(pattern for pattern, _ in KNOWN))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_has_blanks_and_a_group_is_told_by_another_word(pattern: str) -> None:
    marks = MARK.findall(pattern)
    assert marks
    assert pattern.count("«") == pattern.count("»") == len(marks)
    for group in {group for group, _ in marks if group}:
        assert sum(found == group for found, _ in marks) > 1


def test_the_answer_is_the_line_with_its_blanks_filled() -> None:
    for example in islice(examples(1, "train", ["infill"]), 1000):
        case = json.loads(example.case)
        line = case["line"]
        assert example.prompt.endswith(line)
        assert 1 <= line.count(BLANK) == len(case["fills"]) <= 3
        for fills in case["fills"]:
            line = line.replace(BLANK, fills[0], 1)
        assert line == example.answer
        assert not re.search("[«»]", example.prompt + example.answer)


def test_either_of_two_fills_passes_and_a_changed_line_does_not() -> None:
    case = json.dumps({"line": "The ___ is in the ___.", "fills": [["dog", "cat"], ["box"]]})
    example = Example("infill", "", "", case)
    for text, is_right in {
        "The dog is in the box.": True,
        "The cat is in the box.": True,
        "The cow is in the box.": False,
        "The dog is in a box.": False,
        "The dog is in the box": False,
        "\ud800\x00": False,
        "": False,
    }.items():
        assert infill.check(example, text) is is_right, text
