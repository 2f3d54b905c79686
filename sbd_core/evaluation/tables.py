"""Comparisons: the paper's Table 1, a sweep of every solver, and models side by side.

The handwritten prompts are in handwritten_prompts.json, a list of objects with three strings:
family (name of a task), prompt, and case (data that the task's checker needs).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from sbd_core.config import DecodeConfig
from sbd_core.environment import environment
from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.evaluation.api import MODEL, Evaluation, evaluate_rows
from sbd_core.evaluation.losses import masked_loss, perplexity
from sbd_core.evaluation.runners import Job, LocalRunner, ModelSet
from sbd_core.evaluation.scoring import Sample, Score, as_text, rows_data, score, tally
from sbd_core.json_node import json_of
from sbd_core.solvers import SOLVERS, EntropyBound, EntropyBoundFromLeft, Solver, make_solver
from sbd_core.tasks import Example

# The rows of the paper's Table 1 with its gammas for reasoning, our own solver, and verify.
TABLE = {
    "NTP": ("ntp", EntropyBound()),
    "SBD gamma 0.1": ("sbd", EntropyBound(gamma=0.1)),
    "SBD gamma 0.35": ("sbd", EntropyBound(gamma=0.35)),
    "SBD from the left, gamma 0.02": ("sbd", EntropyBoundFromLeft(gamma=0.02)),
    "SBD from the left, gamma 0.1": ("sbd", EntropyBoundFromLeft(gamma=0.1)),
    "verify": ("verify", EntropyBound()),
}
COMPARED = ("NTP", "SBD gamma 0.1", "SBD from the left, gamma 0.1", "verify")
"""Rows of TABLE by which models are compared."""


BASELINE_ROW = "NTP-trained, NTP"


def table_configs(base: DecodeConfig) -> dict[str, DecodeConfig]:
    """Make a config for each row of TABLE. base: all settings except strategy and solver."""
    return {
        row: replace(base, strategy=strategy, solver=solver)  # type: ignore[arg-type]
        for row, (strategy, solver) in TABLE.items()
    }


def sweep_configs(base: DecodeConfig) -> dict[str, DecodeConfig]:
    """Make configs for NTP, verify and all of sweep_solvers(). base: see table_configs()."""
    return {
        "NTP": replace(base, strategy="ntp"),
        "verify": replace(base, strategy="verify"),
        **{
            f"{curve} {setting}": replace(base, strategy="sbd", solver=solver)
            for curve, setting, solver in sweep_solvers()
        },
    }


def sweep_solvers() -> Iterator[tuple[str, str, Solver]]:
    """Yield (name, value of the parameter, solver) for every point of the sweep.

    The sweep varies the first parameter of each solver. A solver without parameters has one point,
    whose value is "default".
    """
    for name, rule in SOLVERS.items():
        settings = fields(rule)
        if not settings:
            yield name, "default", rule()
            continue
        for value in rule.swept_values:
            yield name, f"{value:g}", make_solver(name, {settings[0].name: value})


HANDWRITTEN = Path(__file__).with_name("handwritten_prompts.json")


def handwritten_prompts() -> list[Example]:
    """Read the handwritten prompts, as examples with an empty answer."""
    rows = json.loads(HANDWRITTEN.read_text("utf-8"))
    return [Example(row["family"], row["prompt"], "", row["case"]) for row in rows]


BASELINE = "baseline"
"""The key of a model trained on next-token prediction only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """Result of paper_table().

    perplexity: {name of a model with a folder: {task: perplexity of the causal head}} (Fig. 4).
    handwritten: {name of a configuration: score on the handwritten prompts}.
    answers: for each handwritten prompt, the answers with all configurations.
    notes: one line for each perplexity that was left out.
    """

    evaluation: Evaluation
    perplexity: Mapping[str, Mapping[str, float]]
    handwritten: Mapping[str, Score]
    answers: Sequence[Mapping[str, Any]]
    notes: Sequence[str] = ()

    def to_data(self) -> dict[str, Any]:
        """Return the results as JSON data, with the keys of older results."""
        return {
            **self.evaluation.to_data(),
            "perplexity": dict(self.perplexity),
            "own_wording": {row: one.to_data() for row, one in self.handwritten.items()},
            "own_answers": list(self.answers),
        }

    def __str__(self) -> str:
        lines = [str(self.evaluation)]
        if self.handwritten:
            lines.append(as_text({row: [one] for row, one in self.handwritten.items()}))
        for who, values in self.perplexity.items():
            cells = "  ".join(f"{name} {value:.3f}" for name, value in values.items())
            lines.append(f"perplexity of the next-token head, {who}: {cells}")
        return "\n".join(lines)


