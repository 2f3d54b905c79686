"""The times that were measured on this machine, beside those that the rates allow."""

import pytest

from sbd_core.roofline import pass_time, speedup
from tests.ui.views.roofline.facts import note, value
from ui.views.roofline import (
    BUNDLED,
    MEASURED,
    answer,
    asked,
    bundled_shape,
    devices,
    measured_times,
)
from ui.views.roofline import time_words as in_units

HERE = {"device": MEASURED, "model": BUNDLED, "block": 8}


def test_this_machine_as_measured_is_compared_where_it_was_timed() -> None:
    few, more, *_ = sorted(measured_times().seconds)
    for cached, is_between in ((few, False), (few + (more - few) // 2, True)):
        found = answer({**HERE, "cache": cached})
        expected = measured_times().speedup(8, 3.4, cached)
        assert value(found, "Measured") == f"{expected:.2f}×"
        words = f"between those timed with {few}, {more}"
        assert (words in note(found, "Measured")) == is_between


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": "qwen3-8b"}, "the bundled checkpoint only"),
        ({"batch": 64}, "at a batch of 1 only, not 64"),
        ({"cache": 10**6}, "tokens in the KV cache only, not with 1000000"),
        ({"cache": 0}, "tokens in the KV cache only, not with 0"),
        ({"block": 1024}, "a block of 1024 needs 2048"),
    ],
)
def test_what_was_not_timed_is_said_by_what_was_asked(changes, words) -> None:
    found = answer({**HERE, "cache": min(measured_times().seconds), **changes})
    assert value(found, "Measured") == "–"
    assert words in note(found, "Measured")


def test_timed_forward_passes_stand_only_beside_a_line_of_their_batch() -> None:
    lengths = measured_times().seconds
    for batch, cached in ((1, min(lengths)), (1, 10**6), (64, min(lengths))):
        [curve, *_] = answer({**HERE, "batch": batch, "cache": cached})["figures"]
        nearest = min(lengths, key=lambda length: abs(length - cached))
        timed = [line["x"] for line in curve["data"] if f"KV cache {nearest}" in line["name"]]
        assert [list(sizes) for sizes in timed] == (
            [sorted(lengths[nearest])] if batch == 1 else []
        )


def test_a_measured_speed_up_above_the_roofline_is_no_time_below_it_and_that_is_said() -> None:
    device, shape = devices()[MEASURED], bundled_shape()
    for cached, row in measured_times().seconds.items():
        for rows, seconds in row.items():
            assert seconds >= pass_time(rows, cached, 1, "corrected", shape, device).seconds
    said = note(answer({**HERE, "cache": min(measured_times().seconds)}), "Measured")
    assert said.endswith(
        ". The roofline bounds times, not their ratio: a measured speed-up may be above it"
    )


def test_the_time_of_a_token_is_the_sum_of_the_passes_that_are_named() -> None:
    what = asked({**HERE, "speed": 2})
    single, block, double = (
        pass_time(rows, what.cache, 1, "corrected", what.shape, what.device).seconds
        for rows in (1, 8, 16)
    )
    gain = speedup(8, 2, what.cache, 1, "corrected", shape=what.shape.layer, device=what.device)
    assert (double + 3 * block) / 8 == pytest.approx(single / gain)
    found = answer({**HERE, "speed": 2})
    assert value(found, "Set Block Decoding") == in_units(single / gain)
    assert note(found, "Set Block Decoding").endswith(f"16 rows: {in_units(double)}")
