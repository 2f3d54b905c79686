"""evaluate(): accuracy and forward passes of a model on held-out examples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sbd_core.circumstances import circumstances
from sbd_core.config import DecodeConfig, require_integer
from sbd_core.errors import ArgumentError
from sbd_core.evaluation import tables
from sbd_core.evaluation.measure import Rows, measure
from sbd_core.evaluation.runners import LocalRunner, Runner
from sbd_core.evaluation.scoring import Score
from sbd_core.models.protocol import SetBlockModel
from sbd_core.tasks import SPLITS, SUITES, Example, Split, held_out, task

MAX_LIMIT = 1_000_000
"""Examples a task; all of them are held in memory."""

MODEL = "model"
"""The key of the model that is evaluated, where others stand beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Which held-out examples, and how many are decoded together.

    limit: distinct examples a task. data_seed: of their generators; the same seed, the same
    examples. What is drawn while decoding comes from the config's seed and the example.
    """

    tasks: tuple[str, ...] = SUITES
    limit: int = 100
    data_seed: int = 0
    split: Split = "test"
    batch_size: int = 32

    def __post_init__(self) -> None:
        if not self.tasks:
            raise ArgumentError("tasks", "must be a list of at least one task name", self.tasks)
        for name in self.tasks:
            task(name)
        if self.split not in SPLITS:
            raise ArgumentError("split", f"must be one of {', '.join(SPLITS)}", self.split)
        require_integer("limit", self.limit, 1, MAX_LIMIT)
        require_integer("data_seed", self.data_seed, 0)
        require_integer("batch_size", self.batch_size, 1)

    def suites(self) -> dict[str, list[Example]]:
        """The examples by task."""
        return {name: held_out(name, self.limit, self.data_seed, self.split) for name in self.tasks}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Scores by row (a model and how it decodes) and task. str() is a table for people."""

    model: str
    sample: Sample
    block_size: int
    seed: int
    is_native: bool
    rows: Mapping[str, Sequence[Score]]
    num_processes: int
    circumstances: Mapping[str, Any]

    def to_data(self) -> dict[str, Any]:
        """Plain JSON data, with machine and versions; the form of assets/results/."""
        batch_size = self.sample.batch_size
        return {
            "model": self.model,
            "split": self.sample.split,
            "seed": self.seed,
            "data_seed": self.sample.data_seed,
            "block_size": self.block_size,
            "batch_size": batch_size,
            "is_native": self.is_native,
            "tokens_per_second_are": "batched" if batch_size > 1 else "of one text",
            "rows": tables.rows_data(self.rows),
            "processes": self.num_processes,
            "circumstances": dict(self.circumstances),
        }

    def __str__(self) -> str:
        return tables.as_text(self.rows)


def evaluate(
    model: SetBlockModel,
    tasks: Sequence[str] = SUITES,
    config: DecodeConfig | Mapping[str, DecodeConfig] | None = None,
    *,
    limit: int = 100,
    data_seed: int = 0,
    split: Split = "test",
    batch_size: int = 32,
    runner: Runner | None = None,
    shows_progress: bool = True,
) -> Evaluation:
    """Decode held-out examples of `tasks` and score the answers with each task's checker.

    config: one way to decode, or several by the names of their rows; None is DecodeConfig().
    limit, data_seed, split, batch_size: see Sample. The scores do not depend on batch_size,
    tokens per second do: 1 measures what one reader sees. runner: what answers, by default
    `model` in this process. shows_progress: a progress bar on standard error. Raises ArgumentError.
    """
    if isinstance(tasks, str):
        raise ArgumentError("tasks", "must be a list of at least one task name", tasks)
    sample = Sample(
        tasks=tuple(tasks), limit=limit, data_seed=data_seed, split=split, batch_size=batch_size
    )
    configs = dict(config) if isinstance(config, Mapping) else _row(config or DecodeConfig())
    if not configs:
        raise ArgumentError("config", "must be a DecodeConfig or at least one by name", config)
    rows = {row: (MODEL, one) for row, one in configs.items()}
    runner = runner or LocalRunner({MODEL: model})
    return evaluate_rows(model, rows, sample, runner, shows_progress=shows_progress)


def evaluate_rows(
    model: SetBlockModel,
    rows: Rows,
    sample: Sample,
    runner: Runner,
    *,
    shows_progress: bool = True,
) -> Evaluation:
    """evaluate() with rows of several models, all of which the runner has.

    model: the one whose name, weights and settings the result reports.
    """
    from tqdm import tqdm

    suites = sample.suites()
    first = next(iter(rows.values()))[1]
    total = len(rows) * sum(map(len, suites.values()))
    with tqdm(total=total, unit="answer", disable=not shows_progress) as bar:
        scores = measure(rows, suites, sample.batch_size, runner, bar.update)
    found = circumstances(getattr(model, "folder", None))
    if runner.num_processes > 1:
        found["threads"] = 1
    return Evaluation(
        model=model.name,
        sample=sample,
        block_size=first.block_size,
        seed=first.seed,
        is_native=getattr(model, "is_native", False),
        rows=scores,
        num_processes=runner.num_processes,
        circumstances=found,
    )


def _row(config: DecodeConfig) -> dict[str, DecodeConfig]:
    return {config.strategy: config}
