"""What a recipe can add to the paper's loss: soft targets, masks as decoding leaves them."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from sbd_core.masks import decoding_mask
from sbd_core.training.decoded_masks import masks_of_decoding, most_certain_revealed
from sbd_core.training.loss import Trainee, training_loss
from sbd_core.training.masking import NO_TARGET, clean_text, noisy_text, pack
from tests.core.models.tiny_models import tiny_model
from tests.core.training.masked_texts import CPU, MASK, PAD, VOCABULARY, noisy, pairs


def test_a_teacher_is_the_causal_place_of_a_token_with_nothing_revealed_to_its_right() -> None:
    [pair] = pairs(9, [(3, 10)])
    clean = clean_text(*pair, prompt_weight=0.0)
    is_masked = torch.tensor([bool(int(bit)) for bit in "1011011011"])
    text = noisy_text(clean, 3, [is_masked], 4, 0, MASK)
    found = text.teachers[text.is_noisy].tolist()
    # Offsets 2, 3 of the first block; none of the second, whose last is revealed; 8 and 9.
    expected = {offset: 3 + offset - 1 for offset in (2, 3, 8, 9)}
    assert found == [expected.get(offset, NO_TARGET) for offset in range(12)]
    rows = pack([noisy(other, 4) for other in pairs(10, [(2, 9), (5, 8)])] + [text], 80, PAD)
    wanted = rows.targets.flatten()
    for place in (rows.teachers.flatten() != NO_TARGET).nonzero()[:, 0].tolist():
        assert wanted[rows.teachers.flatten()[place]] == wanted[place]


def test_a_soft_target_is_the_models_own_next_token_distribution() -> None:
    model = tiny_model("llama", VOCABULARY)
    [pair] = pairs(11, [(4, 12)])
    prompt, answer = pair
    clean = clean_text(prompt, answer, 0.0)
    text = noisy_text(clean, 4, [torch.ones(12, dtype=torch.bool)], 4, 0, MASK)
    rows = pack([text], 60, PAD)
    hard = training_loss(Trainee(model), rows, CPU)
    half = training_loss(Trainee(model, 0.5), rows, CPU, has_teachers=True)
    soft = 0.0
    with torch.no_grad():
        causal = model(input_ids=torch.tensor([[*prompt, *answer]]), use_cache=False).logits[0]
        for start in (0, 4, 8):
            seen = [*prompt, *answer[:start]]
            logits = model(
                input_ids=torch.tensor([[*seen, *[MASK] * 4]]),
                attention_mask=decoding_mask(0, len(seen), 4)[None, None],
                use_cache=False,
            ).logits[0, -4:]
            wanted = causal[len(seen) - 1 : len(seen) + 3].softmax(-1)
            soft += cross_entropy(logits, wanted, reduction="sum").item() / 12
    assert half.ntp.item() == pytest.approx(hard.ntp.item(), rel=1e-5)
    assert half.matp.item() == pytest.approx((hard.matp.item() + soft) / 2, rel=1e-5)


def test_decoded_masks_reveal_the_most_certain_of_each_block() -> None:
    entropies = torch.tensor([0.4, 0.1, 0.3, 0.2, 0.9, 0.8, 0.7, 0.6, 0.5])
    block = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1, 2])
    half = most_certain_revealed(entropies, block, eta=0.5)
    assert half.tolist() == [True, False, True, False, True, True, False, False, True]
    assert most_certain_revealed(entropies, block, 1.0).all()
    assert not most_certain_revealed(entropies, block, 0.0).any()


def test_decoded_masks_are_those_of_a_decoding_pass() -> None:
    model = tiny_model("llama", VOCABULARY)
    several = pairs(12, [(4, 7), (9, 5), (2, 8)])
    whole = [
        noisy_text(clean_text(*pair, 0.0), len(pair[0]), [torch.ones(len(pair[1])) > 0], 4, 0, MASK)
        for pair in several
    ]
    etas = [0.3, 0.8, 0.5]
    masks = masks_of_decoding(Trainee(model), whole, etas, 80, PAD, CPU)
    for (prompt, answer), found, eta in zip(several, masks, etas, strict=True):
        entropies = []
        for start in range(0, len(answer), 4):
            seen = [*prompt, *answer[:start]]
            with torch.no_grad():
                logits = model(
                    input_ids=torch.tensor([[*seen, *[MASK] * 4]]),
                    attention_mask=decoding_mask(0, len(seen), 4)[None, None],
                    use_cache=False,
                ).logits[0, -4:]
            entropies.append(torch.distributions.Categorical(logits=logits).entropy())
        expected = torch.cat(entropies)[: len(answer)]
        block = torch.arange(len(answer)) // 4
        assert found.tolist() == most_certain_revealed(expected, block, eta).tolist()
