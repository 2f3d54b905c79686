"""A tiny Qwen3 of random weights, prepared, trained on the code task, and how fast it decodes.

    python -m scripts.training.tiny_qwen3            ten minutes of training, assets/results/
    python -m scripts.training.tiny_qwen3 --minutes 1 --out runs/tiny.json          to try it

The folders of the run are kept: stopped with Ctrl-C and started again with the same flags, it goes
on. Each part is a command of `python -m sbd_core`, shown before it runs; only the model of random
weights is made here.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

from sbd_core.benchmark.timing import other_load
from sbd_core.errors import ArgumentError
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from sbd_core.package.files import require_writable, write_text
from sbd_core.training.checkpoints.state import state_folder
from scripts.tables.results_files import RESULTS
from scripts.training.commands import CommandError, command

NTP_RATIO = 0.3
"""The part of the minutes for next-token prediction, which everything else builds on."""

CHANGES: dict[str, Any] = {
    "tasks": {"code": 1},
    "batch_size": 48,
    "warmup_steps": 30,
    "paper_loss_steps": 300,
}
"""Beside the stages' own recipes: one task, and a batch that makes steps enough of ten minutes."""

DECODINGS: dict[str, Sequence[str]] = {
    "ntp": ("--strategy", "ntp"),
    "verify": ("--strategy", "verify"),
    "predrafts": ("--strategy", "verify", "--num-predrafts", "4", "--draft-threshold", "0.15"),
}
"""What is evaluated, by flags; all three give the same tokens."""


def write_model(folder: Path) -> None:
    """A model folder as somebody else's would be: the bundled tokenizer less its mask token."""
    tokenizer = AutoTokenizer.from_pretrained(DEFAULT_CHECKPOINT, local_files_only=True)
    tokenizer.mask_token = None
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=192,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=3,
        num_key_value_heads=3,
        head_dim=64,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(0)
    Qwen3ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def run(
    folder: Path, minutes: float, limit: int, flags: Sequence[str], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Make, prepare, train and evaluate the model in `folder`; what came of it, as plain data.

    minutes: of both stages together. limit: held-out examples. flags: of `train`, for both stages.
    changes: of both recipes. Raises CommandError.
    """
    new, ready, ntp, done = (folder / name for name in ("new", "ready", "ntp", "sbd"))
    if not ready.exists():
        write_model(new)
        command("prepare", new, "--out", ready)
    stages = {"ntp": (ready, ntp, NTP_RATIO), "sbd": (ntp, done, 1 - NTP_RATIO)}
    trained: dict[str, dict[str, Any]] = {}
    precision = "auto"  # tried out once
    for stage, (init, out, ratio) in stages.items():
        recipe = folder / f"{stage}.json"
        whole = {"base": stage, "minutes": minutes * ratio, **changes}
        write_text(recipe, json.dumps(whole) + "\n")
        words = ["--stage", stage, "--recipe", recipe, "--init", init, "--out", out, *flags]
        command("train", *words, "--precision", precision)
        trained[stage] = _stage(out)
        precision = trained[stage]["precision"]
    found: dict[str, Any] = {"minutes": minutes, "train_flags": list(flags), "stages": trained}
    for name, decoding in DECODINGS.items():
        file = folder / f"evaluation-{name}.json"
        words = [*decoding, "--suite", "code", "--limit", str(limit), "--out", file]
        command("evaluate", "--model", done, *words)
        data = json.loads(file.read_text("utf-8"))
        found |= {key: data[key] for key in ("block_size", "circumstances")}
        (row,) = data["rows"].values()
        found[name] = row["families"][0]
    return found


def _stage(out: Path) -> dict[str, Any]:
    """Steps, seconds and the last losses of a stage that is done."""
    state = state_folder(out)
    last = json.loads((state / "metrics.jsonl").read_text("utf-8").splitlines()[-1])
    progress = json.loads((state / "progress.json").read_text("utf-8"))
    named = {name: last[name] for name in ("ntp", "matp", "seconds")}
    return {"steps": progress["step"], "precision": progress["precision"], **named}


def main(words: Sequence[str] | None = None) -> int:
    """The command line. Exit status: 0 done, else that of the command that failed."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.training.tiny_qwen3",
        description="Prepare and train a tiny Qwen3 on the code task, and measure how it decodes.",
    )
    parser.add_argument("--minutes", type=float, default=10, help="of training, in all (10)")
    parser.add_argument("--limit", type=int, default=100, help="held-out examples (100)")
    parser.add_argument("--compile", action="store_true", help="as `train --compile`")
    parser.add_argument(
        "--folder", type=Path, default=Path("runs/tiny-qwen3"), help="of the models (%(default)s)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", default=RESULTS / "tiny_qwen3.json",
        help="where the results go (assets/results/tiny_qwen3.json)",
    )  # fmt: skip
    chosen = parser.parse_args(words)
    flags = ["--compile"] if chosen.compile else []
    try:
        chosen.folder.mkdir(parents=True, exist_ok=True)
        require_writable("out", chosen.out)
        with other_load() as load_of_others:
            found = run(chosen.folder, chosen.minutes, chosen.limit, flags, CHANGES)
    except CommandError as error:
        return error.status
    except ArgumentError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    found["other_load"] = load_of_others
    write_text(chosen.out, json.dumps(found, indent=1) + "\n")
    verify, ntp = found["verify"], found["ntp"]
    print(
        f"{verify['tokens_per_forward']:.2f} tokens a forward pass by verify "
        f"({found['predrafts']['tokens_per_forward']:.2f} with predrafts), "
        f"{100 * ntp['accuracy']:.0f} % right, as by ntp; written to {chosen.out}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
