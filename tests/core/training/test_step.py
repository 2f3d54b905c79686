"""A step: its loss is Eq. 14 by slow references; its update, parts, precision, attention."""

import math
from dataclasses import replace

import pytest
import torch
from accelerate import Accelerator
from torch.nn.functional import cross_entropy

from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.masks import decoding_mask
from sbd_core.models.runtime import has_bf16
from sbd_core.training import step
from sbd_core.training.batches import clean_sequence, pack
from sbd_core.training.recipe import RunSettings
from sbd_core.training.step import (
    LossModule,
    StepRunner,
    check_output_layer,
    chosen_attention,
    computes_in_bf16,
    require_possible,
    training_loss,
)
from tests.core.models.tiny_models import tiny_model
from tests.core.training.tiny_training import (
    CPU,
    PAD,
    TINY,
    VOCABULARY,
    all_losses,
    copy_of,
    loss_of,
    noisy,
    pairs,
    train,
)


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


def test_a_cpu_takes_few_rows_at_once_and_may_stop_between_them(runner, monkeypatch) -> None:
    texts = [noisy(pair, 4) for pair in pairs(2, [(9, 30)] * 5)]
    batch, told = replace(pack(texts, 80, PAD), ntp_weight=7.0), list[tuple[int, int]]()
    whole = runner.backward(batch, lambda *parts: bool(told.append(parts)))
    gradient = runner.model.lm_head.weight.grad.clone()
    runner.optimizers[0].zero_grad()
    monkeypatch.setattr(step, "PART_TOKENS", 2 * 80)
    parted = runner.backward(batch, lambda *parts: bool(told.append(parts)))
    assert told == [(1, 3), (2, 3)]
    torch.testing.assert_close(parted.total, whole.total)
    torch.testing.assert_close(runner.model.lm_head.weight.grad, gradient)
    assert runner.backward(batch, lambda done, count: done == 2) is None
    monkeypatch.setattr(step, "PART_TOKENS", 1)
    runner.backward(batch, lambda *parts: bool(told.append(parts)))
    assert told[-1] == (4, 5), "a part has one row at least"


needs_bf16 = pytest.mark.skipif(not has_bf16(CPU), reason="needs bf16 in hardware")


@needs_bf16
def test_the_losses_in_bf16_are_those_in_fp32_to_two_decimals(tmp_path) -> None:
    recipe = replace(TINY, steps=12, batch_size=8)
    for name in ("bf16", "fp32"):
        train(recipe, None, tmp_path / name, precision=name)
    losses = [torch.tensor(all_losses(tmp_path / name)) for name in ("bf16", "fp32")]
    assert not torch.equal(*losses), "bf16 was not computed in"
    torch.testing.assert_close(*losses, atol=1e-2, rtol=0)


@pytest.mark.parametrize("is_fast", [True, False])
def test_auto_takes_bf16_where_the_hardware_multiplies_it(monkeypatch, is_fast) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": is_fast})
    assert computes_in_bf16("auto", CPU) is is_fast
    assert not computes_in_bf16("fp32", CPU)


def test_a_precision_that_is_none_or_that_the_processor_lacks_is_named(monkeypatch) -> None:
    for wrong in ("fp16", None, 16):
        with pytest.raises(ArgumentError, match="precision: must be one of auto, bf16, fp32"):
            RunSettings(precision=wrong)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True})
    require_possible(RunSettings(precision="auto"), TINY, CPU)
    with pytest.raises(ArgumentError, match="which has no fast bf16; got 'bf16'"):
        require_possible(RunSettings(precision="bf16"), TINY, CPU)


def test_the_attention_is_the_one_that_is_fast_backward() -> None:
    def chosen(device: torch.device, *, is_bf16: bool, is_compiled: bool, named="auto") -> str:
        return chosen_attention(named, device, is_bf16=is_bf16, is_compiled=is_compiled)

    cuda = torch.device("cuda")
    assert chosen(CPU, is_bf16=True, is_compiled=True) == "eager"
    assert chosen(CPU, is_bf16=True, is_compiled=False) == "sdpa"
    assert chosen(CPU, is_bf16=False, is_compiled=True) == "sdpa"
    assert chosen(cuda, is_bf16=True, is_compiled=True) == "flex_attention"
    assert chosen(cuda, is_bf16=True, is_compiled=False, named="eager") == "eager"


@pytest.mark.parametrize("attention", ["flash", "flex_attention"])
def test_an_attention_that_a_cpu_cannot_train_with_is_named(tmp_path, attention) -> None:
    with pytest.raises(ArgumentError, match=r"^attention: "):
        train(TINY, None, tmp_path / "model", attention=attention)


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
        total += ntp_by_hand(model, prompt, answer)
        total += prompt_weight * ntp_by_hand(model, prompt[:1], prompt[1:])
        weights += len(answer) + prompt_weight * len(prompt[1:])
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
