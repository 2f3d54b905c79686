"""evaluate() for Python users: the scores of the traces, and one clear error for bad input."""

import json
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

import sbd_core
from sbd_core.__main__ import main
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate_batch
from sbd_core.errors import ArgumentError
from sbd_core.evaluation import Sample, evaluate
from sbd_core.evaluation.api import MODEL
from sbd_core.evaluation.runners import (
    Job,
    LocalRunner,
    SharedRunner,
    UnfinishedError,
    journal_of,
    seed_of,
)
from sbd_core.evaluation.tables import sweep_configs
from sbd_core.plots.solver_curves import curves
from sbd_core.shared_work import Share
from sbd_core.solvers import SOLVERS, ConfidenceScores, EntropyBound, Shuffle, Solver
from sbd_core.tasks import TASKS, held_out
from tests.scripted import ScriptedModel

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


def test_seen_and_unseen_wordings_are_scored_apart(nano) -> None:
    [score] = evaluate(nano, ["math"], CONFIG, limit=12, shows_progress=False).rows["sbd"]
    right = {"seen": [], "unseen": []}
    for item in held_out("math", 12, 0, "test"):
        trace = sbd_core.generate(nano, item.prompt, CONFIG)
        right[item.wording].append(TASKS["math"].check(item, trace.text))
    assert score.num_unseen == len(right["unseen"])
    assert score.accuracy_seen == sum(right["seen"]) / len(right["seen"])
    assert score.accuracy_unseen == sum(right["unseen"]) / len(right["unseen"])


def test_several_configs_are_rows_and_the_result_is_json(nano) -> None:
    configs = {"slow": DecodeConfig(strategy="ntp", max_new_tokens=8), "fast": CONFIG}
    found = evaluate(nano, ["json"], configs, limit=2, data_seed=5, shows_progress=False)
    data = json.loads(json.dumps(found.to_data()))
    assert list(data["rows"]) == ["slow", "fast"]
    assert data["rows"]["slow"]["families"][0]["tokens_per_forward"] == 1
    assert (data["model"], data["seed"], data["data_seed"]) == ("sbd-nano", 0, 5)
    assert data["runs_on"].endswith("float32")
    assert len(data["circumstances"]["weights_sha256"]) == 64
    assert "slow" in str(found)


class Leftmost(Solver):
    """A rule without settings."""

    name = "leftmost"
    title = "Leftmost"

    def order(self, scores: ConfidenceScores, masked: Sequence[int], shuffle: Shuffle) -> list[int]:
        return list(masked[:1])


def test_a_rule_without_settings_is_one_point_of_a_sweep(monkeypatch, nano) -> None:
    monkeypatch.setitem(SOLVERS, Leftmost.name, Leftmost)
    configs = sweep_configs(DecodeConfig(max_new_tokens=8))
    [row] = [row for row in configs if row.startswith("leftmost")]
    assert configs[row].solver == Leftmost()
    found = evaluate(nano, ["json"], {row: configs[row]}, limit=1, shows_progress=False)
    [score] = found.rows[row]
    assert score.num_forwards == 1 + score.num_tokens
    [point] = curves(found.to_data()["rows"])["leftmost"]
    assert point.parameter == "default"


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


def test_every_example_draws_from_a_stream_of_its_own_however_they_are_batched(nano) -> None:
    """One stream for all would answer equal prompts alike, and batches would matter."""
    items = held_out("math", 4, 0, "test")
    seeds = [seed_of(3, item) for item in items]
    assert len(set(seeds)) == len(items)
    assert seeds == [seed_of(3, item) for item in items]
    assert set(seeds).isdisjoint(seed_of(4, item) for item in items)
    config = DecodeConfig(strategy="ntp", temperature=4.0, max_new_tokens=12, seed=3)
    runner = LocalRunner({"model": nano})
    whole = runner.answers(Job("row", "math", "model", config, tuple(items), 4))
    apart = [
        answer
        for item in items[::-1]
        for answer in runner.answers(Job("row", "math", "model", config, (item,), 1))
    ][::-1]
    assert [answer.text for answer in whole] == [answer.text for answer in apart]
    same = [items[0].prompt] * 4
    drawn = generate_batch(nano, same, config, seeds=[1, 2, 3, 1])
    assert drawn[0].token_ids == drawn[3].token_ids
    assert len({trace.token_ids for trace in drawn}) == 3
    assert [trace.config.seed for trace in drawn] == [1, 2, 3, 1]


