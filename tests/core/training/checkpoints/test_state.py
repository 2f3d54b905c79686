"""A run goes on exactly, and only from its own beginning; the average of its weights ships."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import GPT2LMHeadModel

from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.training import train as training
from sbd_core.training.checkpoint import state_folder
from sbd_core.training.new_model import new_model
from sbd_core.training.train import Run
from tests.core.models.tiny_models import MAKERS, maskless_tokenizer, tiny_tokenizer
from tests.core.training.training_runs import TINY, all_losses, interrupted_at, same, train, weights


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


def test_texts_that_changed_do_not_go_on(tmp_path, monkeypatch) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("Tara has 49 pencils.\n\nThe answer is 7.")
    recipe = replace(TINY, tasks={}, data=(f"file:{texts}",))
    with interrupted_at(2, monkeypatch):
        train(recipe, None, tmp_path / "model", save_every=1)
    good = texts.read_text()
    texts.write_text("The answer is 8.")
    with pytest.raises(TrainingError, match="other texts"):
        train(recipe, None, tmp_path / "model")
    texts.write_text(good)
    train(recipe, None, tmp_path / "model")


def saved(model, tokenizer, folder: Path) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_model_with_dropout_resumes_exactly(tmp_path, monkeypatch) -> None:
    config = MAKERS["gpt2"][1](vocab_size=300)
    config.resid_pdrop = config.attn_pdrop = 0.2
    init = saved(GPT2LMHeadModel(config), tiny_tokenizer(), tmp_path / "init")
    recipe = replace(TINY, row_tokens=120, batch_size=4)
    train(recipe, init, tmp_path / "whole")
    with interrupted_at(3, monkeypatch):
        train(recipe, init, tmp_path / "model", save_every=1)
    train(recipe, init, tmp_path / "model", save_every=1)
    assert same(weights(tmp_path / "model"), weights(tmp_path / "whole"))


def test_a_gradient_that_is_no_number_leaves_the_last_good_state(tmp_path, monkeypatch) -> None:
    with interrupted_at(2, monkeypatch):
        train(TINY, None, tmp_path / "model", save_every=1)
    before = weights(tmp_path / "model")
    with monkeypatch.context() as patch:
        backward = training.Accelerator.backward

        def broken(self, loss) -> None:
            backward(self, loss * torch.tensor(float("nan")))

        patch.setattr(training.Accelerator, "backward", broken)
        with pytest.raises(TrainingError, match="gradient"):
            train(TINY, None, tmp_path / "model")
    assert same(before, weights(tmp_path / "model"))


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
    with pytest.raises(ArgumentError) as caught:
        new_model(replace(TINY, **{field: value}))
    assert caught.value.argument == field


AVERAGED = replace(TINY, averaging=0.5)


def test_the_average_ships_and_the_last_weights_go_on(tmp_path, monkeypatch) -> None:
    seen: list[dict[str, torch.Tensor]] = []
    update = Run.update

    def watched(run: Run, *rest: object) -> object:
        done = update(run, *rest)
        seen.append({name: p.detach().clone() for name, p in run._model.named_parameters()})
        return done

    with monkeypatch.context() as patch:
        patch.setattr(Run, "update", watched)
        train(AVERAGED, None, tmp_path / "whole")
    expected = seen[0]
    for later in seen[1:]:
        expected = {name: (expected[name] + later[name]) / 2 for name in expected}
    shipped = load_file(tmp_path / "whole" / "model.safetensors")
    for name, weight in shipped.items():
        torch.testing.assert_close(weight.float(), expected[name], atol=1e-2, rtol=1e-2)
    train(TINY, None, tmp_path / "plain")
    assert all_losses(tmp_path / "whole") == all_losses(tmp_path / "plain")
    assert not same(shipped, load_file(tmp_path / "plain" / "model.safetensors"))

    with interrupted_at(4, monkeypatch):
        train(AVERAGED, None, tmp_path / "model", save_every=1)
    train(AVERAGED, None, tmp_path / "model")
    assert same(weights(tmp_path / "model"), weights(tmp_path / "whole"))
    assert same(load_file(tmp_path / "model" / "model.safetensors"), shipped)


@pytest.mark.parametrize("content", [None, b"", b"garbage of some length"])
def test_a_damaged_average_is_a_training_error(tmp_path, content) -> None:
    train(replace(AVERAGED, steps=1, decay_steps=0), None, tmp_path / "model")
    file = state_folder(tmp_path / "model") / "average" / "model.safetensors"
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(TrainingError, match="cannot be read"):
        train(replace(AVERAGED, decay_steps=0), None, tmp_path / "model")


@pytest.mark.parametrize("value", [1.0, -0.1, "0.9"])
def test_a_decay_that_never_learns_is_named(value) -> None:
    with pytest.raises(ArgumentError, match="averaging"):
        replace(TINY, averaging=value)
