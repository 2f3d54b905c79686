"""The recorded runs of the opening and the comparison, of nano and of the real model."""

import pytest

from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT, REAL_MODEL
from ui.recordings import compared_traces, opening_traces


@pytest.mark.parametrize("model", [DEFAULT_CHECKPOINT.name, REAL_MODEL])
def test_a_page_opens_on_a_run_and_lanes_of_its_first_model(model):
    traces = [*opening_traces(model).values(), *compared_traces(model).values()]
    assert {trace.model for trace in traces} == {model}


def test_a_model_without_runs_of_its_own_opens_on_those_of_nano():
    assert opening_traces("llama") == opening_traces(DEFAULT_CHECKPOINT.name)
