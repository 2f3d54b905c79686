"""`synthesize`: a chat model makes up requests and answers them, as text for its own training."""

import argparse
from pathlib import Path
from typing import Any

from sbd_core.errors import ArgumentError

HELP = "let a chat model write its own training text: requests it makes up, and its answers"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `synthesize`."""
    parser.add_argument("--model", required=True, help="folder, hub id or known base")
    parser.add_argument(
        "--out", type=Path, required=True, help="JSON Lines file to write or resume"
    )
    parser.add_argument("--examples", type=int, default=25_000, help="number of lines to write")
    parser.add_argument(
        "--prompts",
        type=Path,
        action="append",
        default=[],
        help="file of requests to ask first (prompt, question or instruction)",
    )
    parser.add_argument(
        "--structured-ratio",
        type=float,
        default=0.25,
        help="share of requests for lists, steps, code, tables and the like",
    )
    parser.add_argument(
        "--max-answer-tokens", type=int, default=160, help="longest answer; 0: no answers"
    )
    parser.add_argument("--repetition-penalty", type=float, default=1.1, help="for answers")
    parser.add_argument("--batch-size", type=int, default=128, help="most texts at once")
    parser.add_argument("--seed", type=int, default=0, help="seed of the requests")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Write examples until there are enough, resuming after a stop. Raises our errors."""
    from tqdm import tqdm

    from sbd_core.decoding.prompt_files import read_prompts
    from sbd_core.models.devices import chosen_device, has_bf16
    from sbd_core.models.loading import load
    from sbd_core.training.synthesize import SynthesisConfig, synthesize

    config = SynthesisConfig(
        num_examples=arguments.examples,
        structured_ratio=arguments.structured_ratio,
        repetition_penalty=arguments.repetition_penalty,
        max_answer_tokens=arguments.max_answer_tokens,
        batch_size=arguments.batch_size,
        seed=arguments.seed,
    )
    prompts = [row["prompt"] for file in arguments.prompts for row in read_prompts("prompts", file)]
    chat = next((prompt for prompt in prompts if not isinstance(prompt, str)), None)
    if chat is not None:
        raise ArgumentError("prompts", "must hold single requests, not chats", chat)
    dtype = "bfloat16" if has_bf16(chosen_device(arguments.device)) else "float32"
    model = load(arguments.model, device=arguments.device, dtype=dtype)
    with tqdm(total=config.num_examples, unit="examples") as bar:

        def tell(count: int, num_passes: int) -> None:
            bar.set_postfix_str(f"{num_passes} forward passes", refresh=False)
            bar.update(count - bar.n)

        count = synthesize(model, arguments.out, config, prompts, tell)
    return {"file": str(arguments.out), "num_examples": count}
