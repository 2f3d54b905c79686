"""A training run: killed anywhere it resumes exactly, and only from its own beginning."""

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
from safetensors.torch import load_file
from transformers import GPT2Config, GPT2LMHeadModel

import sbd_core
from sbd_core import DecodeConfig, generate
from sbd_core.__main__ import main
from sbd_core.errors import ArgumentError, ModelError, TrainingError
from sbd_core.files import recover, replaced_folder
from sbd_core.training import train as training
from sbd_core.training.checkpoint import only_writer, state_folder
from sbd_core.training.new_model import new_model
from tests.core.models.tiny_models import MAKERS, maskless_tokenizer, tiny_tokenizer
from tests.core.training.tiny_training import (
    TINY,
    all_losses,
    command,
    interrupted_at,
    same,
    signalled_at,
    train,
    weights,
)


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


@pytest.mark.parametrize("saved", [1, 6])
def test_a_run_killed_between_state_and_export_still_ships_its_last_weights(
    whole, tmp_path, monkeypatch, saved
) -> None:
    out = tmp_path / "model"
    export, calls = training.export, iter(range(1, 9))

    def dying(*arguments: Any) -> None:
        if next(calls) == saved:
            raise KeyboardInterrupt
        export(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(training, "export", dying)
        with pytest.raises(KeyboardInterrupt):
            train(TINY, None, out, save_every=1)
    train(TINY, None, out, save_every=1)
    assert same(load_file(out / "model.safetensors"), load_file(whole / "model.safetensors"))


def test_a_signal_saves_after_the_step_under_way(whole, tmp_path, monkeypatch) -> None:
    out = tmp_path / "model"
    with signalled_at(3, monkeypatch):
        words = command(TINY, tmp_path)[2:]
        assert main(words) == 130, "a shell must not go on to the next stage"
    assert json.loads((out / "recipe.json").read_text())["steps"] == 3
    assert progress_of(out) == 3
    train(TINY, None, out)
    assert same(weights(out), weights(whole))


def progress_of(out: Path) -> int:
    return json.loads((state_folder(out) / "progress.json").read_text())["step"]


def test_a_signal_between_the_parts_of_a_step_leaves_it_undone(
    whole, tmp_path, monkeypatch
) -> None:
    out, words = tmp_path / "model", [*command(TINY, tmp_path)[2:], "--accumulate", "2"]
    with signalled_at(5, monkeypatch, signal.SIGINT) as calls:  # the first of two parts of step 3
        assert main(words) == 130
    assert calls[-1] == 5
    assert progress_of(out) == 2
    train(TINY, None, out, num_parts=2)
    assert losses(out) == pytest.approx(losses(whole), rel=1e-4)


def test_a_second_signal_ends_at_once_and_leaves_the_last_save(tmp_path, monkeypatch) -> None:
    with signalled_at(3, monkeypatch, signal.SIGINT, signal.SIGINT):
        assert main(command(TINY, tmp_path)[2:]) == 130
    assert progress_of(tmp_path / "model") == 2


def test_another_recipe_does_not_go_on_from_a_state(whole) -> None:
    before = weights(whole)
    with pytest.raises(TrainingError, match="another recipe"):
        train(replace(TINY, seed=1), None, whole)
    assert same(before, weights(whole))


STATE_FILES = ["progress.json", "tensors.pt", "model/config.json", "model/model.safetensors"]
GARBAGE = [None, b"{}", b"\x00\xffgarbage"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *((name, content) for name in STATE_FILES for content in GARBAGE),
        ("metrics.jsonl", None),
        ("metrics.jsonl", b"\x00\xffgarbage"),
    ],
)
def test_a_damaged_state_is_an_error_of_one_line(whole, tmp_path, name, content) -> None:
    out = tmp_path / "model"
    shutil.copytree(state_folder(whole), state_folder(out))
    file = state_folder(out) / name
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises((TrainingError, ModelError), match="state") as caught:
        train(TINY, None, out)
    assert "\n" not in str(caught.value)


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
def test_a_disk_that_fills_leaves_the_last_good_state(whole, tmp_path, monkeypatch, num_bytes):
    out = tmp_path / "model"
    with interrupted_at(3, monkeypatch):
        train(TINY, None, out, save_every=3)
    before = files_in(tmp_path)
    with files_of_at_most(num_bytes), pytest.raises(ArgumentError, match="cannot be written"):
        train(TINY, None, out)
    assert files_in(tmp_path) == before
    train(TINY, None, out)
    assert same(weights(out), weights(whole))


