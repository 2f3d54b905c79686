"""What the calculator offers: devices and models, this machine as measured among them."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

from sbd_core.cost.model_shape import ModelShape, Shape
from sbd_core.errors import ArgumentError
from sbd_core.files import ASSETS
from sbd_core.json_node import json_of
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from sbd_core.roofline import DEVICES, LLAMA_8B, Calibrated, Device

BENCH = ASSETS / "results" / "bench.json"
MEASURED, BUNDLED, PAPER, OWN = "measured", "bundled", "llama-3.1-8b", "own"
MAX_CONFIG = 100_000
"""Characters of a config, pasted or in a file."""


def _shape(
    hidden: int, wide: int, heads: int, kv_heads: int, num_layers: int, vocabulary: int
) -> ModelShape:
    layer = Shape(
        hidden_size=hidden,
        feed_forward_size=wide,
        num_heads=heads,
        num_kv_heads=kv_heads,
        head_size=128,
    )
    return ModelShape(
        layer=layer, num_layers=num_layers, vocabulary_size=vocabulary, bytes_per_value=2
    )


MODELS: dict[str, tuple[str, ModelShape]] = {
    PAPER: (
        "Llama-3.1-8B (the paper’s)",
        ModelShape(layer=LLAMA_8B, num_layers=32, vocabulary_size=128_256, bytes_per_value=2),
    ),
    "llama-3.1-70b": ("Llama-3.1-70B", _shape(8192, 28_672, 64, 8, 80, 128_256)),
    "qwen3-8b": ("Qwen3-8B", _shape(4096, 12_288, 32, 8, 36, 151_936)),
    "qwen3-0.6b": ("Qwen3-0.6B", _shape(1024, 3072, 16, 8, 28, 151_936)),
}
"""{key: (name, shape)}, the sizes from their published configs."""


@cache
def bundled_shape() -> ModelShape:
    """That of the bundled checkpoint in the precision in which it was measured."""
    config = json.loads((DEFAULT_CHECKPOINT / "config.json").read_text("utf-8"))
    return ModelShape.of(config, bytes_per_value=4)


@cache
def measured_times() -> Calibrated:
    """Forward passes of the bundled checkpoint as the committed benchmark timed them."""
    return Calibrated.read(BENCH)


@cache
def machine() -> str:
    """The machine that was measured, by its processor."""
    facts = json.loads(BENCH.read_text("utf-8")).get("circumstances", {})
    return f"{facts.get('processor', 'this machine')}, {facts.get('threads', '?')} thread"


@cache
def devices() -> dict[str, Device]:
    """Every device by its key."""
    here = measured_times().reached(bundled_shape(), "This machine as measured")
    return {**DEVICES, MEASURED: replace(here, source=f"{here.source} ({machine()})")}


def models() -> dict[str, tuple[str, ModelShape]]:
    """Every model by its key: (name, shape)."""
    return {**MODELS, BUNDLED: ("The bundled checkpoint", bundled_shape())}


def own_shape(config: object, *, may_name_folder: bool = True) -> ModelShape:
    """The shape of a pasted config.json, or of the folder of a model. Raises ArgumentError.

    may_name_folder: whether a visitor may have a folder of this machine looked into.
    """
    text = config.strip() if isinstance(config, str) else ""
    is_pasted = text.startswith("{")
    if not is_pasted and not may_name_folder:
        raise ArgumentError("config", "must be the text of a config.json", text[:40])
    if not text:
        raise ArgumentError("config", "must be the text of a config.json, or a model's folder", "")
    if not is_pasted:
        text = _text_of(Path(text))
    try:
        if len(text) > MAX_CONFIG:
            raise ValueError(f"longer than {MAX_CONFIG} characters")
        found = json_of(text)
    except ValueError as error:
        # What stands in a file of this machine is not for the visitor's eyes.
        beginning = text[:40] if is_pasted else "a file that is not"
        raise ArgumentError("config", "must be JSON", beginning) from error
    nested = found.get("text_config") if isinstance(found, dict) else None
    try:
        return ModelShape.of(nested if isinstance(nested, dict) else found, bytes_per_value=2)
    except ArgumentError as error:
        if is_pasted or type(error.value) in (int, float):
            raise
        raise ArgumentError(error.argument, error.rule, None) from error


def _text_of(folder: Path) -> str:
    rule = "must be the text of a config.json, or a folder with one"
    try:
        file = folder / "config.json"
        if not file.is_file() or file.stat().st_size > MAX_CONFIG:
            raise ArgumentError("config", rule, str(folder))
        return file.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise ArgumentError("config", rule, str(folder)) from error
