"""Laws of the made-up corpus: seeded, checkable, split by composition, safe to score."""

import json
import os
import re
import time
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.training.corpus import FAMILIES, examples, family, one_liners, word_problems
from sbd_core.training.corpus import json_extraction as extraction
from sbd_core.training.corpus.base import Example, split_of
from sbd_core.training.corpus.json_records import RECORDS
from sbd_core.training.corpus.one_liners import check_each
from sbd_core.training.corpus.word_problems import SETTINGS
from sbd_core.training.corpus.words import MEN, NAMES, THINGS, WOMEN

NUM_TRAIN, NUM_TEST = 6000, 600
BASE = ("math", "json", "code", "drill")
CALCULATION = re.compile(r"\d+ [-+*/] \d+ = \d+")


def drawn(seed: int, split: str, name: str, count: int) -> list[Example]:
    return list(islice(examples(seed, split, [name]), count))


@pytest.fixture(scope="module")
def train() -> dict[str, list[Example]]:
    return {name: drawn(1, "train", name, NUM_TRAIN) for name in BASE}


@pytest.fixture(scope="module")
def test() -> dict[str, list[Example]]:
    return {name: drawn(2, "test", name, NUM_TEST) for name in BASE}


def candidate_for(text: str, expected: list[object], inputs: list[object]) -> tuple[Example, str]:
    example = Example("code", "", "", json.dumps([inputs, expected]))
    return example, text


def test_same_seed_gives_the_same_stream_and_another_seed_another() -> None:
    first, again, other = (list(islice(examples(s, "train", BASE), 60)) for s in (5, 5, 6))
    assert first == again
    assert first != other
    assert {example.family for example in first} == set(BASE)


def test_the_stream_is_the_same_in_every_version() -> None:
    """Pinned: a change here means that a resumed run would see other data."""
    assert split_of("2 + 2 = 4") == "train"
    assert split_of("48 - 6 = 42") == "test"


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("family", lambda: family("chess")),
        ("family", lambda: examples(0, "train", ["chess"])),
        ("families", lambda: examples(0, "train", [])),
        ("families", lambda: examples(0, "train", "math")),
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


def test_math_splits_by_calculation(train, test) -> None:
    def chains(drawn_examples):
        return {"; ".join(CALCULATION.findall(e.answer)) for e in drawn_examples}

    assert {split_of(chain) for chain in chains(train["math"])} == {"train"}
    assert {split_of(chain) for chain in chains(test["math"])} == {"test"}


def test_json_splits_by_the_set_of_fields(train, test) -> None:
    def owners(drawn_examples):
        keys = (extraction.composition(list(json.loads(e.answer))) for e in drawn_examples)
        return {split_of(key) for key in keys}

    assert owners(train["json"]) == {"train"}
    assert owners(test["json"]) == {"test"}


def test_a_code_prompt_tells_its_pieces_and_so_its_split() -> None:
    """With `owner` a function of the pieces alone, no composition is in both splits."""
    random = Random(4)
    pieces: dict[str, tuple[str, ...]] = {}
    for _ in range(20000):
        task = one_liners._list_task(random) or one_liners._chain_task(random)
        assert pieces.setdefault(task.prompt, task.composition) == task.composition
    owners = [one_liners.owner(composition) for composition in set(pieces.values())]
    assert len(owners) >= 300
    assert 0.04 < owners.count("test") / len(owners) < 0.12


@pytest.mark.parametrize("name", BASE)
def test_examples_are_short_plain_ascii(name, train, test) -> None:
    for example in train[name] + test[name]:
        assert (example.prompt + example.answer).isascii()
        assert not set("{}[]") & set(example.prompt)
        assert len(example.prompt.split()) <= 80
        assert len(example.answer.split()) <= 60


def test_word_lists_and_wordings_are_wide_and_unambiguous() -> None:
    assert not set(WOMEN) & set(MEN)
    assert len(set(NAMES)) == len(NAMES) >= 300
    assert len(set(THINGS)) == len(THINGS) >= 100
    operations: dict[str, str] = {}
    for setting in SETTINGS:
        for event in setting.openings + setting.events:
            for wording in event.wordings:
                assert operations.setdefault(wording, event.operation) == event.operation
    assert len(operations) >= 400


def test_every_record_wording_has_each_field_once_and_one_per_bracket() -> None:
    assert len(RECORDS) >= 6
    for record in RECORDS:
        assert len(record.wordings) >= 4
        for wording in record.wordings:
            assert sorted(re.findall(r"\{(\w+)\}", wording)) == sorted(record.values), wording
            rest = extraction.BRACKETS.sub("", wording)
            assert "[" not in rest
            assert re.findall(r"\{(\w+)\}", rest) == [record.anchor], wording


@pytest.mark.parametrize("name", ["math", "json", "drill"])
def test_the_reference_passes_and_a_changed_one_fails(name, train, test) -> None:
    check = FAMILIES[name].check
    for example in train[name][:300] + test[name][:300]:
        assert check(example, example.answer)
        assert not check(example, example.answer[:-2])
        assert not check(example, "")


