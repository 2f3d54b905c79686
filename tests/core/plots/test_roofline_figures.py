"""The figures of the roofline hold the paper's own cells, and mark the reader's."""

import csv
from pathlib import Path

import pytest

from sbd_core import plots
from sbd_core.errors import ArgumentError
from sbd_core.plots.roofline import BLOCK_SIZES, KV_LENGTHS, NFE_SPEEDUPS
from sbd_core.roofline import DEVICES, H100_FP8, speedup

TABLE = Path(__file__).parents[2] / "golden" / "table3_slowdown.csv"


@pytest.mark.parametrize("batch_size", [1, 4, 8, 16])
def test_the_published_heatmap_is_the_papers_table_3(batch_size) -> None:
    point = plots.RooflinePoint(device=H100_FP8, batch_size=batch_size)
    values = plots.slowdown_table(point, "published").data[0].z
    rows = [row for row in csv.DictReader(TABLE.open()) if int(row["batch_size"]) == batch_size]
    assert len(rows) == len(BLOCK_SIZES) * len(KV_LENGTHS)
    for row in rows:
        length = KV_LENGTHS.index(int(row["kv_length"]))
        cell = values[length][BLOCK_SIZES.index(int(row["block_size"]))]
        assert f"{cell:.3f}" == row["slowdown"]


def test_the_cache_shows_in_the_published_times_only_at_a_large_batch() -> None:
    """Llama-3.1-8B, by hand: 550 GB of two matrices a layer, 2048 bytes a cached token."""
    weights = 2 * 4096 * 4096 * 16384
    for batch in (1, 64):
        point = plots.RooflinePoint(device=H100_FP8, batch_size=batch)
        cache = batch * 2 * 1024 * 4194304
        by_hand = 1 + cache / weights
        assert point.cache_growth("published") == pytest.approx(by_hand, rel=0.01)


def test_the_speedup_heatmap_is_equation_16() -> None:
    point = plots.RooflinePoint(device=DEVICES["a100-bf16"], block_size=4, batch_size=8)
    values = plots.speedup_table(point, "corrected").data[0].z
    gains = [gain for gain in NFE_SPEEDUPS if gain <= 4]
    assert len(values[0]) == len(gains)
    for row, length in zip(values, KV_LENGTHS, strict=True):
        for cell, gain in zip(row, gains, strict=True):
            expected = speedup(4, gain, length, 8, "corrected", device=DEVICES["a100-bf16"])
            assert cell == pytest.approx(expected, abs=5e-4)


def test_the_readers_point_is_framed_and_starred() -> None:
    point = plots.RooflinePoint(device=H100_FP8, block_size=9, kv_length=5000)
    [frame] = plots.slowdown_table(point, "corrected").layout.shapes
    assert (frame.x0 + 0.5, frame.y0 + 0.5) == (BLOCK_SIZES.index(8), KV_LENGTHS.index(4096))
    star = plots.slowdown_curve(point, {1: 1.0, 8: 4.0}).data[-1]
    assert star.x == (9,)
    measured = plots.slowdown_curve(point, {1: 1.0, 8: 4.0}).data[-2]
    assert list(measured.y) == [1.0, 4.0]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("block_size", 0), ("kv_length", -1), ("batch_size", 1.5), ("tokens_per_forward", 17)],
)
def test_a_point_that_makes_no_sense_is_refused(name, wrong) -> None:
    with pytest.raises(ArgumentError, match=name):
        plots.RooflinePoint(device=H100_FP8, **{name: wrong})
    with pytest.raises(ArgumentError, match="tokens_per_forward"):
        plots.RooflinePoint(device=H100_FP8, tokens_per_forward=0)
