"""`evaluate`: accuracy and forward passes on held-out examples."""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sbd_core.cli import decoding_flags
from sbd_core.config import DecodeConfig, require_integer
from sbd_core.errors import ArgumentError, TrainingError

if TYPE_CHECKING:
    from sbd_core.evaluation.measure import Rows
    from sbd_core.evaluation.runners import Answering
    from sbd_core.evaluation.scoring import Answer, Score
    from sbd_core.tasks import Example

HELP = "measure accuracy and forward passes on held-out examples"
MODEL, BASELINE = "model", "baseline"
MANY_ANSWERS = 1000
"""From here on several processes pay for their start."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `evaluate`."""
    parser.add_argument("--suite", default="all", help="tasks, comma-separated, or all")
    parser.add_argument("--split", default="test", help="test or train")
    parser.add_argument("--limit", type=int, default=100, help="examples per task")
    parser.add_argument(
        "--batch-size",
        type=int,
        default=32,
        help="examples decoded together; 1 measures tokens per second as one reader sees them",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--table",
        action="store_true",
        help="NTP, SBD at two gammas and verify; prompts in our own words; perplexity",
    )
    which.add_argument(
        "--sweep", action="store_true", help="SBD under every solver and its parameters"
    )
    which.add_argument(
        "--compare",
        nargs="+",
        type=Path,
        metavar="FOLDER",
        help="these models side by side: their loss on masked answers, and four rows of the table",
    )
    parser.add_argument(
        "--baseline",
        metavar="FOLDER",
        help="with --table: a model trained on next-token prediction only, as one more row",
    )
    parser.add_argument(
        "--processes",
        type=int,
        help="that share the work, each with one thread and its own copy of the models (one a core "
        "for a small model on the CPU and many answers, else 1)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")
    decoding_flags.add_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Decode, check, print a table. Raises our errors."""
    config = decoding_flags.decode_config(arguments, top_k_recorded=0)
    _check(arguments)
    from sbd_core.evaluation import tables
    from sbd_core.evaluation.scoring import held_out
    from sbd_core.files import write_text
    from sbd_core.tasks import SUITES, task

    names = list(SUITES) if arguments.suite == "all" else arguments.suite.split(",")
    for name in names:
        task(name)
    examiner = _Examiner(arguments)
    suites = {n: held_out(n, arguments.limit, arguments.seed, arguments.split) for n in names}
    result = _asked(arguments, config, examiner.name)
    folder = examiner.folders().get(MODEL)
    if arguments.compare:
        result["models"] = _compared(examiner, suites, config)
    elif arguments.table:
        # First what is quick and can fail.
        result["perplexity"] = _perplexity(examiner.folders(), suites)
        result |= _table(examiner, suites, config)
    else:
        configs = tables.sweep_configs(config) if arguments.sweep else {config.strategy: config}
        rows = {row: (MODEL, one) for row, one in configs.items()}
        result["rows"] = tables.rows_data(examiner.measured(rows, suites))
    result["processes"] = examiner.num_processes
    result["circumstances"] = tables.circumstances(folder)
    if examiner.num_processes > 1:
        result["circumstances"]["threads"] = 1
    if arguments.out is not None:
        write_text(arguments.out, json.dumps(result, indent=1) + "\n")
    if arguments.json:
        print(json.dumps(result))


class _Examiner:
    """The models that were asked for, by name, and what measures them."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        from sbd_core.models.hf_model import load
        from sbd_core.models.threads import choose_threads

        self.batch_size, self._asked = arguments.batch_size, arguments.processes
        self.num_processes = 1
        self._sources: dict[str, str | None] = {MODEL: arguments.model}
        if arguments.compare:
            folders = map(str, arguments.compare)
            self._sources = dict(zip(_names(arguments.compare), folders, strict=True))
        if arguments.baseline is not None:
            self._sources[BASELINE] = arguments.baseline
        device, dtype, native = arguments.device, arguments.dtype, arguments.native
        self._loading = {"device": device, "dtype": dtype, "native": native}
        self._models = {name: load(place, **self._loading) for name, place in self._sources.items()}
        self._largest = max(self._models.values(), key=lambda model: model.num_parameters)
        choose_threads(self._largest.num_parameters, arguments.batch_size)
        compared = [model.name for model in self._models.values()]
        self.name = " ".join(compared) if arguments.compare else self._models[MODEL].name
        self.has_baseline = arguments.baseline is not None

    def folders(self) -> dict[str, Path]:
        """Where each is; one from the hub is left out."""
        from sbd_core.models.hf_model import DEFAULT_CHECKPOINT

        places = {key: Path(source or DEFAULT_CHECKPOINT) for key, source in self._sources.items()}
        return {key: place for key, place in places.items() if place.is_dir()}

    def measured(
        self, rows: "Rows", suites: "Mapping[str, Sequence[Example]]"
    ) -> "dict[str, list[Score]]":
        """Scores of every row and suite, printed, behind a progress bar."""
        from tqdm import tqdm

        from sbd_core.evaluation import tables
        from sbd_core.evaluation.measure import measure

        total = len(rows) * sum(len(items) for items in suites.values())
        with tqdm(total=total, unit="answer") as bar:
            scores = measure(rows, suites, self.batch_size, self._answering(total), bar.update)
        print(tables.as_text(scores))
        return scores

    def answers(self, rows: "Rows", items: "Sequence[Example]") -> "dict[str, list[Answer]]":
        """Every row's answers to a few examples."""
        from sbd_core.evaluation.runners import Here, Job

        here = Here(self._models)
        return {
            row: here.answers(Job(row, "own wording", model, one, tuple(items), self.batch_size))
            for row, (model, one) in rows.items()
        }

    def _answering(self, num_answers: int) -> "Answering":
        from sbd_core.evaluation.runners import Here, InProcesses
        from sbd_core.models.threads import is_small

        count = self._asked or 1
        if self._asked is None and num_answers >= MANY_ANSWERS:
            on_cpu = self._largest.device == "cpu"
            count = os.cpu_count() or 1 if on_cpu and is_small(self._largest.num_parameters) else 1
        self.num_processes = max(self.num_processes, count)
        return (
            Here(self._models) if count == 1 else InProcesses(count, self._sources, self._loading)
        )


