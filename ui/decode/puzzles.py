"""A visitor's own sudoku: its prompt, or the sentence that says why it has no one answer."""

from typing import Any

from sbd_core.errors import ArgumentError
from sbd_core.tasks.sudoku import parse_puzzle, prompt_for, solutions

MAX_PUZZLE_CHARACTERS = 100


def puzzle_prompt(text: Any) -> str:
    """The prompt for the 4x4 puzzle `text`, a sign a cell.

    Raises ArgumentError for what is no puzzle, or one with no solution, or with several.
    """
    if not isinstance(text, str) or len(text) > MAX_PUZZLE_CHARACTERS:
        rule = f"must be a text of at most {MAX_PUZZLE_CHARACTERS} characters"
        raise ArgumentError("puzzle", rule, text)
    puzzle = parse_puzzle(text)
    found = solutions(puzzle)
    if not found:
        rule = (
            "is impossible: no grid keeps its digits with each row, column and box holding 1 to 4"
        )
        raise ArgumentError("puzzle", rule, puzzle)
    if len(found) > 1:
        rule = f"has more than one solution, {found[0]} and {found[1]} among them; give more digits"
        raise ArgumentError("puzzle", rule, puzzle)
    return prompt_for(puzzle)
