"""Bundle a trained block adapter, with its model card: python -m scripts.bundle_adapter FOLDER

FOLDER is the output of `sbd train-adapter --out FOLDER`. For the model card, this command measures
tokens per forward pass on prompts of the page.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from sbd_core.cli.output import interruptible
from sbd_core.config import DecodeConfig
from sbd_core.environment import environment
from sbd_core.errors import ModelError, SetBlockDecodingError
from sbd_core.evaluation import Harness
from sbd_core.evaluation.requests import request_configs, score_answers
from sbd_core.files import ASSETS, replaced_folder
from sbd_core.models.bases import BASES
from sbd_core.models.block_adapter import (
    GROUPS,
    BlockAdapter,
    BlockAdapterInfo,
    read_block_adapter,
    read_info,
    side_by_side,
    write_block_adapter,
)
from sbd_core.models.loading import load
from sbd_core.models.model_folder import CHECKPOINTS, REAL_MODEL
from sbd_core.models.runtime import choose_threads
from ui.best_settings import ADAPTER_BLOCK_SIZE

PROMPTS = ASSETS / "presets-english.json"
CARD = Path(__file__).with_name("adapter_card.md")
NUM_PROMPTS = 6
ROWS = ("NTP", "verify")


def bundle(
    trained: Path,
    target: Path,
    *,
    cpu_dtype: str,
    rank: int | None = None,
    prompts: Sequence[str] = (),
    max_new_tokens: int = 32,
) -> None:
    """Write a trained adapter and its model card to the folder `target`, or nothing on failure.

    cpu_dtype: dtype in which load() reads the weights on a CPU.
    rank: smaller rank to reduce the adapter to, see narrowed(); None keeps the rank.
    prompts: prompts to measure on; if empty, the first NUM_PROMPTS of the page.
    max_new_tokens: most tokens in an answer to a prompt.
    Raises SetBlockDecodingError for an adapter that is damaged.
    """
    adapter = read_block_adapter(trained)
    if rank is not None:
        adapter = narrowed(adapter, rank)
    adapter = replace(adapter, info=replace(adapter.info, cpu_dtype=cpu_dtype))

    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_block_adapter(adapter, folder)
        numbers = measured_here(folder, prompts or page_prompts(NUM_PROMPTS), max_new_tokens)
        (folder / "README.md").write_text(card(target.name, adapter, numbers), encoding="utf-8")

        with replaced_folder(target) as made:
            shutil.copytree(folder, made, dirs_exist_ok=True)


def narrowed(adapter: BlockAdapter, rank: int) -> BlockAdapter:
    """Approximate an adapter by an adapter of a smaller rank, which runs faster on a CPU.

    Linear layers with the same input (GROUPS) are approximated together, by a truncated SVD, and
    then share one matrix A. Raises ModelError unless `rank` is below the adapter's rank.
    """
    if not 1 <= rank < adapter.info.rank:
        raise ModelError(f"rank: must be from 1 to {adapter.info.rank - 1}, below its own: {rank}")
    layers = []
    for layer in adapter.layers:
        new: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}
        for names in GROUPS.values():
            pairs = [layer[name] for name in names]
            down, up = (part.float() for part in side_by_side(pairs))
            (left, of_up), (right, of_down) = torch.linalg.qr(up), torch.linalg.qr(down.t())
            first, values, last = torch.linalg.svd(of_up @ of_down.t())
            root = values[:rank].sqrt()
            down, up = (root[:, None] * last[:rank]) @ right.t(), left @ first[:, :rank] * root
            ups = up.split([len(b) for _, b in pairs])
            new |= {name: (down.clone(), b) for name, b in zip(names, ups, strict=True)}
        layers.append(new)
    return replace(adapter, info=replace(adapter.info, rank=rank), layers=tuple(layers))


def measured_here(folder: Path, prompts: Sequence[str], max_new_tokens: int) -> str:
    """Answer each prompt alone with each strategy in ROWS; return the results as Markdown."""
    model = load(folder)
    choose_threads(model.num_parameters)
    size = min(ADAPTER_BLOCK_SIZE, read_info(folder)[0].block_range[1])
    configs = request_configs(DecodeConfig(max_new_tokens=max_new_tokens, block_size=size))
    settings = {row: (model, configs[row]) for row in ROWS}
    harness = Harness(batch_size=1, shows_progress=False)
    scores = score_answers(harness.answers(settings, {"page": prompts})["page"])
    rows = "\n".join(
        f"| {score.row} | {score.tokens_per_forward:.2f} | {100 * score.same_as_ntp:.0f} % | "
        f"{score.tokens_per_second:.1f} |"
        for score in scores
    )
    facts, kept, loops = environment(None), scores[0].num_answers, scores[0].num_loops
    return f"""Prompts of the page, one at a time, {max_new_tokens} tokens at most, every
