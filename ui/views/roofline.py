"""The roofline view: applies Sec. 4 of the paper to models and devices that a visitor chooses."""

import json
import math
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from sbd_core.cost import LayerShape, ModelShape
from sbd_core.errors import ArgumentError, shown
from sbd_core.files import ASSETS
from sbd_core.json_node import json_of
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from sbd_core.roofline import (
    DEVICES,
    MAX_TOKENS,
    Calibrated,
    Device,
    left_out,
    pass_time,
    widths,
)
from sbd_core.run_lines import wire_json
from ui.decode.form import message_of
from ui.views.charts import LIBRARY_PATH, two_themes


def time_words(seconds: float) -> str:
    """Format seconds in a unit that fits, such as "685 µs" or "2.12 ms"."""
    return _in_units(seconds, (1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def size_words(size: float) -> str:
    """Format a number of bytes in a unit that fits, such as "15 GB" or "134 MB"."""
    return _in_units(size, (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def _in_units(value: float, *units: tuple[float, str]) -> str:
    """Format a value in the first unit that fits, else the last. units: (size, name) pairs."""
    fitting = (each for each in units if float(f"{value / each[0]:.3g}") >= 1)
    size, unit = next(fitting, units[-1])
    shown = float(f"{value / size:.3g}")
    return f"{shown:,.0f} {unit}" if shown >= 100 else f"{shown:g} {unit}"


def rate_words(flops: float) -> str:
    """Format operations per second, such as "165 TFLOP/s"."""
    size, unit = (1e12, "TFLOP/s") if flops >= 1e12 else (1e9, "GFLOP/s")
    return f"{flops / size:,.4g} {unit}"


BENCH = ASSETS / "results" / "bench.json"
MEASURED, BUNDLED, PAPER, OWN = "measured", "bundled", "llama-3.1-8b", "own"
MAX_CONFIG = 100_000
"""Most characters of a config, pasted or in a file."""


def _shape(
    hidden: int, wide: int, heads: int, kv_heads: int, num_layers: int, vocabulary: int
) -> ModelShape:
    sizes = {"hidden_size": hidden, "feed_forward_size": wide, "num_heads": heads}
    layer = LayerShape(**sizes, num_kv_heads=kv_heads, head_size=128)
    return ModelShape(
        layer=layer, num_layers=num_layers, vocabulary_size=vocabulary, bytes_per_value=2
    )


MODELS: dict[str, tuple[str, ModelShape]] = {
    PAPER: ("Llama-3.1-8B (the paper’s)", _shape(4096, 14_336, 32, 8, 32, 128_256)),
    "llama-3.1-70b": ("Llama-3.1-70B", _shape(8192, 28_672, 64, 8, 80, 128_256)),
    "qwen3-8b": ("Qwen3-8B", _shape(4096, 12_288, 32, 8, 36, 151_936)),
    "qwen3-0.6b": ("Qwen3-0.6B", _shape(1024, 3072, 16, 8, 28, 151_936)),
}
"""Name and shape of each model, by key; the sizes come from the published configs."""


@cache
def bundled_shape() -> ModelShape:
    """The shape of the bundled checkpoint in float32, the number format of the benchmark."""
    config = json.loads((DEFAULT_CHECKPOINT / "config.json").read_text("utf-8"))
    return ModelShape.of(config, bytes_per_value=4)


@cache
def measured_times() -> Calibrated:
    """Read the times of the bundled checkpoint's forward passes from the stored benchmark."""
    return Calibrated.read(BENCH)


@cache
def devices() -> dict[str, Device]:
    """Map keys to devices; the key "measured" is this machine."""
    here = measured_times().best_device(bundled_shape(), "This machine as measured")
    facts = json.loads(BENCH.read_text("utf-8")).get("circumstances", {})
    machine = f"{facts.get('processor', 'this machine')}, {facts.get('threads', '?')} thread"
    return {**DEVICES, MEASURED: replace(here, source=f"{here.source} ({machine})")}


def models() -> dict[str, tuple[str, ModelShape]]:
    """Map each model's key to its name and shape."""
    return {**MODELS, BUNDLED: ("nano, the bundled checkpoint", bundled_shape())}


def own_shape(config: object, *, may_name_folder: bool = True) -> ModelShape:
    """Read a shape from the text of a config.json, or from the path of a folder with that file.

    may_name_folder: whether to accept a path. Raises ArgumentError for an unusable `config`.
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
        # The visitor may not see the contents of a file of this machine.
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


WORDS = ASSETS / "roofline.json"


def cards() -> list[dict[str, str]]:
    """Id, title and text of each card, as they are before the visitor chooses anything."""
    return json.loads(WORDS.read_text(encoding="utf-8"))


def card(shape: ModelShape, point: Any) -> dict[str, str]:
    """The curve's card, with the widths of the model. point: the visitor's RooflinePoint."""
    [found] = cards()
    return found | {"words": f"{found['words']} {_widths(shape, point)}"}


def _widths(shape: ModelShape, point: Any) -> str:
    layer = shape.layer
    wide, keys = widths("published", point.shape and point.shape.layer)
    hidden, heads = layer.hidden_size, layer.attention_width
    own = {2: "two", 3: "three"}[layer.num_feed_forward_matrices]
    differs = "" if keys == layer.kv_width else f", not {hidden:,} × {layer.kv_width:,}"
    return (
        f"As the paper counts, a layer has two feed-forward matrices of {hidden:,} × {wide:,}: it "
        f"takes the product {hidden:,} × {wide // hidden:,} for their width; the model has {own} "
        f"of {hidden:,} × {layer.feed_forward_size:,}. The weights of keys and of values are "
        f"{hidden:,} × {keys:,}{differs}. Alike in both counts: those of queries and output, "
        f"{hidden:,} × {heads:,}; the [KV cache|cache], {layer.kv_width:,} keys and as many values "
        f"a token."
    )


DEFAULTS: dict[str, Any] = {
    "device": "h100-fp8",
    "model": PAPER,
    "config": "",
    "block": 16,
    "cache": 1024,
    "batch": 1,
    "speed": 3.4,
}
OF_THE_PAPER = " (the paper’s mean for this model with its higher γ, Table 1)"
"""Source of the default of `speed`."""
NAMES = {
    "block": "block size",
    "cache": "tokens in the KV cache",
    "batch": "batch size",
    "speed": "tokens per forward pass",
}
LEAST = {"block": 1, "cache": 0, "batch": 1}
TIMED_BATCH = 1
"""Number of texts in the forward passes that the benchmark timed."""
NO_BOUND = "The roofline bounds times, not their ratio: a measured speed-up may be above it"


@dataclass(frozen=True, slots=True)
class Choices:
    """The visitor's choices after a check, which replaces invalid values.

    is_measured: whether the device is this machine, as measured.
    model, name: key and name of the model.
    block: block size. cache: tokens in the KV cache. batch: batch size.
    speed: tokens per forward pass. problems: one sentence for each value that was replaced.
    """

    device: Device
    is_measured: bool
    model: str
    name: str
    shape: ModelShape
    block: int
    cache: int
    batch: int
    speed: float
    problems: list[str]


def checked_choices(sent: dict[str, Any], *, may_name_folder: bool = True) -> Choices:
    """Check the visitor's choices and replace invalid ones. may_name_folder: see own_shape()."""
    problems: list[str] = []
    device = _choice("device", sent.get("device", DEFAULTS["device"]), devices(), problems)
    key = sent.get("model", PAPER)
    name, shape = "your config", None
    if key == OWN:
        try:
            config = sent.get("config", "")
            shape = own_shape(config, may_name_folder=may_name_folder)
        except ArgumentError as error:
            problems.append(f"{message_of(error)} Shown is {models()[PAPER][0]}.")
            key = PAPER
    else:
        key = _choice("model", key, models(), problems)
    if shape is None:
        name, shape = models()[key]
    counts = {field: _count(field, sent.get(field, DEFAULTS[field]), problems) for field in LEAST}
    speed = _speed(sent.get("speed", DEFAULTS["speed"]), counts["block"], problems)
    asked_device, is_measured = devices()[device], device == MEASURED
    return Choices(
        asked_device, is_measured, key, name, shape, **counts, speed=speed, problems=problems
    )


def answer(sent: dict[str, Any], *, may_name_folder: bool = True) -> dict[str, Any]:
    """Everything that the view shows for the choices `sent`. may_name_folder: see own_shape()."""
    from sbd_core import plots

    what = checked_choices(sent, may_name_folder=may_name_folder)
    point = plots.RooflinePoint(
        device=what.device,
        shape=None if what.model == PAPER else what.shape,
        block_size=what.block,
        kv_length=what.cache,
        batch_size=what.batch,
        tokens_per_forward=what.speed,
    )
    times = measured_times().seconds
    nearest = min(times, key=lambda length: abs(length - what.cache))
    measured = times[nearest] if what.batch == TIMED_BATCH else None
    name = f"bundled model, timed, KV cache {nearest}"
    curve = two_themes(lambda theme: plots.slowdown_curve(point, measured, theme, name))
    return {
        "problems": what.problems,
        "wrong": [
            field
            for field in (*LEAST, "speed")
            if _number(sent.get(field, DEFAULTS[field])) != getattr(what, field)
        ],
        "facts": facts(what, point),
        "cards": [card(what.shape, point)],
        "figures": [curve],
    }


def facts(what: Choices, point: Any) -> list[dict[str, str]]:
    """The view's numbers as {name, value, note}; [word] in a name marks a glossary word."""
    published = point.speedup(what.speed, what.cache, "published")
    corrected = point.speedup(what.speed, what.cache, "corrected")
    one, block, double = (
        pass_time(size, what.cache, what.batch, "corrected", what.shape, what.device)
        for size in (1, what.block, 2 * what.block)
    )
    slower = point.slowdown(what.block, what.cache, "corrected")
    side = {True: "moving bytes", False: "computing"}
    device = what.device
    rates = f"{rate_words(device.linear_flops)} of matrix products"
    if device.attention_flops != device.linear_flops:
        rates += f", {rate_words(device.attention_flops)} of attention"
    token = "a token" if what.batch == 1 else f"a token for each of {what.batch} texts"
    in_all = "" if what.batch == 1 else f" a text, {2 * what.block * what.batch:,} in all"
    is_the_papers = what.model == PAPER and what.speed == DEFAULTS["speed"]
    origin = OF_THE_PAPER if is_the_papers else ""
    rows = [
        ("Speed-up", f"{corrected:.2f}×", f"as the paper counts {published:.2f}×; Eq. 16"),
        ("[Next-token prediction]", f"{time_words(one.seconds)}", f"{token}; {_bound(one)}"),
        (
            "Set Block Decoding",
            f"{time_words(one.seconds / corrected)}",
            f"{token}, at {what.speed:g} tokens a forward pass{origin}; the first over a block "
            f"reads the block before it too, {2 * what.block} rows{in_all}: "
            f"{time_words(double.seconds)}",
        ),
        (
            f"A [forward pass] over {what.block}",
            f"{slower:.2f}×",
            f"as long as over one: {time_words(block.seconds)}; {_bound(block)}",
        ),
        (
            "Bound by",
            side[block.is_memory_bound],
            f"{time_words(block.moving)} for the bytes of all steps, "
            f"{time_words(block.computing)} for the operations; of each step the longer counts",
        ),
        ("Free rows", *_free_rows(what)),
        ("Left out", *_left_out(what)),
        ("Memory", *_memory(what)),
        (
            "The device",
            f"{device.bandwidth / 1e9:,.0f} GB/s",
            f"of memory, {rates}; source: {device.source}",
        ),
    ]
    rows_shown = [{"name": name, "value": value, "note": note} for name, value, note in rows]
    return rows_shown + _measured(what)


FREE = 1.05
"""Largest slowdown at which rows count as free."""


def _free_rows(what: Choices) -> tuple[str, str]:
    """The largest number of rows that take at most FREE times as long as one row, and a note."""

    def slowdown(rows: int) -> float:
        one, more = (
            pass_time(size, what.cache, what.batch, "corrected", what.shape, what.device).seconds
            for size in (1, rows)
        )
        return more / one

    sizes = range(2, 4097)
    count = 1 + bisect_right(sizes, FREE, key=slowdown)
    note = f"take at most {FREE:g} times as long as one: a draft of as many costs no time there"
    return f"{count:,}", note


def _left_out(what: Choices) -> tuple[str, str]:
    """The time of the steps that the view's other times leave out, and a note on these steps."""
    block, one = (
        left_out(size, what.cache, what.batch, what.shape, what.device) for size in (what.block, 1)
    )
    output_layer, own_keys = time_words(block.output_layer), time_words(block.own_keys)
    note = (
        f"of the forward pass over {what.block}, as in the paper: {output_layer} of the output "
        f"layer, {own_keys} of attention to the block’s own keys; of one over a single token "
        f"{time_words(one.output_layer + one.own_keys)}. Under the hood counts both"
    )
    return time_words(block.output_layer + block.own_keys), note


def _memory(what: Choices) -> tuple[str, str]:
    """The bytes that weights and KV cache need, and a note on whether the device has room."""
    a_value, layer = what.device.bytes_per_value, what.shape.layer
    weights = what.shape.num_weights * a_value
    cached = 2 * what.shape.num_layers * layer.kv_width * what.cache * what.batch * a_value
    needed, holds = weights + cached, what.device.memory
    note = f"at least: {size_words(weights)} of weights, {size_words(cached)} of KV cache"
    if holds is not None and needed > holds:
        note += (
            f"; more than the {size_words(holds)} of the device, which cannot run this: the times "
            "are those of one with its rates and room for it"
        )
    elif holds is not None:
        note += f"; the device has {size_words(holds)}"
    return size_words(needed), note


def _measured(what: Choices) -> list[dict[str, str]]:
    """The measured speed-up as one item of facts(); [] if the device is not this machine."""
    if not what.is_measured:
        return []
    if untimed := _untimed(what):
        return [{"name": "Measured", "value": "–", "note": untimed}]
    times = measured_times()
    gain = times.speedup(what.block, what.speed, what.cache)
    slower = times.slowdown(what.block, what.cache)
    note = f"speed-up by Eq. 16 from timed forward passes; a block takes {slower:.2f}× one token"
    if what.cache not in times.seconds:
        note += f"; worked out between those timed with {_lengths()} tokens in the KV cache"
    note += f". {NO_BOUND}"
    return [{"name": "Measured", "value": f"{gain:.2f}×", "note": note}]


def _untimed(what: Choices) -> str:
    """The reason why the benchmark has no times for the visitor's choices; "" if it has."""
    times = measured_times().seconds
    most = max(next(iter(times.values())))
    if what.model != BUNDLED:
        return "the times measured are nano’s only"
    if what.batch != TIMED_BATCH:
        return f"timed at a batch of {TIMED_BATCH} only, not {what.batch}"
    if not min(times) <= what.cache <= max(times):
        return f"timed with {_lengths()} tokens in the KV cache only, not with {what.cache}"
    if 2 * what.block > most:
        return f"timed up to {most} rows only; a block of {what.block} needs {2 * what.block}"
    return ""


def _lengths() -> str:
    """The lengths of the KV cache in the benchmark, as text such as "16, 256 and 1024"."""
    *others, last = (str(length) for length in sorted(measured_times().seconds))
    return f"{', '.join(others)} and {last}" if others else last


def _bound(cost: Any) -> str:
    return "bound by memory" if cost.is_memory_bound else "bound by computing"


def _choice(field: str, key: object, known: dict[str, Any], problems: list[str]) -> str:
    if isinstance(key, str) and key in known:
        return key
    default: str = DEFAULTS[field]
    problems.append(f"There is no {field} {shown(key)} here; shown is the default.")
    return default


def _number(value: object) -> float | None:
    """Convert a value to a finite number; None for anything else, such as an empty box."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _count(field: str, value: object, problems: list[str]) -> int:
    number, least = _number(value), LEAST[field]
    if number is not None and number == int(number) and least <= number <= MAX_TOKENS:
        return int(number)
    default: int = DEFAULTS[field]
    problems.append(
        f"The {NAMES[field]} must be a whole number from {least} to {MAX_TOKENS:.0e}, "
        f"not {shown(value)}; shown is {default}."
    )
    return default


def _speed(value: object, block: int, problems: list[str]) -> float:
    number = _number(value)
    if number is not None and 0 < number <= block:
        return number
    most = DEFAULTS["speed"] if number is None or number <= 0 else number
    default = min(most, block)
    problems.append(
        f"The tokens per forward pass must be above 0 and at most the block size, {block}, "
        f"not {shown(value)}; shown is {default:g}."
    )
    return float(default)


HINT = "Paste a config.json"
FOLDER_HINT = f"{HINT}, or type the folder of a model"


def roofline_value(*, may_name_folder: bool) -> str:
    """The JSON with which the view starts. may_name_folder: see own_shape()."""
    return wire_json({**setting(), "ownHint": FOLDER_HINT if may_name_folder else HINT})


def setting() -> dict[str, Any]:
    """The data with which the view starts.

    "measured" is this machine as a device; the panel "Under the hood" reads it too.
    """
    own = {"key": OWN, "name": "A config of your own …"}
    return {
        "library": LIBRARY_PATH,
        "cards": cards(),
        "devices": [{"key": key, "name": device.name} for key, device in devices().items()],
        "models": [*({"key": key, "name": name} for key, (name, _) in models().items()), own],
        "defaults": DEFAULTS,
        "measured": device_data(devices()[MEASURED]),
    }


def device_data(device: Device) -> dict[str, Any]:
    """Describe a device in the form that the page's scripts read."""
    return {
        "name": device.name,
        "flops": device.linear_flops,
        "attentionFlops": device.attention_flops,
        "bandwidth": device.bandwidth,
        "valueBytes": device.bytes_per_value,
        "source": device.source,
    }
