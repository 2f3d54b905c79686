"""What stands above the heatmaps as the paper counts: true of the model, device and batch asked."""

import json
from typing import Any

from sbd_core.cost.model_shape import ModelShape
from sbd_core.roofline import H100_FP8, Device, widths
from ui.components.assets import ASSETS
from ui.roofline.choices import PAPER

WORDS = ASSETS / "limits.json"
TABLE = "slowdown-published"
TABLE_3_BATCHES = (1, 4, 8, 16)


def cards() -> list[dict[str, str]]:
    """{id, title, words} of each card before anything was answered."""
    found: list[dict[str, str]] = json.loads(WORDS.read_text(encoding="utf-8"))
    return found


def table_card(
    model: str, shape: ModelShape, device: Device, batch: int, point: Any
) -> dict[str, str]:
    """The card of the slowdown as the paper counts; point: the LimitPoint of what was asked."""
    card = next(each for each in cards() if each["id"] == TABLE)
    is_the_papers = model == PAPER and device == H100_FP8 and batch in TABLE_3_BATCHES
    title = "as published (Table 3)" if is_the_papers else "as the paper counts"
    words = f"{_widths(shape, point)} {_column(point)} {card['words']}"
    return card | {"title": f"Slowdown, {title}", "words": words}


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


def _column(point: Any) -> str:
    """How far the KV cache shows: in the times of this count, and in the framed column."""
    from sbd_core.plots import framed_column

    (first, *_, last), (least, *_, most) = (
        framed_column(point, mode) for mode in ("published", "corrected")
    )
    return (
        f"With 4M tokens in it a forward pass over one takes "
        f"{point.cache_growth('published'):,.2f} times as long as with 16, corrected "
        f"{point.cache_growth('corrected'):,.2f} times; the framed column goes from {first:.2f} to "
        f"{last:.2f}, corrected from {least:.2f} to {most:.2f}."
    )