def test_the_data_seed_chooses_the_examples_and_the_seed_does_not(nano) -> None:
    base = Sample(tasks=("math",), limit=3).examples_by_task()
    assert Sample(tasks=("math",), limit=3, data_seed=1).examples_by_task() != base
    words = ["evaluate", "--suite", "math", "--limit", "2", "--max-new-tokens", "2", "--json"]
    found = []
    for more in ([], ["--seed", "7"], ["--data-seed", "7"]):
        with redirect_stdout(StringIO()) as out:
            assert main([*words, *more]) == 0
        found.append(json.loads(out.getvalue().splitlines()[-1]))
    assert [(one["seed"], one["data_seed"]) for one in found] == [(0, 0), (7, 0), (0, 7)]
    for one in found:
        for row in one["rows"].values():
            row["families"][0].pop("tokens_per_second")
    assert found[0]["rows"]["sbd"]["families"] == found[1]["rows"]["sbd"]["families"]


CONFIGS = {
    name: DecodeConfig(strategy=name, max_new_tokens=8, top_k_recorded=0) for name in ("ntp", "sbd")
}
SAMPLE = Sample(tasks=("json", "math"), limit=5, batch_size=2)
CHOSEN = {"limit": 5, "batch_size": 2, "shows_progress": False}
UNTIMED = ("accuracy", "num_tokens", "num_forwards", "num_examples", "num_unseen")


def scores(evaluation) -> dict:
    return {
        (row, score.task): [getattr(score, name) for name in UNTIMED]
        for row, found in evaluation.rows.items()
        for score in found
    }


def shared(nano, out: Path, rank: int, num_processes: int, runner: LocalRunner | None = None):
    share = Share(rank, num_processes)
    journal = journal_of(nano, CONFIGS, SAMPLE, out, rank)
    mine = SharedRunner(runner or LocalRunner({MODEL: nano}), journal, share)
    return evaluate(nano, SAMPLE.tasks, CONFIGS, runner=mine, **CHOSEN), journal


class Killed(Exception):
    pass


class Counting(LocalRunner):
    """Counts its jobs, and is killed before one more than `most`."""

    def __init__(self, nano, most: int = 99) -> None:
        super().__init__({MODEL: nano})
        self.done, self.most = 0, most

    def tally(self, job):
        if self.done == self.most:
            raise Killed
        self.done += 1
        return super().tally(job)


def test_the_last_process_has_the_scores_of_one_whatever_was_killed(nano, tmp_path) -> None:
    expected = scores(evaluate(nano, SAMPLE.tasks, CONFIGS, **CHOSEN))
    out = tmp_path / "out.json"
    with pytest.raises(Killed):
        shared(nano, out, 0, 2, Counting(nano, most=2))
    with next(tmp_path.glob(".out.json.*")).open("a") as file:
        file.write('[5, {"num_ex')
    second = Counting(nano)
    with pytest.raises(UnfinishedError, match="4 of 12 jobs"):
        shared(nano, out, 1, 2, second)
    assert second.done == 6
    last = Counting(nano)
    found, journal = shared(nano, out, 0, 1, last)  # another number of processes goes on
    assert last.done == 4, "what the others did is kept"
    assert scores(found) == expected
    journal.clear()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "argument"),
    [
        ([], "out"),
        (["--out", "x", "--table"], "table"),
        (["--out", "x", "--processes", "2"], "proc"),
    ],
)
def test_what_processes_cannot_share_is_named(words, argument, monkeypatch, capsys) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main(["evaluate", *words]) == 2
    assert capsys.readouterr().err.startswith(f"error: {argument}")