def test_training_lowers_the_loss_and_the_folder_loads_decodes_and_states_its_range(whole) -> None:
    assert min(losses(whole)[3:]) < losses(whole)[0]
    model = sbd_core.load(whole, device="cpu")
    assert model.block_range == (2, 16)
    trace = generate(model, "2 + 2", DecodeConfig(max_new_tokens=9, block_size=4))
    assert 1 <= trace.num_tokens <= 9
    assert load_file(whole / "model.safetensors")["model.norm.weight"].dtype == torch.bfloat16


def test_the_base_stage_states_no_block_range_and_sbd_starts_from_it(tmp_path) -> None:
    base, out = tmp_path / "base", tmp_path / "sbd"
    train(replace(TINY, stage="ntp", steps=2), None, base)
    assert sbd_core.load(base, device="cpu").block_range is None
    train(replace(TINY, steps=2), base, out)
    assert sbd_core.load(out, device="cpu").block_range == (2, 16)


@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path, moment) -> None:
    folder = tmp_path / "model"
    with replaced_folder(folder) as target:
        (target / "a").write_text("old")
    old, fresh = tmp_path / ".model.old", tmp_path / ".model.new"
    if moment == "between":
        folder.rename(old)
    elif moment == "after":
        old.mkdir()
        (old / "a").write_text("older")
    else:
        fresh.mkdir()
        (fresh / "a").write_text("half")
    recover(folder)
    assert (folder / "a").read_text() == "old"
    with replaced_folder(folder) as target:
        (target / "b").write_text("new")
    assert [path.name for path in folder.iterdir()] == ["b"], "a kill must not block later saves"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def files_in(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("name", ["runs", "notes.txt", ".", "..", "runs/.."])
def test_what_training_did_not_write_is_not_replaced(tmp_path, monkeypatch, name) -> None:
    (tmp_path / "runs" / "base").mkdir(parents=True)
    (tmp_path / "runs" / "base" / "model.safetensors").write_text("weights of hours")
    (tmp_path / "notes.txt").write_text("notes")
    monkeypatch.chdir(tmp_path)
    before = files_in(tmp_path)
    with pytest.raises(ArgumentError, match=r"^out: "):
        train(TINY, None, Path(name))
    assert files_in(tmp_path) == before


def test_a_card_and_backups_beside_a_model_stay(tmp_path) -> None:
    out = tmp_path / "model"
    out.mkdir()
    train(TINY, None, out)
    (out / "README.md").write_text("A card of ours.")
    (tmp_path / "model.old").mkdir()
    (tmp_path / "model.old" / "a").write_text("a backup of ours")
    train(TINY, None, out)
    assert (out / "README.md").read_text() == "A card of ours."
    assert (tmp_path / "model.old" / "a").read_text() == "a backup of ours"


@pytest.mark.parametrize("out", ["base", "runs/../base", "link", "base.state", "base.state/model"])
def test_a_run_does_not_replace_what_it_starts_from(tmp_path, monkeypatch, out) -> None:
    monkeypatch.chdir(tmp_path)
    train(replace(TINY, stage="ntp", steps=1), None, tmp_path / "base")
    (tmp_path / "runs").mkdir()
    (tmp_path / "link").symlink_to("base")
    before = files_in(tmp_path)
    init, out = (Path(out), Path("base")) if "state" in out else (Path("base"), Path(out))
    with pytest.raises(ArgumentError, match="out: must be another folder than init"):
        train(TINY, init, out)
    assert files_in(tmp_path) == before


def test_a_folder_is_on_the_disk_before_it_takes_the_others_place(tmp_path, monkeypatch) -> None:
    done: list[tuple[str, str]] = []
    fsync, rename = os.fsync, os.rename

    def flushed(descriptor: int) -> None:
        done.append(
            ("flush", os.path.relpath(os.readlink(f"/proc/self/fd/{descriptor}"), tmp_path))
        )
        fsync(descriptor)

    def renamed(source: Path, target: Path) -> None:
        done.append(("rename", source.name))
        rename(source, target)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "rename", renamed)
    with replaced_folder(tmp_path / "model") as target:
        (target / "inner").mkdir()
        (target / "inner" / "a").write_text("new")
    moved = done.index(("rename", ".model.new"))
    for name in (".model.new", ".model.new/inner", ".model.new/inner/a"):
        assert ("flush", name) in done[:moved], "a power cut would leave it empty"
    assert done[-1] == ("flush", "."), "and the new name"


