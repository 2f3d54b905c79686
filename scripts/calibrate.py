"""Measure how often a model's drafts are right, and write the result into the model's folder.

    python -m scripts.calibrate assets/checkpoints/sbd-nano

The prompts are training examples of nano's tasks or, for a model with an adapter, some requests of
assets/requests. sbd_core.config.Calibration describes the numbers. The field `rejected` is not
measured and stays as it is.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import accumulate, islice
from operator import mul
from pathlib import Path
from statistics import fmean
from typing import Any

from sbd_core import generate, load
from sbd_core.config import Calibration, DecodeConfig
from sbd_core.decoding import verify
from sbd_core.decoding.prompt_files import read_prompts
from sbd_core.decoding.verify_rows import CERTAIN, DraftRecord
from sbd_core.files import ASSETS
from sbd_core.models.model_folder import ADAPTER_INFO, is_block_adapter
from sbd_core.tasks import TASKS, examples

NUM_PROMPTS, FIRST, NUM_TOKENS = 40, 60, 64
Observed = tuple[list[tuple[float, float]], list[tuple[float, float]], list[list[float]]]
"""Per check of a draft, (number of right tokens, sum of their probabilities); the same pair for the
draft's alternatives; and the masked head's probabilities of each new draft.
"""


def observed(model: Any, prompts: Sequence[Any], max_rows: int) -> Observed:
    """Decode prompts with verify and observe the drafts. max_rows: see DecodeConfig."""
    drafted: list[tuple[float, float]] = []
    reached: list[tuple[float, float]] = []
    drafts: list[list[float]] = []

    class Watched(DraftRecord):
        def with_draft(self, probabilities: Sequence[float]) -> DraftRecord:
            drafts.append(list(probabilities))
            return super().with_draft(probabilities)

        def after(
            self, checked: Any, num_right: int, alternatives: Any = (), **rest: Any
        ) -> DraftRecord:
            drafted.append((num_right, sum(checked)))
            reached.append((rest.get("has_alternative", False), sum(alternatives)))
            return super().after(checked, num_right, alternatives, **rest)

    own, verify.DraftRecord = verify.DraftRecord, Watched  # type: ignore[misc]
    try:
        config = DecodeConfig(strategy="verify", max_rows=max_rows, max_new_tokens=NUM_TOKENS)
        for prompt in prompts:
            generate(model, prompt, config)
    finally:
        verify.DraftRecord = own  # type: ignore[misc]
    return drafted, reached, drafts


def calibration(seen: Observed, before: Calibration) -> Calibration:
    """Compute the calibration from observations. before: supplies the unmeasured fields."""
    drafted, alternatives, drafts = seen
    ratios = [
        sum(right for right, _ in pairs) / max(sum(expected for _, expected in pairs), 1e-9)
        for pairs in (drafted, alternatives)
    ]
    reached = [
        list(accumulate((min(CERTAIN, chance * ratios[0]) for chance in draft), mul))
        for draft in drafts
    ]
    depths = range(max(map(len, reached)))
    survival = [fmean(row[depth] for row in reached if len(row) > depth) for depth in depths]
    return replace(
        before,
        survival=tuple(round(chance, 3) for chance in survival),
        drafted=round(ratios[0], 3),
        alternatives=round(ratios[1], 3),
    )


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m scripts.calibrate", description=__doc__)
    parser.add_argument("model", type=Path, help="model folder, or folder of a block adapter")
    parser.add_argument("--rows", type=int, default=41, help="most rows a forward pass")
    flags = parser.parse_args()
    model = load(flags.model, device="cpu")
    prompts: list[Any] = [
        example.prompt for example in islice(examples(0, "train", tuple(TASKS)), NUM_PROMPTS)
    ]
    is_adapter = is_block_adapter(flags.model)
    if is_adapter:
        names = ("own", "structured")
        rows = [read_prompts("requests", ASSETS / "requests" / f"{name}.jsonl") for name in names]
        half = NUM_PROMPTS // len(names)
        prompts = [row["prompt"] for each in rows for row in each[FIRST : FIRST + half]]
    measured = calibration(observed(model, prompts, flags.rows), model.calibration)
    file = flags.model / (ADAPTER_INFO if is_adapter else "config.json")
    info = json.loads(file.read_text("utf-8"))
    place = info if is_adapter else info["set_block_decoding"]
    place["calibration"] = asdict(measured)
    file.write_text(
        json.dumps(info, indent=1 if is_adapter else 2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print(json.dumps(asdict(measured)))


if __name__ == "__main__":
    main()
