"""Law 8: what a newer version of the trace format has more, read from older ones without it."""

import copy
import json
from dataclasses import replace

import pytest

from sbd_core import DecodeConfig, Trace, TraceError, generate
from sbd_core.trace import VERSION
from tests.core.decoding.chance_models import END, chance_model
from tests.core.test_trace_damage import SHAPE, SOUND, damaged, refused

AHEAD = json.loads(
    generate(
        chance_model(1, agreement=0.7, end_bias=-9.0),
        "ab",
        DecodeConfig(strategy="verify", num_predrafts=2, draft_threshold=0.0, max_new_tokens=20),
    ).to_json()
)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("", 3),
        ("", [[1, 2]]),
        ("[0]", [1, 2, [5], 0]),
        ("[0]", [-1, 2, [5], False]),
        ("[0]", [1, 2.5, [5], False]),
        ("[0]", [1, 2, ["a"], False]),
        ("[0]", [1, 2, [5], False, "a"]),
        ("[0]", [1, 2, [5], False, 1, 1]),
    ],
)
def test_a_damaged_predraft_is_named(place, value) -> None:
    data = copy.deepcopy(AHEAD)
    index = next(i for i, event in enumerate(data["events"]) if event["predrafts"])
    event = data["events"][index]
    if place:
        event["predrafts"][0] = value
    else:
        event["predrafts"] = value
    with pytest.raises(TraceError, match=rf"^trace\.events\[{index}\]\.predrafts"):
        Trace.from_json(json.dumps(data))


@pytest.mark.parametrize("name", ["num_predrafts", "draft_threshold"])
def test_settings_of_drafting_are_checked_and_must_be_there(name) -> None:
    for value in (-1, "2", None, 99):
        data = copy.deepcopy(AHEAD)
        data["config"][name] = value
        with pytest.raises(TraceError, match=rf"^trace\.config\.{name}: "):
            Trace.from_json(json.dumps(data))
    data = copy.deepcopy(AHEAD)
    del data["config"][name]
    with pytest.raises(TraceError, match=rf"^trace\.config\.{name}: is missing"):
        Trace.from_json(json.dumps(data))


def test_a_trace_says_its_penalty_and_one_that_does_not_had_none() -> None:
    config = DecodeConfig(max_new_tokens=6, repetition_penalty=1.3)
    trace = generate(chance_model(1), "ab", config)
    assert Trace.from_json(trace.to_json()) == trace
    data = json.loads(trace.to_json())
    assert data["config"]["repetition_penalty"] == 1.3
    for value in (0, "1.3", [1], True):
        data["config"]["repetition_penalty"] = value
        assert refused(json.dumps(data)).startswith("trace.config.repetition_penalty: ")
    del data["config"]["repetition_penalty"]
    assert Trace.from_json(json.dumps(data)).config.repetition_penalty == 1.0


def test_a_trace_of_version_1_is_read_as_one_without_predrafts() -> None:
    data = copy.deepcopy(SOUND)
    data["version"] = 1
    del data["shape"]
    del data["config"]["num_predrafts"], data["config"]["draft_threshold"]
    for event in data["events"]:
        del event["predrafts"]
    found = Trace.from_json(json.dumps(data))
    assert found == replace(Trace.from_json(json.dumps(SOUND)), shape=None)
    assert found.costs is None


def test_a_trace_of_version_2_is_read_as_one_of_a_model_of_unknown_shape() -> None:
    data = copy.deepcopy(SOUND)
    data["version"] = 2
    del data["shape"]
    found = Trace.from_json(json.dumps(data))
    assert found == replace(Trace.from_json(json.dumps(SOUND)), shape=None)


def test_a_shape_that_is_null_or_whole_is_read_and_any_other_refused() -> None:
    assert Trace.from_json(json.dumps(SOUND)).shape == SHAPE
    assert Trace.from_json(json.dumps({**SOUND, "shape": None})).costs is None
    for name in SOUND["shape"]:
        for wrong in (0, -1, 1.5, "8", True, None, 10**30):
            message = refused(json.dumps({**SOUND, "shape": {**SOUND["shape"], name: wrong}}))
            assert message.startswith(f"trace.shape.{name}: ")
        rest = {key: value for key, value in SOUND["shape"].items() if key != name}
        message = refused(json.dumps({**SOUND, "shape": rest}))
        assert message.startswith(f"trace.shape.{name}: must be given")
    assert refused(json.dumps({**SOUND, "shape": [1]})).startswith("trace.shape: ")


def test_a_trace_that_does_not_say_what_ends_an_answer_is_read() -> None:
    assert Trace.from_json(json.dumps(SOUND)).end_token_ids == (END,)
    data = copy.deepcopy(SOUND)
    del data["end_token_ids"]
    found = Trace.from_json(json.dumps(data))
    assert found == replace(Trace.from_json(json.dumps(SOUND)), end_token_ids=())


def test_another_format_and_a_newer_version_are_told_apart_from_damage() -> None:
    assert "trace.format" in refused(damaged(lambda d: d.update(format="sbd")))
    message = refused(damaged(lambda d: d.update(version=VERSION + 1)))
    assert "trace.version" in message
    assert "update" in message
    assert "trace.format: is missing" in refused("{}")


def test_a_trace_says_its_weights_and_an_older_one_is_read_without() -> None:
    data = copy.deepcopy(SOUND)
    data["weights"] = {"adapter": "12ab", "base": "34cd"}
    found = Trace.from_json(json.dumps(data))
    assert found.weights == data["weights"]
    assert Trace.from_json(found.to_json()) == found
    del data["weights"]
    assert Trace.from_json(json.dumps(data)) == replace(found, weights={})
    for value in (5, ["12ab"], {"adapter": 5}):
        with pytest.raises(TraceError, match=r"^trace\.weights"):
            Trace.from_json(json.dumps({**data, "weights": value}))
