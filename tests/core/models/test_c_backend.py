"""The forward in C is the fused one: same logits, cache and tokens, and clear about its limits."""

import os
import subprocess
import sys
from ctypes import c_int64, c_void_p

import pytest
import torch

import sbd_core
from sbd_core import ArgumentError, DecodeConfig, ModelError, generate
from sbd_core.decoding.api import generate_batch
from sbd_core.models.backends.c import compiler as compiled
from sbd_core.models.backends.c import forward as module
from sbd_core.models.backends.c import logit_stats as stats_module
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


@pytest.fixture
def fresh_library(monkeypatch, tmp_path):
    """library() as at a process's start, with nothing kept; gives the folder where it is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for user in (module, stats_module):
        monkeypatch.setattr(user, "library", compiled.library.__wrapped__)
    return tmp_path / "sbd_core"


def test_load_decodes_in_c_where_a_compiler_is(tiny_folders, fresh_library) -> None:
    if compiled.found_compiler() is None:
        pytest.skip("no C compiler")
    prompt, config = (5, 6, 7), DecodeConfig(max_new_tokens=12)
    model, plain = (
        sbd_core.load(tiny_folders["llama"], device="cpu", native=native)
        for native in (None, False)
    )
    assert (model.is_native, plain.is_native) == (True, False)
    assert [file.suffix for file in fresh_library.iterdir()] == [".so"]
    assert generate(model, prompt, config).token_ids == generate(plain, prompt, config).token_ids
    assert not sbd_core.load(tiny_folders["gpt2"], device="cpu").is_native
    assert not sbd_core.load(tiny_folders["llama"], device="cpu", dtype="bfloat16").is_native


def test_what_is_kept_needs_no_compiling_and_damage_is_mended(
    fresh_library, tmp_path, monkeypatch
) -> None:
    if compiled.found_compiler() is None:
        pytest.skip("no C compiler")
    compiled.library.__wrapped__()
    [kept] = fresh_library.iterdir()
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "_compiled", None)  # calling it would raise
        compiled.library.__wrapped__()
    # At another place, as this process has the first one open.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    damaged = tmp_path / "other" / "sbd_core" / kept.name
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"\x7fELF cut off")
    assert compiled.library.__wrapped__().forward
    assert damaged.stat().st_size == kept.stat().st_size


def test_processes_that_compile_at_once_all_get_the_whole_file(tmp_path) -> None:
    if compiled.found_compiler() is None:
        pytest.skip("no C compiler")
    code = "from sbd_core.models.backends.c.compiler import library; library().forward"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    started = [subprocess.Popen([sys.executable, "-c", code], env=environment) for _ in range(3)]
    assert [process.wait() for process in started] == [0, 0, 0]
    assert len(list((tmp_path / "sbd_core").iterdir())) == 1


def test_a_home_that_cannot_be_written_is_done_without(tmp_path, fresh_library) -> None:
    if compiled.found_compiler() is None:
        pytest.skip("no C compiler")
    fresh_library.write_text("a file where the folder would be")
    assert compiled.library.__wrapped__().forward


def test_a_compiler_that_fails_is_one_line_and_pytorch_decodes(
    tiny_folders, fresh_library, monkeypatch, caplog
) -> None:
    monkeypatch.setattr(compiled, "COMPILERS", ("false",))
    assert not sbd_core.load(tiny_folders["llama"], device="cpu").is_native
    [line] = [record.getMessage() for record in caplog.records if "sbd_core" in record.name]
    assert line.startswith("forward passes run in PyTorch, not in C: native: needs ")
    assert "\n" not in line


def test_without_a_compiler_it_says_so(llama, fresh_library, monkeypatch) -> None:
    monkeypatch.setattr(compiled, "COMPILERS", ("no-such-compiler",))
    with pytest.raises(
        ArgumentError, match=r"^native: needs a C compiler, one of no-such-compiler"
    ):
        CBackend(llama.backend, llama.name)
    monkeypatch.setattr(compiled, "COMPILERS", ("false",))
    with pytest.raises(ArgumentError, match=r"^native: needs .*false to compile"):
        CBackend(llama.backend, llama.name)
