"""Batches that workers build ahead are those that the run would build itself."""

import os
import signal
from dataclasses import replace
from itertools import islice

import pytest
import torch

from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.training.batches import Batch, BatchBuilder, batches, chosen_workers
from sbd_core.training.new_model import new_model
from tests.core.training.training_runs import TINY, all_losses, train


@pytest.fixture(scope="module")
def tokenizer():
    return new_model(TINY)[1]


def test_workers_build_the_batches_of_the_run_in_order(tokenizer) -> None:
    builder = BatchBuilder(TINY, tokenizer)
    alone = islice(batches(builder, 3, 0), 6)
    ahead = islice(batches(builder, 3, 2), 6)
    for step, (own, found) in enumerate(zip(alone, ahead, strict=True), start=3):
        assert torch.equal(own.packed.token_ids, found.packed.token_ids)
        assert torch.equal(own.packed.targets, found.packed.targets)
        assert torch.equal(builder.batch(step).packed.token_ids, found.packed.token_ids)
        assert own.ntp_weight == found.ntp_weight


def test_a_run_learns_the_same_with_workers(tmp_path) -> None:
    train(TINY, None, tmp_path / "alone")
    train(TINY, None, tmp_path / "workers", num_workers=2)
    assert all_losses(tmp_path / "workers") == all_losses(tmp_path / "alone")


def test_what_a_worker_raises_reaches_the_run_in_one_line(tokenizer) -> None:
    builder = BatchBuilder(replace(TINY, row_tokens=20), tokenizer)
    with pytest.raises(TrainingError, match=r"^row_tokens: hardly an example") as caught:
        next(batches(builder, 0, 1))
    assert "\n" not in str(caught.value)


class Dying(BatchBuilder):
    """Kills the process that builds."""

    def batch(self, step: int) -> Batch:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


def test_a_worker_that_is_killed_is_a_training_error(tokenizer) -> None:
    with pytest.raises(TrainingError, match="workers: one that builds batches ended"):
        next(batches(Dying(TINY, tokenizer), 0, 1))


class Interrupted(BatchBuilder):
    """Is sent what Ctrl-C sends to every process of a terminal."""

    def batch(self, step: int) -> Batch:
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
        return super().batch(step)


def test_a_wish_to_stop_leaves_the_workers_at_work(tokenizer) -> None:
    found = next(batches(Interrupted(TINY, tokenizer), 0, 1))
    assert torch.equal(found.packed.targets, BatchBuilder(TINY, tokenizer).batch(0).packed.targets)


def test_a_cpu_keeps_its_cores_and_a_gpu_gets_workers(tmp_path) -> None:
    assert chosen_workers(torch.device("cpu")) == 0
    assert chosen_workers(torch.device("cuda")) >= 1
    for wrong in (-1, 1.5):
        with pytest.raises(ArgumentError, match="workers: must be a whole number"):
            train(TINY, None, tmp_path / "model", num_workers=wrong)
