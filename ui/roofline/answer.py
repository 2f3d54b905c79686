"""What the calculator answers: numbers and figures for what was asked, and what was wrong in it.

Whatever cannot be used is said in a sentence, and its default stands in; the rest goes on.
"""

import math
from dataclasses import dataclass
from typing import Any

from sbd_core.cost.model_shape import ModelShape
from sbd_core.errors import ArgumentError, shown
from sbd_core.roofline import MAX_TOKENS, Device, left_out, pass_time
from ui.charts.figures import two_themes
from ui.decode.form import message_of
from ui.roofline.choices import BUNDLED, MEASURED, OWN, PAPER, devices, measured_times, models
from ui.roofline.choices import own_shape as shape_of_config
from ui.roofline.units import rate_words, size_words, time_words
from ui.roofline.words import table_card

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
"""Where the default of `speed` comes from."""
NAMES = {
    "block": "block size",
    "cache": "tokens in the KV cache",
    "batch": "batch size",
    "speed": "tokens per forward pass",
}
LEAST = {"block": 1, "cache": 0, "batch": 1}
TIMED_BATCH = 1
"""Texts in every forward pass that the benchmark timed."""
NO_BOUND = "The roofline bounds times, not their ratio: a measured speed-up may be above it"


@dataclass(frozen=True, slots=True)
class Asked:
    """A wish made sound. problems: sentences on what was put right."""

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


def asked(wish: dict[str, Any], *, may_name_folder: bool = True) -> Asked:
    """Read what the page sent; any value may be anything. may_name_folder: see own_shape."""
    problems: list[str] = []
    device = _choice("device", wish.get("device", DEFAULTS["device"]), devices(), problems)
    key = wish.get("model", PAPER)
    name, shape = "your config", None
    if key == OWN:
        try:
            config = wish.get("config", "")
            shape = shape_of_config(config, may_name_folder=may_name_folder)
        except ArgumentError as error:
            problems.append(f"{message_of(error)} Shown is {models()[PAPER][0]}.")
            key = PAPER
    else:
        key = _choice("model", key, models(), problems)
    if shape is None:
        name, shape = models()[key]
    counts = {field: _count(field, wish.get(field, DEFAULTS[field]), problems) for field in LEAST}
    speed = _speed(wish.get("speed", DEFAULTS["speed"]), counts["block"], problems)
    found, is_measured = devices()[device], device == MEASURED
    return Asked(found, is_measured, key, name, shape, **counts, speed=speed, problems=problems)


def answer(wish: dict[str, Any], *, may_name_folder: bool = True) -> dict[str, Any]:
    """Everything the view shows for a wish. may_name_folder: see own_shape."""
    from sbd_core import plots

    what = asked(wish, may_name_folder=may_name_folder)
    point = plots.LimitPoint(
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
    name = f"bundled model as timed, KV cache {nearest}"
    made = [
        two_themes(lambda theme: plots.slowdown_curve(point, measured, theme, name)),
        *(
            two_themes(lambda theme, draw=draw, mode=mode: draw(point, mode, theme))
            for draw in (plots.slowdown_table, plots.speedup_table)
            for mode in ("published", "corrected")
        ),
    ]
    card = table_card(what.model, what.shape, what.device, what.batch, point)
    return {
        "problems": what.problems,
        "wrong": [
            field
            for field in (*LEAST, "speed")
            if _number(wish.get(field, DEFAULTS[field])) != getattr(what, field)
        ],
        "facts": facts(what, point),
        "cards": [card],
        "figures": made,
    }


def facts(what: Asked, point: Any) -> list[dict[str, str]]:
    """The numbers: {name, value, note}, the speed-up first. [word] in a name: of the glossary."""
    published = point.speedup(what.speed, what.cache, "published")
    corrected = point.speedup(what.speed, what.cache, "corrected")
    one, block, double = (
        pass_time(size, what.cache, what.batch, "corrected", what.shape, what.device)
        for size in (1, what.block, 2 * what.block)
    )
    slower = point.slowdown(what.block, what.cache, "corrected")
    side = {True: "moving bytes", False: "computing"}
    token = "a token" if what.batch == 1 else f"a token for each of {what.batch} texts"
    is_the_papers = what.model == PAPER and what.speed == DEFAULTS["speed"]
    origin = OF_THE_PAPER if is_the_papers else ""
    rows = [
        ("Speed-up", f"{corrected:.2f}×", f"as the paper counts {published:.2f}×; Eq. 16"),
        ("[Next-token prediction]", f"{time_words(one.seconds)}", f"{token}; {_bound(one)}"),
        (
            "Set Block Decoding",
            f"{time_words(one.seconds / corrected)}",
            f"{token}, at {what.speed:g} tokens a forward pass{origin}; the first over a block "
            f"reads the block before it too, {_rows_words(what)}: {time_words(double.seconds)}",
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
        ("Left out", *_left_out(what)),
        ("Memory", *_memory(what)),
        (
            "The device",
            f"{what.device.bandwidth / 1e9:,.0f} GB/s",
            f"of memory, {_rates(what.device)}; source: {what.device.source}",
        ),
    ]
    found = [{"name": name, "value": value, "note": note} for name, value, note in rows]
    return found + _measured(what)


def _rows_words(what: Asked) -> str:
    """The rows of a forward pass over two blocks."""
    rows = 2 * what.block
    return (
        f"{rows} rows" if what.batch == 1 else f"{rows} rows a text, {rows * what.batch:,} in all"
    )


def _left_out(what: Asked) -> tuple[str, str]:
    """What the times above are without, and under the hood are with."""
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


def _memory(what: Asked) -> tuple[str, str]:
    """The bytes that weights and KV cache take, and whether the device holds them."""
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


def _measured(what: Asked) -> list[dict[str, str]]:
    """The same from the forward passes timed here; only for what was timed."""
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


def _untimed(what: Asked) -> str:
    """Why the forward passes timed here say nothing of what is asked; "" where they do."""
    times = measured_times().seconds
    most = max(next(iter(times.values())))
    if what.model != BUNDLED:
        return "timed here was the bundled checkpoint only"
    if what.batch != TIMED_BATCH:
        return f"timed at a batch of {TIMED_BATCH} only, not {what.batch}"
    if not min(times) <= what.cache <= max(times):
        return f"timed with {_lengths()} tokens in the KV cache only, not with {what.cache}"
    if 2 * what.block > most:
        return f"timed up to {most} rows only; a block of {what.block} needs {2 * what.block}"
    return ""


def _lengths() -> str:
    """Of the KV cache, those that were timed."""
    *others, last = (str(length) for length in sorted(measured_times().seconds))
    return f"{', '.join(others)} and {last}" if others else last


def _bound(found: Any) -> str:
    return "bound by memory" if found.is_memory_bound else "bound by computing"


def _rates(device: Device) -> str:
    words = f"{rate_words(device.linear_flops)} of matrix products"
    if device.attention_flops == device.linear_flops:
        return words
    return f"{words}, {rate_words(device.attention_flops)} of attention"


def _choice(field: str, key: object, known: dict[str, Any], problems: list[str]) -> str:
    if isinstance(key, str) and key in known:
        return key
    default: str = DEFAULTS[field]
    problems.append(f"There is no {field} {shown(key)} here; shown is the default.")
    return default


def _number(value: object) -> float | None:
    """A finite number, None for anything else; an empty box is no number."""
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
