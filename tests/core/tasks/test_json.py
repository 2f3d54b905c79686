"""JSON tasks: every value stands in the text, and answers are compared by value."""

import json
from itertools import islice

import pytest

from sbd_core.tasks import Example, examples
from sbd_core.tasks import json as extraction


@pytest.fixture(scope="module")
def train() -> list[Example]:
    return list(islice(examples(1, "train", ["json"]), 1500))


def test_every_value_stands_in_the_text_and_the_keys_in_the_order_asked(train) -> None:
    for example in train:
        found = json.loads(example.answer)
        places = [example.prompt.rfind(key) for key in found]
        assert -1 not in places, example
        for value in found.values():
            parts = value if isinstance(value, list) else [value]
            told = [str(part) for part in parts if part is not None and not isinstance(part, bool)]
            assert all(part in example.prompt for part in told), example


def test_some_fields_are_not_told_and_null(train) -> None:
    assert 10 < sum("null" in example.answer for example in train) < 300


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
        ('["name", "age"]', False),
        ("[" * 3000, False),
        ("9" * 4000, False),
        ("\ud800\x00", False),
    ],
)
def test_json_is_compared_by_value(text: str, is_right: bool) -> None:
    case = '{"name": "Tara", "age": 1, "pay": 2.5, "late": false}'
    assert extraction.check(Example("json", "", case, case), text) is is_right


def test_a_damaged_answer_fails(train) -> None:
    for example in train[:500]:
        answer = example.answer
        for damaged in (answer[:-1], answer + "}", answer.replace('": ', '_": ', 1), answer[1:]):
            assert not extraction.check(example, damaged)
        assert extraction.check(example, answer)