def _asked(arguments: argparse.Namespace, config: DecodeConfig, name: str) -> dict[str, Any]:
    """What was asked, as the results file tells it."""
    return {
        "model": name,
        "split": arguments.split,
        "seed": arguments.seed,
        "block_size": config.block_size,
        "batch_size": arguments.batch_size,
        "is_native": arguments.native,
        "tokens_per_second_are": "batched" if arguments.batch_size > 1 else "of one text",
    }


def _check(arguments: argparse.Namespace) -> None:
    require_integer("limit", arguments.limit, 1)
    require_integer("batch_size", arguments.batch_size, 1)
    if arguments.processes is not None:
        require_integer("processes", arguments.processes, 1)
    if arguments.out is not None:
        folder = arguments.out.absolute().parent
        if not folder.is_dir() or not os.access(folder, os.W_OK) or arguments.out.is_dir():
            rule = "must be a file in a folder that exists and can be written"
            raise ArgumentError("out", rule, str(arguments.out))
    if arguments.compare and arguments.model:
        raise ArgumentError("compare", "must come without --model", arguments.model)
    for source in arguments.compare or []:
        if not source.is_dir():
            raise ArgumentError("compare", "must be folders of models", str(source))
    if arguments.baseline is not None and not arguments.table:
        raise ArgumentError("baseline", "must come with --table", arguments.baseline)


def _table(
    examiner: _Examiner, suites: "dict[str, list[Example]]", config: DecodeConfig
) -> dict[str, Any]:
    """The rows of the paper's Table 1, and the same of prompts that no generator made."""
    from sbd_core.evaluation import tables
    from sbd_core.evaluation.handwritten_prompts import came_back, own_wording
    from sbd_core.evaluation.scoring import score, tally

    configs = tables.table_configs(config)
    rows = {row: (MODEL, one) for row, one in configs.items()}
    if examiner.has_baseline:
        rows = {tables.BASELINE_ROW: (BASELINE, configs["NTP"]), **rows}
    scores = examiner.measured(rows, suites)
    items = [item for item in own_wording() if item.task in suites]
    answers = examiner.answers(rows, items) if items else {}
    own_scores = {row: score("own wording", tally(one)) for row, one in answers.items()}
    if own_scores:
        print(tables.as_text({row: [one] for row, one in own_scores.items()}))
    return {
        "rows": tables.rows_data(scores),
        "own_wording": {row: one.to_data() for row, one in own_scores.items()},
        "own_answers": came_back(items, answers),
    }


def _names(folders: list[Path]) -> list[str]:
    """The last part of each path that tells all of them apart."""
    paths = [folder.resolve().parts for folder in folders]
    for parts in range(1, max(map(len, paths)) + 1):
        names = ["/".join(path[-parts:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    raise ArgumentError("compare", "must be different folders", str(folders[0]))


def _compared(
    examiner: _Examiner, suites: "dict[str, list[Example]]", config: DecodeConfig
) -> dict[str, Any]:
    """Of each model its recipe, its loss on the same masked answers, and rows of the table."""
    from sbd_core.evaluation import tables

    configs, folders = tables.compared_configs(config), examiner.folders()
    # First what is quick and can fail.
    found = {name: _told(folder, suites, config) for name, folder in folders.items()}
    rows = {f"{name} {row}": (name, configs[row]) for name in folders for row in configs}
    scores = examiner.measured(rows, suites)
    for name, told in found.items():
        told["rows"] = tables.rows_data({row: scores[f"{name} {row}"] for row in configs})
        cells = "  ".join(f"{task} {loss:.3f}" for task, loss in told["masked_loss"].items())
        print(f"loss on masked answers, {name}: {cells}")
    return found


def _told(folder: Path, suites: "dict[str, list[Example]]", config: DecodeConfig) -> dict[str, Any]:
    """A model's recipe, its loss on masked answers, and which weights these were."""
    from sbd_core.evaluation import tables
    from sbd_core.evaluation.perplexity import masked_loss

    recipe = folder / "recipe.json"
    try:
        told = json.loads(recipe.read_text("utf-8")) if recipe.is_file() else None
    except (OSError, ValueError) as error:
        raise ArgumentError("compare", "must have a recipe.json of JSON", str(recipe)) from error
    losses = masked_loss(folder, suites, config.block_size, config.seed)
    return {
        "recipe": told,
        "masked_loss": {task: round(loss, 4) for task, loss in losses.items()},
        "weights_sha256": tables.circumstances(folder).get("weights_sha256"),
    }


def _perplexity(
    folders: dict[str, Path], suites: "dict[str, list[Example]]"
) -> dict[str, dict[str, float]]:
    """Of the next-token head, per task, of each model that is a folder (paper Fig. 4).

    A model with turns of its own has none: its texts would be framed in tokens it never saw.
    """
    from sbd_core.evaluation.perplexity import perplexity

    found = {}
    for who, folder in folders.items():
        try:
            values = perplexity(folder, suites)
        except TrainingError as error:
            print(f"perplexity left out: {error}", file=sys.stderr)
            continue
        found[who] = {name: round(value, 4) for name, value in values.items()}
        cells = "  ".join(f"{name} {value:.3f}" for name, value in values.items())
        print(f"perplexity of the next-token head, {who}: {cells}")
    return found
