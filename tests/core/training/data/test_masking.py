"""The masked copies of a text and the rows they share."""

import numpy as np
import pytest
import torch

from sbd_core.training.batches import (
    NO_TARGET,
    draw_masks,
    pack,
)
from tests.core.training.data.masked_texts import MASK, PAD, copy_of, noisy, pairs


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
