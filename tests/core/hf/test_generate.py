"""model.generate() with Set Block Decoding: the tokens of sbd_core.generate, by either way in."""

from dataclasses import replace

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    TextDiffusionStreamer,
    TextIteratorStreamer,
)
from transformers.generation import utils
from transformers.generation.streamers import BaseStreamer

import sbd_core
from sbd_core import ArgumentError, DecodeConfig
from sbd_core.hf import generate, prepare
from sbd_core.solvers import EntropyBound
from sbd_core.training.checkpoints.checkpoint import export
from sbd_core.training.recipe import read_recipe
from tests.core.hf.conftest import LENGTH, PROMPTS, answers, expected
from tests.core.models.tiny_models import save_tiny, tiny_model, tiny_tokenizer


@pytest.mark.parametrize("strategy", ["sbd", "ntp", "verify"])
@pytest.mark.parametrize("prompts", [PROMPTS[:1], PROMPTS[:3], PROMPTS * 4], ids=len)
def test_the_callable_gives_the_tokens_of_our_generate_in_any_batch(
    strategy, prompts, plain, ours, tokenizer
) -> None:
    inputs = tokenizer(prompts, return_tensors="pt", padding=True)
    output = plain.generate(
        **inputs,
        custom_generate=generate,
        strategy=strategy,
        gamma=0.5,
        block_size=8,
        max_new_tokens=LENGTH,
    )
    solver = EntropyBound(gamma=0.5)
    config = DecodeConfig(strategy=strategy, solver=solver, block_size=8, max_new_tokens=LENGTH)
    assert answers(output, inputs) == expected(ours, inputs, config)


