"""How functions are asked for: any names, many words, some of them for the test split alone."""

import ast
import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from tokenizers import Tokenizer

from sbd_core.tasks import examples
from sbd_core.tasks.base import Example, Pool, is_reserved
from sbd_core.tasks.code import asks, wordings
from sbd_core.tasks.code import task as functions
from sbd_core.tasks.code.cases import draw_case
from sbd_core.tasks.code.classics import CLASSICS

POOLS = {name: value for name, value in vars(wordings).items() if isinstance(value, Pool)}
POOLS |= wordings.SLOTS | wordings.HINTS_BY_FORM
TOKENIZER = Path(__file__).parents[3] / "assets/checkpoints/sbd-nano/tokenizer.json"


@pytest.fixture(scope="module")
def train() -> list[Example]:
    return list(islice(examples(11, "train", ["code"]), 6000))


@pytest.fixture(scope="module")
def test() -> list[Example]:
    return list(islice(examples(12, "test", ["code"]), 1500))


def function_of(example: Example) -> ast.FunctionDef:
    function = ast.parse(example.answer).body[0]
    assert isinstance(function, ast.FunctionDef)
    return function


def test_there_are_three_times_as_many_well_known_functions() -> None:
    assert len(CLASSICS) == len({item.key for item in CLASSICS}) >= 3 * 28
    assert {len(functions.classic_wordings(item, "seen")) > 0 for item in CLASSICS} == {True}
    texts = [text for item in CLASSICS for text in item.wordings]
    assert len(texts) > 3 * len(CLASSICS)
    assert [text for text, count in Counter(texts).items() if count > 1] == []


@pytest.mark.parametrize("item", CLASSICS, ids=lambda item: item.key)
def test_a_well_known_function_runs_and_is_told_with_all_its_parameters_or_none(item) -> None:
    for seed in range(3):
        random = Random(seed)
        source = f"def {item.name}({item.signature}:\n" + "".join(
            f"    {line}\n" for line in item.body.split("\n")
        )
        assert draw_case(random, source, item.name, item.takes.split()) is not None
    count = len(asks.parameters_of(item.signature))
    assert len(item.takes.split()) == count
    for text in item.wordings:
        slots = {int(number) for number in re.findall(r"\{(\d)\}", text)}
        assert slots in (set(), set(range(count))), text


def fragments(texts: Iterable[str]) -> set[str]:
    """The literal parts of templates, the long ones."""
    parts = (part.strip() for text in texts for part in re.split(r"\{\w+\}", text))
    return {part.lower() for part in parts if len(part) >= 12}


def test_no_words_reserved_for_test_are_in_a_prompt_of_train(train, test) -> None:
    """All that is reserved in words of its own: parts of sentences and descriptions."""
    seen, reserved = [], []
    for pool in POOLS.values():
        seen += pool.seen
        reserved += pool.reserved
    for item in CLASSICS:
        seen += [text for _, text in functions.classic_wordings(item, "seen")]
        reserved += [text for _, text in functions.classic_wordings(item, "unseen")]
    reserved = [text for text in reserved if text not in seen]
    every_seen = "\n".join(seen).lower()
    own = {part for part in fragments(reserved) if part not in every_seen}
    assert len(own) > 80
    prompts = [e.prompt.lower() for e in train]
    assert [part for part in own if any(part in prompt for prompt in prompts)] == []
    unseen = [e.prompt.lower() for e in test if e.wording == "unseen"]
    assert sum(any(part in prompt for prompt in unseen) for part in own) > 40
    seen_prompts = [e.prompt.lower() for e in test if e.wording == "seen"]
    assert [part for part in own if any(part in prompt for prompt in seen_prompts)] == []


def test_no_name_told_in_train_is_reserved(train, test) -> None:
    def told(drawn: list[Example]) -> set[str]:
        names = set()
        for example in drawn:
            function = function_of(example)
            for name in (function.name, *(one.arg for one in function.args.args)):
                if len(name) > 2 and re.search(rf"\b{name}\b", example.prompt):
                    names.add(name)
        return names

    own = {item.name for item in CLASSICS} | {
        name for item in CLASSICS for name in asks.parameters_of(item.signature)
    } | {"number", "text", "numbers", "words"}  # fmt: skip
    assert {name for name in told(train) - own if is_reserved(name)} == set()
    unseen = told([e for e in test if e.wording == "unseen"]) - own
    assert len(unseen) > 100
    assert {name for name in unseen if not is_reserved(name)} == set()


def test_every_kind_of_words_has_some_kept_for_test() -> None:
    assert {name for name, pool in POOLS.items() if not pool.has_reserved} == set()


def test_half_of_the_test_is_in_unseen_words_and_none_of_train(train, test) -> None:
    assert {example.wording for example in train} == {"seen"}
    unseen = sum(example.wording == "unseen" for example in test)
    assert 0.4 < unseen / len(test) < 0.6


def test_any_name_that_is_told_is_the_name_of_the_function(train) -> None:
    told = called = 0
    for example in train:
        function = function_of(example)
        found = re.search(
            r"(?:called|named|call it|name it) ([a-zA-Z_]\w+)[\s.,(]", example.prompt + " "
        )
        if found and not found[1].startswith(("by", "it")):
            told += 1
            assert found[1] in (function.name, *(a.arg for a in function.args.args)), example
        found = re.search(r"\b(\w+)\((\w+(?:, \w+)*)\)", example.prompt)
        if found and "FizzBuzz" not in example.prompt:
            called += 1
            assert found[1] == function.name
            assert found[2] == ", ".join(a.arg for a in function.args.args)
    assert told > 500
    assert called > 100


def test_renaming_touches_names_alone() -> None:
    code = 'n = text.count("n") + n\nreturn n.n'
    assert asks.rename(code, ["n", "text"], ["x", "s"]) == 'x = s.count("n") + x\nreturn x.n'


def test_references_under_any_name_give_what_they_gave_under_their_own(train) -> None:
    for example in train[:1500]:
        inputs, expected, name = ast.literal_eval(example.case)
        space: dict = {}
        exec(example.answer, space)
        results = [space[name](*v) if isinstance(v, tuple) else space[name](v) for v in inputs]
        assert results == expected


def test_a_code_example_fits_a_training_row(train, test) -> None:
    tokenizer = Tokenizer.from_file(str(TOKENIZER))

    def length(text: str) -> int:
        return len(tokenizer.encode(text).ids)

    drawn = train[:1500] + test[:500]
    long = [e for e in drawn if length(e.prompt) + 2 * length(e.answer) + 15 > 256]
    assert len(long) < 0.01 * len(drawn)
