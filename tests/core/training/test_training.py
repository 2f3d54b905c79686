"""A training run: its data, and that a run killed anywhere resumes exactly."""

import json
import os
import resource
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import sbd_core
from sbd_core import DecodeConfig, generate
from sbd_core.__main__ import main
from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.training import step
from sbd_core.training import train as training
from sbd_core.training.checkpoint import state_folder
from sbd_core.training.step import Loss
from sbd_core.training.train import Run
from tests.core.training.training_runs import (
    TINY,
    all_losses,
    command,
    interrupted_at,
    same,
    train,
    weights,
)


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the loop may catch it."""


def kill_at(monkeypatch, owner: object, name: str, call: int) -> None:
    """Have the `call`-th call of owner.name die instead of running."""
    original, count = getattr(owner, name), [0]

    def dying(*arguments, **named):
        count[0] += 1
        if count[0] == call:
            raise Killed
        return original(*arguments, **named)

    monkeypatch.setattr(owner, name, dying)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """An uninterrupted run."""
    out = tmp_path_factory.mktemp("whole") / "model"
    train(TINY, None, out, save_every=1)
    return out


def losses(out: Path) -> list[float]:
    found = all_losses(out)
    assert len(found) == 6
    return found


@pytest.mark.parametrize("optimizer", ["muon", "adamw"])
def test_a_run_killed_after_3_steps_resumes_to_the_same_weights(
    whole, tmp_path, monkeypatch, optimizer
) -> None:
    recipe, expected = replace(TINY, optimizer=optimizer), whole
    if optimizer == "adamw":
        expected = tmp_path / "whole"
        train(recipe, None, expected, save_every=6)
    out = tmp_path / "model"
    with monkeypatch.context() as patch:
        kill_at(patch, Run, "update", 4)
        with pytest.raises(Killed):
            train(recipe, None, out, save_every=1)
    assert json.loads((state_folder(out) / "progress.json").read_text())["step"] == 3
    assert not same(weights(out), weights(expected))
    train(recipe, None, out, save_every=1)
    assert same(weights(out), weights(expected))
    assert same(load_file(out / "model.safetensors"), load_file(expected / "model.safetensors"))
    assert losses(out) == losses(expected)


@pytest.mark.parametrize("saved", [1, 6])
def test_a_run_killed_between_state_and_export_still_ships_its_last_weights(
    whole, tmp_path, monkeypatch, saved
) -> None:
    out = tmp_path / "model"
    with monkeypatch.context() as patch:
        kill_at(patch, training, "export", saved)
        with pytest.raises(Killed):
            train(TINY, None, out, save_every=1)
    train(TINY, None, out, save_every=1)
    assert same(load_file(out / "model.safetensors"), load_file(whole / "model.safetensors"))


def test_a_signal_saves_after_the_step_under_way(whole, tmp_path, monkeypatch) -> None:
    out = tmp_path / "model"
    with monkeypatch.context() as patch:
        update, count = Run.update, iter(range(99))

        def interrupted(*arguments: Any) -> Any:
            if next(count) == 2:
                os.kill(os.getpid(), signal.SIGTERM)
            return update(*arguments)

        patch.setattr(Run, "update", interrupted)
        words = command(TINY, tmp_path)[2:]
        assert main(words) == 130, "a shell must not go on to the next stage"
    assert json.loads((out / "recipe.json").read_text())["steps"] == 3
    assert json.loads((state_folder(out) / "progress.json").read_text())["step"] == 3
    train(TINY, None, out)
    assert same(weights(out), weights(whole))


@pytest.mark.parametrize("at", ["forward", "backward"])
def test_a_signal_leaves_the_step_under_way_undone(whole, tmp_path, monkeypatch, at) -> None:
    out, calls = tmp_path / "model", iter(range(99))

    def interrupt(*_: object) -> None:
        if next(calls) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    def interrupted(*arguments: object, **named: object) -> Loss:
        loss = loss_of(*arguments, **named)
        if at == "forward":
            interrupt()
        else:
            loss.total.register_hook(interrupt)
        return loss

    loss_of = step.training_loss
    with monkeypatch.context() as patch:
        patch.setattr(step, "training_loss", interrupted)
        assert main(command(TINY, tmp_path)[2:]) == 130
    assert json.loads((state_folder(out) / "progress.json").read_text())["step"] == 2
    train(TINY, None, out)
    assert same(weights(out), weights(whole))


def test_another_recipe_does_not_go_on_from_a_state(whole) -> None:
    before = weights(whole)
    with pytest.raises(TrainingError, match="another recipe"):
        train(replace(TINY, seed=1), None, whole)
    assert same(before, weights(whole))


def test_a_run_can_be_made_longer_until_its_rate_falls(whole, tmp_path, monkeypatch) -> None:
    out = tmp_path / "model"
    with monkeypatch.context() as patch:
        kill_at(patch, Run, "update", 4)
        with pytest.raises(Killed):
            train(replace(TINY, steps=8, decay_steps=4), None, out, save_every=1)
    train(TINY, None, out)
    assert same(weights(out), weights(whole))
    for other in (replace(TINY, steps=9), replace(TINY, steps=4), replace(TINY, warmup_steps=1)):
        with pytest.raises(TrainingError, match="another recipe"):
            train(other, None, out)


def test_a_run_can_leave_the_papers_loss_where_it_stands(whole, tmp_path, monkeypatch) -> None:
    ours = replace(TINY, full_mask_ratio=1.0, paper_loss_steps=3)
    train(ours, None, tmp_path / "whole")
    assert losses(tmp_path / "whole")[:3] == losses(whole)[:3]
    assert losses(tmp_path / "whole")[3] != losses(whole)[3]
    out = tmp_path / "model"
    with monkeypatch.context() as patch:
        kill_at(patch, Run, "update", 4)
        with pytest.raises(Killed):
            train(TINY, None, out, save_every=1)
    train(ours, None, out)
    assert same(weights(out), weights(tmp_path / "whole"))


STATE_FILES = ["progress.json", "optimizers.pt", "model/config.json", "model/model.safetensors"]
GARBAGE = [None, b"{}", b"\x00\xffgarbage"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *((name, content) for name in STATE_FILES for content in GARBAGE),
        ("metrics.jsonl", None),
        ("metrics.jsonl", b"\x00\xffgarbage"),
    ],
)
def test_a_damaged_state_is_a_training_error(whole, tmp_path, name, content) -> None:
    out = tmp_path / "model"
    shutil.copytree(state_folder(whole), state_folder(out))
    file = state_folder(out) / name
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(TrainingError) as caught:
        train(TINY, None, out)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("step", [-3, 5, 999, True, "6", None])
def test_an_edited_number_of_steps_is_a_training_error(whole, tmp_path, step) -> None:
    shutil.copytree(state_folder(whole), tmp_path / "run.state")
    file = tmp_path / "run.state" / "progress.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "step": step}))
    with pytest.raises(TrainingError, match="cannot be read"):
        train(TINY, None, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_data_file_that_vanishes_on_the_way_ends_no_run_and_is_named_later(
    tmp_path, monkeypatch
) -> None:
    file = tmp_path / "texts.txt"
    file.write_text("Tara has 49 pencils.")
    recipe = replace(TINY, data=(f"file:{file}",))
    with interrupted_at(3, monkeypatch, lambda: file.unlink(missing_ok=True)):
        train(recipe, None, tmp_path / "model", save_every=1)
    before = weights(tmp_path / "model")
    with pytest.raises(TrainingError, match=r"texts\.txt: cannot be read|other texts"):
        train(recipe, None, tmp_path / "model")
    assert same(before, weights(tmp_path / "model"))
    file.write_text("Tara has 49 pencils.")
    train(recipe, None, tmp_path / "model")


def test_a_model_folder_that_cannot_be_trained_is_a_training_error(whole, tmp_path) -> None:
    for name in ("model.safetensors", "config.json", "tokenizer.json"):
        init = tmp_path / name
        shutil.copytree(whole, init)
        (init / name).write_bytes((init / name).read_bytes()[:100])
        with pytest.raises(TrainingError) as caught:
            train(TINY, init, tmp_path / "out")
        assert "\n" not in str(caught.value)
        assert not (tmp_path / "out").exists()


def test_a_model_folder_that_lacks_a_weight_is_not_filled_with_chance(whole, tmp_path) -> None:
    init = tmp_path / "init"
    shutil.copytree(whole, init)
    found = load_file(init / "model.safetensors")
    del found["model.layers.0.mlp.down_proj.weight"]
    save_file(found, init / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(TrainingError, match="down_proj"):
        train(TINY, init, tmp_path / "out")


@contextmanager
def files_of_at_most(num_bytes: int) -> Iterator[None]:
    """Writing more fails, as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("num_bytes", [5_000, 14_000, 60_000])
