"""A visitor's own sudoku: what becomes a prompt, and the sentence for what does not."""

import pytest

from sbd_core.errors import ArgumentError
from ui.decode.form import message_of
from ui.decode.puzzles import puzzle_prompt

BAD_PUZZLES = {
    "letters": ("abcd000000000000", "The puzzle cells must be 1 to 4, or 0 or . for a blank; got"),
    "a 5": ("5000000000000000", "The puzzle cells must be 1 to 4"),
    "15 cells": ("123434122143432", "The puzzle must have 16 cells, not 15; got"),
    "empty": ("", "The puzzle must have 16 cells, not 0."),
    "impossible": ("1100000000000000", "The puzzle is impossible: no grid keeps its digits"),
    "ambiguous": ("1234000000000000", "The puzzle has more than one solution, 1234"),
    "a list": (["1"], "The puzzle must be a text of at most 100 characters"),
    "1 MB": ("1" * 2**20, "The puzzle must be a text of at most 100 characters"),
}


@pytest.mark.parametrize("name", BAD_PUZZLES)
def test_a_puzzle_without_one_answer_gets_one_sentence(name):
    text, message = BAD_PUZZLES[name]
    with pytest.raises(ArgumentError) as caught:
        puzzle_prompt(text)
    said = message_of(caught.value)
    assert said.startswith(message)
    assert len(said) < 400


def test_a_puzzle_with_one_solution_becomes_the_prompt_the_model_knows():
    assert puzzle_prompt("1... .41. 2.4. ..21") == "Solve this 4x4 sudoku: 1000041020400021"