def test_math_answers_are_right(train) -> None:
    for example in train["math"]:
        calculations = CALCULATION.findall(example.answer)
        assert 1 <= len(calculations) <= 5
        # (running value, product of groups not yet used): a product may begin anywhere.
        states = {(None, None)}
        for calculation in calculations:
            left, operation, right, _, result = calculation.split()
            assert eval(f"{left} {operation} {right}") == int(result)
            assert 0 <= int(result) <= 99
            follows = {s for s in states if s[0] in (None, left) and s[1] in (None, right)}
            begins = {(s[0], result) for s in states if operation == "*" and s[1] is None}
            states = begins | ({(result, None)} if follows else set())
        value = example.case
        assert (value, None) in states
        assert example.answer.endswith(f"The answer is {value}.")


def test_only_the_last_math_answer_counts() -> None:
    example = Example("math", "", "", "5")
    assert word_problems.check(example, "The answer is 4. No: The answer is 5.")
    assert not word_problems.check(example, "The answer is 5. The answer is 4.")
    assert not word_problems.check(example, "The answer is " + "9" * 5000 + ".")


def test_json_values_are_told_or_null(train) -> None:
    nulls = 0
    for example in train["json"]:
        for value in json.loads(example.answer).values():
            nulls += value is None
            assert value is None or re.search(rf"\b{value}\b", example.prompt), example
    assert 0.05 * NUM_TRAIN < nulls < 0.4 * NUM_TRAIN


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ('{"age": 1, "name": "Tara"}', True),
        ('{"name": "Tara", "age": 1, "age": 1}', False),
        ('{"name": "Tara", "age": true}', False),
        ('{"name": "Tara", "age": 1.0}', False),
        ('{"name": "Tara", "age": NaN}', False),
        ('{"name": "Tara"}', False),
        ('["name", "age"]', False),
        ("[" * 3000, False),
        ("9" * 4000, False),
        ("\ud800\x00", False),
    ],
)
def test_json_is_compared_by_value(text: str, is_right: bool) -> None:
    case = '{"name": "Tara", "age": 1}'
    assert extraction.check(Example("json", "", case, case), text) is is_right


def test_code_references_pass_and_changed_ones_fail(train, test) -> None:
    chosen = train["code"][:40] + test["code"][:40]
    assert all(check_each([(e, e.answer) for e in chosen]))
    changed = [(e, e.answer.replace("return ", "return not ")) for e in chosen[:20]]
    assert not any(check_each(changed))


def test_a_single_piece_is_always_train() -> None:
    assert one_liners.owner(("numbers", "even", "", "list")) == "train"
    assert {one_liners.owner(("numbers", "even", str(i), "list")) for i in range(99)} == {
        "train",
        "test",
    }


def hostile(target: Path) -> dict[str, str]:
    """Candidates that must fail; `target` is a file they try to leave."""
    body = "def solve(numbers):\n    "
    get_os = "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
    reach = f"{get_os}.__init__.__globals__"
    return {
        "loop": body + "while True: pass",
        "catching loop": body
        + "while True:\n        try: 1 / 0\n        except BaseException: pass",
        "memory": body + "return [0] * 10 ** 9",
        "big number": body + "return 9 ** 9 ** 9",
        "open": f"open({str(target)!r}, 'w').write('x')\n{body}return sum(numbers)",
        "import os": f"import os\nos.mkdir({str(target)!r})\n{body}return sum(numbers)",
        "reach os": f"{reach}['mkdir']({str(target)!r})\n{body}return sum(numbers)",
        "fork": f"{reach}['fork']()\n{body}return sum(numbers)",
        "shell": f"{reach}['system']('touch {target}')\n{body}return sum(numbers)",
        "exit": "raise SystemExit(0)",
        "quiet exit": f"{reach}['_exit'](0)",
        "kill": f"{reach}['kill'](0, 9)",
        "exception": body + "raise ValueError(numbers)",
        "nul": body + "return sum(numbers)\x00",
        "surrogate": body + "return sum(numbers) # \ud800",
        "bytes": body + "return sum(numbers) # \udcff\udcfe",
        "prints the answer": body + "print(6, 15, sep='\\n')",
        "prints as well": body + "print('6')\n    return sum(numbers)",
        "equal to all": "class A(int):\n    def __eq__(self, other): return True\n"
        + body + "return A()",
        "right but odd": "class A(int): pass\n" + body + "return A(sum(numbers))",
        "boolean": body + "return True",
        "float": body + "return float(sum(numbers))",
        "no function": "6",
        "empty": "",
        "long": body + "return sum(numbers)" + " " * 5000,
        "nested": body + "return " + "(" * 1900 + "1" + ")" * 1900,
    }  # fmt: skip


def test_hostile_code_fails_quickly_and_leaves_nothing(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o777)
    target = tmp_path / "left"
    candidates = hostile(target)
    started = time.monotonic()
    jobs = [candidate_for(text, [6, 15], [[1, 2, 3], [7, 8]]) for text in candidates.values()]
    verdicts = check_each(jobs)
    assert [name for name, passed in zip(candidates, verdicts, strict=True) if passed] == []
    assert time.monotonic() - started < 15
    assert not target.exists()


def test_honest_code_of_another_shape_passes() -> None:
    text = (
        "import math\ndef solve(numbers):\n    total = 0\n    for n in numbers:\n"
        "        total += n\n    numbers.clear()\n    return total"
    )
    assert one_liners.check(*candidate_for(text, [6, 15], [[1, 2, 3], [7, 8]]))


def test_generating_depends_on_the_given_generator_only() -> None:
    for name in BASE:
        first = FAMILIES[name].generate(Random(3), "test")
        assert first == FAMILIES[name].generate(Random(3), "test")
