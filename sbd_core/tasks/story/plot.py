"""What a plot is. Knows none."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plot:
    """Sentences in order, one wording drawn for each."""

    name: str
    adjective: str
    """What the thing is in this plot, as in "a lost kite"; "" when nothing of the kind."""
    beats: tuple[tuple[str, ...], ...]
    is_of_two: bool = False
