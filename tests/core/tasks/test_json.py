"""Facts to JSON: what is answered stands in the text, unseen words are in test alone."""

import json
import re
from itertools import islice
from random import Random

import pytest

from sbd_core.tasks import Example, examples, words
from sbd_core.tasks.base import split_of
from sbd_core.tasks.json import asking, records_open, values
from sbd_core.tasks.json import task as extraction
from sbd_core.tasks.json.rewording import retelling
from sbd_core.tasks.json.task import RECORDS

NUM_TRAIN, NUM_TEST = 8000, 1500
FIELDS = [field for record in RECORDS for field in (record.anchor, *record.fields)]
YES_NO = [item.split("|") for f in FIELDS if f.kind is values.yes_no for item in f.tellings]


@pytest.fixture(scope="module")
def train() -> list[Example]:
    return list(islice(examples(1, "train", ["json"]), NUM_TRAIN))


@pytest.fixture(scope="module")
def test() -> list[Example]:
    return list(islice(examples(2, "test", ["json"]), NUM_TEST))


def is_told(value: object, prompt: str) -> bool:
    """Whether the prompt holds the value in one of the ways an answer may be read from."""
    if isinstance(value, bool):
        label = "yes" if value else "no"
        said = [pair[not value] for pair in YES_NO]
        return any(text in prompt for text in said) or bool(re.search(rf"\b{label}\b", prompt))
    if isinstance(value, list):
        return len(value) > 1 and values.listed(value) in prompt
    shown = [str(value)]
    if isinstance(value, int) and value < len(values.NUMBERS):
        shown.append(values.NUMBERS[value])
    return any(re.search(rf"(?<![\w.]){re.escape(item)}(?!\w)", prompt) for item in shown)


def test_every_value_is_told_in_the_prompt_or_null(train, test) -> None:
    kinds: dict[type, int] = {}
    for example in train + test:
        assert "\n" not in example.answer
        assert not re.search(
            r"\{(fields|this|ask|text|person|city|number|S|Its)?\}", example.prompt
        )
        for key, value in json.loads(example.answer).items():
            kinds[type(value)] = kinds.get(type(value), 0) + 1
            assert key in example.prompt
            assert value is None or is_told(value, example.prompt), (value, example)
    assert set(kinds) == {type(None), str, int, float, bool, list}
    assert all(count > 0.02 * sum(kinds.values()) for count in kinds.values())


def test_a_field_told_by_its_name_is_answered(train) -> None:
    """A label in the text and null in the answer would teach to leave facts out."""
    for example in train:
        for key, value in json.loads(example.answer).items():
            label = rf"(?i)^(- )?{re.escape(asking.plain(key))}(:| =| -| \|) "
            assert value is not None or not re.search(label, example.prompt, re.MULTILINE)


def test_prompts_of_a_set_of_fields_belong_to_one_split(train, test) -> None:
    def owners(drawn: list[Example]) -> set[str]:
        return {split_of(extraction.composition(json.loads(e.answer))) for e in drawn}

    assert owners(train) == {"train"}
    assert owners(test) == {"test"}
    assert extraction.composition(["firstName", "age"]) == extraction.composition(
        ["Age", "first_name"]
    )


def pattern(form: str) -> re.Pattern[str]:
    """What finds an instruction in a prompt."""
    text = re.escape(form).replace(r"\ \{fields\}", r"\s.+").replace(r"\{this\}", "th.+")
    return re.compile(text)


