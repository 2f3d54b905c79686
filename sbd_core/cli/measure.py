"""The commands that measure: evaluate, lm-eval, bench, roofline."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from sbd_core.cli import Command, decoding_flags
from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError, require_integer
from sbd_core.files import require_writable, write_bytes, write_text
from sbd_core.roofline import DEVICES, Calibrated, Mode, slowdown, speedup

if TYPE_CHECKING:
    from sbd_core.evaluation import Evaluation
    from sbd_core.evaluation.open_requests import RequestSet
    from sbd_core.evaluation.tables import Comparison, PaperTable
    from sbd_core.shared_work import Journal

NUM_FOR_GAMMAS = 24


def _evaluate_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--suite", default="all", help="tasks, comma-separated, or all")
    parser.add_argument("--split", default="test", help="test or train")
    parser.add_argument("--limit", type=int, default=100, help="examples per task")
    parser.add_argument(
        "--data-seed", type=int, default=0, help="seed of the examples; --seed is for decoding"
    )
    parser.add_argument("--batch-size", type=int, default=32, help="examples decoded together")
    _add_comparisons(parser)
    parser.add_argument("--processes", type=int, help="workers, one thread each (as pays off)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")
    decoding_flags.add_arguments(parser)


def _add_comparisons(parser: argparse.ArgumentParser) -> None:
    """Add the flags that make `evaluate` measure several configs or models."""
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
    which.add_argument(
        "--requests",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="open requests (records with a prompt) instead of tasks: tokens per forward pass, "
        "agreement with the causal head, loops; for IFEval's also whether instructions are "
        "followed. With --out a stopped run resumes, processes of torchrun share the work, and "
        "answers are written beside the results",
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


def _evaluate(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """Run `evaluate`: print a table and return the results. Raises SetBlockDecodingError.

    If several processes share the work, one of them returns the results, the others None.
    """
    config = decoding_flags.decode_config(arguments, top_k_recorded=0)
    _check_evaluation(arguments)

    from sbd_core.evaluation.runners import UnfinishedError

    if arguments.requests is not None:
        return _run_requests(arguments, config)
    try:
        evaluation, journal = _evaluated(arguments, config)
    except UnfinishedError:
        return None  # the process that ends last has the answers of all
    print(evaluation)
    for note in getattr(evaluation, "notes", ()):
        print(note, file=sys.stderr)
    data = evaluation.to_data()
    if arguments.out is not None:
        write_text(arguments.out, json.dumps(data, indent=1) + "\n")
    if journal is not None:
        journal.clear()
    return data


def _request_sets(arguments: argparse.Namespace) -> "list[RequestSet]":
    """Read the first --limit requests of each file, each with the check of its answer."""
    from sbd_core.decoding.prompt_files import read_prompts
    from sbd_core.evaluation.open_requests import RequestSet, check_of

    sets = []
    for file in arguments.requests:
        rows = read_prompts("requests", file)[: arguments.limit]
        checks = [check_of(row) for row in rows]
        sets.append(RequestSet(file.stem, [row["prompt"] for row in rows], checks))
    if len({each.name for each in sets}) < len(sets):
        rule = "must be files with different names"
        raise ArgumentError("requests", rule, [str(file) for file in arguments.requests])
    return sets


def _run_requests(arguments: argparse.Namespace, config: DecodeConfig) -> dict[str, Any] | None:
    """Measure every config on files of requests. The first process prints and returns results."""
    from tqdm import tqdm

    from sbd_core.decoding.prompt_files import read_prompts
    from sbd_core.environment import environment
    from sbd_core.evaluation.open_requests import clear_journals, measure_requests, num_answers
    from sbd_core.models.backends.choose import fused_backend
    from sbd_core.models.backends.llama.weights import has_known_shape
    from sbd_core.models.loading import load
    from sbd_core.models.runtime import choose_threads
    from sbd_core.shared_work import Share

    require_integer("limit", arguments.limit, 1)
    sets = _request_sets(arguments)
    others = [] if arguments.gammas_on is None else read_prompts("gammas-on", arguments.gammas_on)
    for_gammas = [row["prompt"] for row in others[:NUM_FOR_GAMMAS]]
    share = Share.from_environment()
    device = share.device(arguments.device)
    model = load(arguments.model, device=device, dtype=arguments.dtype)
    choose_threads(model.num_parameters, arguments.batch_size)
    is_plain = model.dtype == "float32" and has_known_shape(model.model)
    if arguments.batch_size > 1 and is_plain:
        model.backend = fused_backend(model)  # several times as fast for many texts at a time
    with tqdm(total=num_answers(sets, len(for_gammas)), unit="answer") as bar:
        measured = measure_requests(
            model,
            sets,
            config,
            for_gammas=for_gammas,
            batch_size=arguments.batch_size,
            out=arguments.out,
            rank=share.rank,
            advance=bar.update,
        )
    share.wait()  # nobody reads the journals any more
    if share.rank:
        return None  # the first process writes what all have found
    data = {
        "model": model.name,
        "weights": dict(model.weights),
        "runs_on": model.runs_on,
        "gammas_on": arguments.gammas_on and arguments.gammas_on.stem,
        "block_size": config.block_size,
        "max_new_tokens": config.max_new_tokens,
        "batch_size": arguments.batch_size,
        "processes": share.num_processes,
        **measured.to_data(),
        "circumstances": environment(model.folder),
    }
    print(measured)
    if arguments.out is not None:
        answers = arguments.out.with_suffix(".answers.jsonl.gz")
        write_bytes(answers, measured.packed_answers())
        data["answers"] = answers.name
        write_text(arguments.out, json.dumps(data, indent=1) + "\n")
        clear_journals(arguments.out)
    return data


def _evaluated(
    arguments: argparse.Namespace, config: DecodeConfig
) -> "tuple[Evaluation | PaperTable | Comparison, Journal | None]":
    """Evaluate the model. Returns (results, the journal to clear afterwards or None)."""
    from sbd_core.decoding.api import resolve_defaults
    from sbd_core.evaluation import Sample
    from sbd_core.evaluation.api import MODEL, evaluate_rows
    from sbd_core.evaluation.runners import LocalRunner, ModelSet, SharedRunner, journal_of
    from sbd_core.evaluation.tables import BASELINE, compare, paper_table, sweep_configs
    from sbd_core.models.runtime import choose_threads
    from sbd_core.shared_work import Share
    from sbd_core.tasks import TASKS

    sample = Sample(
        tasks=tuple(TASKS) if arguments.suite == "all" else tuple(arguments.suite.split(",")),
        limit=arguments.limit,
        data_seed=arguments.data_seed,
        split=arguments.split,
        batch_size=arguments.batch_size,
    )
    share = Share.from_environment()
    loading = {"device": share.device(arguments.device), "dtype": arguments.dtype}
    if arguments.compare:
        return compare(arguments.compare, config, sample, arguments.processes, **loading), None
    sources = {MODEL: arguments.model}
    if arguments.baseline is not None:
        sources[BASELINE] = arguments.baseline
    models = ModelSet(sources, **loading)
    if arguments.table:
        return paper_table(models, config, sample, arguments.processes), None
    # Rows of one model, shared with other processes if there are any and --out says where.
    model = models[MODEL]
    config = resolve_defaults(model, config)
    configs = {str(config.strategy): config}
    if arguments.sweep:
        configs = sweep_configs(config)
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


def _check_evaluation(arguments: argparse.Namespace) -> None:
    """Check the flags that can be checked without a model. Raises ArgumentError."""
    from sbd_core.shared_work import Share

    if arguments.processes is not None:
        require_integer("processes", arguments.processes, 1)
    if arguments.out is not None:
        require_writable("out", arguments.out)
    if Share.from_environment().num_processes > 1:
        if arguments.out is None:
            raise ArgumentError("out", "must be given to processes that share the work", None)
        for name in ("table", "compare", "processes"):
            if getattr(arguments, name):
                rule = "must be left out by processes that share the work"
                raise ArgumentError(name, rule, getattr(arguments, name))
    if arguments.compare and arguments.model:
        raise ArgumentError("compare", "must come without --model", arguments.model)
    if arguments.gammas_on is not None and arguments.requests is None:
        raise ArgumentError("gammas-on", "must come with --requests", str(arguments.gammas_on))
    if arguments.baseline is not None and not arguments.table:
        raise ArgumentError("baseline", "must come with --table", arguments.baseline)


EVALUATE = Command(
    "measure accuracy and forward passes on held-out examples",
    _evaluate_flags,
    _evaluate,
    extra="eval",
)


def _lm_eval_flags(parser: argparse.ArgumentParser) -> None:
    """Add one positional argument that collects all arguments of lm-eval."""
    parser.add_argument("words", nargs="*", metavar="WORDS", help="lm-eval's arguments")


def _lm_eval(arguments: argparse.Namespace) -> None:
    """Run lm-eval, which may raise SystemExit. Raises SetBlockDecodingError."""
    import langdetect
    from lm_eval.__main__ import cli_evaluate

    import sbd_core.hf.harness  # noqa: F401 - importing it makes `sbd` a model of lm-eval

    langdetect.DetectorFactory.seed = 0  # or IFEval's verdicts would vary from run to run
    words, before = with_model(arguments.words), sys.argv
    sys.argv = ["sbd lm-eval", *words]
    try:
        cli_evaluate()
    finally:
        sys.argv = before


def with_model(words: list[str]) -> list[str]:
    """Add `--model sbd` to lm-eval's arguments if they need a model and name none."""
    names = {word.split("=")[0] for word in words}
    if names & {"ls", "validate", "--model", "-M", "--config", "-C", "-h", "--help"}:
        return words
    return [*words, "--model", "sbd"]


