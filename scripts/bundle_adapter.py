"""Bundle a trained block adapter, with its model card: python -m scripts.bundle_adapter FOLDER

FOLDER is the output of `sbd train-adapter --out FOLDER`.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import torch

from sbd_core.cli.output import interruptible
from sbd_core.errors import ModelError, SetBlockDecodingError
from sbd_core.files import replaced_folder
from sbd_core.models.bases import BASES
from sbd_core.models.block_adapter import (
    GROUPS,
    BlockAdapter,
    BlockAdapterInfo,
    read_block_adapter,
    side_by_side,
    write_block_adapter,
)
from sbd_core.models.loading import load
from sbd_core.models.model_folder import CHECKPOINTS, REAL_MODEL

CARD = Path(__file__).with_name("adapter_card.md")


def bundle(
    trained: Path,
    target: Path,
    *,
    cpu_dtype: str,
    rank: int | None = None,
) -> None:
    """Write a trained adapter and its model card to the folder `target`, or nothing on failure.

    rank: smaller rank to reduce the adapter to, see narrowed(); None keeps the rank.
    Raises SetBlockDecodingError for an adapter that is damaged.
    """
    adapter = read_block_adapter(trained)
    if rank is not None:
        adapter = narrowed(adapter, rank)
    adapter = replace(adapter, info=replace(adapter.info, cpu_dtype=cpu_dtype))

    with replaced_folder(target) as folder:
        write_block_adapter(adapter, folder)
        load(folder)  # raises unless it can be decoded with
        (folder / "README.md").write_text(card(target.name, adapter), encoding="utf-8")


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


def card(name: str, adapter: BlockAdapter) -> str:
    """The text of the adapter's model card."""
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
