"""The rows of the paper's Table 1 for one model, with what the held-out examples leave open:
answers to handwritten prompts, and the perplexity of the next-token head.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbd_core.config import DecodeConfig
from sbd_core.errors import TrainingError
from sbd_core.evaluation import tables
from sbd_core.evaluation.api import MODEL, Evaluation, Sample, evaluate_rows
from sbd_core.evaluation.handwritten_prompts import answer_table, handwritten_prompts
from sbd_core.evaluation.measure import Rows
from sbd_core.evaluation.model_set import ModelSet
from sbd_core.evaluation.perplexity import perplexity
from sbd_core.evaluation.runners import Job, LocalRunner
from sbd_core.evaluation.scoring import Answer, Score, score, tally
from sbd_core.tasks import Example

BASELINE = "baseline"
"""The key of a model trained on next-token prediction only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """See paper_table(). notes: what was left out, a line each."""

    evaluation: Evaluation
    perplexity: Mapping[str, Mapping[str, float]]
    handwritten: Mapping[str, Score]
    answers: Sequence[Mapping[str, Any]]
    notes: Sequence[str] = ()

    def to_data(self) -> dict[str, Any]:
        """Plain JSON data; the keys are those that readers of older results expect."""
        return {
            **self.evaluation.to_data(),
            "perplexity": dict(self.perplexity),
            "own_wording": {row: one.to_data() for row, one in self.handwritten.items()},
            "own_answers": list(self.answers),
        }

    def __str__(self) -> str:
        lines = [str(self.evaluation)]
        if self.handwritten:
            lines.append(tables.as_text({row: [one] for row, one in self.handwritten.items()}))
        for who, values in self.perplexity.items():
            cells = "  ".join(f"{name} {value:.3f}" for name, value in values.items())
            lines.append(f"perplexity of the next-token head, {who}: {cells}")
        return "\n".join(lines)


def paper_table(
    models: ModelSet, config: DecodeConfig, sample: Sample, num_processes: int | None = None
) -> PaperTable:
    """NTP, SBD at several gammas and verify; with a model called BASELINE, its NTP as a row.

    config: all else of how the rows decode. Raises ArgumentError.
    """
    configs = tables.table_configs(config)
    rows = {row: (MODEL, one) for row, one in configs.items()}
    if BASELINE in models.models:
        rows = {tables.BASELINE_ROW: (BASELINE, configs["NTP"]), **rows}
    # First what is quick and can fail.
    suites = sample.suites()
    perplexities, notes = _perplexities(models.folders(), suites)
    num_answers = len(rows) * sum(map(len, suites.values()))
    runner = models.runner(num_answers, sample.batch_size, num_processes)
    evaluation = evaluate_rows(models[MODEL], rows, sample, runner)
    items = [item for item in handwritten_prompts() if item.task in sample.tasks]
    answers = _answers(models, rows, items, sample.batch_size) if items else {}
    return PaperTable(
        evaluation=evaluation,
        perplexity=perplexities,
        handwritten={row: score("own wording", tally(one)) for row, one in answers.items()},
        answers=answer_table(items, answers),
        notes=notes,
    )


def _answers(
    models: ModelSet, rows: Rows, items: Sequence[Example], batch_size: int
) -> dict[str, list[Answer]]:
    local = LocalRunner(models.models)
    return {
        row: local.answers(Job(row, "own wording", model, one, tuple(items), batch_size))
        for row, (model, one) in rows.items()
    }


def _perplexities(
    folders: Mapping[str, Path], suites: Mapping[str, Sequence[Example]]
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Of the next-token head, per task, of each model that is a folder (paper Fig. 4), and notes.

    A model with turns of its own has none: its texts would be framed in tokens it never saw.
    """
    found, notes = {}, []
    for who, folder in folders.items():
        try:
            values = perplexity(folder, suites)
        except TrainingError as error:
            notes.append(f"perplexity left out: {error}")
            continue
        found[who] = {name: round(value, 4) for name, value in values.items()}
    return found, notes
