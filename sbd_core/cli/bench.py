"""`bench`: wall-clock of our strategies beside transformers generate()."""

import argparse
import json
from pathlib import Path

from sbd_core.cli.decoding_flags import add_loading
from sbd_core.files import require_writable, write_text

HELP = "measure wall-clock against transformers generate()"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `bench`."""
    parser.add_argument("--model", metavar="M", help="model folder or hub id (the bundled one)")
    parser.add_argument(
        "--assistant", metavar="M", help="a smaller model of the same tokenizer, for generate()"
    )
    add_loading(parser)
    parser.add_argument("--limit", type=int, default=50, help="prompts per task")
    parser.add_argument("--rounds", type=int, default=1, help="of each prompt, the best counts")
    parser.add_argument("--max-new-tokens", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--profile", action="store_true", help="only: a forward pass by operation (torch.profiler)"
    )
    parser.add_argument(
        "--dtypes", action="store_true", help="only: rows and strategies in float32, int8, int4"
    )
    parser.add_argument(
        "--gguf", type=Path, metavar="FILE", help="of --dtypes: the weights for llama-cpp-python"
    )
    parser.add_argument(
        "--shape", action="store_true", help="only: random weights; on a GPU, of Llama-3.1-8B"
    )
    parser.add_argument(
        "--predrafts", action="store_true", help="only: verify with 0 to 4 predrafts, by threshold"
    )
    parser.add_argument(
        "--peers", action="store_true", help="only: forward passes of others' decoding methods"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")


def run(arguments: argparse.Namespace) -> None:
    """Measure, print a table, write JSON. Raises our errors."""
    if arguments.out is not None:
        require_writable("out", arguments.out)
    from sbd_core.benchmark import report
    from sbd_core.benchmark.api import Part, Workload, bench
    from sbd_core.errors import ArgumentError
    from sbd_core.models.loading import load
    from sbd_core.models.threads import choose_threads

    if arguments.gguf is not None and not arguments.dtypes:
        raise ArgumentError("gguf", "requires --dtypes", str(arguments.gguf))
    names = ("limit", "rounds", "max_new_tokens", "seed")
    workload = Workload(**{name: getattr(arguments, name) for name in names})
    place = {"device": arguments.device, "dtype": arguments.dtype}
    model = load(arguments.model, **place)
    assistant = None if arguments.assistant is None else load(arguments.assistant, **place)
    choose_threads(model.num_parameters)
    parts: tuple[Part, ...] = ("dtypes", "shape", "profile", "predrafts", "peers")
    part: Part = next((name for name in parts if getattr(arguments, name)), "methods")
    result = bench(model, workload, part, assistant, arguments.gguf)
    print(report.text(result))
    if arguments.out is not None:
        write_text(arguments.out, json.dumps(result, indent=1) + "\n")
    if arguments.json:
        print(json.dumps(result))
