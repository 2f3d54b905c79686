"""Timing the browser's engine beside the Python backends: every figure is there and sensible."""

import shutil

import pytest

from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from scripts.browser.time_forward import measured


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_every_backend_is_timed_with_one_row_and_with_many() -> None:
    found = measured(DEFAULT_CHECKPOINT, 2)
    assert found["default"] in found["milliseconds"]
    assert {"PyTorch", "sbd.wasm", "sbd-fma.wasm"} <= set(found["milliseconds"])
    for times in found["milliseconds"].values():
        assert 0 < times["1"] < times["16"]
