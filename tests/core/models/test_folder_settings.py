"""Settings in a folder's generation_config.json are honoured as transformers does, or refused."""

import copy
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import sbd_core
from sbd_core import DecodeConfig, ModelError
from sbd_core.sampling import LogitStatsSpec
from tests.core.models.tiny_models import save_tiny, tiny_tokenizer

PROMPT = [10, 20, 30]


def with_settings(folder: Path, **settings: object) -> Path:
    save_tiny(folder, "llama", tiny_tokenizer(), mask_token_id=2)
    told = {"eos_token_id": 1, "pad_token_id": 0, **settings}
    (folder / "generation_config.json").write_text(json.dumps(told))
    return folder


def answers(folder: Path) -> list[tuple[int, ...]]:
    """By transformers, then by both exact strategies."""
    model = sbd_core.load(folder, device="cpu", dtype="float32")
    ids = model.model.generate(input_ids=torch.tensor([PROMPT]), max_new_tokens=12, do_sample=False)
    configs = [DecodeConfig(strategy=name, max_new_tokens=12) for name in ("ntp", "verify")]
    ours = [sbd_core.generate(model, PROMPT, config).token_ids for config in configs]
    return [tuple(ids[0, 3:].tolist()), *ours]


def test_what_a_folder_bans_is_never_an_answer(tmp_path) -> None:
    plain = answers(with_settings(tmp_path / "plain", suppress_tokens=[2]))
    assert len(set(plain)) == 1
    banned = plain[0][0]
    for name, setting in (
        ("suppressed", {"suppress_tokens": [2, banned]}),
        ("bad", {"bad_words_ids": [[banned]], "suppress_tokens": [2]}),
        ("penalty", {"repetition_penalty": 1.5, "suppress_tokens": [2]}),
    ):
        found = answers(with_settings(tmp_path / name, **setting))
        assert len(set(found)) == 1
        assert found != plain
        assert name == "penalty" or banned not in found[0]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"top_k": 5},
        {"top_p": 0.3},
        {"min_p": 0.4, "suppress_tokens": [2, 30]},
        {"top_k": 20, "top_p": 0.9, "temperature": 0.6, "renormalize_logits": True},
        {"typical_p": 0.5, "epsilon_cutoff": 0.001, "top_h": 0.9},
    ],
    ids=str,
)
@pytest.mark.parametrize("temperature", [0.5, 1.5])
def test_sampling_draws_from_what_transformers_does(tmp_path, settings, temperature) -> None:
    told = {"do_sample": True, "suppress_tokens": [2], **settings}
    model = sbd_core.load(with_settings(tmp_path / "m", **told), device="cpu")
    asked = copy.deepcopy(model.model.generation_config)
    asked.update(temperature=temperature)
    warpers = model.model._get_logits_processor(asked, input_ids_seq_length=1, device="cpu")
    logits = 4 * torch.randn(6, model.vocabulary_size, generator=torch.Generator().manual_seed(0))
    expected = warpers(torch.zeros(6, 1, dtype=torch.long), logits.clone()).softmax(1)
    spec = LogitStatsSpec(forbidden_id=2, temperature=temperature)
    found = model.compute_logit_stats(logits.clone(), 0, 6, spec).distribution
    torch.testing.assert_close(found, expected)
    greedy = model.compute_logit_stats(logits.clone(), 0, 6, LogitStatsSpec(forbidden_id=2))
    logits[:, told["suppress_tokens"]] = -torch.inf
    assert greedy.best_ids == logits.argmax(1).tolist()


def test_vllm_names_no_limit_by_a_top_k_of_minus_1(tmp_path) -> None:
    """transformers refuses -1 where it samples, and only there."""
    config = DecodeConfig(strategy="ntp", max_new_tokens=12)
    free, unlimited = (
        sbd_core.load(with_settings(tmp_path / str(k), do_sample=True, top_k=k), device="cpu")
        for k in (0, -1)
    )
    for each in (config, replace(config, temperature=1.0)):
        wanted = sbd_core.generate(free, PROMPT, each).token_ids
        assert sbd_core.generate(unlimited, PROMPT, each).token_ids == wanted


@pytest.mark.parametrize("strategy", ["ntp", "verify"])
def test_an_exact_strategy_draws_from_the_likeliest_of_a_folder(tmp_path, strategy) -> None:
    model = sbd_core.load(with_settings(tmp_path / "m", do_sample=True, top_k=1), device="cpu")
    config = DecodeConfig(strategy=strategy, max_new_tokens=12)
    greedy = sbd_core.generate(model, PROMPT, config).token_ids
    warm = sbd_core.generate(model, PROMPT, replace(config, temperature=5.0)).token_ids
    assert warm == greedy


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("no_repeat_ngram_size", 3),
        ("begin_suppress_tokens", [5]),
        ("bad_words_ids", [[5, 6]]),
        ("min_new_tokens", 4),
        ("forced_eos_token_id", 1),
        ("num_beams", 4),
        ("stop_strings", ["a"]),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(setting, value, tmp_path) -> None:
    folder = with_settings(tmp_path / "m", **{setting: value}, max_length=20)
    with pytest.raises(ModelError, match=f"its generation_config asks for {setting}"):
        sbd_core.load(folder, device="cpu")
