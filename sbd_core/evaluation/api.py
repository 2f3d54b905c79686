"""evaluate(): accuracy and forward passes of a model on held-out examples."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import resolve_defaults
from sbd_core.environment import environment
from sbd_core.errors import ArgumentError
from sbd_core.evaluation.runners import Job, LocalRunner, Runner
from sbd_core.evaluation.scoring import Sample, Score, Tally, as_text, rows_data, score
from sbd_core.models.protocol import SetBlockModel
from sbd_core.tasks import TASKS, Split

Rows = Mapping[str, tuple[str, DecodeConfig]]
"""{row name: (model name, config)}. A row of a table of results is one model with one config."""


MODEL = "model"
"""The key of the evaluated model in a set of models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Result of evaluate(): the scores of each row of a table, which is one model with one config.

    str() gives a table for people.
    block_size, seed: settings of the first row.
    runs_on: backend of the model; "" if unknown.
    rows: {row name: one score per task}.
    circumstances: machine, threads and versions; see environment().
    """

    model: str
    sample: Sample
    block_size: int
    seed: int
    runs_on: str
    rows: Mapping[str, Sequence[Score]]
    num_processes: int
    circumstances: Mapping[str, Any]

    def to_data(self) -> dict[str, Any]:
        """Return settings, scores and circumstances as JSON data, as in assets/results/."""
        batch_size = self.sample.batch_size
        return {
            "model": self.model,
            "split": self.sample.split,
            "seed": self.seed,
            "data_seed": self.sample.data_seed,
            "block_size": self.block_size,
            "batch_size": batch_size,
            "runs_on": self.runs_on,
            "tokens_per_second_are": "batched" if batch_size > 1 else "of one text",
            "rows": rows_data(self.rows),
            "processes": self.num_processes,
            "circumstances": dict(self.circumstances),
        }

    def __str__(self) -> str:
        return as_text(self.rows)


def evaluate(
    model: SetBlockModel,
    tasks: Sequence[str] = tuple(TASKS),
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

    config: None for DecodeConfig(), a DecodeConfig, or {name of a configuration: DecodeConfig}.
    limit, data_seed, split, batch_size: see Sample. The batch size changes tokens per second but no
        score; a batch size of 1 measures the speed of a single text.
    runner: the Runner that answers the examples; None answers with `model` in this process.
    shows_progress: whether to show a progress bar on standard error.
    Raises ArgumentError for an unknown task or another unfit argument.
    """
    if isinstance(tasks, str):
        raise ArgumentError("tasks", "must be a list of at least one task name", tasks)
    sample = Sample(
        tasks=tuple(tasks), limit=limit, data_seed=data_seed, split=split, batch_size=batch_size
    )
    configs = dict(config) if isinstance(config, Mapping) else _row(model, config)
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
    """Evaluate configurations of one or more models; otherwise like evaluate().

    model: the model that the result names and describes.
    rows: {name of a configuration: (model name, config)}; the runner must have every model.
    """
    from tqdm import tqdm

    examples_by_task = sample.examples_by_task()
    size = runner.batches_per_job * sample.batch_size
    # Rows alternate, so that a busy machine affects all of them.
    jobs = (
        Job(row, task, name, config, tuple(items[start : start + size]), sample.batch_size)
        for task, items in examples_by_task.items()
        for start in range(0, len(items), size)
        for row, (name, config) in rows.items()
    )
    tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
    total = len(rows) * sum(map(len, examples_by_task.values()))
    with tqdm(total=total, unit="answer", disable=not shows_progress) as bar:
        for job, tally in runner.tallies(jobs):
            tallies[job.row, job.task] += tally
            bar.update(len(job.items))
    scores = {row: [score(task, tallies[row, task]) for task in examples_by_task] for row in rows}
    first = next(iter(rows.values()))[1]
    circumstances = environment(getattr(model, "folder", None))
    if runner.num_processes > 1:
        circumstances["threads"] = 1
    return Evaluation(
        model=model.name,
        sample=sample,
        block_size=first.block_size,
        seed=first.seed,
        runs_on=getattr(model, "runs_on", ""),
        rows=scores,
        num_processes=runner.num_processes,
        circumstances=circumstances,
    )


def _row(model: SetBlockModel, config: DecodeConfig | None) -> dict[str, DecodeConfig]:
    chosen = resolve_defaults(model, config or DecodeConfig())
    return {str(chosen.strategy): chosen}
