"""`bench`: wall-clock of our strategies beside transformers generate()."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sbd_core.config import require_integer
from sbd_core.errors import ArgumentError

if TYPE_CHECKING:
    from sbd_core.benchmark.measure import Times
    from sbd_core.models.huggingface import HuggingFaceModel

HELP = "measure wall-clock against transformers generate()"
QUERY_LENGTHS = (1, 2, 4, 8, 16, 32, 64)
CACHE_LENGTHS = (64, 512)
LOADED_CORES = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `bench`."""
    parser.add_argument("--model", metavar="M", help="model folder or hub id (the bundled one)")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--dtype", default="auto", help="auto, float32, bfloat16 or float16")
    parser.add_argument("--limit", type=int, default=50, help="prompts per family")
    parser.add_argument(
        "--rounds", type=int, default=3, help="runs of each prompt, the best counts"
    )
    parser.add_argument("--max-new-tokens", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--profile", action="store_true", help="where the time of a pass goes, and nothing else"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")


def run(arguments: argparse.Namespace) -> None:
    """Measure, print a table, write JSON. Raises our errors."""
    for name in ("limit", "rounds", "max_new_tokens"):
        require_integer(name, getattr(arguments, name), 1)
    if arguments.out is not None and not arguments.out.absolute().parent.is_dir():
        raise ArgumentError("out", "must be in a folder that exists", str(arguments.out))
    from sbd_core.benchmark.measure import other_load
    from sbd_core.evaluation.report import circumstances
    from sbd_core.files import write_text
    from sbd_core.models.huggingface import DEFAULT_CHECKPOINT, load
    from sbd_core.models.threads import choose_threads

    model = load(arguments.model, device=arguments.device, dtype=arguments.dtype)
    choose_threads(model.num_parameters)
    if arguments.profile:
        _profile(model, arguments)
        return
    with other_load() as load_of_others:
        rows, left_out = _rows(model, arguments)
        forwards = _forwards(model)
    result: dict[str, Any] = {"model": model.name, "rows": rows, "left_out": left_out}
    result |= {"forward_milliseconds": forwards, "other_load": load_of_others}
    folder = Path(arguments.model) if arguments.model else DEFAULT_CHECKPOINT
    result["circumstances"] = circumstances(folder)
    _print(result)
    if arguments.out is not None:
        write_text(arguments.out, json.dumps(result, indent=1) + "\n")
    if arguments.json:
        print(json.dumps(result))


def _profile(model: "HuggingFaceModel", arguments: argparse.Namespace) -> None:
    """Print and write the milliseconds a pass of each strategy by part."""
    from sbd_core.benchmark.measure import other_load
    from sbd_core.benchmark.peers import ours
    from sbd_core.benchmark.profile import profile
    from sbd_core.evaluation.report import circumstances
    from sbd_core.evaluation.scoring import held_out
    from sbd_core.files import write_text
    from sbd_core.models.huggingface import DEFAULT_CHECKPOINT
    from sbd_core.training.corpus import FAMILIES

    items = [item for name in FAMILIES for item in held_out(name, arguments.limit, 0, "test")]
    prompts = [model.encode(item.prompt, False) for item in items]
    with other_load() as load_of_others:
        rows = {
            name: profile(model, prompts, config)
            for name, config in ours(model, arguments.max_new_tokens).items()
        }
    for name, row in rows.items():
        print(f"{name}: {row['total_milliseconds']:.2f} ms a pass", end="")
        print(f", {100 * row['share_outside_forward']:.1f} % outside the forward")
        for part, milliseconds in sorted(row["milliseconds"].items(), key=lambda item: -item[1]):
            print(f"    {part:<18}{milliseconds:>8.3f}")
    folder = Path(arguments.model) if arguments.model else DEFAULT_CHECKPOINT
    result = {"model": model.name, "rows": rows, "other_load": load_of_others}
    result["circumstances"] = circumstances(folder)
    if arguments.out is not None:
        write_text(arguments.out, json.dumps(result, indent=1) + "\n")
    if arguments.json:
        print(json.dumps(result))


def _rows(
    model: "HuggingFaceModel", arguments: argparse.Namespace
) -> tuple[dict[str, Any], list[str]]:
    from tqdm import tqdm

    from sbd_core.benchmark.measure import time_peers
    from sbd_core.benchmark.peers import peers
    from sbd_core.evaluation.scoring import held_out
    from sbd_core.training.corpus import SUITES

    found, left_out = peers(model, arguments.max_new_tokens)
    families: dict[str, dict[str, Times]] = {}
    bar = tqdm(total=arguments.limit * len(SUITES), unit="prompt")
    for name in SUITES:
        items = held_out(name, arguments.limit, arguments.seed, "test")
        prompts = [model.encode(item.prompt, is_raw=False) for item in items]
        for times in time_peers(found, prompts, arguments.rounds):
            families[name] = times
            bar.update()
    bar.close()
    return {peer.name: _row(peer.name, found[0].name, families) for peer in found}, left_out


def _row(name: str, baseline: str, families: "dict[str, dict[str, Times]]") -> dict[str, Any]:
    """Tokens a second and the ratio to the baseline, prompt by prompt, per family and mean."""
    from sbd_core.benchmark.measure import median_and_spread

    row: dict[str, Any] = {"families": {}}
    for family, times in families.items():
        ours, base = times[name], times[baseline]
        ratios = [a / b for a, b in zip(ours.rates, base.rates, strict=True)]
        row["families"][family] = {
            "tokens_per_second": _rounded(median_and_spread(ours.rates)),
            "ratio": _rounded(median_and_spread(ratios)),
            "num_prompts": len(ratios),
            "num_equal_to_baseline": ours.num_equal,
        }
    cells = row["families"].values()
    row["mean_ratio"] = round(sum(c["ratio"]["median"] for c in cells) / len(cells), 3)
    return row


def _rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in values.items()}


def _forwards(model: "HuggingFaceModel") -> dict[str, dict[str, float]]:
    """{cache length: {query length: milliseconds}}."""
    from sbd_core.benchmark.measure import forward_seconds

    return {
        str(cached): {
            str(queries): round(1000 * forward_seconds(model, queries, cached), 4)
            for queries in QUERY_LENGTHS
        }
        for cached in CACHE_LENGTHS
    }


def _print(result: dict[str, Any]) -> None:
    families = list(next(iter(result["rows"].values()))["families"])
    print(
        f"{'tokens/s, times generate()':<42}" + "".join(f"{name:>18}" for name in families), "mean"
    )
    for name, row in result["rows"].items():
        cells = [row["families"][family] for family in families]
        texts = [
            f"{c['tokens_per_second']['median']:>10.0f} {c['ratio']['median']:>5.2f}x"
            for c in cells
        ]
        print(f"{name:<42}" + "".join(f"{text:>18}" for text in texts), f"{row['mean_ratio']:.2f}x")
    for line in result["left_out"]:
        print(line)
    for cached, times in result["forward_milliseconds"].items():
        print(
            f"forward, cache {cached}: " + ", ".join(f"{q}: {ms:.2f} ms" for q, ms in times.items())
        )
    others = result["other_load"].get("cores")
    if others is not None and others > LOADED_CORES:
        print(f"warning: other processes kept {others} cores busy; these times are not clean")
