"""A running average of the weights is what ships; the run itself goes on from the last ones."""

from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.training.checkpoints.state import state_folder
from sbd_core.training.run import Run
from tests.core.training.training_runs import TINY, all_losses, interrupted_at, same, train, weights

AVERAGED = replace(TINY, averaging=0.5)


def test_the_average_ships_and_the_last_weights_go_on(tmp_path, monkeypatch) -> None:
    seen: list[dict[str, torch.Tensor]] = []
    update = Run._update

    def watched(run: Run, *rest: object) -> None:
        update(run, *rest)
        seen.append({name: p.detach().clone() for name, p in run._model.named_parameters()})

    with monkeypatch.context() as patch:
        patch.setattr(Run, "_update", watched)
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
