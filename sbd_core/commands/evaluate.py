"""`evaluate`: accuracy and forward passes on held-out examples."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from sbd_core.commands import decoding_flags
from sbd_core.config import DecodeConfig, require_integer
from sbd_core.errors import ArgumentError

if TYPE_CHECKING:
    from sbd_core.evaluation.scoring import Score
    from sbd_core.models.base import SetBlockModel
    from sbd_core.trace import Trace

ROUND = 4
"""Batches of one row before the next row's turn: enough for slots to be filled again."""

HELP = "measure accuracy and forward passes on held-out examples"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `evaluate`."""
    parser.add_argument("--suite", default="all", help="families, comma-separated, or all")
    parser.add_argument("--split", default="test", help="test or train")
    parser.add_argument("--limit", type=int, default=100, help="examples per family")
    parser.add_argument(
        "--batch-size",
        type=int,
        default=32,
        help="examples decoded together; 1 measures tokens per second as one reader sees them",
    )
    parser.add_argument(
        "--table", action="store_true", help="NTP, SBD at two gammas and verify, row by row"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")
    decoding_flags.add_arguments(parser)


def run(arguments: argparse.Namespace) -> None:
    """Decode, check, print a table. Raises our errors."""
    config = decoding_flags.decode_config(arguments, top_k_recorded=0)
    require_integer("limit", arguments.limit, 1)
    require_integer("batch_size", arguments.batch_size, 1)
    if arguments.out is not None and not arguments.out.absolute().parent.is_dir():
        raise ArgumentError("out", "must be in a folder that exists", str(arguments.out))
    from sbd_core.evaluation import report
    from sbd_core.files import write_text
    from sbd_core.models.huggingface import DEFAULT_CHECKPOINT, load
    from sbd_core.models.threads import choose_threads
    from sbd_core.training.corpus import SUITES, family

    names = list(SUITES) if arguments.suite == "all" else arguments.suite.split(",")
    for name in names:
        family(name)
    model = load(arguments.model, device=arguments.device, dtype=arguments.dtype)
    choose_threads(model.num_parameters, arguments.batch_size)
    configs: dict[str, DecodeConfig] = {config.strategy: config}
    if arguments.table:
        configs = report.table_configs(config)
    rows = _measure(model, names, configs, arguments)
    print(report.as_text(rows))
    if arguments.batch_size > 1:
        print(f"decoded {arguments.batch_size} at a time: tokens per second are of the batch")
    folder = Path(arguments.model) if arguments.model else DEFAULT_CHECKPOINT
    result = {
        "model": model.name,
        "split": arguments.split,
        "seed": arguments.seed,
        "block_size": config.block_size,
        "batch_size": arguments.batch_size,
        "tokens_per_second_are": "batched" if arguments.batch_size > 1 else "of one text",
        "rows": {
            row: {"mean": report.summary(scores), "families": [s.to_data() for s in scores]}
            for row, scores in rows.items()
        },
        "circumstances": report.circumstances(folder),
    }
    if arguments.out is not None:
        write_text(arguments.out, json.dumps(result, indent=1) + "\n")
    if arguments.json:
        print(json.dumps(result))


def _measure(
    model: "SetBlockModel",
    names: list[str],
    configs: dict[str, DecodeConfig],
    arguments: argparse.Namespace,
) -> dict[str, list["Score"]]:
    """Scores of every row and family, batch by batch; rows take turns, so all share a load."""
    from tqdm import tqdm

    from sbd_core.decoder import generate, generate_batch
    from sbd_core.evaluation.scoring import held_out, score

    suites = {n: held_out(n, arguments.limit, arguments.seed, arguments.split) for n in names}
    rows: dict[str, list[Score]] = {row: [] for row in configs}
    bar = tqdm(total=len(configs) * len(names) * arguments.limit, unit="answer")
    for config in configs.values():
        generate(model, suites[names[0]][0].prompt, config)
    share = ROUND * arguments.batch_size
    for name, items in suites.items():
        traces: dict[str, list[Trace]] = {row: [] for row in configs}
        for start in range(0, len(items), share):
            prompts = [item.prompt for item in items[start : start + share]]
            for row, config in configs.items():
                done = generate_batch(model, prompts, config, batch_size=arguments.batch_size)
                traces[row] += done
                bar.update(len(done))
        for row in configs:
            rows[row].append(score(name, items, traces[row]))
    bar.close()
    return rows