def test_two_runs_do_not_write_one_folder(tmp_path) -> None:
    with only_writer(tmp_path / "model"):
        with pytest.raises(TrainingError, match="another run"):
            train(TINY, None, tmp_path / "model")
        with only_writer(tmp_path / "other"):
            pass
    with only_writer(tmp_path / "model"):
        pass


def test_a_place_where_nothing_can_be_written_is_told_before_the_first_step(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TrainingError, match="cannot be written"):
        train(TINY, None, tmp_path / "file" / "model")


def test_another_init_does_not_go_on_from_a_state(tmp_path) -> None:
    for seed in (0, 1):
        recipe = replace(TINY, stage="ntp", steps=1, seed=seed)
        train(recipe, None, tmp_path / f"base{seed}")
    out = tmp_path / "model"
    train(TINY, tmp_path / "base0", out)
    before = weights(out)
    for other in (tmp_path / "base1", None):
        with pytest.raises(TrainingError, match="other weights"):
            train(TINY, other, out)
    with pytest.raises(TrainingError, match="init: must be a model folder"):
        train(TINY, tmp_path / "base2", out)
    assert same(before, weights(out))
    train(TINY, tmp_path / "base0", out)
    file = state_folder(out) / "progress.json"
    progress = json.loads(file.read_text())
    file.write_text(json.dumps({key: progress[key] for key in ("step", "recipe")}))
    with pytest.raises(TrainingError, match="cannot be read"):
        train(TINY, tmp_path / "base0", out)


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.unlink(missing_ok=True),
        lambda file: file.write_text('{"text": "The answer is 8."}'),
    ],
    ids=["gone", "changed"],
)
def test_texts_that_vanish_or_change_end_no_run_and_are_named_later(tmp_path, monkeypatch, change):
    file, good = tmp_path / "texts.jsonl", '{"prompt": "2 + 2", "answer": "4"}\n{"text": "Hello."}'
    file.write_text(good)
    recipe = replace(TINY, data=(f"file:{file}",))
    train(recipe, None, tmp_path / "whole")
    with interrupted_at(3, monkeypatch, lambda: change(file)):
        train(recipe, None, tmp_path / "model", save_every=1)
    before = weights(tmp_path / "model")
    with pytest.raises((ArgumentError, TrainingError), match=r"that can be read|other texts"):
        train(recipe, None, tmp_path / "model")
    assert same(before, weights(tmp_path / "model"))
    file.write_text(good)
    train(recipe, None, tmp_path / "model")
    assert losses(tmp_path / "model") == losses(tmp_path / "whole")


def saved(model, tokenizer, folder: Path) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_model_with_dropout_resumes_exactly(tmp_path, monkeypatch) -> None:
    config = GPT2Config(vocab_size=300, **MAKERS["gpt2"][1])
    config.resid_pdrop = config.attn_pdrop = 0.2
    init = saved(GPT2LMHeadModel(config), tiny_tokenizer(), tmp_path / "init")
    recipe = replace(TINY, row_tokens=120, batch_size=4)
    train(recipe, init, tmp_path / "whole")
    with interrupted_at(3, monkeypatch):
        train(recipe, init, tmp_path / "model", save_every=1)
    train(recipe, init, tmp_path / "model", save_every=1)
    assert same(weights(tmp_path / "model"), weights(tmp_path / "whole"))


def test_a_tokenizer_without_end_or_mask_is_named(tmp_path) -> None:
    model, tokenizer = new_model(TINY)
    maskless = saved(model, maskless_tokenizer(), tmp_path / "maskless")
    with pytest.raises(TrainingError, match=r"init: .* no mask token: sbd prepare"):
        train(TINY, maskless, tmp_path / "out")
    tokenizer.eos_token = None
    endless = saved(model, tokenizer, tmp_path / "endless")
    with pytest.raises(TrainingError, match=r"init: .* no eos token"):
        train(TINY, endless, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("field", "value"), [("hidden_size", 33), ("hidden_size", 6), ("max_positions", 100)]
)
def test_a_shape_that_no_model_has_is_named(field, value) -> None:
    with pytest.raises(ArgumentError, match=f"^{field}: "):
        new_model(replace(TINY, **{field: value}))