def test_a_folder_decodes_by_itself_with_the_same_tokens(
    folder, ours, tokenizer, monkeypatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(utils.logger, "warning_once", said.append)
    model = AutoModelForCausalLM.from_pretrained(
        folder, trust_remote_code=True, dtype=torch.float32
    )
    assert "sbd_core" not in type(model.generate.func).__module__
    inputs = tokenizer(PROMPTS, return_tensors="pt", padding=True)
    output = model.generate(**inputs, max_new_tokens=LENGTH)
    config = DecodeConfig(max_new_tokens=LENGTH)
    assert answers(output, inputs) == expected(ours, inputs, config)
    assert said == [], "transformers has nothing to say to the usual call"
    given = model.generate(
        **inputs, max_new_tokens=LENGTH, block_size=5, strategy="verify", tokenizer=tokenizer
    )
    config = DecodeConfig(max_new_tokens=LENGTH, block_size=5, strategy="verify")
    assert answers(given, inputs) == expected(ours, inputs, config)


class Recorder(BaseStreamer):
    """Keeps what it is given, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[int]]] = []

    def put(self, value) -> None:
        self.calls.append(("put", value.flatten().tolist()))

    def put_draft(self, value) -> None:
        self.calls.append(("draft", value.tolist()))

    def end(self) -> None:
        self.calls.append(("end", []))


@pytest.mark.parametrize("strategy", ["sbd", "verify"])
def test_a_streamer_gets_committed_text_in_reading_order_and_drafts_aside(
    strategy, plain, tokenizer
) -> None:
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    streamer = Recorder()
    output = plain.generate(
        **inputs,
        custom_generate=generate,
        strategy=strategy,
        block_size=8,
        max_new_tokens=LENGTH,
        token_streamer=streamer,
    )
    names = [name for name, _ in streamer.calls]
    assert names[-1] == "end"
    assert names.count("end") == 1
    texts = [ids for name, ids in streamer.calls if name == "put"]
    assert texts[0] == inputs["input_ids"][0].tolist()
    assert [token for text in texts for token in text] == output[0].tolist()
    if strategy == "sbd":
        assert len(texts) == 1 + LENGTH // 8
        drafts = [ids for name, ids in streamer.calls if name == "draft"]
        assert drafts
        assert all(len(draft) <= 8 and draft[-1] != 2 for draft in drafts)


def test_the_streamers_of_transformers_work_with_a_folder(folder, tokenizer, capsys) -> None:
    model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    whole = model.generate(**inputs, max_new_tokens=LENGTH)[0, inputs["input_ids"].shape[1] :]
    text = tokenizer.decode(whole, skip_special_tokens=True)
    streamer = TextIteratorStreamer(tokenizer, skip_prompt=True, skip_special_tokens=True)
    model.generate(**inputs, max_new_tokens=LENGTH, streamer=streamer)
    assert "".join(streamer) == text
    drawn = TextDiffusionStreamer(tokenizer, skip_prompt=True)
    model.generate(**inputs, max_new_tokens=LENGTH, streamer=drawn)
    assert "\033[33m" in capsys.readouterr().out, "no draft was drawn"
    both = tokenizer(PROMPTS[:2], return_tensors="pt", padding=True)
    with pytest.raises(ValueError, match="streamer: needs a batch of 1"):
        model.generate(**both, max_new_tokens=4, streamer=streamer)


def test_a_model_without_a_mask_token_decodes_ntp_and_is_told_of_prepare(tmp_path) -> None:
    save_tiny(tmp_path, "qwen3", tiny_tokenizer())
    model = AutoModelForCausalLM.from_pretrained(tmp_path)
    ids = torch.tensor([[5, 6, 7]])
    with pytest.raises(ArgumentError, match="sbd prepare"):
        model.generate(input_ids=ids, custom_generate=generate, max_new_tokens=4)
    options = {"strategy": "ntp", "max_new_tokens": 8}
    ntp = model.generate(input_ids=ids, custom_generate=generate, **options)
    theirs = model.generate(input_ids=ids, max_new_tokens=8, do_sample=False)
    assert ntp.tolist() == theirs.tolist()


def test_a_trained_folder_brings_its_generate(tmp_path) -> None:
    tokenizer = tiny_tokenizer()
    recipe = replace(read_recipe("sbd", None, {}), min_block_size=2, max_block_size=4)
    export(tiny_model("llama", len(tokenizer)), tokenizer, recipe, tmp_path / "model")
    assert (tmp_path / "model" / "custom_generate" / "generate.py").is_file()
    assert sbd_core.load(tmp_path / "model").model.config.mask_token_id == tokenizer.mask_token_id


def test_a_folder_decodes_by_the_strategy_that_prepare_was_given_and_training_keeps_it(
    tmp_path,
) -> None:
    tokenizer = tiny_tokenizer()
    source, ready, trained = (tmp_path / name for name in ("source", "ready", "trained"))
    save_tiny(source, "llama", tokenizer)
    with pytest.raises(ArgumentError, match="strategy"):
        prepare(source, ready, block_range=(2, 4), strategy="fast")
    prepare(source, ready, block_range=(2, 4), strategy="verify")
    recipe = replace(read_recipe("sbd", None, {}), min_block_size=2, max_block_size=4)
    export(AutoModelForCausalLM.from_pretrained(ready), tokenizer, recipe, trained)
    ids = tokenizer(PROMPTS[0])["input_ids"]
    for folder in (ready, trained):
        model = AutoModelForCausalLM.from_pretrained(
            folder, trust_remote_code=True, dtype=torch.float32
        )
        settings = {"max_new_tokens": LENGTH, "return_dict_in_generate": True}
        told, other = (
            model.generate(input_ids=torch.tensor([ids]), **settings, **strategy)
            for strategy in ({}, {"strategy": "sbd", "gamma": 0.0})
        )
        engine = sbd_core.load(folder, device="cpu", dtype="float32")
        config = DecodeConfig(strategy="verify", max_new_tokens=LENGTH, block_size=4)
        trace = sbd_core.generate(engine, ids, config)
        assert told.num_forwards == (trace.num_forwards,) != other.num_forwards
        assert tuple(told.sequences[0, len(ids) :].tolist()) == trace.token_ids


@pytest.mark.parametrize("strategy", ["sbd", "ntp", "verify"])
def test_an_answer_asked_to_be_longer_than_the_model_reaches_ends_there(strategy) -> None:
    """As the server of transformers asks: for 1,024 tokens, whatever the model."""
    model = tiny_model("qwen3", 300)
    model.config.mask_token_id = 2
    model.generation_config.eos_token_id = None
    reach, ids = model.config.max_position_embeddings, torch.tensor([[10, 20, 30]])
    options = {"custom_generate": generate, "strategy": strategy, "block_size": 4}
    output = model.generate(input_ids=ids, max_new_tokens=1024, **options)
    assert output.shape[1] == reach
    least = model.generate(input_ids=ids, max_new_tokens=reach - 3, **options)
    assert torch.equal(output, least)
