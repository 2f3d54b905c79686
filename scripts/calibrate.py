"""Measure how often a model's drafts are right, and write the result into the model's folder.

    python -m scripts.calibrate assets/checkpoints/sbd-nano

The prompts are training examples of nano's tasks or, for a model with an adapter, some requests of
assets/requests. sbd_core.config.Calibration describes the numbers; `rejected` and `least` stay as
they are.
"""

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from itertools import accumulate, islice, pairwise, takewhile
from operator import mul
from pathlib import Path
from statistics import fmean
from typing import Any

from sbd_core import generate, load
from sbd_core.config import NUM_ALTERNATIVES, Calibration, DecodeConfig
from sbd_core.decoding.prompt_files import read_prompts
from sbd_core.decoding.verify_rows import chances_of
from sbd_core.files import ASSETS
from sbd_core.models.model_folder import ADAPTER_INFO, is_block_adapter
from sbd_core.tasks import TASKS, examples
from sbd_core.trace import Trace

NUM_PROMPTS, FIRST = 40, 60
CONFIG = DecodeConfig(strategy="verify", max_new_tokens=64, top_k_recorded=1 + NUM_ALTERNATIVES)


def calibration_of(traces: Iterable[Trace], before: Calibration) -> Calibration:
    """Compute the calibration from decodes with CONFIG. before: supplies `rejected` and `least`."""
    right, likely, others, listed, drafts = 0, 0.0, 0, 0.0, []
    for trace in traces:
        for event, after in pairwise(trace.events):
            rows = event.masked[1:]
            if not rows:
                continue
            pairs = [*zip(event.draft, after.committed, strict=False)]
            num_right = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            reached = rows[: len(pairs)]
            right += num_right
            likely += sum(row.top_probabilities[0] for row in reached)
            listed += sum(sum(row.top_probabilities[1:]) for row in reached)
            if num_right < len(reached):
                others += after.committed[-1] in reached[-1].top_token_ids[1:]
            drafts.append([row.top_probabilities[0] for row in rows])
    drafted = right / likely if likely else before.drafted
    held = [list(accumulate(chances_of(draft, drafted), mul)) for draft in drafts]
    depths = range(max(map(len, held), default=0))
    survival = [fmean(each[depth] for each in held if len(each) > depth) for depth in depths]
    return replace(
        before,
        survival=tuple(round(chance, 3) for chance in survival) or before.survival,
        drafted=round(drafted, 3),
        alternatives=round(others / listed, 3) if listed else before.alternatives,
    )


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m scripts.calibrate", description=__doc__)
    parser.add_argument("model", type=Path, help="model folder, or folder of a block adapter")
    folder = parser.parse_args().model
    model = load(folder, device="cpu")
    prompts: list[Any] = [
        example.prompt for example in islice(examples(0, "train", tuple(TASKS)), NUM_PROMPTS)
    ]
    is_adapter = is_block_adapter(folder)
    if is_adapter:
        names = ("own", "structured")
        rows = [read_prompts("requests", ASSETS / "requests" / f"{name}.jsonl") for name in names]
        half = NUM_PROMPTS // len(names)
        prompts = [row["prompt"] for each in rows for row in each[FIRST : FIRST + half]]
    traces = (generate(model, prompt, CONFIG) for prompt in prompts)
    measured = asdict(calibration_of(traces, model.calibration))
    file = folder / (ADAPTER_INFO if is_adapter else "config.json")
    info = json.loads(file.read_text("utf-8"))
    (info if is_adapter else info["set_block_decoding"])["calibration"] = measured
    text = json.dumps(info, indent=1 if is_adapter else 2, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
