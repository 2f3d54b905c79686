"""The forward in C is the fused one: same logits, cache and tokens, and clear about its limits."""

from ctypes import c_int64, c_void_p

import pytest
import torch

import sbd_core
from sbd_core import ArgumentError, DecodeConfig, ModelError, generate
from sbd_core.decoding.api import generate_batch
from sbd_core.models.backends.c import compiler as compiled
from sbd_core.models.backends.c import forward as module
from sbd_core.models.backends.c.forward import CBackend
from sbd_core.models.backends.llama.attention import LONG
from tests.conftest import in_c, loaded
from tests.core.decoding.prompts import corpus_texts, random_ids


@pytest.mark.parametrize("strategy", ["ntp", "sbd", "verify"])
def test_the_bundled_model_says_the_same_tokens_in_c(nano, strategy) -> None:
    config = DecodeConfig(strategy=strategy, max_new_tokens=60)
    twin = in_c(nano)
    for prompt in corpus_texts(12):
        ours, theirs = generate(twin, prompt, config), generate(nano, prompt, config)
        assert ours.token_ids == theirs.token_ids
        assert ours.num_forwards == theirs.num_forwards


def test_every_mix_of_rows_gives_the_lean_logits_and_cache(nano, llama) -> None:
    """Row counts of every tile, with rows that lie beyond, at starts within and across steps."""
    for model in (nano, llama):
        twin = in_c(model)
        [text] = random_ids(1, model.vocabulary_size, 30)
        fused, ours = model.new_cache(), twin.new_cache()
        for cache, one in ((fused, model), (ours, twin)):
            one.forward(cache, list(text), (), 1)
        for num_causal, num_block in ((1, 0), (2, 0), (0, 3), (1, 6), (16, 15), (0, LONG), (9, 0)):
            ids = list(range(5, 5 + num_causal + num_block))
            share = (ids[:num_causal], ids[num_causal:], num_causal)
            torch.testing.assert_close(
                twin.forward(ours, *share), model.forward(fused, *share), atol=2e-4, rtol=1e-5
            )
            for found, expected in zip(
                ours.keys_and_values(), fused.keys_and_values(), strict=True
            ):
                torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-5)


def test_its_own_power_of_e_is_right_to_a_millionth() -> None:
    for low, high in ((-87, 0), (0, 88), (-1e-3, 1e-3)):
        exact = torch.linspace(low, high, 100_003)
        found = exact.clone()
        compiled.library().exponentials(c_int64(len(found)), c_void_p(found.data_ptr()))
        torch.testing.assert_close(found.double(), exact.double().exp(), rtol=1e-6, atol=0)


def test_a_batch_of_short_and_long_texts_is_each_alone(llama) -> None:
    """A cache goes from C, where a text is the last at work, to the fused way and back."""
    twin, size = in_c(llama), llama.vocabulary_size
    prompts = [
        p for pair in zip(random_ids(4, size), random_ids(4, size, 90), strict=True) for p in pair
    ]
    for strategy in ("ntp", "sbd", "verify"):
        config = DecodeConfig(strategy=strategy, block_size=4, max_new_tokens=9)
        together = generate_batch(twin, prompts, config, batch_size=3)
        assert [t.token_ids for t in together] == [
            generate(llama, prompt, config).token_ids for prompt in prompts
        ]


def test_weights_that_are_not_numbers_are_refused_in_c_too(tiny_folders) -> None:
    broken = loaded(tiny_folders["llama"])
    with torch.no_grad():
        broken.model.model.layers[0].mlp.down_proj.weight.fill_(torch.nan)
    with pytest.raises(ModelError, match="NaN"):
        generate(in_c(broken), (5, 6), DecodeConfig(strategy="ntp", max_new_tokens=2))


@pytest.mark.parametrize("name", ["gpt2", "qwen3"])
def test_a_model_it_cannot_run_is_refused_by_name(tiny_folders, name) -> None:
    with pytest.raises(ArgumentError, match=rf"^native: must be off .*got '{name}'"):
        sbd_core.load(tiny_folders[name], device="cpu", native=True)


def test_without_a_compiler_it_says_so(llama, monkeypatch) -> None:
    monkeypatch.setattr(module, "library", compiled.library.__wrapped__)
    monkeypatch.setattr(compiled, "COMPILERS", ("no-such-compiler",))
    with pytest.raises(
        ArgumentError, match=r"^native: needs a C compiler, one of no-such-compiler"
    ):
        CBackend(llama.backend, llama.name)
    monkeypatch.setattr(compiled, "COMPILERS", ("false",))
    with pytest.raises(ArgumentError, match=r"^native: needs .*false to compile"):
        CBackend(llama.backend, llama.name)