forward pass counted; {kept} answers, {loops} that repeat themselves left out.

| | tokens a forward pass | same answer as NTP | tokens a second |
| --- | --- | --- | --- |
{rows}

Measured on {facts["cores"]} cores of {facts["processor"]}, {model.runs_on}, beside
other work: compare the speeds with each other alone."""


def card(name: str, adapter: BlockAdapter, numbers: str) -> str:
    """The text of the adapter's model card. numbers: the results from measured_here()."""
    info = adapter.info
    source = BASES.get(info.base)
    original = source.original if source else info.base
    licence = source.licence if source else "other"
    low, high = info.block_range
    return CARD.read_text("utf-8").format(
        name=name,
        original=original,
        licence=licence,
        license=licence.lower(),
        millions=sum(tensor.numel() for tensor in adapter.tensors().values()) / 1e6,
        low=low,
        high=high,
        info=info,
        training=training_of(info),
        numbers=numbers,
    )


def training_of(info: BlockAdapterInfo) -> str:
    """Describe an adapter's training and its last measurement on held-out text."""
    facts, recipe = info.trained, info.trained.get("recipe", {})
    if "masked_tokens" not in facts:
        return "It was not trained."
    text = (
        "The text is the base's own: requests that it was led to ask and its greedy answers. "
        f"{facts['texts']:,} texts, {facts['steps']:,} steps, "
        f"{facts['masked_tokens']:,} masked tokens, "
        f"{facts['minutes']:,.0f} minutes; learning rate {recipe.get('learning_rate')}, "
        f"blocks of {', '.join(map(str, recipe.get('block_sizes', ())))}."
    )
    for held_out in facts.get("curve", ())[-1:]:
        text += (
            f" On held-out text: {held_out['nats']:.2f} nats a masked token of a wholly masked "
            f"block, {held_out['nats_with_before']:.2f} when the token before it is known; behind "
            f"the first token {held_out['drafted']:.2f} guesses in a row are right."
        )
    return text


def page_prompts(count: int) -> list[str]:
    """The first `count` prompts of the page for SmolLM2, one of each kind in turn."""
    rows = [row["prompts"] for row in json.loads(PROMPTS.read_text(encoding="utf-8"))]
    prompts = [prompt for group in zip_longest(*rows) for prompt in group if prompt is not None]
    return prompts[:count]


def main() -> int:
    """Run the command; return exit status 0, or 2 after an error that is printed in one line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("trained", type=Path, help="folder that train-adapter wrote")
    parser.add_argument("--out", type=Path, default=CHECKPOINTS / REAL_MODEL, help="(%(default)s)")
    parser.add_argument(
        "--cpu-dtype", default="float32", help="dtype of load() on a CPU (%(default)s)"
    )
    parser.add_argument("--rank", type=int, help="narrow its products to this rank")
    flags = parser.parse_args()
    try:
        bundle(flags.trained, flags.out, cpu_dtype=flags.cpu_dtype, rank=flags.rank)
    except SetBlockDecodingError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"wrote {flags.out}")
    return 0


if __name__ == "__main__":
    sys.exit(interruptible(main))
