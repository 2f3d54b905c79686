"""Laws of the arithmetic problems: right, split by calculations, told in their wordings."""

import re
from itertools import islice
from random import Random

import pytest

from sbd_core.tasks import examples
from sbd_core.tasks.base import Example, Pool, split_of
from sbd_core.tasks.math import chains, task
from sbd_core.tasks.math.arithmetic import OPERATIONS, calculate, operands
from sbd_core.tasks.math.chains import SETTINGS
from sbd_core.tasks.math.everyday import EVERYDAY, is_reserved
from sbd_core.tasks.math.puzzles.puzzle import draw_numbers, solve, tell
from sbd_core.tasks.math.task import PUZZLES
from sbd_core.tasks.math.telling import Teller
from sbd_core.tasks.words import NAME_POOL

NUM_TRAIN, NUM_TEST = 6000, 1500
SUM = re.compile(r"\d+ [-+*/] \d+|\(\d+(?: \+ \d+)+\) / \d+|\d+(?: \+ \d+)+|\d+")
# Also words of other kinds, or beginnings of longer ones.
COMMON_WORDS = {"Will", "May", "Pat"}


def drawn(seed: int, split: str, count: int) -> list[Example]:
    return list(islice(examples(seed, split, ["math"]), count))


@pytest.fixture(scope="module")
def train() -> list[Example]:
    return drawn(1, "train", NUM_TRAIN)


@pytest.fixture(scope="module")
def test() -> list[Example]:
    return drawn(2, "test", NUM_TEST)


def chain_of(answer: str) -> list[tuple[str, int]]:
    """Each line's sum and its result, what stands between being right as well."""
    lines = answer.split("\n")[:-1]
    found = []
    for line in lines:
        sums = line.split(" = ")
        assert all(SUM.fullmatch(text) for text in sums), line
        values = {eval(text) for text in sums}
        assert len(values) == 1, line
        found.append((sums[0], int(sums[-1])))
    return found


def test_every_line_of_every_answer_is_right(train, test) -> None:
    for example in train + test:
        chain = chain_of(example.answer)
        assert 1 <= len(chain) <= 5
        assert all(0 <= result <= 9999 for _, result in chain)
        assert example.answer.endswith(f"The answer is {chain[-1][1]}.")
        assert example.case == str(chain[-1][1])


def test_numbers_of_a_calculation_were_told_or_found_before(train) -> None:
    """What no prompt tells in digits is a word: half, dozen, legs."""
    unknown = 0
    for example in train:
        known = {int(number) for number in re.findall(r"\d+", example.prompt)}
        for asked, result in chain_of(example.answer):
            unknown += not {int(n) for n in re.findall(r"\d+", asked)} <= known
            known.add(result)
    assert unknown < 0.5 * len(train)


def test_the_split_is_decided_by_the_calculations(train, test) -> None:
    def owners(drawn_examples):
        chains = (chain_of(example.answer) for example in drawn_examples)
        return {split_of("; ".join(f"{a} = {r}" for a, r in chain)) for chain in chains}

    assert owners(train) == {"train"}
    assert owners(test) == {"test"}


def test_the_numbers_reach_as_far_as_is_asked_of_them() -> None:
    random = Random(3)
    for operation, most in (("+", 990), ("-", 990), ("*", 361), ("/", 900)):
        pairs = [operands(random, operation) for _ in range(5000)]
        found = [calculate(left, operation, right) for left, right in pairs]
        assert all(found), operation
        assert max(max(c.left, c.result) for c in found) >= most
    for left in range(2, 21):
        for right in range(2, 21):
            assert calculate(left, "*", right)
            assert calculate(left * right, "/", right)


@pytest.mark.parametrize(
    ("left", "operation", "right", "line"),
    [
        (47, "+", 86, "47 + 86 = 120 + 13 = 133"),
        (47, "+", 8, "47 + 8 = 55"),
        (205, "+", 140, "205 + 140 = 345"),
        (247, "+", 386, "247 + 386 = 500 + 120 + 13 = 633"),
        (133, "-", 86, "133 - 86 = 53 - 6 = 47"),
        (50, "-", 30, "50 - 30 = 20"),
        (7, "*", 8, "7 * 8 = 56"),
        (8, "*", 12, "8 * 12 = 80 + 16 = 96"),
        (14, "*", 17, "14 * 17 = 140 + 98 = 238"),
        (9, "*", 20, "9 * 20 = 180"),
        (741, "/", 3, "741 / 3 = (600 + 120 + 21) / 3 = 247"),
        (63, "/", 7, "63 / 7 = 9"),
    ],
)
def test_a_calculation_shows_the_steps_that_are_needed(left, operation, right, line) -> None:
    assert str(calculate(left, operation, right)) == line


