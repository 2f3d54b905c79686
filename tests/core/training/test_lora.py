"""Fine-tuning a prepared model on chat data, whole or by an adapter; merging; saving memory."""

import json
import shutil
import warnings
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

import sbd_core
from sbd_core import DecodeConfig
from sbd_core.__main__ import main
from sbd_core.errors import ModelError
from sbd_core.hf import merge
from sbd_core.models.loading import read
from sbd_core.training.checkpoint import add_adapter
from sbd_core.training.recipe import read_recipe
from sbd_core.training.step import LossModule
from tests.core.cli.commands import refusal
from tests.core.models.tiny_models import save_tiny, tiny_tokenizer
from tests.core.training.tiny_training import all_losses, same, signalled_at, weights

pytest.importorskip("peft", reason="peft is of the optional part lora")
pytestmark = pytest.mark.filterwarnings("ignore")

CONFIG = DecodeConfig(max_new_tokens=12, block_size=4)
RECORDS = [
    {"messages": [{"role": "user", "content": f"{n} + 1?"}, {"role": "assistant", "content": "7."}]}
    for n in range(4)
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Path:
    """`ready`, a prepared Qwen3 with tied embeddings, as the small ones have, and chat.jsonl."""
    folder = tmp_path_factory.mktemp("lora")
    save_tiny(folder / "base", "qwen3", tiny_tokenizer())
    model = AutoModelForCausalLM.from_pretrained(folder / "base")
    model.config.tie_word_embeddings = True
    model.tie_weights()
    model.save_pretrained(folder / "base")
    (folder / "chat.jsonl").write_text("\n".join(json.dumps(record) for record in RECORDS))
    words = [str(folder / "base"), "--out", str(folder / "ready"), "--max-block-size", "6"]
    assert main(["prepare", *words]) == 0
    flat = {"base": "lora", "lora_rank": 4, "learning_rate": 0.05, "warmup_steps": 0}
    (folder / "lora.json").write_text(json.dumps({**flat, "decay_steps": 0}))
    assert train(folder, "adapter", "--recipe", str(folder / "lora.json"), "--steps", "3") == 0
    return folder


def train(folder: Path, out: str, *words: str, init: str = "ready") -> int:
    given = ["--stage", "sbd", "--init", str(folder / init), "--out", str(folder / out)]
    given += ["--data", f"file:{folder / 'chat.jsonl'}", "--row-tokens", "64", "--batch-size", "4"]
    if "--recipe" not in words:
        given += ["--recipe", "finetune", "--learning-rate", "0.01"]
    return main(["train", *given, *words, "--precision", "fp32", "--save-every", "1"])


def answer(folder: Path) -> list[int]:
    model = sbd_core.load(folder, device="cpu", dtype="float32")
    assert model.block_range == (2, 6), "as prepare said"
    return list(sbd_core.generate(model, "2 + 1?", CONFIG).token_ids)


def test_a_prepared_model_is_fine_tuned_whole_on_chat_data(folders) -> None:
    assert train(folders, "whole", "--steps", "2") == 0
    found = load_file(folders / "whole" / "model.safetensors")
    before = load_file(folders / "ready" / "model.safetensors")
    assert set(found) == set(before)
    assert not same({n: w.float() for n, w in found.items()}, before)
    config = json.loads((folders / "whole" / "config.json").read_text())
    sizes = {"min_block_size": 2, "max_block_size": 6}
    assert config["set_block_decoding"] == {**sizes, "strategy": "sbd"}
    assert answer(folders / "whole")


def test_distilling_the_base_wants_its_own_next_tokens(folders) -> None:
    """An adapter that does nothing yet is the base; text that the base would not write moves it."""
    plain, distilled = (
        json.loads((folders / "lora.json").read_text()) | {"distils_base": is_distilled}
        for is_distilled in (False, True)
    )
    losses = {}
    for name, recipe in (("told", plain), ("distilled", distilled)):
        (folders / f"{name}.json").write_text(json.dumps({**recipe, "learning_rate": 0.0}))
        words = ["--recipe", str(folders / f"{name}.json"), "--steps", "1"]
        assert train(folders, name, *words) == 0
        losses[name] = [all_losses(folders / name, part) for part in ("matp", "ntp")]
    assert losses["told"][0] == losses["distilled"][0]
    assert losses["told"][1] != losses["distilled"][1]
    model, tokenizer = read(str(folders / "ready"), torch.float32)
    recipe = read_recipe("sbd", folders / "distilled.json", {"data": (), "tasks": {"math": 1}})
    add_adapter(model, recipe, tokenizer.mask_token_id, folders / "ready")
    ids = torch.arange(4, 20)[None]
    inputs = (ids, None, torch.arange(16)[None], torch.arange(12), torch.arange(5, 17))
    for distils, is_zero in ((True, True), (False, False)):
        module = LossModule(model, distils_base=distils)
        model.zero_grad()
        module(*inputs, torch.zeros(12, dtype=torch.bool)).sum().backward()
        norm = sum(float(p.grad.norm()) for p in model.parameters() if p.grad is not None)
        assert (norm < 1e-3) == is_zero


def test_a_run_says_how_long_its_rows_are_before_the_first_step(folders, capsys) -> None:
    words = ["--steps", "1", "--row-tokens", "2048", "--data", str(folders / "chat.jsonl")]
    assert train(folders, "as chosen", *words) == 0, "a plain path is one of a file"
    said = capsys.readouterr().err
    assert "rows of 128 tokens hold the longest text (--row-tokens allows 2048)" in said
    assert said.index("rows of") < said.index("train sbd")


def test_parts_and_checkpointing_take_the_same_steps(folders) -> None:
    train(folders, "plain", "--steps", "2")
    train(folders, "small", "--steps", "2", "--accumulate", "3", "--gradient-checkpointing")
    assert all_losses(folders / "small") == pytest.approx(all_losses(folders / "plain"), rel=1e-5)
    wanted = weights(folders / "plain")
    for name, weight in weights(folders / "small").items():
        torch.testing.assert_close(weight, wanted[name], atol=1e-3, rtol=1e-3)


def test_an_adapter_is_trained_alone_and_decodes_as_its_merged_model(folders, capsys) -> None:
    saved = load_file(folders / "adapter" / "adapter_model.safetensors")
    assert not any("base_layer" in name for name in saved)
    assert any("trainable_tokens" in name for name in saved), "the mask's embedding"
    assert any(w.abs().max() > 0 for name, w in saved.items() if "lora_B" in name)
    found = answer(folders / "adapter")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert main(["merge", str(folders / "adapter"), "--out", str(folders / "merged")]) == 0
    assert not [each for each in said if "tied" in str(each.message)]
    assert "merged in fp32: the largest change of a logit" in capsys.readouterr().out
    assert answer(folders / "merged") == found
    assert not (folders / "merged" / "adapter_config.json").exists()
    words = ["generate", "2 + 1?", "--model", str(folders / "adapter"), "--json", "--device", "cpu"]
    assert main([*words, "--block-size", "4", "--max-new-tokens", "12"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["token_ids"] == found


@pytest.mark.parametrize("recipe", ["finetune", "lora"])
def test_an_answer_ends_as_it_was_learnt_and_as_the_base_ended_it(recipe, folders) -> None:
    """The chat template may say <|im_end|> and generation_config.json <|endoftext|>."""
    other = folders / f"other-{recipe}"
    shutil.copytree(folders / "ready", other)
    file = other / "generation_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "eos_token_id": 9}))
    assert sbd_core.load(other, device="cpu").end_token_ids == {9}
    words = ("--recipe", recipe, "--learning-rate", "0.01", "--steps", "1")
    assert train(folders, f"ends-{recipe}", *words, init=other.name) == 0
    assert sbd_core.load(folders / f"ends-{recipe}", device="cpu").end_token_ids == {1, 9}


def test_an_adapter_goes_on_from_its_state(folders, monkeypatch) -> None:
    words = ("--recipe", str(folders / "lora.json"), "--steps", "3")
    with signalled_at(1, monkeypatch):
        assert train(folders, "parted", *words) == 130
    assert json.loads((folders / "parted.state" / "progress.json").read_text())["step"] == 1
    assert train(folders, "parted", *words) == 0
    both = (
        load_file(folders / name / "adapter_model.safetensors") for name in ("adapter", "parted")
    )
    assert same(*both)
    state = folders / "parted.state" / "model"
    assert (state / "adapter_model.safetensors").is_file()
    assert not list(state.glob("model*.safetensors")), "the base is not saved again"


def test_an_adapter_of_another_base_is_refused_in_one_sentence(folders, tmp_path, capsys) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    for file in (folders / "adapter").iterdir():
        (adapter / file.name).write_bytes(file.read_bytes())
    told = json.loads((adapter / "adapter_config.json").read_text())

    def of(base: Path | str) -> Path:
        told["base_model_name_or_path"] = str(base)
        (adapter / "adapter_config.json").write_text(json.dumps(told))
        return adapter

    words = ["generate", "a", "--device", "cpu", "--model", str(of(folders / "base"))]
    assert main([*words, "--strategy", "ntp", "--max-new-tokens", "2"]) == 0, "the same weights"
    other = save_tiny(tmp_path / "other", "qwen3", tiny_tokenizer())
    shifted = load_file(other / "model.safetensors")
    shifted["model.norm.weight"] += 1
    save_file(shifted, other / "model.safetensors", {"format": "pt"})
    gpt2 = save_tiny(tmp_path / "gpt2", "gpt2", tiny_tokenizer())
    for base in (other, gpt2):
        with pytest.raises(ModelError, match=r"another base|NoMatchingPeftModule"):
            sbd_core.load(of(base), device="cpu")
    (adapter / "sbd_adapter.json").unlink()  # as one of another tool
    with pytest.raises(ModelError, match=r"another base|NoMatchingPeftModule"):
        sbd_core.load(of(gpt2), device="cpu")
    assert "there is no folder" in refusal(capsys, [*words[:-1], str(of("./gone"))])


def test_what_cannot_be_is_refused(folders, tmp_path, capsys) -> None:
    assert train(folders, "again", "--steps", "1", init="adapter") == 2
    assert "sbd merge makes it a model first" in capsys.readouterr().err
    said = refusal(capsys, ["merge", str(folders / "ready"), "--out", str(tmp_path / "x")])
    assert "must be the folder of an adapter" in said
    with pytest.raises(ModelError):
        merge(tmp_path / "nothing", tmp_path / "x")


@pytest.mark.parametrize("recipe", ["finetune", "lora"])
def test_tuning_without_a_model_or_data_says_what_to_give(recipe, tmp_path, capsys) -> None:
    out = tmp_path / "out"
    words = ["train", "--stage", "sbd", "--recipe", recipe, "--out", str(out)]
    for more, argument, hint in (
        (["--data", "file:chat.jsonl"], "init", "sbd prepare"),
        (["--init", str(tmp_path)], "data", "file:chat.jsonl"),
    ):
        said = refusal(capsys, [*words, *more])
        assert said.startswith(f"{argument}: ")
        assert hint in said
    assert not list(tmp_path.iterdir())
