"""Settings in a folder's generation_config.json are honoured as transformers does, or refused."""

import json
from pathlib import Path

import pytest
import torch

import sbd_core
from sbd_core import DecodeConfig, ModelError
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


def test_settings_of_sampling_are_no_hindrance(tmp_path) -> None:
    folder = with_settings(tmp_path / "m", do_sample=True, temperature=0.6, top_k=20, top_p=0.9)
    assert sbd_core.load(folder, device="cpu").name == "m"


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
