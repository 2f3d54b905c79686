"""evaluate() for Python users: the scores of the traces, and one clear error for bad input."""

import json

import pytest

import sbd_core
from sbd_core.config import DecodeConfig, EntropyBound
from sbd_core.errors import ArgumentError
from sbd_core.evaluation import evaluate
from sbd_core.models.scripted import ScriptedModel
from sbd_core.tasks import TASKS, held_out

CONFIG = DecodeConfig(solver=EntropyBound(gamma=0.35), max_new_tokens=48)


def test_scores_are_those_of_the_traces(nano) -> None:
    found = evaluate(nano, ["math", "json"], CONFIG, limit=3, shows_progress=False)
    for score in found.rows["sbd"]:
        items = held_out(score.task, 3, 0, "test")
        traces = [sbd_core.generate(nano, item.prompt, CONFIG) for item in items]
        assert score.num_examples == 3
        assert score.num_tokens == sum(trace.num_tokens for trace in traces)
        assert score.num_forwards == sum(trace.num_forwards for trace in traces)
        checks = [TASKS[score.task].check(i, t.text) for i, t in zip(items, traces, strict=True)]
        assert score.accuracy == sum(checks) / 3


def test_several_configs_are_rows_and_the_result_is_json(nano) -> None:
    configs = {"slow": DecodeConfig(strategy="ntp", max_new_tokens=8), "fast": CONFIG}
    found = evaluate(nano, ["json"], configs, limit=2, seed=5, shows_progress=False)
    data = json.loads(json.dumps(found.to_data()))
    assert list(data["rows"]) == ["slow", "fast"]
    assert data["rows"]["slow"]["families"][0]["tokens_per_forward"] == 1
    assert (data["model"], data["seed"], data["is_native"]) == ("sbd-nano", 5, False)
    assert len(data["circumstances"]["weights_sha256"]) == 64
    assert "slow" in str(found)


def test_a_model_of_no_folder_is_evaluated_all_the_same() -> None:
    model = ScriptedModel(
        texts=["a", "<eos>"],
        next_logits=lambda ids: [0.0, 9.0],
        block_logits=lambda ids, block: [[0.0, 9.0] for _ in block],
        mask_token_id=None,
        end_token_ids=frozenset({1}),
    )
    config = DecodeConfig(strategy="ntp", max_new_tokens=4)
    found = evaluate(model, ["math"], config, limit=2, shows_progress=False).to_data()
    assert found["rows"]["ntp"]["families"][0]["num_tokens"] == 2
    assert "weights_sha256" not in found["circumstances"]


@pytest.mark.parametrize(
    ("argument", "more"),
    [
        ("task", {"tasks": ["chess"]}),
        ("tasks", {"tasks": "math"}),
        ("tasks", {"tasks": []}),
        ("config", {"config": {}}),
        ("limit", {"limit": 0}),
        ("split", {"split": "dev"}),
        ("batch_size", {"batch_size": True}),
    ],
)
def test_bad_input_is_named(nano, argument, more) -> None:
    with pytest.raises(ArgumentError) as caught:
        evaluate(nano, **{"tasks": ["math"], "config": CONFIG, **more})
    assert caught.value.argument == argument


def test_the_bar_is_drawn_unless_it_is_not_wanted(nano, capsys) -> None:
    evaluate(nano, ["math"], CONFIG, limit=1)
    assert "1/1" in capsys.readouterr().err
    evaluate(nano, ["math"], CONFIG, limit=1, shows_progress=False)
    assert capsys.readouterr().err == ""
