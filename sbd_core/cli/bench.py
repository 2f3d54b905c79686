"""`bench`: wall-clock of our strategies beside transformers generate()."""

import argparse
import json
from pathlib import Path

from sbd_core.cli.decoding_flags import add_native
from sbd_core.package.files import require_writable, write_text

HELP = "measure wall-clock against transformers generate()"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `bench`."""
    parser.add_argument("--model", metavar="M", help="model folder or hub id (the bundled one)")
    parser.add_argument(
        "--assistant", metavar="M", help="a smaller model of the same tokenizer, for generate()"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--dtype", default="auto", help="auto, float32, bfloat16 or float16")
    add_native(parser)
    parser.add_argument("--limit", type=int, default=50, help="prompts per task")
    parser.add_argument(
        "--rounds", type=int, default=1, help="runs of each prompt, the best counts"
    )
    parser.add_argument("--max-new-tokens", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--profile",
        action="store_true",
        help="where the time of a forward pass goes, and nothing else",
    )
    parser.add_argument(
        "--shape",
        action="store_true",
        help="forward passes of random weights, and nothing else: in the shape of Llama-3.1-8B on "
        "a GPU, in the bundled model's on the CPU",
    )
    parser.add_argument(
        "--predrafts",
        action="store_true",
        help="verify with drafts made ahead, and nothing else: 0, 1, 2 and 4 of them, and how far "
        "a draft goes",
    )
    parser.add_argument(
        "--peers",
        action="store_true",
        help="tokens a forward pass of others' ways to decode, by their definition and ours, and "
        "nothing else",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")


def run(arguments: argparse.Namespace) -> None:
    """Measure, print a table, write JSON. Raises our errors."""
    if arguments.out is not None:
        require_writable("out", arguments.out)
    from sbd_core.benchmark import report
    from sbd_core.benchmark.api import Part, Workload, bench
    from sbd_core.models.loading import load
    from sbd_core.models.threads import choose_threads

    names = ("limit", "rounds", "max_new_tokens", "seed")
    workload = Workload(**{name: getattr(arguments, name) for name in names})
    place = {"device": arguments.device, "dtype": arguments.dtype}
    model = load(arguments.model, native=arguments.native, **place)
    assistant = None if arguments.assistant is None else load(arguments.assistant, **place)
    choose_threads(model.num_parameters)
    parts: tuple[Part, ...] = ("shape", "profile", "predrafts", "peers")
    part: Part = next((name for name in parts if getattr(arguments, name)), "methods")
    result = bench(model, workload, part, assistant)
    print(report.text(result))
    if arguments.out is not None:
        write_text(arguments.out, json.dumps(result, indent=1) + "\n")
    if arguments.json:
        print(json.dumps(result))
