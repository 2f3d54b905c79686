"""prepare: the mask token takes what the vocabulary has to spare; all else is untouched."""

import json
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BertConfig,
    BertLMHeadModel,
    PreTrainedTokenizerFast,
)

import sbd_core
from sbd_core import DecodeConfig, ModelError
from sbd_core.__main__ import main
from sbd_core.hf import prepare
from tests.core.cli.commands import refusal
from tests.core.models.tiny_models import maskless_tokenizer, tiny_model

RESERVED = [f"<|reserved_special_token_{i}|>" for i in range(3)]


def tokenizer_with(special: list[str]) -> PreTrainedTokenizerFast:
    tokenizer = maskless_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": special})
    return tokenizer


def saved(folder: Path, tokenizer, num_rows: int, architecture: str = "qwen3") -> Path:
    tiny_model(architecture, num_rows).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


CASES = {
    "existing": (["<mask>"], 40, 29),
    "reserved": (RESERVED, 40, 31),
    "spare": ([], 40, 29),
    "added": ([], 29, 29),
}


@pytest.mark.parametrize("architecture", ["qwen3", "gpt2"])
@pytest.mark.parametrize("origin", CASES)
def test_the_mask_takes_what_is_free_and_no_other_logit_changes(origin, architecture, tmp_path):
    special, num_rows, wanted_id = CASES[origin]
    tokenizer = tokenizer_with(special)
    if origin == "existing":
        tokenizer.add_special_tokens({"mask_token": "<mask>"})
    source = saved(tmp_path / "model", tokenizer, num_rows, architecture)
    done = prepare(source, tmp_path / "ready", block_range=(2, 8))
    assert (done.mask_token.origin, done.mask_token.token_id) == (origin, wanted_id)
    assert done.num_rows == (num_rows, max(num_rows, wanted_id + 1))
    old = AutoModelForCausalLM.from_pretrained(source)
    new = AutoModelForCausalLM.from_pretrained(tmp_path / "ready")
    ids = torch.tensor([[5, 9, 2, 20, 11, 1, 7]])
    others = [i for i in range(num_rows) if i != wanted_id]
    torch.testing.assert_close(
        new(input_ids=ids).logits[..., others], old(input_ids=ids).logits[..., others]
    )
    rows = new.get_input_embeddings().weight
    if origin != "existing":
        used = [i for i in range(min(num_rows, len(tokenizer))) if i != wanted_id]
        torch.testing.assert_close(rows[wanted_id], rows[used].mean(0))
    assert AutoTokenizer.from_pretrained(tmp_path / "ready").mask_token_id == wanted_id
    model = sbd_core.load(tmp_path / "ready", device="cpu")
    assert (model.mask_token_id, model.block_range) == (wanted_id, (2, 8))
    config = DecodeConfig(block_size=4, max_new_tokens=9, strategy="verify")
    assert len(sbd_core.generate(model, [4, 5], config).token_ids) <= 9


def test_a_reserved_token_that_the_chat_template_uses_is_not_taken(tmp_path) -> None:
    tokenizer = tokenizer_with(RESERVED)
    tokenizer.chat_template = "{% for m in messages %}" + RESERVED[2] + "{% endfor %}"
    done = prepare(saved(tmp_path / "model", tokenizer, 40), tmp_path / "ready")
    assert done.mask_token.text == RESERVED[1]


@pytest.mark.parametrize(
    ("changes", "use"),
    [
        ({"mask_token": "<eos>"}, "its eos_token"),
        ({"mask_token": "<pad>"}, "its pad_token"),
        ({"mask_token": "<bos>", "bos_token": "<bos>"}, "its bos_token"),
        ({"mask_token": "<unk>", "unk_token": "<unk>"}, "its unk_token"),
        ({"mask_token": "<end>"}, "a token that ends answers"),
        ({"mask_token": "a"}, "a token of ordinary text"),
    ],
)
def test_a_mask_that_is_another_token_is_refused(changes, use, tmp_path) -> None:
    tokenizer = tokenizer_with(["<bos>", "<unk>", "<end>"])
    tokenizer.add_special_tokens(changes)
    source = saved(tmp_path / "model", tokenizer, 40)
    end = tokenizer.convert_tokens_to_ids("<end>")
    (source / "generation_config.json").write_text(json.dumps({"eos_token_id": [1, end]}))
    with pytest.raises(ModelError, match=f"mask_token .* is {use}: a mask must be"):
        prepare(source, tmp_path / "ready")
    model = sbd_core.load(source, device="cpu")
    assert model.mask_token_id is None or use == "a token of ordinary text"


