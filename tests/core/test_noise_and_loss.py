"""Training sees what decoding sees: noise, packing and the loss, against slow references."""

import warnings

import pytest
import torch
from torch.nn.functional import cross_entropy

from sbd_core.errors import TrainingError
from sbd_core.masks import decoding_mask, flex, training_may_attend
from sbd_core.training.decoded_masks import masks_of_decoding, most_certain_revealed
from sbd_core.training.loss import Loss, Trainee, attention_mask, check_output_layer, training_loss
from sbd_core.training.noising import (
    NO_TARGET,
    Rows,
    Text,
    clean_text,
    draw_copies,
    draw_masks,
    noisy_text,
    pack,
)
from tests.core.tiny_models import tiny_model

PAD, EOS, MASK = 0, 1, 2
VOCABULARY = 60
CPU = torch.device("cpu")

Pair = tuple[list[int], list[int]]


def pairs(seed: int, lengths: list[tuple[int, int]]) -> list[Pair]:
    """(prompt ids, answer ids ending in <eos>) of these lengths."""
    generator = torch.Generator().manual_seed(seed)

    def ids(count: int) -> list[int]:
        return torch.randint(3, VOCABULARY, (count,), generator=generator).tolist()

    return [(ids(prompt), [*ids(answer - 1), EOS]) for prompt, answer in lengths]


def noisy(pair: Pair, block_size: int, phase: int = 0, seed: int = 0) -> Text:
    draws = torch.Generator().manual_seed(seed)
    clean = clean_text(*pair, prompt_weight=0.0)
    is_masked = draw_masks(len(pair[1]), draws)
    return noisy_text(clean, len(pair[0]), [is_masked], block_size, phase, MASK)


def loss_of(model, texts: list[Text], row_tokens: int = 80) -> Loss:
    return training_loss(Trainee(model), pack(texts, row_tokens, PAD), CPU)


def copy_of(text: Text) -> tuple[list[int], list[bool]]:
    """(x_hat, where it has a target)."""
    targets = text.targets[text.is_noisy]
    return text.token_ids[text.is_noisy].tolist(), (targets != NO_TARGET).tolist()


@pytest.mark.parametrize(
    ("block_size", "phase"), [(4, 0), (4, 3), (5, 2), (16, 0), (16, 9), (1, 0)]
)
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
        targets = text.targets[text.is_noisy][torch.tensor(has_target)]
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


def test_several_copies_share_a_text_and_count_as_one() -> None:
    """The loss of two copies is the mean of each alone, and together they ask for every token."""
    model = tiny_model("llama", VOCABULARY)
    [(prompt, answer)] = pairs(13, [(5, 14)])
    clean = clean_text(prompt, answer, 0.0)
    masks = draw_copies(14, torch.Generator().manual_seed(0), 3)
    assert torch.equal(masks[1], ~masks[0])
    assert not torch.equal(masks[2], masks[0])

    def matp_sum(*chosen: torch.Tensor) -> float:
        text = noisy_text(clean, 5, chosen, 4, 1, MASK)
        loss = loss_of(model, [text])
        return (loss.total.item() - loss.ntp.item()) * text.ntp_weight

    alone = [matp_sum(mask) for mask in masks]
    assert matp_sum(*masks) == pytest.approx(sum(alone) / 3, rel=1e-4)
    text = noisy_text(clean, 5, masks[:2], 4, 1, MASK)
    asked = text.position[text.is_noisy & (text.targets != NO_TARGET)]
    assert sorted(asked.tolist()) == list(range(5, 19))


def test_noise_repeats_with_its_generator_and_differs_with_another() -> None:
    [pair] = pairs(0, [(2, 60)])
    first, again, other = (noisy(pair, 4, seed=s).token_ids for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


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
        assert torch.equal(rows.token_ids[row, places], text.token_ids)
        assert torch.equal(rows.targets[row, places], text.targets)
        assert torch.equal(rows.weights[row, places], text.weights)
        for name in ("position", "block", "copy"):
            assert torch.equal(getattr(rows.layout, name)[row, places], getattr(text, name))


@pytest.mark.parametrize("architecture", ["llama", "qwen3"])
@pytest.mark.parametrize(
    ("block_size", "phase"), [(2, 0), (4, 0), (4, 3), (5, 2), (16, 0), (16, 9)]
)
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
        training_loss(Trainee(model), pack(texts, 40, pad_id), CPU).total for pad_id in (PAD, 17)
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
    loss = loss_of(model, [clean_text(*pair, prompt_weight) for pair in both])
    assert loss.total.item() == pytest.approx(total / weights, rel=1e-5)
    assert loss.matp.item() == 0


def test_flex_attention_gives_the_loss_of_the_dense_mask() -> None:
    """What CUDA runs, here through FlexAttention's own slow form."""
    model = tiny_model("llama", VOCABULARY)
    rows = pack([noisy(pair, 4, 1) for pair in pairs(8, [(6, 9), (3, 7)])], 64, PAD)
    expected = cross_entropies(model, rows, None)
    model.set_attn_implementation("flex_attention")
    rule = training_may_attend(rows.layout)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # flex_attention says that it is slow uncompiled
        found = cross_entropies(model, rows, flex(rule, 64, 64, len(rows.token_ids)))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def cross_entropies(model, rows: Rows, mask) -> torch.Tensor:
    """At every target of the rows, in order; `mask` None stands for the dense form."""
    places = (rows.targets.flatten() != NO_TARGET).nonzero()[:, 0]
    return Trainee(model)(
        rows.token_ids,
        attention_mask(rows, CPU) if mask is None else mask,
        rows.layout.position,
        places,
        rows.targets.flatten()[places],
    )


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
    masks = masks_of_decoding(model, whole, etas, 80, PAD, CPU)
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
