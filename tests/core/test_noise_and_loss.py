"""Training sees what decoding sees: noise, masks and the loss, against slow references."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from sbd_core.masks import decoding_mask
from sbd_core.training.loss import ntp_loss, sbd_loss
from sbd_core.training.noising import Batch, NoisyBatch, add_noise, collate, position_ids
from tests.core.tiny_models import tiny_model

PAD, EOS, MASK = 0, 1, 2
VOCABULARY = 60


def pairs(seed: int, lengths: list[tuple[int, int]]) -> list[tuple[list[int], list[int]]]:
    """(prompt ids, answer ids ending in <eos>) of these lengths."""
    generator = torch.Generator().manual_seed(seed)

    def ids(count: int) -> list[int]:
        return torch.randint(3, VOCABULARY, (count,), generator=generator).tolist()

    return [(ids(prompt), [*ids(answer - 1), EOS]) for prompt, answer in lengths]


def noisy(batch: Batch, block_size: int, phase: int = 0, seed: int = 0) -> NoisyBatch:
    generator = torch.Generator().manual_seed(seed)
    return add_noise(batch, block_size, phase, MASK, generator)


def test_collate_pads_prompts_left_and_answers_right() -> None:
    batch = collate([([7, 8], [9]), ([5], [6, 6, 6])], PAD)
    assert batch.token_ids.tolist() == [[7, 8, 9, PAD, PAD], [PAD, 5, 6, 6, 6]]
    assert batch.is_real.tolist() == [
        [True, True, True, False, False],
        [False, True, True, True, True],
    ]
    assert batch.answer_start == 2
    assert position_ids(batch).tolist() == [[0, 1, 2, 3, 4], [0, 0, 1, 2, 3]]


def test_noise_masks_answers_only_and_keeps_every_other_token() -> None:
    batch = collate(pairs(0, [(3, 9), (5, 4), (1, 1)]), PAD)
    for seed in range(20):
        made = noisy(batch, 4, seed=seed)
        clean, copy = made.input_ids.split([batch.num_tokens, 9], dim=1)
        assert torch.equal(clean, batch.token_ids)
        answers, is_real = batch.token_ids[:, 5:], batch.is_real[:, 5:]
        assert not (made.is_masked & ~is_real).any(), "padding has no loss"
        assert torch.equal(copy == MASK, made.is_masked | ~is_real)
        kept = ~made.is_masked & is_real
        assert torch.equal(copy[kept], answers[kept])
        positions = position_ids(batch)
        assert torch.equal(made.position_ids, torch.cat([positions, positions[:, 5:]], dim=1))


def test_each_sequence_has_its_own_eta_uniform_on_0_1() -> None:
    batch = collate(pairs(0, [(1, 400)] * 300), PAD)
    shares = noisy(batch, 4).is_masked.float().mean(dim=1)
    assert shares.mean().item() == pytest.approx(0.5, abs=0.05)
    for low in (0.0, 0.25, 0.5, 0.75):
        count = ((shares >= low) & (shares < low + 0.25)).sum().item()
        assert count == pytest.approx(75, abs=27), "one eta for all would fill one quarter only"


def test_noise_repeats_with_its_generator_and_differs_with_another() -> None:
    batch = collate(pairs(0, [(2, 30)] * 4), PAD)
    first, again, other = (noisy(batch, 4, seed=s).is_masked for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_no_row_attends_to_padding_or_to_another_rows_padding_only() -> None:
    batch = collate(pairs(0, [(3, 9), (5, 4)]), PAD)
    mask = noisy(batch, 4, phase=1).attention_mask
    assert mask.shape == (2, 1, 23, 23)
    clean_is_real = batch.is_real
    for row in range(2):
        for query in range(23):
            seen = mask[row, 0, query].nonzero()[:, 0].tolist()
            assert seen, "a row that sees nothing becomes NaN"
            assert all(key == query or key >= 14 or clean_is_real[row, key] for key in seen)


@pytest.mark.parametrize("architecture", ["llama", "qwen3"])
@pytest.mark.parametrize(
    ("block_size", "phase"), [(2, 0), (4, 0), (4, 3), (5, 2), (16, 0), (16, 9)]
)
def test_the_loss_is_that_of_decoding_block_by_block(architecture, block_size, phase) -> None:
    """MATP of one sequence = the same noisy blocks, each run as a decoding pass would run it."""
    model = tiny_model(architecture, VOCABULARY)
    [(prompt, answer)] = pairs(3, [(6, 15)])
    batch = collate([(prompt, answer)], PAD)
    made = noisy(batch, block_size, phase, seed=4)
    loss = sbd_loss(model, batch, made)
    num_masked = int(made.is_masked.sum())
    assert 0 < num_masked < 15
    matp = matp_by_decoding(model, prompt, answer, *row_of(made, 0), block_size, phase)
    ntp = ntp_by_hand(model, prompt, answer)
    assert loss.matp.item() == pytest.approx(matp / num_masked, rel=1e-5)
    assert loss.ntp.item() == pytest.approx(ntp / 15, rel=1e-5)
    assert loss.total.item() == pytest.approx((ntp + matp) / 15, rel=1e-5)


def row_of(made: NoisyBatch, row: int) -> tuple[list[int], list[bool]]:
    """(x_hat, where it has a loss) of one sequence, padding included."""
    width = made.is_masked.shape[1]
    return made.input_ids[row, -width:].tolist(), made.is_masked[row].tolist()


@torch.no_grad()
def matp_by_decoding(model, prompt, answer, copy, is_masked, block_size, phase) -> float:
    """Cross-entropy at the masked positions, one uncached decoding pass a block.

    `copy` may be longer than the answer: the masks after its end that decoding would hold too.
    """
    total, start = 0.0, 0
    while start < len(copy):
        stop = min(len(copy), start + block_size - (phase if start == 0 else 0))
        text, block = [*prompt, *answer[:start]], copy[start:stop]
        logits = model(
            input_ids=torch.tensor([[*text, *block]]),
            attention_mask=decoding_mask(0, len(text), len(block))[None, None],
            position_ids=torch.arange(len(text) + len(block))[None],
            use_cache=False,
        ).logits[0, -len(block) :]
        for offset in range(stop - start):
            if is_masked[start + offset]:
                target = torch.tensor(answer[start + offset])
                total += cross_entropy(logits[offset], target).item()
        start = stop
    return total


@torch.no_grad()
def ntp_by_hand(model, prompt, answer) -> float:
    """Cross-entropy of the answer's tokens, each read at the position before it."""
    logits = model(input_ids=torch.tensor([[*prompt, *answer]]), use_cache=False).logits[0]
    return sum(
        cross_entropy(logits[len(prompt) + index - 1], torch.tensor(token)).item()
        for index, token in enumerate(answer)
    )


