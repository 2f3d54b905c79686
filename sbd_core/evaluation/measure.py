"""Held-out examples decoded for every row of a table: a row is a model and how it decodes."""

from collections.abc import Callable, Mapping, Sequence

from sbd_core.config import DecodeConfig
from sbd_core.decoder import generate, generate_batch
from sbd_core.evaluation.scoring import Score, score
from sbd_core.models.base import SetBlockModel
from sbd_core.trace import Trace
from sbd_core.training.corpus import Example

ROUND = 4
"""Batches of one row before the next row's turn: enough for slots to be filled again."""

Rows = Mapping[str, tuple[SetBlockModel, DecodeConfig]]


def measure(
    rows: Rows,
    suites: Mapping[str, Sequence[Example]],
    batch_size: int,
    advance: Callable[[int], object] = lambda count: None,
) -> dict[str, list[Score]]:
    """Scores of every row, one a suite. Rows take turns, so all share the machine's load.

    suites: none empty. advance is told of each number of answers as they are done.
    """
    warm_up = next(iter(suites.values()))[0].prompt
    for model, config in rows.values():
        generate(model, warm_up, config)
    scores: dict[str, list[Score]] = {row: [] for row in rows}
    for name, items in suites.items():
        traces: dict[str, list[Trace]] = {row: [] for row in rows}
        share = ROUND * batch_size
        for start in range(0, len(items), share):
            prompts = [item.prompt for item in items[start : start + share]]
            for row, (model, config) in rows.items():
                done = generate_batch(model, prompts, config, batch_size=batch_size)
                traces[row] += done
                advance(len(done))
        for row in rows:
            scores[row].append(score(name, items, traces[row]))
    return scores