LM_EVAL = Command(
    "run lm-eval with this model; all that follows is passed to lm-eval",
    _lm_eval_flags,
    _lm_eval,
    extra="lm-eval",
    has_own_json=True,
    # Words that begin with a dash are lm-eval's too, --help among them.
    parser_options={"prefix_chars": "\0", "add_help": False},
)


def _bench_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="M", help="model folder or hub id (the bundled one)")
    parser.add_argument(
        "--assistant", metavar="M", help="a smaller model of the same tokenizer, for generate()"
    )
    decoding_flags.add_loading(parser)
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


def _bench(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run `bench`: print tables and return the results. Raises SetBlockDecodingError."""
    if arguments.out is not None:
        require_writable("out", arguments.out)
    from sbd_core.benchmark import report
    from sbd_core.benchmark.api import OptionalMethods, Workload, bench
    from sbd_core.models.loading import load
    from sbd_core.models.runtime import choose_threads

    names = ("limit", "rounds", "max_new_tokens", "seed")
    workload = Workload(**{name: getattr(arguments, name) for name in names})
    place = {"device": arguments.device, "dtype": arguments.dtype}
    model = load(arguments.model, **place)
    more = OptionalMethods(
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


BENCH = Command(
    "measure wall-clock and forward passes against transformers generate()",
    _bench_flags,
    _bench,
    extra="eval",
)


def _roofline_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--block-size", type=int, default=16)
    parser.add_argument("--kv-length", type=int, default=1024)
    parser.add_argument("--batch-size", type=int, default=1)
    parser.add_argument("--nfe-speedup", type=float, default=3.4, help="tokens per forward pass")
    parser.add_argument("--device", default="h100-fp8", help=", ".join(DEVICES))
    parser.add_argument("--model", metavar="M", help="model whose shape counts (Llama-3.1-8B)")
    parser.add_argument(
        "--measured", type=Path, metavar="FILE", help="results of bench to calibrate by"
    )


def _roofline(arguments: argparse.Namespace) -> dict[str, Any]:
    """Print and return slowdown and speed-up in each mode of the roofline. Raises ArgumentError."""
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
    if arguments.measured is not None:
        if batch != 1:
            raise ArgumentError("batch_size", "must be 1 with measured times", batch)
        measured = Calibrated.read(arguments.measured)
        rows["calibrated"] = (
            measured.slowdown(block, length),
            measured.speedup(block, gain, length),
        )
    result: dict[str, Any] = {"device": device.name, "source": device.source, "block_size": block}
    result |= {"kv_length": length, "batch_size": batch, "nfe_speedup": gain}
    print(f"{device.name} ({device.source}), block {block}, KV cache {length}, batch {batch}")
    for mode, (cost, faster) in rows.items():
        result[mode] = {"slowdown": round(cost, 6), "speedup": round(faster, 6)}
        kind = "measured" if mode == "calibrated" else "theory"
        print(f"{mode:>10}: slowdown {cost:.3f}, speed-up {faster:.3f}x ({kind})")
    return result


ROOFLINE = Command(
    "cost of a forward pass over a block: the paper's Sec. 4, corrected, or from measured times",
    _roofline_flags,
    _roofline,
)
