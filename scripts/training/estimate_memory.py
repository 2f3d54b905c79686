"""Work out the memory of fine-tuning known shapes: assets/results/training_memory.json.

    python -m scripts.training.estimate_memory

Nothing is measured, so the file is the same on every machine of the same versions.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sbd_core.package.files import write_text
from sbd_core.training.estimate.memory import KNOWN, Setup, estimate, smallest_that_fits
from sbd_core.training.estimate.report import read_config
from sbd_core.training.recipes.recipe_files import read_recipe
from scripts.tables.results_files import RESULTS

CASES: tuple[tuple[str, str, Setup, int], ...] = (
    ("Qwen3-0.6B", "finetune", Setup(), 24),
    ("Qwen3-0.6B", "lora", Setup(), 24),
    ("Qwen3-8B", "finetune", Setup(num_gpus=8, sharding="fsdp"), 80),
    ("Qwen3-8B", "lora", Setup(num_gpus=8, sharding="ddp"), 80),
    ("Qwen3-8B", "lora", Setup(), 24),
)
"""Shape, recipe, GPUs, and GiB of each."""


def rows() -> Iterator[dict[str, Any]]:
    """What each case takes, in the quickest setup that fits, and in the smallest."""
    for name, recipe_name, setup, gigabytes in CASES:
        recipe = read_recipe("sbd", Path(recipe_name), {"data": ("file:data.jsonl",)})
        config, _ = read_config(str(KNOWN / f"{name}.json"), recipe)
        fitting = smallest_that_fits(config, recipe, setup, gigabytes)
        assert fitting is not None, f"{name} does not fit"
        chosen, found = fitting
        ways = {
            way: estimate(
                config,
                recipe,
                Setup(
                    num_gpus=chosen.num_gpus,
                    sharding=chosen.sharding,
                    num_parts=chosen.num_parts,
                    is_checkpointed=is_checkpointed,
                ),
            ).to_data()
            for way, is_checkpointed in (("plain", False), ("checkpointed", True))
        }
        yield {
            "model": name,
            "recipe": recipe_name,
            "num_gpus": chosen.num_gpus,
            "sharding": chosen.sharding,
            "gpu_gib": gigabytes,
            "accumulate": chosen.num_parts,
            "is_checkpointed": chosen.is_checkpointed,
            "num_trained": found.num_trained,
            **ways,
        }


if __name__ == "__main__":
    text = json.dumps({"rows": list(rows())}, indent=1)
    write_text(RESULTS / "training_memory.json", text + "\n")
