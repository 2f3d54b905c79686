"""An update follows gradients of at most the norm that the recipe allows, or none at all."""

import math
from dataclasses import replace

import pytest
import torch
from accelerate import Accelerator

from sbd_core.errors import TrainingError
from sbd_core.training.step.step_runner import RunSettings, StepRunner
from tests.core.models.tiny_models import tiny_model
from tests.core.training.training_runs import TINY


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