def test_what_is_reserved_for_test_is_never_trained_on(train, test) -> None:
    assert {e.wording for e in train} == {"seen"}
    assert {e.wording for e in test} == {"seen", "unseen"}
    unseen = [e for e in test if e.wording == "unseen"]
    reserved = [pattern(form) for form in asking.INSTRUCTIONS.reserved]
    assert all(any(form.search(e.prompt) for form in reserved) for e in unseen)
    # "Extract the fields {fields} as JSON" could be read into "Extract {fields} as JSON".
    distinct = [p for p in reserved if not any(map(p.search, asking.INSTRUCTIONS.seen))]
    assert len(distinct) >= 4
    assert not any(form.search(e.prompt) for form in distinct for e in train)

    pools = (words.NAME_POOL, values.SURNAMES, values.CITIES, values.BRANDS, values.COUNTRIES)
    names = {name for pool in pools for name in pool.reserved}
    known = {word for field in FIELDS for name in field.names for word in name.split()}
    names = {n for n in names if n.lower() not in known | {*words.COLORS}} - {*words.MONTHS}
    fields = {*records_open.NUMERIC.reserved, *records_open.TEXTUAL.reserved}
    for example in train:
        assert not names & set(re.findall(r"[A-Z][a-z]+", example.prompt)), example
        assert not fields & set(json.loads(example.answer)), example
    assert any(names & set(re.findall(r"[A-Z][a-z]+", e.prompt)) for e in unseen)
    assert any(fields & set(json.loads(e.answer)) for e in unseen)


def test_composed_instructions_are_many_and_hold_none_that_is_kept_for_test() -> None:
    random = Random(0)
    drawn = {asking.COMPOSED.draw(random) for _ in range(3000)}
    assert len(drawn) > 2500
    assert all("{fields}" in form and "JSON" in form for form in drawn)
    reserved = asking.INSTRUCTIONS.reserved
    assert all(asking.COMPOSED.is_held_out(f"Please {form.lower()} now") for form in reserved)
    filled = [form.format(fields="name and age", this="this") for form in drawn]
    assert not any(pattern(form).search(text) for form in reserved for text in filled)


def test_facts_are_told_in_other_words_that_are_no_facts_own() -> None:
    tellings = {t for f in FIELDS for t in f.tellings if f.kind is not values.yes_no}
    for phrase, others in retelling.OTHERS.items():
        assert any(retelling.other_words(t) for t in tellings if t.startswith(phrase)), phrase
        assert all(other.count("{}") == phrase.count("{}") for other in others.split("|"))
    reworded = {other for t in tellings for other in retelling.other_words(t)}
    assert len(reworded) >= 250
    assert all(other.count("{}") == 1 for other in reworded)


def test_requests_and_records_are_of_many_kinds() -> None:
    assert len(asking.INSTRUCTIONS.seen) >= 50
    assert len(RECORDS) >= 30
    assert len(FIELDS) >= 300
    assert len({name for field in FIELDS for name in field.names}) >= 700


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.anchor.names[0])
def test_a_record_can_be_told_and_asked_for_without_doubt(record) -> None:
    names = [name for field in (record.anchor, *record.fields) for name in field.names]
    assert len(set(names)) == len(names)
    for field in (record.anchor, *record.fields):
        assert len(field.tellings) >= 2, field.names
        for telling in field.tellings:
            assert telling.count("{}") == (field.kind is not values.yes_no), telling
            assert telling.count("|") == (field.kind is values.yes_no), telling
            assert telling[0].islower() or telling.rstrip('"')[-1] in ".?!:" or telling[0] == "~"
        for name in field.names:
            for style in asking.STYLES:
                assert asking.plain(asking.named(name, style)) == name
    for telling in record.anchor.tellings:
        assert not telling[0].islower()


def test_open_field_names_are_no_other_fields() -> None:
    """Else a name kept for test would be trained on in another record."""
    known = {name for field in FIELDS for name in field.names}
    for pool in (records_open.NUMERIC, records_open.TEXTUAL):
        assert len(pool.reserved) >= 10
        assert not known & set(pool.reserved)


def test_answers_follow_the_order_and_the_names_asked_for(train) -> None:
    in_order = 0
    for example in train:
        keys = list(json.loads(example.answer))
        asked = re.search(r"(?s)\b" + ".{2,12}?".join(map(re.escape, keys)) + r"\b", example.prompt)
        assert asked is not None, example
        in_order += len(keys) > 1
    assert in_order > 0.8 * len(train)


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
