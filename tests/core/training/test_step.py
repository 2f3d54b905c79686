"""A step: updates of at most the norm of the recipe, its parts, its precision and attention."""

import json
import math
from dataclasses import replace

import pytest
import torch
from accelerate import Accelerator

from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.models.devices import has_bf16
from sbd_core.training import step
from sbd_core.training.batches import Batch, pack
from sbd_core.training.checkpoint import state_folder
from sbd_core.training.run_settings import (
    ATTENTIONS,
    RunSettings,
    chosen_attention,
    require_precision,
)
from sbd_core.training.step import StepRunner
from tests.core.models.tiny_models import tiny_model
from tests.core.training.masked_texts import CPU, PAD, noisy, pairs
from tests.core.training.training_runs import TINY, all_losses, train


@pytest.fixture
def runner() -> StepRunner:
    recipe = replace(TINY, optimizer="adamw", max_gradient_norm=0.5)
    settings, model = RunSettings(precision="fp32"), tiny_model("llama", 300)
    return StepRunner(model, recipe, settings, Accelerator(cpu=True))


def set_gradients(runner: StepRunner, value: float) -> list[torch.Tensor]:
    weights = [weight for weight in runner.model.parameters() if weight.requires_grad]
    for weight in weights:
        weight.grad = torch.full_like(weight, value)
    return weights


@pytest.mark.parametrize(("value", "is_cut"), [(10.0, True), (1e-6, False)])
def test_gradients_are_cut_to_the_norm_of_the_recipe(runner, value, is_cut) -> None:
    weights, norms = set_gradients(runner, value), []
    own = value * math.sqrt(sum(weight.numel() for weight in weights))
    runner.optimizers[0].register_step_pre_hook(
        lambda *_: norms.append(float(torch.cat([w.grad.flatten() for w in weights]).norm()))
    )
    runner.update(0.1, 0)
    assert norms == pytest.approx([0.5 if is_cut else own], rel=1e-3)
    assert all(weight.grad is None for weight in weights), "the next step begins anew"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_gradient_that_is_no_number_stops_training_before_the_update(runner, value) -> None:
    weights = set_gradients(runner, 1.0)
    before = [weight.detach().clone() for weight in weights]
    weights[3].grad[0] = value
    with pytest.raises(TrainingError, match=r"norm is (nan|inf) at step 4"):
        runner.update(0.1, 3)
    assert all(map(torch.equal, before, weights))


def test_a_cpu_takes_few_rows_at_once_and_says_how_many_parts_are_done(runner, monkeypatch) -> None:
    texts = [noisy(pair, 4) for pair in pairs(2, [(9, 30)] * 5)]
    batch, told = Batch(pack(texts, 80, PAD), 7.0), list[tuple[int, int]]()
    whole = runner.backward(batch, lambda *parts: told.append(parts))
    gradient = runner.model.lm_head.weight.grad.clone()
    runner.forget()
    monkeypatch.setattr(step, "PART_TOKENS", 2 * 80)
    parted = runner.backward(batch, lambda *parts: told.append(parts))
    assert told == [(1, 1), (1, 3), (2, 3), (3, 3)]
    torch.testing.assert_close(parted.total, whole.total)
    torch.testing.assert_close(runner.model.lm_head.weight.grad, gradient)
    monkeypatch.setattr(step, "PART_TOKENS", 1)
    runner.backward(batch, lambda *parts: told.append(parts))
    assert told[-1] == (5, 5), "a part has one row at least"


needs_bf16 = pytest.mark.skipif(not has_bf16(CPU), reason="needs bf16 in hardware")


@needs_bf16
def test_the_losses_in_bf16_are_those_in_fp32_to_two_decimals(tmp_path) -> None:
    recipe = replace(TINY, steps=12, batch_size=8)
    for name in ("bf16", "fp32"):
        train(recipe, None, tmp_path / name, precision=name)
    losses = [torch.tensor(all_losses(tmp_path / name)) for name in ("bf16", "fp32")]
    assert not torch.equal(*losses), "bf16 was not computed in"
    torch.testing.assert_close(*losses, atol=1e-2, rtol=0)


@needs_bf16
@pytest.mark.parametrize("wanted", ["bf16", "fp32"])
def test_auto_takes_the_faster_precision_and_a_resumed_run_keeps_it(
    tmp_path, monkeypatch, capfd, wanted
) -> None:
    told = {"bf16": 1.0, "fp32": 1.0, wanted: 0.5}

    clock = [0.0]

    def passing(runner: StepRunner, batch: Batch) -> None:
        assert batch.packed.token_ids.numel() == step.TOKENS_TIMED, "a part says it within seconds"
        clock[0] += told[runner.precision]

    with monkeypatch.context() as patch:
        patch.setattr(StepRunner, "_try", passing)
        patch.setattr(step, "perf_counter", lambda: clock[0])
        recipe = replace(TINY, steps=1, decay_steps=0, batch_size=16)
        train(recipe, None, tmp_path / "model", precision="auto")
    assert f"precision: {wanted}" in capfd.readouterr().err
    progress = json.loads((state_folder(tmp_path / "model") / "progress.json").read_text())
    assert progress["precision"] == wanted
    train(replace(recipe, steps=6), None, tmp_path / "model", precision="auto")
    assert "precision:" not in capfd.readouterr().err, "it is timed once"
    progress = json.loads((state_folder(tmp_path / "model") / "progress.json").read_text())
    assert (progress["precision"], progress["step"]) == (wanted, 6)


def test_a_precision_that_is_none_or_that_the_processor_lacks_is_named(monkeypatch) -> None:
    for wrong in ("fp16", None, 16):
        with pytest.raises(ArgumentError, match="precision: must be one of auto, bf16, fp32"):
            require_precision(wrong, CPU)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True})
    require_precision("auto", CPU)
    with pytest.raises(ArgumentError, match="which has no fast bf16; got 'bf16'"):
        require_precision("bf16", CPU)


def test_the_attention_is_the_one_that_is_fast_backward() -> None:
    cuda = torch.device("cuda")
    assert chosen_attention("auto", CPU, "bf16", is_compiled=True) == "eager"
    assert chosen_attention("auto", CPU, "bf16", is_compiled=False) == "sdpa"
    assert chosen_attention("auto", CPU, "fp32", is_compiled=True) == "sdpa"
    assert chosen_attention("auto", cuda, "bf16", is_compiled=True) == "flex_attention"
    for named in ATTENTIONS[1:]:
        assert chosen_attention(named, cuda, "bf16", is_compiled=False) == named


@pytest.mark.parametrize("attention", ["flash", "flex_attention"])
def test_an_attention_that_a_cpu_cannot_train_with_is_named(tmp_path, attention) -> None:
    with pytest.raises(ArgumentError) as caught:
        train(TINY, None, tmp_path / "model", attention=attention)
    assert caught.value.argument == "attention"
