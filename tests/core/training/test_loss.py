"""The loss of Eq. 14 against slow references."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from sbd_core.errors import TrainingError
from sbd_core.masks import decoding_mask
from sbd_core.training.batches import clean_sequence, pack
from sbd_core.training.loss import LossModule, check_output_layer, training_loss
from tests.core.models.tiny_models import tiny_model
from tests.core.training.masked_texts import CPU, PAD, VOCABULARY, copy_of, loss_of, noisy, pairs


@pytest.mark.parametrize("architecture", ["llama", "qwen3"])
@pytest.mark.parametrize(("block_size", "phase"), [(2, 0), (4, 3), (5, 2), (16, 9)])
def test_the_loss_is_that_of_decoding_block_by_block(architecture, block_size, phase) -> None:
    """MATP of one text = the same noisy blocks, each run as a decoding pass would run it."""
    model = tiny_model(architecture, VOCABULARY)
    [(prompt, answer)] = pairs(3, [(6, 15)])
    text = noisy((prompt, answer), block_size, phase, seed=4)
    loss = loss_of(model, [text])
    num_masked = sum(copy_of(text)[1])
    assert 0 < num_masked < 15
    matp = matp_by_decoding(model, prompt, answer, *copy_of(text), block_size, phase)
    ntp = ntp_by_hand(model, prompt, answer)
    assert loss.matp.item() == pytest.approx(matp / num_masked, rel=1e-5)
    assert loss.ntp.item() == pytest.approx(ntp / 15, rel=1e-5)
    assert loss.total.item() == pytest.approx((ntp + matp) / 15, rel=1e-5)


@torch.no_grad()
def matp_by_decoding(model, prompt, answer, copy, has_target, block_size, phase) -> float:
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
            if has_target[start + offset]:
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
def test_the_loss_of_packed_texts_is_that_of_each_alone(phase) -> None:
    model = tiny_model("llama", VOCABULARY)
    several = pairs(5, [(6, 11), (2, 6), (9, 2)])
    texts = [noisy(pair, 4, phase, seed=n) for n, pair in enumerate(several)]
    ntp = sum(ntp_by_hand(model, prompt, answer) for prompt, answer in several)
    matp = sum(
        matp_by_decoding(model, prompt, answer, *copy_of(text), 4, phase)
        for text, (prompt, answer) in zip(texts, several, strict=True)
    )
    for row_tokens in (40, 80):  # one text a row, and all in one
        loss = loss_of(model, texts, row_tokens)
        assert loss.total.item() == pytest.approx((ntp + matp) / 19, rel=1e-5)


def test_what_padding_holds_has_no_influence() -> None:
    model = tiny_model("llama", VOCABULARY)
    texts = [noisy(pair, 4, seed=2) for pair in pairs(6, [(6, 9), (2, 3)])]
    first, second = (
        training_loss(LossModule(model), pack(texts, 40, pad_id), CPU).total for pad_id in (PAD, 17)
    )
    assert first.item() == pytest.approx(second.item(), rel=1e-6)


def test_every_parameter_gets_a_finite_gradient() -> None:
    model = tiny_model("llama", VOCABULARY).train()
    loss_of(model, [noisy(pair, 4) for pair in pairs(6, [(6, 9), (2, 3)])]).total.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


def test_a_text_without_a_single_mask_has_a_finite_loss() -> None:
    [pair] = pairs(0, [(2, 1)])
    texts = (noisy(pair, 4, seed=s) for s in range(99))
    bare = next(text for text in texts if not any(copy_of(text)[1]))
    loss = loss_of(tiny_model("llama", VOCABULARY), [bare])
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
    loss = loss_of(model, [clean_sequence(*pair, prompt_weight) for pair in both])
    assert loss.total.item() == pytest.approx(total / weights, rel=1e-5)
    assert loss.matp.item() == 0


def test_a_model_that_bends_its_logits_is_refused(monkeypatch) -> None:
    model = tiny_model("llama", VOCABULARY)
    check_output_layer(model)
    monkeypatch.setattr(type(model), "forward", bent(type(model).forward))
    with pytest.raises(TrainingError, match="after the output layer"):
        check_output_layer(model)


def bent(forward):
    def wrapped(*arguments, **named):
        output = forward(*arguments, **named)
        output.logits = 30 * torch.tanh(output.logits / 3)
        return output

    return wrapped


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_every_attention_of_a_cpu_gives_the_same_loss(attention) -> None:
    model = tiny_model("llama", VOCABULARY)
    batch = pack([noisy(pair, 4, 1) for pair in pairs(8, [(6, 9), (3, 7)])], 64, PAD)
    expected = training_loss(LossModule(model), batch, CPU).total.item()
    model.set_attn_implementation(attention)
    found = training_loss(LossModule(model), batch, CPU, attention=attention).total.item()
    assert found == pytest.approx(expected, rel=1e-5)
