"""A sudoku whose first empty cell is open until others are filled."""

import re
from collections.abc import Iterator

from sbd_core.models.protocol import SetBlockModel
from sbd_core.tasks.base import Example
from sbd_core.tasks.sudoku import NAME, NUM_CELLS, UNITS
from sbd_core.trace import Trace
from scripts.record_learn.examples import drawn, from_presets
from scripts.record_learn.runs import generated, is_right
from ui.gallery.recorded import opening_traces
from ui.learn.recorded import Order

NUM_PUZZLES = 200
DIGITS = "1234"


def order_run(model: SetBlockModel) -> tuple[Trace, Order]:
    """The page's opening run if it shows what order is good for, else another that does.

    Of several the one of fewest candidates, then the one whose cell is filled soonest after it is
    settled, then of most forward passes. If none does: the first that is solved, else the first.
    """
    solved: list[tuple[Trace, Order]] = []
    unsolved: list[tuple[Trace, Order]] = []
    for example, trace in puzzles(model):
        order = order_of(example.case, trace)
        if not is_right(example, trace.text):
            unsolved.append((trace, Order(order.cell, order.candidates)))
            continue
        solved.append((trace, order))
        is_opening = len(solved) == 1 and not unsolved
        if is_opening and order.settled_by and waited(trace, order) == 1:
            break

    def worth(row: tuple[Trace, Order]) -> tuple[int, int, int]:
        trace, order = row
        return -len(order.candidates), -waited(trace, order), trace.num_forwards

    shown = [row for row in solved if row[1].settled_by]
    return max(shown, key=worth) if shown else (solved or unsolved)[0]


def waited(trace: Trace, order: Order) -> int:
    """Forward passes from the one that settled the first empty cell to the one that filled it."""
    calls = {item.position: event.index for event in trace.events for item in event.reveals}
    return calls[order.cell] - max(calls[cell] for cell in order.settled_by)


def puzzles(model: SetBlockModel) -> Iterator[tuple[Example, Trace]]:
    """The opening run if it is a sudoku, then held-out ones."""
    opening = opening_traces().get("sbd")
    cells = re.search(rf"(?:^|\D)([0-4]{{{NUM_CELLS}}})\s*$", opening.prompt) if opening else None
    if opening and cells and "0" in cells[1]:
        yield Example(NAME, opening.prompt, "", cells[1]), opening
    for example in [*from_presets(NAME), *drawn(NAME, NUM_PUZZLES)]:
        yield example, generated(model, example.prompt)


def order_of(puzzle: str, trace: Trace) -> Order:
    """The first empty cell, what its givens leave it, and which earlier cells settle it."""
    first = puzzle.index("0")
    left = candidates(puzzle, first)
    calls = {item.position: event.index for event in trace.events for item in event.reveals}
    digits = [trace.tokens[token_id].strip() for token_id in trace.token_ids[:NUM_CELLS]]
    if len(digits) < NUM_CELLS or not set(range(NUM_CELLS)) <= calls.keys():
        return Order(first, left)
    earlier = [cell for cell in peers(first) if puzzle[cell] == "0" and calls[cell] < calls[first]]
    settled_by: dict[str, int] = {}
    for cell in sorted(earlier, key=lambda cell: (calls[cell], cell)):
        if digits[cell] in left:
            settled_by.setdefault(digits[cell], cell)
    is_open = len(left) > 1 and not is_only_place(puzzle, first, digits[first])
    is_settled = len(settled_by) == len(left) - 1 and digits[first] not in settled_by
    return Order(first, left, tuple(settled_by.values()) if is_open and is_settled else ())


def peers(cell: int) -> list[int]:
    """The other cells of a cell's row, column and box."""
    return sorted({other for unit in UNITS if cell in unit for other in unit} - {cell})


def candidates(puzzle: str, cell: int) -> str:
    """The digits that no given of the cell's row, column and box has."""
    taken = {puzzle[other] for other in peers(cell)}
    return "".join(digit for digit in DIGITS if digit not in taken)


def is_only_place(puzzle: str, cell: int, digit: str) -> bool:
    """Whether the givens leave the digit no other cell in a row, column or box of the cell."""
    return any(
        all(
            puzzle[other] != "0" or digit not in candidates(puzzle, other)
            for other in unit
            if other != cell
        )
        for unit in UNITS
        if cell in unit
    )
