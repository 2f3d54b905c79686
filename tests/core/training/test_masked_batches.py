"""Batches: the masked copies of a text, the rows they share, and workers that build them ahead."""

import os
import signal
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch

from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.training.batches import (
    NO_TARGET,
    Batch,
    BatchBuilder,
    batches,
    chosen_workers,
    draw_masks,
    pack,
)
from sbd_core.training.new_model import new_model
from tests.core.training.masked_texts import MASK, PAD, copy_of, noisy, pairs
from tests.core.training.training_runs import TINY, all_losses, train


@pytest.mark.parametrize(("block_size", "phase"), [(4, 0), (5, 2), (16, 9), (1, 0)])
@pytest.mark.parametrize("lengths", [(3, 9), (5, 4), (1, 1), (2, 16)])
def test_x_hat_copies_the_answer_in_whole_blocks_and_wants_its_masked_tokens(
    block_size, phase, lengths
) -> None:
    [(prompt, answer)] = pairs(0, [lengths])
    for seed in range(10):
        text = noisy((prompt, answer), block_size, phase, seed)
        clean, (copy, has_target) = text.token_ids[~text.is_noisy], copy_of(text)
        assert clean.tolist() == [*prompt, *answer]
        after = copy[len(answer) :]
        assert after == [MASK] * len(after)
        assert not any(has_target[len(answer) :]), "what follows the end is unknown, not wanted"
        for token, wanted, truth in zip(copy, has_target, answer, strict=False):
            assert token == (MASK if wanted else truth)
        targets = text.targets[text.is_noisy][np.array(has_target)]
        assert targets.tolist() == [t for t, w in zip(answer, has_target, strict=False) if w]
        assert (len(copy) + phase) % block_size == 0
        assert len(copy) < len(answer) + block_size
        places = range(len(prompt), len(prompt) + len(copy))
        assert text.position[text.is_noisy].tolist() == list(places)
        blocks = [(place - len(prompt) + phase) // block_size for place in places]
        assert text.block[text.is_noisy].tolist() == blocks
        expected = [-1] * len(prompt) + blocks[: len(answer)]
        assert text.block[~text.is_noisy].tolist() == expected


def test_each_text_has_its_own_eta_uniform_on_0_1() -> None:
    draws = torch.Generator().manual_seed(0)
    shares = torch.tensor([draw_masks(400, draws).float().mean() for _ in range(300)])
    assert shares.mean().item() == pytest.approx(0.5, abs=0.05)
    for low in (0.0, 0.25, 0.5, 0.75):
        count = ((shares >= low) & (shares < low + 0.25)).sum().item()
        assert count == pytest.approx(75, abs=27), "one eta for all would fill one quarter only"


def test_a_share_of_texts_is_masked_whole() -> None:
    draws = torch.Generator().manual_seed(0)
    whole = [bool(draw_masks(50, draws, 0.4).all()) for _ in range(500)]
    assert sum(whole) == pytest.approx(200, abs=45)


def test_noise_repeats_with_its_generator_and_differs_with_another() -> None:
    [pair] = pairs(0, [(2, 60)])
    first, again, other = (noisy(pair, 4, seed=s).token_ids for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_packing_keeps_every_text_whole_in_one_row() -> None:
    texts = [noisy(pair, 4, 1) for pair in pairs(2, [(6, 11), (2, 6), (9, 2), (1, 20), (3, 3)])]
    rows = pack(texts, 60, PAD)
    assert rows.token_ids.shape[0] < len(texts), "rows are shared"
    found = rows.layout.document
    assert (rows.targets[found == -1] == NO_TARGET).all()
    assert (rows.token_ids[found == -1] == PAD).all()
    for number, text in enumerate(texts):
        row, places = (found == number).nonzero(as_tuple=True)
        assert len(row.unique()) == 1
        assert places.tolist() == list(range(places[0], places[0] + len(text)))
        assert np.array_equal(rows.token_ids[row, places], text.token_ids)
        assert np.array_equal(rows.targets[row, places], text.targets)
        assert np.array_equal(rows.weights[row, places], text.weights)
        for name in ("position", "block", "copy"):
            assert np.array_equal(getattr(rows.layout, name)[row, places], getattr(text, name))


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
    with pytest.raises(TrainingError, match=r"^row_tokens: hardly any example") as caught:
        next(batches(builder, 0, 1))
    assert "\n" not in str(caught.value)


class Dying(BatchBuilder):
    """Kills the process that builds."""

    def batch(self, step: int) -> Batch:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


def test_a_worker_that_is_killed_is_a_training_error(tokenizer) -> None:
    with pytest.raises(TrainingError, match="workers: a process that builds batches ended"):
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
