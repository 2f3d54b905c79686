"""`verify` against `ntp` on many prompts and architectures: `python -m ... --prompts 3000`.

Random-weight models of ten architectures, prompts of random tokens, one decode a forward pass, as a
visitor's, fp32. A decode that differs is held against the logits: where the two best tokens of the
first position that differs are nearer to each other than rounding is, it is a tie.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from sbd_core import DecodeConfig, generate, load
from sbd_core.environment import environment
from sbd_core.files import write_text
from tests.core.decoding import reference
from tests.core.decoding.prompts import random_ids
from tests.core.models.tiny_models import MAKERS, save_tiny, tiny_tokenizer

NOT_FULL_ATTENTION = ("sliding", "gemma2", "gemma3")
ARCHITECTURES = tuple(name for name in MAKERS if name not in NOT_FULL_ATTENTION)
SETTINGS = ((0, 0.5), (1, 0.3), (4, 0.0))
"""Predrafts and draft threshold; at 0 every draft is as long as may be."""
TIE = 1e-4
"""Logits this near are equal up to rounding."""


def compare(architecture: str, num_prompts: int, num_tokens: int) -> dict[str, int]:
    """Counts over prompts and settings: decodes, equal ones, ties, and predrafts used."""
    found = {"decodes": 0, "equal": 0, "ties": 0, "predrafts_used": 0}
    with tempfile.TemporaryDirectory() as folder:
        model = load(save_tiny(Path(folder), architecture, tiny_tokenizer()), dtype="float32")
        prompts = random_ids(num_prompts, model.vocabulary_size)
        for prompt in tqdm(prompts, desc=architecture):
            ntp = generate(model, prompt, DecodeConfig(strategy="ntp", max_new_tokens=num_tokens))
            for num_predrafts, threshold in SETTINGS:
                config = DecodeConfig(
                    strategy="verify",
                    block_size=6,
                    max_new_tokens=num_tokens,
                    num_predrafts=num_predrafts,
                    draft_threshold=threshold,
                )
                trace = generate(model, prompt, config)
                is_equal = trace.token_ids == ntp.token_ids
                found["decodes"] += 1
                found["equal"] += is_equal
                found["predrafts_used"] += sum(
                    predraft.is_used for event in trace.events for predraft in event.predrafts
                )
                if not is_equal:
                    found["ties"] += is_tie(model, prompt, ntp.token_ids, trace.token_ids)
    return found


def is_tie(model: Any, prompt: list[int], first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Whether the two best logits where the answers part are equal up to rounding."""
    same = next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    logits = reference.full_forward(model, [*prompt, *first[:same]], [])[-1]
    best, next_best = torch.topk(logits, 2).values
    return bool(best - next_best < TIE)


def main() -> None:
    """Compare, print a line an architecture, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=300, help="of each architecture")
    parser.add_argument("--tokens", type=int, default=24, help="new tokens at most")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = {}
    for name in ARCHITECTURES:
        rows[name] = compare(name, arguments.prompts, arguments.tokens)
        print(name, rows[name], flush=True)
    data = {
        "circumstances": environment(None),
        "num_prompts": arguments.prompts,
        "max_new_tokens": arguments.tokens,
        "settings": [{"num_predrafts": n, "draft_threshold": t} for n, t in SETTINGS],
        "architectures": rows,
    }
    if arguments.out:
        write_text(arguments.out, json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
