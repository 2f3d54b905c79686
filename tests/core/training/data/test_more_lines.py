"""More lines with blanks, for training: right, none of them kept for the test split."""

import json
import re
from random import Random

import pytest

from sbd_core.tasks import task
from sbd_core.tasks.base import split_of
from sbd_core.tasks.infill import task as infill
from sbd_core.tasks.infill.knowledge import FACTS, TOPICS
from sbd_core.tasks.infill.patterns import MARK, filled
from sbd_core.training.data.more_lines import generate, lines, sentences
from sbd_core.training.data.sources import mixed

KINDS = ("told", "grammar", "numbers", "records", "code", "knowledge")


@pytest.fixture
def only_more(monkeypatch) -> None:
    monkeypatch.setattr(lines, "MORE_RATE", 1)


def tables(kind: str):
    return infill.TABLES.get(kind) or {pool for pools, _, _ in FACTS for pool in pools}


def test_every_kind_but_rows_has_more_lines() -> None:
    assert set(lines.lines()) == set(KINDS) == set(infill.KIND_WEIGHTS) - {"rows"}
    assert len(sentences.KNOWLEDGE) == len(TOPICS)


@pytest.mark.parametrize("kind", KINDS)
def test_no_line_is_one_that_the_task_has(kind) -> None:
    own = [filled(pattern) for pattern, _, _ in lines.lines()[kind]]
    kept = {filled(text) for pool in tables(kind) for text in pool.reserved}
    seen = {filled(text) for pool in tables(kind) for text in pool.seen}
    assert kept
    assert not (kept | seen) & set(own)


@pytest.mark.parametrize("kind", KINDS)
def test_its_answers_are_right_and_of_the_training_split(kind, only_more) -> None:
    random = Random(4)
    for _ in range(1500):
        example = generate(random, kind)
        assert (example.kind, example.wording) == (kind, "seen")
        assert infill.check(example, example.answer), example
        assert split_of(example.answer) == "train"
        assert not re.search(r"[«»]|\{\w\}", example.prompt)


def test_records_are_json(only_more) -> None:
    random, whole = Random(5), 0
    for _ in range(1000):
        answer = generate(random, "records").answer
        if (
            answer[0] in "[{"
            and answer[-1] in "]}"
            and " is " not in answer
            and " means" not in answer
        ):
            json.loads(answer)
            whole += 1
    assert whole > 500


@pytest.mark.parametrize("kind", ["told", "grammar"])
def test_what_a_blank_holds_stands_elsewhere_in_the_line(kind) -> None:
    same = {"k": ("ks",), "ks": ("k",), "many": ("one",), "one": ("many",)}
    same |= dict.fromkeys(("him", "his", "he"), ("A", "he", "him", "his", "He"))
    same |= dict.fromkeys(("do", "does", "doing", "did"), ("do", "does", "doing", "did"))
    for pattern, _, _ in lines.lines()[kind]:
        rest = _all_blank(pattern)
        for mark in MARK.finditer(pattern):
            for slot in re.findall(r"\{(\w+)\}", mark[2].split("|")[0]):
                told = {slot, *same.get(slot, ())}
                assert told & set(re.findall(r"\{(\w+)\}", rest)), (pattern, slot)


def _all_blank(pattern: str) -> str:
    """The line with as many blanks as it can have: of a group of marks, one."""
    taken: set[str] = set()

    def blank(mark: re.Match[str]) -> str:
        if mark[1] in taken:
            return mark[2].split("|")[0]
        taken.update(mark[1] or "")
        return "___"

    return MARK.sub(blank, pattern)


def test_sums_are_right(only_more) -> None:
    random, sums = Random(6), 0
    for _ in range(3000):
        for left, right in re.findall(
            r"^(\d+ [-+*/] \d+)(?: = | is | equals )(\d+)$",
            generate(random, "numbers").answer,
        ):
            assert eval(left) == int(right)
            sums += 1
    assert sums > 200


def test_code_says_what_it_prints(only_more) -> None:
    random, runs = Random(8), 0
    for _ in range(1500):
        answer = generate(random, "code").answer
        printed = re.search(r"^print\((.*)\)  # (\S+)$", answer)
        if printed and "," not in printed[1]:
            assert str(eval(printed[1])) == printed[2], answer
            runs += 1
    assert runs > 50


def test_training_draws_them_and_no_other_task_does() -> None:
    own = {filled(pattern).split("{")[0] for pattern, _, _ in lines.lines()["told"]}
    own = {start for start in own if len(start) > 8}
    drawn = mixed(1, {"infill:told": 1.0}, [])
    answers = [next(drawn)[1].answer for _ in range(1000)]
    share = sum(any(a.startswith(start) for start in own) for a in answers) / len(answers)
    assert 0.05 < share < lines.MORE_RATE
    test = [task("infill").generate(Random(seed), "test").answer for seed in range(1000)]
    assert not any(a.startswith(("Dear ", "Of the two, ")) for a in test)
