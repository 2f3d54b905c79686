"""Laws of every task: seeded, right, split by composition and phrasing, in everyday words."""

import json
import re
from itertools import islice

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.tasks import (
    TASKS,
    Example,
    code_task,
    examples,
    held_out,
    infill,
    json_task,
    math_task,
    story,
    sudoku,
    task,
)
from sbd_core.tasks.base import split_of
from sbd_core.tasks.infill import BLANK, CODE, KNOWN, MARK, TOLD
from sbd_core.tasks.math_task import NAMED, PROBLEMS, calculate
from sbd_core.tasks.words import CITIES, COUNTRIES, DAYS, MONTHS, NAMES, PET_NAMES

NUM_TRAIN, NUM_TEST = 1200, 200
ASKED = {
    "math": math_task.FRAMES, "json": json_task.ASKS, "code": code_task.LEADS,
    "sudoku": sudoku.ASKS,
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
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        call()


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


@pytest.fixture(scope="module")
def jsons() -> list[Example]:
    return list(islice(examples(1, "train", ["json"]), 1500))


def test_every_value_stands_in_the_text_and_the_keys_in_the_order_asked(jsons) -> None:
    for example in jsons:
        found = json.loads(example.answer)
        places = [example.prompt.rfind(key) for key in found]
        assert -1 not in places, example
        for value in found.values():
            parts = value if isinstance(value, list) else [value]
            told = [str(part) for part in parts if part is not None and not isinstance(part, bool)]
            assert all(part in example.prompt for part in told), example


def test_some_fields_are_not_told_and_null(jsons) -> None:
    assert 10 < sum("null" in example.answer for example in jsons) < 300


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ('{"age": 1, "name": "Tara", "pay": 2.5, "late": false}', True),
        ('{"name": "Tara", "age": 1, "late": false, "pay": 2.50}', True),
        ('{"name": "Tara", "age": 1, "age": 1, "pay": 2.5, "late": false}', False),
        ('{"name": "Tara", "age": true, "pay": 2.5, "late": false}', False),
        ('{"name": "Tara", "age": 1.0, "pay": 2.5, "late": false}', False),
        ('{"name": "Tara", "age": 1, "pay": "2.5", "late": false}', False),
        ('{"name": "Tara", "age": 1, "pay": 2.5, "late": 0}', False),
        ('{"name": "Tara", "age": 1, "pay": 2.5, "late": null}', False),
        ('{"name": "Tara", "age": NaN, "pay": 2.5, "late": false}', False),
        ('{"name": "Tara", "age": 1, "pay": 1e999, "late": false}', False),
        ('{"name": "Tara", "age": 1, "pay": 2.5}', False),
        ('{"name": "Tara", "age": 1, "pay": 2.5, "late": false}}', False),
        ('{"name_": "Tara", "age": 1, "pay": 2.5, "late": false}', False),
        ('["name", "age"]', False),
        ("[" * 3000, False),
        ("9" * 4000, False),
        ("\ud800\x00", False),
    ],
)
def test_json_is_compared_by_value(text: str, is_right: bool) -> None:
    case = '{"name": "Tara", "age": 1, "pay": 2.5, "late": false}'
    assert json_task.check(Example("json", "", case, case), text) is is_right


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
        parts = re.split(r"\{\w+\}", NAMED[problem["facts"][-1]].seen[0])
        assert max(parts, key=len) in asked, problem
