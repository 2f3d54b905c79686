"""What scripts.record_learn finds in runs: the cells that settle another, the words that clash."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from sbd_core.events import Hindsight, Span
from scripts.record_learn import (
    candidates,
    checks,
    doubled_signs,
    doubled_words,
    is_only_place,
    order_of,
    unheard_words,
    words_that_do_not_fit,
)
from tests.ui.events import block_pass

SOLUTION = "1234341221434321"


@dataclass
class Answer:
    """A trace's answer: its tokens, and the forward pass that filled each."""

    texts: list[str]
    passes: list[int]
    doubted: tuple[int, ...] = ()

    def trace(self, prompt: str = ""):
        late = tuple(Hindsight(at, at, 0.01, at + 100, 0.9) for at in self.doubted)
        return SimpleNamespace(
            prompt=prompt,
            tokens=dict(enumerate(self.texts)),
            token_ids=tuple(range(len(self.texts))),
            token_passes=tuple(self.passes),
            events=[block_pass(99, Span(0, len(self.texts)), {}, {}, hindsight=late)],
        )


def sudoku(puzzle: str, late: dict[int, int]):
    passes = [late.get(cell, 2 if puzzle[cell] == "0" else 1) for cell in range(16)]
    return Answer(list(SOLUTION), passes).trace()


# The first cell may be 1 or 3, and so may the one below it.
OPEN = "0000" + "0400" + "2000" + "4021"
# Of row 1 only the first cell may be 1, though it may be 2 as well.
ONLY_PLACE = "0034" + "0000" + "0100" + "0000"


def test_candidates_are_what_row_column_and_box_leave():
    assert candidates("0" * 16, 0) == "1234"
    assert candidates(OPEN, 0) == "13"
    assert candidates("0234" + "0" * 12, 0) == "1"


def test_a_cell_settles_the_first_one_if_it_takes_the_other_candidate_before():
    order = order_of(OPEN, sudoku(OPEN, {0: 5, 2: 3}))
    assert (order.cell, order.candidates, order.settled_by) == (0, "13", (4,))


@pytest.mark.parametrize("late", [{0: 2}, {0: 1}, {0: 2, 4: 3, 2: 3}])
def test_a_first_cell_filled_no_later_than_the_others_is_settled_by_none(late):
    assert order_of(OPEN, sudoku(OPEN, late)).settled_by == ()


def test_a_digit_with_no_other_place_is_settled_by_the_givens():
    assert candidates(ONLY_PLACE, 0) == "12"
    assert is_only_place(ONLY_PLACE, 0, "1")
    assert not is_only_place(OPEN, 0, "1")
    assert order_of(ONLY_PLACE, sudoku(ONLY_PLACE, {0: 5})).settled_by == ()


def test_a_first_cell_of_one_candidate_is_settled_by_the_givens():
    puzzle = "0234" + "0" * 12
    assert order_of(puzzle, sudoku(puzzle, {0: 5})).settled_by == ()


def test_a_word_twice_from_one_forward_pass_clashes_and_from_two_does_not():
    texts = ["the", " cat", " cat", " ran", " ran"]
    (clash,) = doubled_words(Answer(texts, [1, 2, 2, 3, 4]).trace())
    assert (clash.words, clash.start, clash.end, clash.forward_pass) == ("cat cat", 1, 3, 2)


def test_a_word_of_several_tokens_twice_clashes():
    texts = ["K", "ate", " K", "ate", "."]
    (clash,) = doubled_words(Answer(texts, [1, 2, 3, 2, 4]).trace())
    assert (clash.words, clash.start, clash.end, clash.forward_pass) == ("Kate Kate", 0, 4, 2)


def test_a_sign_twice_from_one_forward_pass_clashes_and_from_two_does_not():
    texts = ["a", " par", "rot", ".", ".", " So"]
    (clash,) = doubled_signs(Answer(texts, [1, 2, 2, 3, 3, 4]).trace())
    assert (clash.words, clash.start, clash.end, clash.forward_pass) == ("parrot..", 3, 5, 3)
    assert list(doubled_signs(Answer(texts, [1, 2, 2, 3, 4, 4]).trace())) == []


def test_words_do_not_fit_where_the_second_token_of_one_forward_pass_is_doubted():
    texts = ["a", " green", " wat", "ch", " ran"]
    answer = Answer(texts, [1, 2, 3, 3, 4], doubted=(3, 4))
    (clash,) = words_that_do_not_fit(answer.trace(), [])
    assert (clash.words, clash.start, clash.end, clash.forward_pass) == ("watch", 2, 4, 3)


def test_what_is_a_doubled_word_already_is_not_told_again():
    answer = Answer(["the", " cat", " cat"], [1, 2, 2], doubted=(2,)).trace()
    doubled = list(doubled_words(answer))
    assert list(words_that_do_not_fit(answer, doubled)) == []


def test_a_word_of_no_story_clashes_where_one_forward_pass_filled_two_of_its_tokens():
    texts = ["the", " ribb", "on", "on", " ran"]
    (clash,) = unheard_words(Answer(texts, [1, 2, 3, 3, 4]).trace())
    assert (clash.words, clash.start, clash.end, clash.forward_pass) == ("ribbonon", 1, 4, 3)
    assert list(unheard_words(Answer(texts, [1, 2, 3, 4, 5]).trace())) == []
    assert list(unheard_words(Answer(texts, [1, 2, 3, 3, 4]).trace("a ribbonon"))) == []


def drafted(draft: list[str], committed: list[str]):
    texts = dict(enumerate([*draft, *committed]))
    ids = {text: number for number, text in texts.items()}
    before = SimpleNamespace(draft=[ids[text] for text in draft], committed=())
    after = SimpleNamespace(index=7, draft=(), committed=[ids[text] for text in committed])
    return SimpleNamespace(
        events=[before, after], tokens=texts, config=SimpleNamespace(block_size=16)
    )


@pytest.mark.parametrize(
    ("draft", "committed", "is_seen"),
    [
        ([" by", " the", " the"], [" by", " the", " key"], True),
        ([" by", " the", " a"], [" by", " the", " key"], False),
        ([" by", " the", " the"], [" by", " the", " m"], False),
    ],
)
def test_a_draft_that_says_a_word_twice_is_seen_to_be_wrong(draft, committed, is_seen):
    assert list(checks(drafted(draft, committed))) == [(7, (is_seen, 2))]
