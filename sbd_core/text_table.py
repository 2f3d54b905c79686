"""Lays out rows of cells as lines of text, for tables on a terminal."""

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay out rows of cells as lines. The first column is aligned left, the others right.

    All rows have the same number of cells.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        f"{head:<{widths[0]}}"
        + "".join(f"  {cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        for head, *cells in rows
    )
    return [line.rstrip() for line in lines]
