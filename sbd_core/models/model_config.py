"""Reads and writes what a transformers config says about decoding blocks. Knows no tensors.

Nemotron-Labs-Diffusion is read as a Ministral 3: it has the same weights by other names. Attention
in its causal-context mode is that of Set Block Decoding: the past is read causally, a block of
masks sees it and itself both ways, and a mask's logits are of its own position. Two things are not
taken over: there the causal head always gives a block's first token, and in another mode prompts
are read both ways.
"""

from dataclasses import dataclass, field
from typing import Any

from sbd_core.config import PENALTIES, Calibration, StrategyName, require_strategy
from sbd_core.errors import ArgumentError, ModelError, require_number


def block_config(block_range: tuple[int, int], strategy: StrategyName = "sbd") -> dict[str, Any]:
    """A value for config.set_block_decoding."""
    low, high = block_range
    return {"min_block_size": low, "max_block_size": high, "strategy": strategy}


@dataclass(frozen=True, slots=True)
class BlockSettings:
    """The values of config.set_block_decoding, or the defaults without it.

    block_range: smallest and largest block, None if unknown. is_trained: whether the model has
    learnt to read masks, and was not only prepared for that. strategy, calibration: see
    SetBlockModel.
    """

    block_range: tuple[int, int] | None = None
    is_trained: bool = False
    strategy: StrategyName = "sbd"
    calibration: Calibration = field(default_factory=Calibration)

    @classmethod
    def of(cls, config: Any, name: str) -> "BlockSettings":
        """The settings in a config of transformers. Raises ModelError, which says `name`."""
        return cls.read(getattr(config, "set_block_decoding", None), name)

    @classmethod
    def read(cls, data: Any, name: str) -> "BlockSettings":
        """Read config.set_block_decoding itself. Raises ModelError."""
        if data is None:
            return cls()
        try:
            low, high = int(data["min_block_size"]), int(data["max_block_size"])
            strategy, calibration = data.get("strategy", "sbd"), data.get("calibration") or {}
            require_strategy(strategy)
            is_trained = data.get("is_trained", True) is not False
            settings = cls((low, high), is_trained, strategy, Calibration(**calibration))
        except ArgumentError as error:
            raise ModelError(f"{name}: config.set_block_decoding: {error}") from error
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            rule = f"config.set_block_decoding is malformed: {data!r}"
            raise ModelError(f"{name}: {rule}") from error
        if not 1 <= low <= high:
            raise ModelError(f"{name}: config.set_block_decoding is malformed: {data!r}")
        return settings


def own_repetition_penalty(model: Any, name: str) -> float:
    """The penalty that a model's generation_config asks for, 1 for none. Raises ModelError."""
    penalty = getattr(getattr(model, "generation_config", None), "repetition_penalty", None)
    if penalty is None:
        return 1.0
    try:
        require_number("generation_config.repetition_penalty", penalty, *PENALTIES)
    except ArgumentError as error:
        raise ModelError(f"{name}: {error}") from error
    return float(penalty)


def reach_of(config: Any) -> int | None:
    """Number of positions that a model has, None if its config does not say.

    For LongRoPE those of the short factors: beyond them all rotary angles change, and a cache would
    hold keys of both kinds.
    """
    reach: int | None = getattr(config, "max_position_embeddings", None)
    rotary = getattr(config.get_text_config(), "rope_parameters", None) or {}
    if rotary.get("rope_type") == "longrope":
        return rotary.get("original_max_position_embeddings") or reach
    return reach


def end_token_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    """Every id that ends an answer: of generation_config, else config, else tokenizer."""
    generation = getattr(model, "generation_config", None)
    for source in (generation, model.config, tokenizer):
        ids = getattr(source, "eos_token_id", None)
        if ids is not None:
            return frozenset([ids] if isinstance(ids, int) else ids)
    return frozenset()


def add_end_token(model: Any, tokenizer: Any) -> None:
    """Add the tokenizer's end token to those of the model, as its training may have used it."""
    ends = {*end_token_ids(model, tokenizer), tokenizer.eos_token_id} - {None}
    if ends:
        model.generation_config.eos_token_id = ends.pop() if len(ends) == 1 else sorted(ends)


def untrained_note(config: Any, name: str) -> str | None:
    """A warning for a model that was not trained to read masks; None for one that was."""
    if BlockSettings.of(config, name).is_trained:
        return None
    return (
        f"{name} is not trained for Set Block Decoding, so its answers by blocks will be poor: "
        f"strategy ntp decodes it as it is; sbd prepare {name} --out ready and sbd train teach it"
    )


NEMOTRON = "nemotron_labs_diffusion"
NEMOTRON_WEIGHTS = {"^encoder": "model", "^diffusion_head": "lm_head"}
"""Maps a weight's name there to its name in Ministral3ForCausalLM."""


def loading_options(source: str, *, is_folder: bool) -> dict[str, Any]:
    """Arguments for from_pretrained() to read Nemotron-Labs-Diffusion; none for other models."""
    from transformers import Ministral3Config, PretrainedConfig

    settings, _ = PretrainedConfig.get_config_dict(source, local_files_only=is_folder)
    if settings.get("model_type") != NEMOTRON:
        return {}
    known = Ministral3Config().to_dict()
    config = Ministral3Config(
        **{name: settings[name] for name in known if name in settings and name != "model_type"}
    )
    size = int(settings["block_size"])
    config.set_block_decoding = {"min_block_size": size, "max_block_size": size}
    config.mask_token_id = int(settings["mask_token_id"])
    return {"config": config, "key_mapping": NEMOTRON_WEIGHTS}


def name_mask_token(tokenizer: Any, config: Any) -> None:
    """Set the tokenizer's mask token, if it has none, to the token whose id the config names."""
    if tokenizer.mask_token_id is None:
        tokenizer.mask_token = tokenizer.convert_ids_to_tokens(config.mask_token_id)