def test_the_command_says_what_it_did(tmp_path, capsys) -> None:
    source = saved(tmp_path / "model", tokenizer_with([]), 29)
    assert main(["prepare", str(source), "--out", str(tmp_path / "ready"), "--json"]) == 0
    said = capsys.readouterr().out
    assert "29 rows became 30" in said
    assert "next-token prediction is unchanged" in said
    data = json.loads(said.splitlines()[-1])
    assert data["mask_token"] == {"text": "<m>", "token_id": 29, "origin": "added"}
    written = json.loads((tmp_path / "ready" / "config.json").read_text())
    assert written["mask_token_id"] == 29
    assert written["set_block_decoding"]["is_trained"] is False
    again = tmp_path / "again"
    assert main(["prepare", str(tmp_path / "ready"), "--out", str(again)]) == 0
    assert "was there already" in capsys.readouterr().out


def test_what_cannot_be_prepared_is_one_line_and_nothing_is_written(tmp_path, capsys) -> None:
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_attention_heads": 2}
    bert = BertLMHeadModel(BertConfig(vocab_size=40, num_hidden_layers=1, **sizes))
    bert.save_pretrained(tmp_path / "bert")
    tokenizer_with([]).save_pretrained(tmp_path / "bert")
    for name, rule in (("bert", "model: must be causal"), ("none", "there is no folder")):
        words = ["prepare", str(tmp_path / name), "--out", str(tmp_path / "out")]
        assert rule in refusal(capsys, words)
        assert [path.name for path in tmp_path.iterdir()] == ["bert"]


def test_bad_arguments_name_the_argument(tmp_path, capsys) -> None:
    source = saved(tmp_path / "model", tokenizer_with([]), 29)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for out, words, argument in (
        *((out, [], "out") for out in ("full", "file", "file/below")),
        ("new", ["--max-block-size", "1"], "max_block_size"),
        ("new", ["--min-block-size", "0"], "min_block_size"),
    ):
        given = ["prepare", str(source), "--out", str(tmp_path / out), *words]
        assert refusal(capsys, given).startswith(f"{argument}: ")
    assert (tmp_path / "full" / "file").read_text() == (tmp_path / "file").read_text() == "mine"


def test_a_prepared_model_says_that_it_is_not_trained(tmp_path, capsys) -> None:
    source = saved(tmp_path / "model", tokenizer_with([]), 29)
    words = ["--max-new-tokens", "4", "--device", "cpu"]
    said = refusal(capsys, ["generate", "hello", "--model", str(source), *words])
    assert "no mask token: sbd prepare gives it one" in said
    prepare(source, tmp_path / "ready")
    for place in ("hub", "web"):  # prepared it is, and need not be again
        export = ["export", place, "--out", str(tmp_path / place)]
        told = refusal(capsys, [*export, "--model", str(tmp_path / "ready")])
        assert "sbd train --stage sbd --init" in told
        assert "sbd prepare" not in told
    said = {}
    for strategy in ("sbd", "ntp"):
        ready = ["--model", str(tmp_path / "ready"), "--strategy", strategy]
        assert main(["generate", "hello", *ready, *words]) == 0
        said[strategy] = capsys.readouterr().err
    assert "ready is not trained for Set Block Decoding" in said["sbd"]
    assert "sbd prepare" not in said["sbd"]
    assert "strategy ntp" in said["sbd"]
    assert "not trained" not in said["ntp"]
