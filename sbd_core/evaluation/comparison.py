"""Models side by side: the same examples, the same masks, a few rows of the table each."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sbd_core.circumstances import circumstances
from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError
from sbd_core.evaluation import tables
from sbd_core.evaluation.api import Evaluation, Sample, evaluate_rows
from sbd_core.evaluation.model_set import ModelSet
from sbd_core.evaluation.perplexity import masked_loss
from sbd_core.tasks import Example


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """See compare(). models: recipe, masked loss, digest of the weights and rows, by name."""

    evaluation: Evaluation
    models: Mapping[str, Mapping[str, Any]]

    def to_data(self) -> dict[str, Any]:
        """Plain JSON data."""
        data = self.evaluation.to_data()
        del data["rows"]
        return {**data, "model": " ".join(self.models), "models": dict(self.models)}

    def __str__(self) -> str:
        lines = [str(self.evaluation)]
        for name, facts in self.models.items():
            cells = "  ".join(f"{task} {loss:.3f}" for task, loss in facts["masked_loss"].items())
            lines.append(f"loss on masked answers, {name}: {cells}")
        return "\n".join(lines)


def compare(
    folders: Sequence[Path],
    config: DecodeConfig,
    sample: Sample,
    num_processes: int | None = None,
    **load_options: Any,
) -> Comparison:
    """Of each model folder its recipe, its loss on masked answers, and rows of the table.

    config: all else of how the rows decode. load_options: as of load(). Raises ArgumentError.
    """
    for folder in folders:
        if not folder.is_dir():
            raise ArgumentError("compare", "must be folders of models", str(folder))
    sources = dict(zip(_names(folders), map(str, folders), strict=True))
    models = ModelSet(sources, **load_options)
    configs, suites = tables.compared_configs(config), sample.suites()
    # First what is quick and can fail.
    facts = {name: _facts(Path(folder), suites, config) for name, folder in sources.items()}
    rows = {f"{name} {row}": (name, configs[row]) for name in sources for row in configs}
    num_answers = len(rows) * sum(map(len, suites.values()))
    runner = models.runner(num_answers, sample.batch_size, num_processes)
    evaluation = evaluate_rows(models[next(iter(sources))], rows, sample, runner)
    for name, found in facts.items():
        found["rows"] = tables.rows_data({r: evaluation.rows[f"{name} {r}"] for r in configs})
    return Comparison(evaluation=evaluation, models=facts)


def _names(folders: Sequence[Path]) -> list[str]:
    """The last parts of each path, as many as it takes to keep the names distinct."""
    paths = [folder.resolve().parts for folder in folders]
    for parts in range(1, max(map(len, paths)) + 1):
        names = ["/".join(path[-parts:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    raise ArgumentError("compare", "must be different folders", str(folders[0]))


def _facts(
    folder: Path, suites: Mapping[str, Sequence[Example]], config: DecodeConfig
) -> dict[str, Any]:
    """A model's recipe, its loss on masked answers, and which weights these were."""
    path = folder / "recipe.json"
    try:
        recipe = json.loads(path.read_text("utf-8")) if path.is_file() else None
    except (OSError, ValueError) as error:
        raise ArgumentError("compare", "must have a recipe.json of JSON", str(path)) from error
    losses = masked_loss(folder, suites, config.block_size, config.seed)
    return {
        "recipe": recipe,
        "masked_loss": {task: round(loss, 4) for task, loss in losses.items()},
        "weights_sha256": circumstances(folder).get("weights_sha256"),
    }
