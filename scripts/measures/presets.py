"""How many of the page's presets the bundled model gets right: assets/results/presets.json.

    python -m scripts.measures.presets

Decodes each as the page does with its form as it opens, and by the other strategies.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from sbd_core.circumstances import circumstances
from sbd_core.config import Strategy
from sbd_core.decoding.api import generate
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from sbd_core.models.loading import load
from sbd_core.models.protocol import SetBlockModel
from sbd_core.package.files import write_text
from scripts.tables.results_files import RESULTS
from ui.decode.form import DEFAULT_GAMMA, Form, checked
from ui.decode.verdict import verdict_of
from ui.gallery.examples import Preset, presets

STRATEGIES: tuple[Strategy, ...] = ("ntp", "sbd", "verify")


def measure(model: SetBlockModel, chosen: Sequence[Preset]) -> dict[str, Any]:
    """For every preset, how many of its prompts there are, and are right by each strategy."""
    found: dict[str, Any] = {}
    prompts = [(preset.label, prompt) for preset in chosen for prompt in preset.prompts]
    for label, prompt in tqdm(prompts, "presets", unit="prompt"):
        text, config = checked(Form(prompt))
        row = found.setdefault(label, {"num_prompts": 0, "right": dict.fromkeys(STRATEGIES, 0)})
        row["num_prompts"] += 1
        for strategy in STRATEGIES:
            verdict = verdict_of(generate(model, text, replace(config, strategy=strategy)))
            row["right"][strategy] += bool(verdict and verdict.right)
    return {"gamma": DEFAULT_GAMMA, "presets": found}


def main(words: Sequence[str] | None = None) -> int:
    """The command line. Exit status: 0 done, 130 stopped with Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.measures.presets", description="Count the presets that are right."
    )
    parser.add_argument(
        "--out", type=Path, default=RESULTS / "presets.json", metavar="FILE",
        help="where the results go (assets/results/presets.json)",
    )  # fmt: skip
    out = parser.parse_args(words).out
    try:
        found = measure(load(device="cpu"), presets())
    except KeyboardInterrupt:
        return 130
    found["circumstances"] = circumstances(DEFAULT_CHECKPOINT)
    write_text(out, json.dumps(found, indent=1) + "\n")
    print(f"written to {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