@pytest.mark.parametrize(
    ("left", "operation", "right"),
    [(5, "-", 6), (7, "/", 2), (900, "+", 100), (5, "/", 0), (37, "*", 23), (1, "/", 1)],
)
def test_what_leaves_the_limits_is_no_calculation(left, operation, right) -> None:
    assert calculate(left, operation, right) is None


def test_no_name_reserved_for_test_is_trained_on(train, test) -> None:
    reserved = set(NAME_POOL.reserved) - COMMON_WORDS
    for example in train:
        assert example.wording == "seen"
        assert not reserved & set(re.findall(r"[A-Za-z]+", example.prompt)), example
    assert any(reserved & set(re.findall(r"[A-Za-z]+", e.prompt)) for e in test)


def test_no_wording_reserved_for_test_is_trained_on(monkeypatch) -> None:
    told: set[str] = set()
    clause, draw = Teller.clause, Pool.draw

    def noting_clause(self, wording, *rest, **how):
        told.add(wording)
        return clause(self, wording, *rest, **how)

    def noting_draw(self, random, wording):
        found = draw(self, random, wording)
        told.add(found)
        return found

    monkeypatch.setattr(Teller, "clause", noting_clause)
    monkeypatch.setattr(Pool, "draw", noting_draw)
    drawn(5, "train", 6000)
    assert len(told) > 1500
    assert not [wording for wording in told if is_reserved(wording)]
    assert len(EVERYDAY - told) < 4
    told.clear()
    drawn(5, "test", 1000)
    assert sum(map(is_reserved, told)) > 100


def test_half_of_the_test_problems_are_told_in_seen_words(test) -> None:
    unseen = sum(example.wording == "unseen" for example in test)
    assert 0.4 * NUM_TEST < unseen < 0.6 * NUM_TEST


def test_every_kind_of_problem_comes_in_at_least_thirty_phrasings() -> None:
    for puzzle in PUZZLES:
        phrasings = len(puzzle.whole) + len(puzzle.questions)
        for fact in puzzle.facts:
            phrasings *= len(fact)
        assert phrasings >= 30 or not puzzle.facts, puzzle
    for setting in SETTINGS:
        starts = len(setting.starts) + sum(len(e.wordings) for e in setting.openings)
        events = sum(len(event.wordings) for event in setting.events)
        assert starts * events * max(1, len(setting.questions)) >= 30, setting
    assert len(PUZZLES) + len(SETTINGS) >= 80


def test_a_wording_of_an_event_belongs_to_one_operation() -> None:
    operations: dict[str, str] = {}
    for setting in SETTINGS:
        for event in setting.openings + setting.events:
            for wording in event.wordings:
                assert operations.setdefault(wording, event.operation) == event.operation
    assert len(operations) >= 400


def test_every_puzzle_can_be_solved_and_told() -> None:
    random = Random(4)
    for puzzle in PUZZLES:
        solved = 0
        for _ in range(300):
            numbers = draw_numbers(random, puzzle.numbers)
            if solve(puzzle, numbers) is None:
                continue
            solved += 1
            text = tell(random, puzzle, numbers, Teller(random, puzzle.things or ("nuts",)))
            assert not re.search(r"[{}<>@]", text), text
            assert text[0].isupper() or not text[0].isalpha(), text
        assert solved > 60, puzzle


def test_two_kinds_of_things_differ() -> None:
    for seed in range(300):
        teller = Teller(Random(seed), ("nuts", "figs", "pears"))
        first, second = teller.clause("{thing} {thing2}", {}).split()
        assert first != second


def test_problems_have_one_to_five_steps_of_every_operation(train) -> None:
    steps = [len(chain_of(example.answer)) for example in train]
    assert {1, 2, 3, 4} <= set(steps)
    for operation in OPERATIONS:
        assert sum(f" {operation} " in e.answer for e in train) > 0.1 * len(train)
    assert {example.kind for example in train} == set(task.KINDS)
    assert chains.SETTINGS


def test_only_the_last_answer_counts() -> None:
    example = Example("math", "", "", "5")
    assert task.check(example, "The answer is 4. No: The answer is 5.")
    assert not task.check(example, "The answer is 5. The answer is 4.")
    assert not task.check(example, "The answer is " + "9" * 5000 + ".")
