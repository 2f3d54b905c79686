"""`bench`: wall-clock and forward passes of our strategies beside transformers generate()."""

import argparse
import json
from pathlib import Path
from typing import Any

from sbd_core.cli.decoding_flags import add_loading
from sbd_core.files import require_writable, write_text

HELP = "measure wall-clock and forward passes against transformers generate()"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `bench`."""
    parser.add_argument("--model", metavar="M", help="model folder or hub id (the bundled one)")
    parser.add_argument(
        "--assistant", metavar="M", help="a smaller model of the same tokenizer, for generate()"
    )
    add_loading(parser)
    parser.add_argument("--limit", type=int, default=50, help="prompts per task")
    parser.add_argument(
        "--rounds", type=int, default=1, help="timings of each prompt, of which the best counts"
    )
    parser.add_argument("--max-new-tokens", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtypes", action="store_true", help="our strategies in float32 and int8")
    parser.add_argument(
        "--gguf", type=Path, metavar="FILE", help="file of the same weights, to time llama.cpp, too"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure, print tables, write JSON. Raises our errors."""
    if arguments.out is not None:
        require_writable("out", arguments.out)
    from sbd_core.benchmark import report
    from sbd_core.benchmark.api import More, Workload, bench
    from sbd_core.models.loading import load
    from sbd_core.models.threads import choose_threads

    names = ("limit", "rounds", "max_new_tokens", "seed")
    workload = Workload(**{name: getattr(arguments, name) for name in names})
    place = {"device": arguments.device, "dtype": arguments.dtype}
    model = load(arguments.model, **place)
    more = More(
        assistant=None if arguments.assistant is None else load(arguments.assistant, **place),
        gguf=arguments.gguf,
        with_dtypes=arguments.dtypes,
    )
    choose_threads(model.num_parameters)
    result = bench(model, workload, more)
    print(report.text(result))
    if arguments.out is not None:
        write_text(arguments.out, json.dumps(result, indent=1) + "\n")
    return result
