"""The calibration is what the drafts of the decodes say."""

from itertools import pairwise

import pytest

from sbd_core import generate
from sbd_core.config import Calibration
from scripts.calibrate import CONFIG, calibration_of
from tests.core.decoding.doubles import chance_model


@pytest.mark.parametrize("agreement", [0.0, 0.5, 1.0])
def test_a_head_is_trusted_as_often_as_its_checked_tokens_were_right(agreement) -> None:
    models = [
        chance_model(seed, agreement=agreement, end_bias=-99.0, sharpness=6.0) for seed in range(4)
    ]
    traces = [generate(model, "abc", CONFIG) for model in models]
    right, likely = 0, 0.0
    for event, after in (pair for trace in traces for pair in pairwise(trace.events)):
        for row, token, final in zip(event.masked[1:], event.draft, after.committed, strict=False):
            right += token == final
            likely += row.top_probabilities[0]
    found = calibration_of(traces, Calibration(rejected=0.7))
    assert found.rejected == 0.7
    assert found.drafted == pytest.approx(right / likely, abs=0.001)
    assert (found.survival[0] > 0.9) == (agreement == 1)
    assert (found.alternatives == 0) == (agreement == 1)


def test_without_a_draft_nothing_changes() -> None:
    assert calibration_of([], Calibration()) == Calibration()