def paper_table(
    models: ModelSet, config: DecodeConfig, sample: Sample, num_processes: int | None = None
) -> PaperTable:
    """Evaluate the configurations of TABLE: NTP, SBD at several gammas, and verify.

    models: must include MODEL. If they include BASELINE, NTP is measured with BASELINE too.
    config: all settings except strategy and solver. num_processes: see ModelSet.runner().
    Raises ArgumentError.
    """
    configs = table_configs(config)
    rows = {row: (MODEL, one) for row, one in configs.items()}
    if BASELINE in models.models:
        rows = {BASELINE_ROW: (BASELINE, configs["NTP"]), **rows}
    # Quick steps that can fail come first.
    examples_by_task = sample.examples_by_task()
    perplexities, notes = {}, []
    for who, folder in models.folders().items():
        try:
            values = perplexity(folder, examples_by_task)
            perplexities[who] = {name: round(value, 4) for name, value in values.items()}
        except TrainingError as error:
            notes.append(f"perplexity left out: {error}")
    num_answers = len(rows) * sum(map(len, examples_by_task.values()))
    runner = models.runner(num_answers, sample.batch_size, num_processes)
    evaluation = evaluate_rows(models[MODEL], rows, sample, runner)
    items = tuple(item for item in handwritten_prompts() if item.task in sample.tasks)
    local = LocalRunner(models.models)
    answers = {
        row: local.answers(Job(row, "own wording", model, one, items, sample.batch_size))
        for row, (model, one) in (rows if items else {}).items()
    }
    return PaperTable(
        evaluation=evaluation,
        perplexity=perplexities,
        handwritten={row: score("own wording", tally(one)) for row, one in answers.items()},
        answers=[
            {
                "family": item.task,
                "prompt": item.prompt,
                "answers": {
                    row: {"text": one[index].text, "is_right": one[index].is_right}
                    for row, one in answers.items()
                },
            }
            for index, item in enumerate(items)
        ],
        notes=notes,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Result of compare().

    models: {model name: {"recipe", "masked_loss", "weights_sha256", "rows"}}. The rows are the
        result of rows_data() for the configurations COMPARED.
    """

    evaluation: Evaluation
    models: Mapping[str, Mapping[str, Any]]

    def to_data(self) -> dict[str, Any]:
        """Return the results as JSON data, with each model's rows under the model's name."""
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
    """Compare model folders by recipe, masked loss, and scores of the configurations COMPARED.

    config: all settings except strategy and solver.
    num_processes: see ModelSet.runner(). load_options: arguments of load().
    Raises ArgumentError.
    """
    for folder in folders:
        if not folder.is_dir():
            raise ArgumentError("compare", "must be folders of models", str(folder))
    sources = dict(zip(_names(folders), map(str, folders), strict=True))
    models = ModelSet(sources, **load_options)
    examples_by_task, configs = sample.examples_by_task(), table_configs(config)
    # Quick steps that can fail come first.
    facts = {
        name: _facts(Path(folder), examples_by_task, config) for name, folder in sources.items()
    }
    rows = {f"{name} {row}": (name, configs[row]) for name in sources for row in COMPARED}
    num_answers = len(rows) * sum(map(len, examples_by_task.values()))
    runner = models.runner(num_answers, sample.batch_size, num_processes)
    evaluation = evaluate_rows(models[next(iter(sources))], rows, sample, runner)
    for name, described in facts.items():
        described["rows"] = rows_data({r: evaluation.rows[f"{name} {r}"] for r in COMPARED})
    return Comparison(evaluation=evaluation, models=facts)


def _names(folders: Sequence[Path]) -> list[str]:
    """Name each folder by the end of its path, just long enough to tell all of them apart.

    Raises ArgumentError if a folder is given twice.
    """
    paths = [folder.resolve().parts for folder in folders]
    for parts in range(1, max(map(len, paths)) + 1):
        names = ["/".join(path[-parts:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    raise ArgumentError("compare", "must be different folders", str(folders[0]))


def _facts(
    folder: Path, examples_by_task: Mapping[str, Sequence[Example]], config: DecodeConfig
) -> dict[str, Any]:
    """Return a model's recipe, loss on masked answers of each task, and digest of the weights."""
    path = folder / "recipe.json"
    try:
        recipe = json_of(path.read_text("utf-8")) if path.is_file() else None
    except (OSError, ValueError) as error:
        raise ArgumentError("compare", "must have a valid recipe.json", str(path)) from error
    losses = masked_loss(folder, examples_by_task, config.block_size, config.seed)
    return {
        "recipe": recipe,
        "masked_loss": {task: round(loss, 4) for task, loss in losses.items()},
        "weights_sha256": environment(folder).get("weights_sha256"),
    }
