"""`bench`: wall-clock of our strategies beside transformers generate()."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sbd_core.cli.decoding_flags import NATIVE_HELP
from sbd_core.config import require_integer
from sbd_core.errors import ArgumentError

if TYPE_CHECKING:
    from sbd_core.benchmark.timing import Times
    from sbd_core.models.hf_model import HuggingFaceModel

HELP = "measure wall-clock against transformers generate()"
PROFILED_PROMPTS = 5
"""Prompts a task for what needs no spread: the profile, the share outside the forward."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `bench`."""
    parser.add_argument("--model", metavar="M", help="model folder or hub id (the bundled one)")
    parser.add_argument(
        "--assistant", metavar="M", help="a smaller model of the same tokenizer, for generate()"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--dtype", default="auto", help="auto, float32, bfloat16 or float16")
    parser.add_argument("--native", action="store_true", help=NATIVE_HELP)
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
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")


def run(arguments: argparse.Namespace) -> None:
    """Measure, print a table, write JSON. Raises our errors."""
    for name in ("limit", "rounds", "max_new_tokens"):
        require_integer(name, getattr(arguments, name), 1)
    if arguments.out is not None and not arguments.out.absolute().parent.is_dir():
        raise ArgumentError("out", "must be in a folder that exists", str(arguments.out))
    from sbd_core.benchmark.timing import other_load
    from sbd_core.evaluation.tables import circumstances
    from sbd_core.files import write_text
    from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
    from sbd_core.models.loading import load
    from sbd_core.models.threads import choose_threads

    model = load(
        arguments.model, device=arguments.device, dtype=arguments.dtype, native=arguments.native
    )
    choose_threads(model.num_parameters)
    result: dict[str, Any] = {"model": model.name, "device": model.device}
    result["dtype"] = str(model.model.dtype).removeprefix("torch.")
    result["is_native"] = arguments.native
    with other_load() as load_of_others:
        measure = _shapes if arguments.shape else _profiles if arguments.profile else _measured
        result |= measure(model, arguments)
    result["other_load"] = load_of_others
    folder = Path(arguments.model) if arguments.model else DEFAULT_CHECKPOINT
    result["circumstances"] = circumstances(folder)
    _print(result, arguments)
    if arguments.out is not None:
        write_text(arguments.out, json.dumps(result, indent=1) + "\n")
    if arguments.json:
        print(json.dumps(result))


def _prompts(
    model: "HuggingFaceModel", arguments: argparse.Namespace, limit: int
) -> dict[str, list[tuple[int, ...]]]:
    """{task: token ids of held-out prompts}."""
    from sbd_core.evaluation.scoring import held_out
    from sbd_core.tasks import SUITES

    return {
        name: [
            model.encode(item.prompt, is_raw=False)
            for item in held_out(name, limit, arguments.seed, "test")
        ]
        for name in SUITES
    }


def _measured(model: "HuggingFaceModel", arguments: argparse.Namespace) -> dict[str, Any]:
    """All that a bench finds out."""
    from sbd_core.benchmark.forward_passes import against_matrices, forwards, share_outside_forward
    from sbd_core.benchmark.memory import peak_memory
    from sbd_core.benchmark.methods import ours

    result = _rows(model, arguments)
    result |= {"forwards": forwards(model), "against_matrices": against_matrices(model)}
    tasks = _prompts(model, arguments, min(arguments.limit, PROFILED_PROMPTS))
    prompts = [prompt for items in tasks.values() for prompt in items]
    longest = max(prompts, key=len)
    configs = ours(model, arguments.max_new_tokens)
    result["share_outside_forward"] = {
        name: round(share_outside_forward(model, prompts, config), 4)
        for name, config in configs.items()
    }
    result["peak_memory"] = {
        name: peak_memory(model, longest, config) for name, config in configs.items()
    }
    return result


def _rows(model: "HuggingFaceModel", arguments: argparse.Namespace) -> dict[str, Any]:
    """Every method on every prompt of every task, and which methods were left out."""
    from tqdm import tqdm

    from sbd_core.benchmark import report
    from sbd_core.benchmark.methods import at_best_threads, methods
    from sbd_core.benchmark.timing import time_methods
    from sbd_core.models.loading import load

    assistant = None
    if arguments.assistant is not None:
        assistant = load(arguments.assistant, device=arguments.device, dtype=arguments.dtype)
    found, left_out = methods(model, arguments.max_new_tokens, assistant)
    tasks: dict[str, dict[str, Times]] = {}
    suites = _prompts(model, arguments, arguments.limit)
    found, seconds = at_best_threads(found, next(iter(suites.values()))[0])
    with tqdm(total=sum(map(len, suites.values())), unit="prompt") as bar:
        for name, prompts in suites.items():
            for times in time_methods(found, prompts, arguments.rounds):
                tasks[name] = times
                bar.update()
    rows = {method.name: report.row(method.name, found[0].name, tasks) for method in found}
    return {"rows": rows, "left_out": left_out, "baseline_seconds_by_threads": seconds}


def _profiles(model: "HuggingFaceModel", arguments: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds a forward pass of each strategy by part."""
    from sbd_core.benchmark.methods import ours
    from sbd_core.benchmark.profile import profile

    tasks = _prompts(model, arguments, min(arguments.limit, PROFILED_PROMPTS))
    prompts = [prompt for items in tasks.values() for prompt in items]
    configs = ours(model, arguments.max_new_tokens)
    return {"rows": {name: profile(model, prompts, config) for name, config in configs.items()}}


def _shapes(model: "HuggingFaceModel", arguments: argparse.Namespace) -> dict[str, Any]:
    """Passes of random weights; the model lends the pattern of a decode of its own."""
    from sbd_core.benchmark.methods import ours
    from sbd_core.benchmark.synthetic_shapes import BLOCK_SIZE, measured_shape, recorded_pattern

    place = model.model.device
    config = next(
        (c for c in ours(model, arguments.max_new_tokens).values() if c.strategy == "sbd"), None
    )
    if config is None or config.block_size != BLOCK_SIZE:
        rule = f"must be trained on blocks of {BLOCK_SIZE} for its decode to be replayed"
        raise ArgumentError("model", rule, model.name)
    [prompt] = _prompts(model, arguments, 1)["math"]
    shape = "llama-3.1-8b" if place.type == "cuda" else "sbd-nano"
    pattern = recorded_pattern(model, prompt, config)
    found, left_out = measured_shape(shape, place, pattern, is_native=arguments.native)
    return {"shapes": found, "left_out": left_out}


def _print(result: dict[str, Any], arguments: argparse.Namespace) -> None:
    from sbd_core.benchmark import report

    if arguments.shape:
        print(report.shapes_as_text(result))
        return
    if not arguments.profile:
        print(report.as_text(result))
        return
    for name, row in result["rows"].items():
        print(f"{name}: {row['total_milliseconds']:.2f} ms a forward pass", end="")
        print(f", {100 * row['share_outside_forward']:.1f} % outside the forward")
        for part, milliseconds in sorted(row["milliseconds"].items(), key=lambda item: -item[1]):
            print(f"    {part:<18}{milliseconds:>8.3f}")
    print(report.load_line(result["other_load"]))
