"""The recorded runs of the opening and the race, of nano and of the real model."""

import pytest

from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT, REAL_MODEL
from ui.recordings import opening_traces, race_traces


@pytest.mark.parametrize("model", [DEFAULT_CHECKPOINT.name, REAL_MODEL])
def test_a_page_opens_on_a_run_and_a_race_of_its_first_model(model):
    lanes, race = opening_traces(model), race_traces(model)
    assert {trace.model for trace in (*lanes.values(), *race.values())} == {model}
    assert {trace.prompt for trace in (*lanes.values(), *race.values())} == {lanes["ntp"].prompt}
    assert lanes["verify"].token_ids == lanes["ntp"].token_ids == race["verify"].token_ids
    assert lanes["verify"].num_forwards < lanes["ntp"].num_forwards


def test_a_model_without_runs_of_its_own_opens_on_those_of_nano():
    assert opening_traces("llama") == opening_traces(DEFAULT_CHECKPOINT.name)
