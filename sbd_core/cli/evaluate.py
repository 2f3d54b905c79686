"""`evaluate`: accuracy and forward passes on held-out examples."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sbd_core.cli import decoding_flags
from sbd_core.config import DecodeConfig, require_integer
from sbd_core.errors import ArgumentError
from sbd_core.package.files import require_writable, write_text

if TYPE_CHECKING:
    from sbd_core.evaluation import Evaluation, Sample
    from sbd_core.evaluation.comparison import Comparison
    from sbd_core.evaluation.model_set import ModelSet
    from sbd_core.evaluation.paper_table import PaperTable
    from sbd_core.package.journal import Journal

HELP = "measure accuracy and forward passes on held-out examples"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `evaluate`."""
    parser.add_argument("--suite", default="all", help="tasks, comma-separated, or all")
    parser.add_argument("--split", default="test", help="test or train")
    parser.add_argument("--limit", type=int, default=100, help="examples per task")
    parser.add_argument(
        "--data-seed", type=int, default=0, help="which examples; --seed is of what decoding draws"
    )
    parser.add_argument(
        "--batch-size",
        type=int,
        default=32,
        help="examples decoded together; 1 measures tokens per second as one reader sees them",
    )
    _add_comparisons(parser)
    parser.add_argument(
        "--processes",
        type=int,
        help="that share the work, each with one thread and its own copy of the models (one a core "
        "for a small model on the CPU and many answers, else 1)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")
    decoding_flags.add_arguments(parser)


def _add_comparisons(parser: argparse.ArgumentParser) -> None:
    """What to measure beside one config of one model."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--table",
        action="store_true",
        help="NTP, SBD at two gammas and verify; handwritten prompts; perplexity",
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


def run(arguments: argparse.Namespace) -> None:
    """Decode, check, print a table. Raises our errors."""
    config = decoding_flags.decode_config(arguments, top_k_recorded=0)
    _check(arguments)

    from sbd_core.evaluation.shared_runner import UnfinishedError

    try:
        found, journal = _evaluated(arguments, config)
    except UnfinishedError:
        return  # the process that ends last has the answers of all
    print(found)
    for note in getattr(found, "notes", ()):
        print(note, file=sys.stderr)
    data = found.to_data()
    if arguments.out is not None:
        write_text(arguments.out, json.dumps(data, indent=1) + "\n")
    if journal is not None:
        journal.clear()
    if arguments.json:
        print(json.dumps(data))


def _evaluated(
    arguments: argparse.Namespace, config: DecodeConfig
) -> "tuple[Evaluation | PaperTable | Comparison, Journal | None]":
    """The results, and the journal of processes that shared the work."""
    from sbd_core.evaluation import Sample
    from sbd_core.evaluation.api import MODEL
    from sbd_core.evaluation.comparison import compare
    from sbd_core.evaluation.model_set import ModelSet
    from sbd_core.evaluation.paper_table import BASELINE, paper_table
    from sbd_core.hf.prompt_files import Share
    from sbd_core.tasks import SUITES

    sample = Sample(
        tasks=SUITES if arguments.suite == "all" else tuple(arguments.suite.split(",")),
        limit=arguments.limit,
        data_seed=arguments.data_seed,
        split=arguments.split,
        batch_size=arguments.batch_size,
    )
    loading = {name: getattr(arguments, name) for name in ("device", "dtype", "native")}
    loading["device"] = Share.of_environment().device(arguments.device)
    if arguments.compare:
        return compare(arguments.compare, config, sample, arguments.processes, **loading), None
    sources = {MODEL: arguments.model}
    if arguments.baseline is not None:
        sources[BASELINE] = arguments.baseline
    models = ModelSet(sources, **loading)
    if arguments.table:
        return paper_table(models, config, sample, arguments.processes), None
    return _of_one_model(arguments, config, models, sample)


def _of_one_model(
    arguments: argparse.Namespace, config: DecodeConfig, models: "ModelSet", sample: "Sample"
) -> "tuple[Evaluation, Journal | None]":
    """Rows of one model, shared with other processes if there are any and --out says where."""
    from sbd_core.evaluation import tables
    from sbd_core.evaluation.api import MODEL, evaluate_rows
    from sbd_core.evaluation.runners import LocalRunner
    from sbd_core.evaluation.shared_runner import SharedRunner, journal_of
    from sbd_core.hf.prompt_files import Share
    from sbd_core.models.threads import choose_threads

    model, share = models[MODEL], Share.of_environment()
    configs: dict[str, DecodeConfig] = {config.strategy: config}
    if arguments.sweep:
        configs = tables.sweep_configs(config)
    rows = {row: (MODEL, one) for row, one in configs.items()}
    if arguments.out is not None:
        journal = journal_of(model, configs, sample, arguments.out, share.rank)
        if share.num_processes > 1 or journal.parts():
            choose_threads(model.num_parameters, sample.batch_size)
            runner = SharedRunner(LocalRunner(models.models), journal, share)
            return evaluate_rows(model, rows, sample, runner), journal
    num_answers = len(configs) * len(sample.tasks) * sample.limit
    own = models.runner(num_answers, sample.batch_size, arguments.processes)
    return evaluate_rows(model, rows, sample, own), None


def _check(arguments: argparse.Namespace) -> None:
    """What can be refused before a model is loaded. Raises ArgumentError."""
    from sbd_core.hf.prompt_files import Share

    if arguments.processes is not None:
        require_integer("processes", arguments.processes, 1)
    if arguments.out is not None:
        require_writable("out", arguments.out)
    if Share.of_environment().num_processes > 1:
        if arguments.out is None:
            raise ArgumentError("out", "must be given to processes that share the work", None)
        for name in ("table", "compare", "processes"):
            if getattr(arguments, name):
                rule = "must be left out by processes that share the work"
                raise ArgumentError(name, rule, getattr(arguments, name))
    if arguments.compare and arguments.model:
        raise ArgumentError("compare", "must come without --model", arguments.model)
    if arguments.baseline is not None and not arguments.table:
        raise ArgumentError("baseline", "must come with --table", arguments.baseline)
