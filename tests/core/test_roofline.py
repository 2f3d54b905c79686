"""The roofline repeats the paper's table, and the corrected one sees the KV cache."""

import csv
from pathlib import Path

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.roofline import pass_seconds, slowdown, speedup

TABLE = Path(__file__).parents[1] / "golden" / "table3_slowdown.csv"


def test_published_mode_gives_all_224_cells_to_three_decimals() -> None:
    rows = list(csv.DictReader(TABLE.open()))
    assert len(rows) == 224
    for row in rows:
        sizes = (int(row[name]) for name in ("block_size", "kv_length", "batch_size"))
        assert f"{slowdown(*sizes, 'published'):.3f}" == row["slowdown"], row


def test_a_block_of_one_costs_one_token_in_either_mode() -> None:
    assert slowdown(1, 4096, 4, "published") == slowdown(1, 4096, 4, "corrected") == 1.0


def test_only_the_corrected_mode_feels_a_long_cache() -> None:
    def growth(mode: str) -> float:
        return pass_seconds(1, 131072, 8, mode) / pass_seconds(1, 16, 8, mode)  # type: ignore[arg-type]

    assert growth("published") < 1.01
    assert growth("corrected") > 2


def test_equation_16_by_hand() -> None:
    one, block, double = (pass_seconds(size, 1024, 1, "corrected") for size in (1, 16, 32))
    by_hand = 16 * one / (double + (4 - 1) * block)
    assert speedup(16, 4.0, 1024, 1, "corrected") == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: slowdown(0, 16, 1), "block_size"),
        (lambda: slowdown(4, -1, 1), "kv_length"),
        (lambda: slowdown(4, 16, 1, "measured"), "mode"),  # type: ignore[arg-type]
        (lambda: speedup(16, 0, 16, 1), "nfe_speedup"),
        (lambda: speedup(16, 17, 16, 1), "nfe_speedup"),
        (lambda: speedup(16, float("nan"), 16, 1), "nfe_speedup"),
    ],
)
def test_bad_arguments_are_named(call, named) -> None:
    with pytest.raises(ArgumentError, match=f"^{named}: "):
        call()