@pytest.mark.parametrize("phase", [0, 2])
def test_the_loss_of_a_padded_batch_is_that_of_its_sequences_alone(phase) -> None:
    model = tiny_model("llama", VOCABULARY)
    both = pairs(5, [(6, 11), (2, 6), (9, 2)])
    made = noisy(collate(both, PAD), 4, phase, seed=1)
    ntp = sum(ntp_by_hand(model, prompt, answer) for prompt, answer in both)
    matp = sum(
        matp_by_decoding(model, prompt, answer, *row_of(made, row), 4, phase)
        for row, (prompt, answer) in enumerate(both)
    )
    loss = sbd_loss(model, collate(both, PAD), made)
    assert loss.total.item() == pytest.approx((ntp + matp) / 19, rel=1e-5)


def test_what_padding_holds_has_no_influence() -> None:
    model = tiny_model("llama", VOCABULARY)
    uneven = pairs(6, [(6, 9), (2, 3)])
    losses = []
    for pad_id in (PAD, 17):
        batch = collate(uneven, pad_id)
        made = noisy(batch, 4, seed=2)
        losses.append([sbd_loss(model, batch, made).total, ntp_loss(model, batch, 0.3).total])
    for first, second in zip(*losses, strict=True):
        assert first.item() == pytest.approx(second.item(), rel=1e-6)


def test_every_parameter_gets_a_finite_gradient() -> None:
    model = tiny_model("llama", VOCABULARY).train()
    batch = collate(pairs(6, [(6, 9), (2, 3)]), PAD)
    sbd_loss(model, batch, noisy(batch, 4)).total.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


def test_a_batch_without_a_single_mask_has_a_finite_loss() -> None:
    batch = collate(pairs(0, [(2, 1)]), PAD)
    seed = next(s for s in range(99) if not noisy(batch, 4, seed=s).is_masked.any())
    loss = sbd_loss(tiny_model("llama", VOCABULARY), batch, noisy(batch, 4, seed=seed))
    assert loss.matp.item() == 0
    assert loss.total.isfinite()


@pytest.mark.parametrize("prompt_weight", [0.0, 0.2, 1.0])
def test_ntp_loss_weighs_prompts_and_leaves_padding_out(prompt_weight) -> None:
    model = tiny_model("llama", VOCABULARY)
    both = pairs(7, [(5, 4), (2, 7)])
    total = weights = 0.0
    for prompt, answer in both:
        text = [*prompt, *answer]
        for index in range(1, len(text)):
            weight = 1.0 if index >= len(prompt) else prompt_weight
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([text]), use_cache=False).logits[0]
            total += weight * cross_entropy(logits[index - 1], torch.tensor(text[index])).item()
            weights += weight
    loss = ntp_loss(model, collate(both, PAD), prompt_weight)
    assert loss.total.item() == pytest.approx(total / weights, rel=1e-5)
