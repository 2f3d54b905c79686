"""The data with which the Roofline view starts: models, and this machine as it was measured.

The view computes in the browser, see ui/web/roofline/.
"""

import json
from dataclasses import replace
from typing import Any

from sbd_core.cost import LayerShape, ModelShape
from sbd_core.files import ASSETS
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from sbd_core.roofline import LLAMA_8B, LLAMA_8B_PUBLISHED, Calibrated, Device
from sbd_core.run_lines import wire_json

BENCH = ASSETS / "results" / "bench.json"
WORDS = ASSETS / "roofline.json"


def _shape(layer: LayerShape, num_layers: int, vocabulary: int) -> ModelShape:
    return ModelShape(
        layer=layer, num_layers=num_layers, vocabulary_size=vocabulary, bytes_per_value=2
    )


def _layer(hidden: int, wide: int, heads: int) -> LayerShape:
    sizes = {"hidden_size": hidden, "feed_forward_size": wide, "num_heads": heads}
    return LayerShape(**sizes, num_kv_heads=8, head_size=128)


MODELS: dict[str, tuple[str, ModelShape]] = {
    "llama-3.1-8b": ("Llama-3.1-8B (the paper’s)", _shape(LLAMA_8B, 32, 128_256)),
    "llama-3.1-70b": ("Llama-3.1-70B", _shape(_layer(8192, 28_672, 64), 80, 128_256)),
    "qwen3-8b": ("Qwen3-8B", _shape(_layer(4096, 12_288, 32), 36, 151_936)),
    "qwen3-0.6b": ("Qwen3-0.6B", _shape(_layer(1024, 3072, 16), 28, 151_936)),
}
"""Name and shape of each model, by key; the sizes come from the published configs."""


def bundled_shape() -> ModelShape:
    """The shape of the bundled checkpoint in float32, the number format of the benchmark."""
    config = json.loads((DEFAULT_CHECKPOINT / "config.json").read_text("utf-8"))
    return ModelShape.of(config, bytes_per_value=4)


def measured_device(times: Calibrated) -> Device:
    """This machine, with the best rates that its stored benchmark measured."""
    here = times.best_device(bundled_shape(), "This machine as measured")
    facts = json.loads(BENCH.read_text("utf-8")).get("circumstances", {})
    machine = f"{facts.get('processor', 'this machine')}, {facts.get('threads', '?')} thread"
    return replace(here, source=f"{here.source} ({machine})")


def roofline_value() -> str:
    """The JSON with which the view starts: the types Setting and CardWords of ui/web.

    The panel "Under the hood" reads "measured", too, this machine as a device.
    """
    times = Calibrated.read(BENCH)
    named = {**MODELS, "bundled": ("nano, the bundled checkpoint", bundled_shape())}
    models: list[dict[str, Any]] = [
        {"key": key, "name": name, "shape": shape.as_json()} for key, (name, shape) in named.items()
    ]
    # The paper counts its own model with another width of the feed-forward.
    models[0]["published"] = {"feed_forward_size": LLAMA_8B_PUBLISHED.feed_forward_size}
    return wire_json(
        {
            "cards": json.loads(WORDS.read_text(encoding="utf-8")),
            "models": models,
            "measured": device_data(measured_device(times)),
            "times": times.seconds,
        }
    )


def device_data(device: Device) -> dict[str, Any]:
    """Describe a device in the form that the page's scripts read."""
    return {
        "name": device.name,
        "flops": device.linear_flops,
        "attentionFlops": device.attention_flops,
        "bandwidth": device.bandwidth,
        "valueBytes": device.bytes_per_value,
        "source": device.source,
        "memory": device.memory,
    }
