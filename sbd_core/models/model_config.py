"""What the config of a transformers model says about decoding blocks; knows no tensors."""

from typing import Any

from sbd_core.config import PENALTIES
from sbd_core.errors import ArgumentError, ModelError, require_number


def block_range_of(found: Any, name: str) -> tuple[int, int] | None:
    """config.set_block_decoding as (smallest, largest); ModelError if it is malformed."""
    if found is None:
        return None
    try:
        low, high = int(found["min_block_size"]), int(found["max_block_size"])
    except (TypeError, KeyError, ValueError) as error:
        raise ModelError(f"{name}: config.set_block_decoding is malformed: {found!r}") from error
    if not 1 <= low <= high:
        raise ModelError(f"{name}: config.set_block_decoding is malformed: {found!r}")
    return low, high


def own_repetition_penalty(model: Any, name: str) -> float:
    """What a model's generation_config asks for, 1 where it asks for none. Raises ModelError."""
    found = getattr(getattr(model, "generation_config", None), "repetition_penalty", None)
    if found is None:
        return 1.0
    try:
        require_number("generation_config.repetition_penalty", found, *PENALTIES)
    except ArgumentError as error:
        raise ModelError(f"{name}: {error}") from error
    return float(found)


def is_trained_for_blocks(config: Any) -> bool:
    """Whether a model has learnt to read masks: prepared and not yet trained, it has not."""
    return says_trained(getattr(config, "set_block_decoding", None))


def says_trained(found: Any) -> bool:
    """The same of config.set_block_decoding alone."""
    return isinstance(found, dict) and found.get("is_trained", True) is not False


def refuse_other_attention(model: Any, name: str) -> None:
    """Raise ModelError for a model whose layers do not all attend to everything allowed."""
    config = model.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    has_window = getattr(config, "sliding_window", None) is not None and getattr(
        config, "use_sliding_window", True
    )
    others = sorted(kinds - {"full_attention"})
    if getattr(model, "_is_stateful", False):
        others.append("a recurrent state")
    if has_window and "sliding_attention" not in others:
        others.append("a sliding window")
    if others:
        raise ModelError(
            f"model: must use full attention in every layer; {name} uses {', '.join(others)}"
        )


def untrained_note(config: Any, name: str) -> str | None:
    """What to say of a model that reads masks without having learnt to; None of one that has."""
    if is_trained_for_blocks(config):
        return None
    return (
        f"{name} is not trained for Set Block Decoding, so its answers by blocks will be poor: "
        f"strategy ntp decodes it as it is; sbd prepare {name} --out ready and sbd train teach it"
    )
