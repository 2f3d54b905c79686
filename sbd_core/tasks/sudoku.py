"""4x4 sudoku puzzles with exactly one solution, as a task.

A puzzle is written as 16 digits, row by row, with 0 for a blank. Each digit is one token, and the
puzzle always ends the prompt, so a cell and its answer are a fixed distance apart. Each solved grid
belongs to one split: no test puzzle has the solution of a training puzzle.
"""

from collections.abc import Iterable
from functools import cache
from random import Random

from sbd_core.tasks.base import (
    Example,
    Phrasings,
    Split,
    draw_wording,
    read_phrasings,
    split_of,
)

NAME = "sudoku"
TEST_PERCENT = 20
NUM_CELLS = 16
NUM_BLANKS = range(4, 11)
BLANKS_WEIGHTS = (1, 1, 2, 3, 5, 6, 4)
UNITS: tuple[tuple[int, ...], ...] = (
    *(tuple(range(4 * row, 4 * row + 4)) for row in range(4)),
    *(tuple(range(column, NUM_CELLS, 4)) for column in range(4)),
    *((corner, corner + 1, corner + 4, corner + 5) for corner in (0, 2, 8, 10)),
)
ASKS = Phrasings.of(read_phrasings(NAME)["asks"])


def solutions(puzzle: str) -> tuple[str, ...]:
    """Find up to two solutions of a puzzle of 16 digits, 0 for a blank, in ascending order."""
    return tuple(grid for grid in grids() if _keeps(grid, puzzle))[:2]


def generate(random: Random, split: Split) -> Example:
    """Make an example: a puzzle whose only solution is a grid that belongs to `split`."""
    solution = random.choice(_grids_of(split))
    exchangeable = _exchangeable(solution)
    num_blanks = random.choices(NUM_BLANKS, BLANKS_WEIGHTS)[0]
    while True:
        blanks = sum(1 << cell for cell in random.sample(range(NUM_CELLS), num_blanks))
        if not any(cells & blanks == cells for cells in exchangeable):
            break
    puzzle = "".join("0" if blanks >> cell & 1 else solution[cell] for cell in range(NUM_CELLS))
    wording = draw_wording(random, split)
    prompt = ASKS.draw(random, wording).format(puzzle=puzzle)
    return Example(NAME, prompt, solution, puzzle, wording)


def check(example: Example, text: str) -> bool:
    """True if `text` is a valid grid of 16 digits that keeps the given digits of the puzzle."""
    return text in grids() and _keeps(text, example.case)


def is_valid(cells: Iterable[str]) -> bool:
    """True if no row, column or box of the 16 cells repeats a digit. 0 is a blank, no digit."""
    cells = list(cells)
    digits = ([cells[cell] for cell in unit if cells[cell] != "0"] for unit in UNITS)
    return all(len(set(unit)) == len(unit) for unit in digits)


@cache
def grids() -> tuple[str, ...]:
    """All 288 solved grids, in ascending order."""
    starts = [""]
    for _ in range(NUM_CELLS):
        longer = (start + digit for start in starts for digit in "1234")
        starts = [start for start in longer if is_valid(start.ljust(NUM_CELLS, "0"))]
    return tuple(starts)


@cache
def _grids_of(split: Split) -> tuple[str, ...]:
    return tuple(grid for grid in grids() if split_of(grid, TEST_PERCENT) == split)


@cache
def _exchangeable(solution: str) -> tuple[int, ...]:
    """Find the minimal sets of cells that another solved grid fills differently.

    A puzzle with this solution has a second one if and only if all cells of such a set are blank. A
    set is a bit mask: bit i stands for cell i.
    """
    smallest: list[int] = []
    differences = (
        sum(1 << cell for cell in range(NUM_CELLS) if grid[cell] != solution[cell])
        for grid in grids()
        if grid != solution
    )
    for cells in sorted(differences, key=lambda cells: cells.bit_count()):
        if not any(smaller & cells == smaller for smaller in smallest):
            smallest.append(cells)
    return tuple(smallest)


def _keeps(grid: str, puzzle: str) -> bool:
    return all(given in ("0", cell) for given, cell in zip(puzzle, grid, strict=True))
