"""The commands that measure: evaluate, lm-eval, bench, roofline."""

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from sbd_core.cli import Command, decoding_flags
from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError, require_integer
from sbd_core.files import require_writable, write_text
from sbd_core.roofline import DEVICES, Mode, slowdown, speedup

if TYPE_CHECKING:
    from sbd_core.evaluation import Harness
    from sbd_core.models.hf_model import HuggingFaceModel

NUM_FOR_GAMMAS = 24


def _evaluate_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--suite", default="all", help="tasks, comma-separated, or all")
    parser.add_argument("--split", default="test", help="test or train")
    parser.add_argument("--limit", type=int, default=100, help="examples per task")
    parser.add_argument(
        "--data-seed", type=int, default=0, help="seed of the examples; --seed is for decoding"
    )
    parser.add_argument("--batch-size", type=int, default=32, help="examples decoded together")
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
        "--requests",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="open requests (records with a prompt) instead of tasks: tokens per forward pass, "
        "agreement with the causal head, loops; for IFEval's also whether instructions are "
        "followed",
    )
    parser.add_argument(
        "--gammas-on",
        type=Path,
        metavar="FILE",
        help="with --requests: choose each solver's gamma first, on the first "
        f"{NUM_FOR_GAMMAS} requests of this file",
    )
    parser.add_argument(
        "--baseline", metavar="FOLDER", help="with --table: a model trained on NTP alone"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write the results as JSON, and each answer beside them as it is made: a stopped run "
        "resumes, and processes of torchrun share the work",
    )
    decoding_flags.add_arguments(parser)