def test_a_disk_that_fills_leaves_the_last_good_state(
    whole, tmp_path, monkeypatch, num_bytes
) -> None:
    out = tmp_path / "model"
    with monkeypatch.context() as patch:
        kill_at(patch, Run, "update", 4)
        with pytest.raises(Killed):
            train(TINY, None, out, save_every=3)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with files_of_at_most(num_bytes), pytest.raises(ArgumentError, match="cannot be written"):
        train(TINY, None, out)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before
    train(TINY, None, out)
    assert same(weights(out), weights(whole))


def test_the_trained_folder_loads_decodes_and_states_its_range(whole) -> None:
    model = sbd_core.load(whole, device="cpu")
    assert model.block_range == (2, 16)
    trace = generate(model, "2 + 2", DecodeConfig(max_new_tokens=9, block_size=4))
    assert 1 <= trace.num_tokens <= 9
    assert load_file(whole / "model.safetensors")["model.norm.weight"].dtype == torch.bfloat16


def test_training_lowers_the_loss(whole) -> None:
    assert min(losses(whole)[3:]) < losses(whole)[0]


def test_the_base_stage_states_no_block_range_and_sbd_starts_from_it(tmp_path) -> None:
    base, out = tmp_path / "base", tmp_path / "sbd"
    train(replace(TINY, stage="ntp", steps=2), None, base)
    assert sbd_core.load(base, device="cpu").block_range is None
    train(replace(TINY, steps=2), base, out)
    assert sbd_core.load(out, device="cpu").block_range == (2, 16)
