"""Loading: what a folder or a name cannot give is one ModelError, never a stack trace."""

import copy
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import sbd_core
from sbd_core import ArgumentError, DecodeConfig, ModelError, generate
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT, WEIGHTS, read_checkpoint_info
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.sampling import LogitStatsSpec
from tests.core.models.tiny_models import save_tiny, tiny_tokenizer

WEIGHTS_FILE = "model.safetensors"


@pytest.fixture
def folder(tmp_path: Path, tiny_folders) -> Path:
    """A good folder of one's own to damage."""
    return Path(shutil.copytree(tiny_folders["llama"], tmp_path / "model"))


def refused(source: object) -> str:
    with pytest.raises(ModelError) as caught:
        sbd_core.load(source, device="cpu")
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 1000
    return message


def set_config(folder: Path, **changes: object) -> Path:
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))
    return folder


def test_the_good_folder_loads_and_is_called_by_its_name(folder) -> None:
    model = sbd_core.load(str(folder), device="cpu")
    assert model.name == "model"
    assert model.block_range is None
    assert model.vocabulary_size == model.model.config.vocab_size
    assert model.tokenizer.convert_ids_to_tokens(model.mask_token_id) == "<m>"
    assert model.end_token_ids == {model.tokenizer.eos_token_id}
    assert not model.model.training


def test_the_bundled_checkpoint_is_the_default_and_states_its_block_range() -> None:
    model = sbd_core.load(device="cpu")
    assert model.name == "sbd-nano"
    assert model.block_range == (2, 16)
    assert model.model.dtype == torch.float32


@pytest.mark.parametrize("source", ["/no/such/folder", "./nope", "~/nope", "a/b/c", "", "\x00"])
def test_a_missing_folder_is_refused(source) -> None:
    assert refused(source).startswith("model: ")


@pytest.mark.parametrize("source", ["x" * 5000, "/" + "x" * 5000, "a/" * 3000], ids=len)
def test_a_name_too_long_for_the_file_system_is_refused(source) -> None:
    refused(source)


def test_a_folder_with_only_pickled_weights_is_refused(folder) -> None:
    torch.save(load_file(folder / WEIGHTS_FILE), folder / "pytorch_model.bin")
    (folder / WEIGHTS_FILE).unlink()
    assert "safetensors" in refused(folder)


@pytest.mark.parametrize("name", ["config.json", WEIGHTS_FILE, "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_refused(folder, name) -> None:
    (folder / name).unlink()
    assert str(folder) in refused(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"model_type": "no-such-type"}'])
def test_a_folder_with_an_unreadable_config_is_refused(folder, text) -> None:
    (folder / "config.json").write_text(text)
    refused(folder)


@pytest.mark.parametrize("text", ["", "{", "{}", "[]"])
def test_a_folder_with_an_unreadable_tokenizer_is_refused(folder, text) -> None:
    (folder / "tokenizer.json").write_text(text)
    refused(folder)


@pytest.mark.parametrize("kept", [0, 500])
def test_a_folder_with_cut_off_weights_is_refused(folder, kept) -> None:
    file = folder / WEIGHTS_FILE
    file.write_bytes(file.read_bytes()[:kept])
    refused(folder)


def test_a_folder_that_lacks_a_weight_is_refused_not_filled_with_chance(folder) -> None:
    weights = load_file(folder / WEIGHTS_FILE)
    name = next(name for name in weights if "q_proj" in name)
    del weights[name]
    save_file(weights, folder / WEIGHTS_FILE, metadata={"format": "pt"})
    assert name in refused(folder)


@pytest.mark.parametrize(
    "changes", [{"vocab_size": 200}, {"hidden_size": "x"}, {"num_attention_heads": 3}]
)
def test_a_config_that_does_not_fit_the_weights_is_refused(folder, changes) -> None:
    refused(set_config(folder, **changes))


@pytest.mark.parametrize(
    "value",
    [
        [2, 16],
        "2-16",
        {"min_block_size": 2},
        {"min_block_size": None, "max_block_size": 4},
        {"min_block_size": 8, "max_block_size": 4},
        {"min_block_size": 0, "max_block_size": 4},
    ],
)
def test_a_malformed_block_range_is_refused(folder, value) -> None:
    assert "set_block_decoding" in refused(set_config(folder, set_block_decoding=value))


def test_a_block_range_is_read_and_kept(folder) -> None:
    set_config(folder, set_block_decoding={"min_block_size": 3, "max_block_size": 5})
    model = sbd_core.load(folder, device="cpu")
    assert model.block_range == (3, 5)
    with pytest.raises(ArgumentError) as caught:
        generate(model, "a", DecodeConfig(block_size=6))
    assert caught.value.argument == "block_size"


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("device", "tpu"),
        ("device", ""),
        ("device", "cpu:0"),
        ("device", "cuda:x"),
        ("device", "cuda:99"),
        ("dtype", "int7"),
        ("dtype", "fp32"),
        ("dtype", ""),
    ],
)
def test_an_unknown_device_or_dtype_is_named(folder, argument, value) -> None:
    with pytest.raises(ArgumentError) as caught:
        sbd_core.load(folder, **{"device": "cpu", argument: value})
    assert caught.value.argument == argument


def test_loading_says_nothing(folder, capfd) -> None:
    sbd_core.load(folder, device="cpu")
    assert capfd.readouterr() == ("", "")


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


def test_the_bundled_card_says_what_the_loaded_model_says(nano: HuggingFaceModel) -> None:
    info = read_checkpoint_info(None)
    assert info is not None
    assert (info.name, info.block_range) == (nano.name, nano.block_range)
    assert nano.mask_token_id is not None


@pytest.fixture
def card(tmp_path):
    for name in ("config.json", "tokenizer_config.json", weights_of(DEFAULT_CHECKPOINT)):
        shutil.copy(DEFAULT_CHECKPOINT / name, tmp_path / name)
    return tmp_path


def weights_of(folder):
    """The file that says a folder has weights: they may be in shards."""
    [name] = [name for name in WEIGHTS if (folder / name).is_file()]
    return name


def test_a_folder_is_called_by_its_name(card) -> None:
    info = read_checkpoint_info(card)
    assert info is not None
    assert info.name == card.name


SIZES = "set_block_decoding"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("config.json", "{"),
        ("config.json", "[]"),
        ("config.json", json.dumps({"model_type": "llama"})),
        ("config.json", json.dumps({SIZES: {"min_block_size": 4, "max_block_size": 2}})),
        ("tokenizer_config.json", json.dumps({"mask_token": None})),
    ],
)
def test_what_a_folder_does_not_tell_is_left_to_loading(card, file, text) -> None:
    (card / file).write_text(text)
    assert read_checkpoint_info(card) is None


@pytest.mark.parametrize(
    "name", ["config.json", "tokenizer_config.json", weights_of(DEFAULT_CHECKPOINT)]
)
def test_a_folder_without_a_file_is_left_to_loading(card, name) -> None:
    (card / name).unlink()
    assert read_checkpoint_info(card) is None