@partial(Command, add_flags=_evaluate_flags, extra="eval")
def evaluate(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """Measure accuracy and forward passes on held-out examples."""
    config = decoding_flags.decode_config(arguments, top_k_recorded=0)
    if arguments.out is not None:
        require_writable("out", arguments.out)
    if arguments.gammas_on is not None and arguments.requests is None:
        raise ArgumentError("gammas-on", "must come with --requests", str(arguments.gammas_on))
    if arguments.baseline is not None and not arguments.table:
        raise ArgumentError("baseline", "must come with --table", arguments.baseline)
    from sbd_core.evaluation import Harness
    from sbd_core.shared_work import Share

    share = Share.from_environment()
    harness = Harness(batch_size=arguments.batch_size, out=arguments.out, share=share)
    measure = _requests if arguments.requests is not None else _examples
    data, text = measure(arguments, config, harness)
    # The first process writes what all have found.
    return None if share.rank else _written(arguments, data, text)


def _loaded(
    arguments: argparse.Namespace, harness: "Harness", source: str | None = None
) -> "HuggingFaceModel":
    device, size = harness.share.device(arguments.device), harness.batch_size
    return decoding_flags.load_model(arguments, source=source, device=device, batch_size=size)


def _written(arguments: argparse.Namespace, data: dict[str, Any], text: str) -> dict[str, Any]:
    """Print the table, write the data to the file --out, and return them."""
    print(text)
    if arguments.out is not None:
        write_text(arguments.out, json.dumps(data, indent=1) + "\n")
    return data


def _requests(
    arguments: argparse.Namespace, config: DecodeConfig, harness: "Harness"
) -> tuple[dict[str, Any], str]:
    from sbd_core.decoding.prompt_files import read_prompts
    from sbd_core.evaluation.requests import as_text, measure_requests
    from sbd_core.models.backends.choose import prepare_for_many_texts

    require_integer("limit", arguments.limit, 1)
    files = {file.stem: file for file in arguments.requests}
    if len(files) < len(arguments.requests):
        rule = "must be files with different names"
        raise ArgumentError("requests", rule, [str(file) for file in arguments.requests])
    requests = {n: read_prompts("requests", f)[: arguments.limit] for n, f in files.items()}
    on = arguments.gammas_on
    rows = [] if on is None else read_prompts("gammas-on", on)[:NUM_FOR_GAMMAS]
    model = _loaded(arguments, harness)
    if harness.batch_size > 1:
        prepare_for_many_texts(model)
    data = measure_requests(model, requests, config, harness, [row["prompt"] for row in rows])
    return {**data, "gammas_on": on and on.stem}, as_text(data["requests"])


def _examples(
    arguments: argparse.Namespace, config: DecodeConfig, harness: "Harness"
) -> tuple[dict[str, Any], str]:
    from sbd_core.decoding.api import resolve_defaults
    from sbd_core.evaluation.api import evaluate, examples_by_task, paper_table, sweep_configs
    from sbd_core.evaluation.scoring import as_text
    from sbd_core.tasks import TASKS

    tasks = list(TASKS) if arguments.suite == "all" else arguments.suite.split(",")
    about = {name: getattr(arguments, name) for name in ("split", "data_seed")}
    examples = examples_by_task(tasks, arguments.limit, **about)
    model = _loaded(arguments, harness)
    if arguments.table:
        source = arguments.baseline
        baseline = None if source is None else _loaded(arguments, harness, source)
        data = paper_table(model, config, examples, harness, baseline, **about)
        lines = [as_text(data["rows"])]
        lines += [
            f"{row}: handwritten {100 * own['accuracy']:.1f} %"
            for row, own in data["own_wording"].items()
        ]
        for name, values in data["perplexity"].items():
            cells = "  ".join(f"{task} {value:.3f}" for task, value in values.items())
            lines.append(f"perplexity of the next-token head, {name}: {cells}")
        return data, "\n".join(lines)
    config = resolve_defaults(model, config)
    configs = sweep_configs(config) if arguments.sweep else {str(config.strategy): config}
    data = evaluate(model, tasks, configs, limit=arguments.limit, harness=harness, **about)
    return data, as_text(data["rows"])


def _lm_eval_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORDS", help="lm-eval's arguments")


@partial(Command, add_flags=_lm_eval_flags, extra="lm-eval", takes_all_words=True)
def lm_eval(arguments: argparse.Namespace) -> None:
    """Run lm-eval with this model; all that follows is passed to lm-eval."""
    import langdetect
    from lm_eval.__main__ import cli_evaluate

    import sbd_core.hf.harness  # noqa: F401 - importing it makes `sbd` a model of lm-eval

    langdetect.DetectorFactory.seed = 0  # or IFEval's verdicts would vary from run to run
    words, before = with_defaults(arguments.words), sys.argv
    sys.argv = ["sbd lm-eval", *words]
    try:
        cli_evaluate()
    finally:
        sys.argv = before


IFEVAL = Path(__file__).parents[1] / "hf" / "ifeval"


def with_defaults(words: list[str]) -> list[str]:
    """Add our model and our tasks to lm-eval's arguments if they run a model and name none."""
    names = {word.split("=")[0] for word in words}
    if names & {"ls", "validate", "--config", "-C", "-h", "--help"}:
        return words
    more = [] if "--include_path" in names else ["--include_path", str(IFEVAL)]
    return [*words, *more, *([] if names & {"--model", "-M"} else ["--model", "sbd"])]


def _bench_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="M", help="model folder or hub id (the bundled one)")
    decoding_flags.add_loading(parser)
    parser.add_argument("--limit", type=int, default=50, help="prompts per task")
    parser.add_argument("--max-new-tokens", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")


@partial(Command, add_flags=_bench_flags, extra="eval")
def bench(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure wall-clock and forward passes against transformers generate()."""
    if arguments.out is not None:
        require_writable("out", arguments.out)
    from sbd_core.benchmark import as_text, bench

    model = decoding_flags.load_model(arguments)
    names = ("limit", "max_new_tokens", "seed")
    result = bench(model, **{name: getattr(arguments, name) for name in names})
    return _written(arguments, result, as_text(result))


def _roofline_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--block-size", type=int, default=16)
    parser.add_argument("--kv-length", type=int, default=1024)
    parser.add_argument("--batch-size", type=int, default=1)
    parser.add_argument("--nfe-speedup", type=float, default=3.4, help="tokens per forward pass")
    parser.add_argument("--device", default="h100-fp8", help=", ".join(DEVICES))
    parser.add_argument("--model", metavar="M", help="model whose shape counts (Llama-3.1-8B)")


@partial(Command, add_flags=_roofline_flags)
def roofline(arguments: argparse.Namespace) -> dict[str, Any]:
    """Cost of a forward pass over a block: the paper's Sec. 4, as published and corrected."""
    if arguments.device not in DEVICES:
        raise ArgumentError("device", f"must be one of {', '.join(DEVICES)}", arguments.device)
    device, shape = DEVICES[arguments.device], None  # the paper's
    if arguments.model is not None:
        from sbd_core.models.model_folder import read_shape

        shape = read_shape(arguments.model)
    block, length, batch = arguments.block_size, arguments.kv_length, arguments.batch_size
    gain = arguments.nfe_speedup
    rows = {
        mode: (
            slowdown(block, length, batch, mode, shape=shape, device=device),
            speedup(block, gain, length, batch, mode, shape=shape, device=device),
        )
        for mode in get_args(Mode)
    }
    result: dict[str, Any] = {"device": device.name, "source": device.source, "block_size": block}
    result |= {"kv_length": length, "batch_size": batch, "nfe_speedup": gain}
    print(f"{device.name} ({device.source}), block {block}, KV cache {length}, batch {batch}")
    for mode, (cost, faster) in rows.items():
        result[mode] = {"slowdown": round(cost, 6), "speedup": round(faster, 6)}
        print(f"{mode:>10}: slowdown {cost:.3f}, speed-up {faster:.3f}x")
    return result
