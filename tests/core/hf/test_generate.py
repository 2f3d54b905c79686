"""model.generate() with Set Block Decoding: the tokens of sbd_core.generate, by either way in."""

from dataclasses import replace
from functools import partial

import accelerate
import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    LogitsProcessor,
    TextDiffusionStreamer,
    TextIteratorStreamer,
)
from transformers.generation import (
    RepetitionPenaltyLogitsProcessor,
    StoppingCriteria,
    TopPLogitsWarper,
    utils,
)
from transformers.generation.streamers import BaseStreamer

import sbd_core
from sbd_core import ArgumentError, DecodeConfig
from sbd_core.hf import generate, prepare
from sbd_core.models.logits_processors import LogitsRules, with_processors
from sbd_core.sampling import LogitStatsSpec
from sbd_core.solvers import EntropyBound, TopK
from sbd_core.training.checkpoint import export, write_model
from sbd_core.training.recipe import read_recipe
from tests.core.hf.conftest import LENGTH, PROMPTS, answers, expected
from tests.core.models.tiny_models import save_tiny, tiny_model, tiny_tokenizer


@pytest.mark.parametrize("strategy", ["sbd", "ntp", "verify"])
@pytest.mark.parametrize("prompts", [PROMPTS[:1], PROMPTS[:3], PROMPTS * 4], ids=len)
def test_the_callable_gives_the_tokens_of_our_generate_in_any_batch(
    strategy, prompts, plain, ours, tokenizer
) -> None:
    inputs = tokenizer(prompts, return_tensors="pt", padding=True)
    shared = {"strategy": strategy, "block_size": 8, "max_new_tokens": LENGTH}
    output = plain.generate(**inputs, custom_generate=generate, gamma=0.5, **shared)
    config = DecodeConfig(solver=EntropyBound(gamma=0.5), **shared)
    assert answers(output, inputs) == expected(ours, inputs, config)


def test_a_folder_decodes_by_itself_with_the_same_tokens(folder, ours, tokenizer, monkeypatch):
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
    shared = {"strategy": strategy, "block_size": 8, "max_new_tokens": LENGTH}
    output = plain.generate(**inputs, custom_generate=generate, token_streamer=streamer, **shared)
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
    ours = {"custom_generate": generate, "strategy": "ntp"}
    ntp = model.generate(input_ids=ids, max_new_tokens=8, **ours)
    theirs = model.generate(input_ids=ids, max_new_tokens=8, do_sample=False)
    assert ntp.tolist() == theirs.tolist()


def test_a_folder_decodes_by_the_strategy_that_prepare_was_given_and_training_keeps_it(tmp_path):
    tokenizer = tiny_tokenizer()
    source, ready, trained = (tmp_path / name for name in ("source", "ready", "trained"))
    save_tiny(source, "llama", tokenizer)
    with pytest.raises(ArgumentError, match="strategy"):
        prepare(source, ready, block_range=(2, 4), strategy="fast")
    prepare(source, ready, block_range=(2, 4), strategy="verify")
    recipe = replace(read_recipe("sbd", None, {}), min_block_size=2, max_block_size=4)
    model = AutoModelForCausalLM.from_pretrained(ready)
    export(trained, partial(write_model, model, tokenizer, recipe), tokenizer.save_pretrained)
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
        assert told.num_tokens == (trace.num_tokens,)
        assert told.tokens_per_forward == pytest.approx(trace.tokens_per_forward)
        assert tuple(told.sequences[0, len(ids) :].tolist()) == trace.token_ids


@pytest.mark.parametrize("strategy", ["sbd", "ntp", "verify"])
def test_an_answer_asked_to_be_longer_than_the_model_reaches_ends_there(strategy) -> None:
    """The server of transformers asks for 1,024 tokens, whatever the model."""
    model = tiny_model("qwen3", 300)
    model.config.mask_token_id = 2
    model.generation_config.eos_token_id = None
    reach, ids = model.config.max_position_embeddings, torch.tensor([[10, 20, 30]])
    options = {"custom_generate": generate, "strategy": strategy, "block_size": 4}
    output = model.generate(input_ids=ids, max_new_tokens=1024, **options)
    assert output.shape[1] == reach
    least = model.generate(input_ids=ids, max_new_tokens=reach - 3, **options)
    assert torch.equal(output, least)


class StopAfter(StoppingCriteria):
    def __init__(self, token_id: int) -> None:
        self.token_id = token_id

    def __call__(self, input_ids, scores, **kwargs):
        return input_ids[:, -1] == self.token_id


def test_a_stopping_criterion_cuts_inside_a_block(plain, folder, tokenizer) -> None:
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    start = inputs["input_ids"].shape[1]
    options = {"custom_generate": generate, "block_size": 8, "max_new_tokens": LENGTH}
    [whole] = plain.generate(**inputs, **options).tolist()
    stop = whole[start + 2]
    [cut] = plain.generate(**inputs, **options, stopping_criteria=[StopAfter(stop)]).tolist()
    assert cut == whole[: whole.index(stop, start) + 1]
    model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)
    text = tokenizer.decode([stop])
    same = model.generate(
        **inputs, block_size=8, max_new_tokens=LENGTH, stop_strings=[text], tokenizer=tokenizer
    )
    assert text in tokenizer.decode(same[0, start:])
    assert same.shape[1] < start + LENGTH


def test_a_list_of_ends_is_honoured(plain, tokenizer) -> None:
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    start = inputs["input_ids"].shape[1]
    options = {"custom_generate": generate, "strategy": "ntp", "max_new_tokens": LENGTH}
    [whole] = plain.generate(**inputs, **options).tolist()
    [cut] = plain.generate(**inputs, **options, eos_token_id=[1, whole[start + 3]]).tolist()
    assert cut == whole[: whole.index(whole[start + 3], start) + 1]


def test_sampling_follows_seed_temperature_and_warpers(plain, ours, tokenizer) -> None:
    inputs = tokenizer(PROMPTS[:1] * 2, return_tensors="pt")
    options = {"custom_generate": generate, "max_new_tokens": LENGTH, "do_sample": True}
    options |= {"temperature": 0.7, "top_k": 0}
    first = plain.generate(**inputs, **options, seed=5)
    config = DecodeConfig(max_new_tokens=LENGTH, temperature=0.7, seed=5)
    assert answers(first, inputs) == expected(ours, inputs, config)
    assert not torch.equal(first, plain.generate(**inputs, **options, seed=6))
    torch.manual_seed(3)
    drawn = plain.generate(**inputs, **options)
    torch.manual_seed(3)
    assert torch.equal(drawn, plain.generate(**inputs, **options))
    ntp = {**options, "strategy": "ntp"}
    greedy = plain.generate(**inputs, **{**ntp, "do_sample": False})
    for narrow in ({"top_k": 1}, {"top_p": 1e-6}):
        assert torch.equal(plain.generate(**inputs, **{**ntp, **narrow}), greedy)
    several = plain.generate(
        input_ids=inputs["input_ids"][:1], **options, num_return_sequences=3, seed=5
    )
    assert torch.equal(several[0], first[0])
    assert not torch.equal(several[0], several[1])


@pytest.mark.parametrize("strategy", ["ntp", "sbd", "verify"])
def test_a_repetition_penalty_is_that_of_our_generate(strategy, plain, ours, tokenizer) -> None:
    """It may come from an argument, the folder's generation_config, or two processors at once."""
    inputs = tokenizer(PROMPTS[:3], return_tensors="pt", padding=True)
    options = {"custom_generate": generate, "max_new_tokens": LENGTH, "strategy": strategy}
    config = DecodeConfig(strategy=strategy, max_new_tokens=LENGTH, repetition_penalty=1.3)
    wanted = expected(ours, inputs, config)
    assert wanted != expected(ours, inputs, replace(config, repetition_penalty=1.0))
    given = plain.generate(**inputs, **options, repetition_penalty=1.3)
    assert answers(given, inputs) == wanted
    plain.generation_config.repetition_penalty = 1.3
    try:
        assert answers(plain.generate(**inputs, **options), inputs) == wanted
    finally:
        plain.generation_config.repetition_penalty = None
    halves = [RepetitionPenaltyLogitsProcessor(1.3 / 1.1), RepetitionPenaltyLogitsProcessor(1.1)]
    twice = plain.generate(**inputs, **options, logits_processor=halves)
    assert answers(twice, inputs) == wanted


PENALTY = RepetitionPenaltyLogitsProcessor(1.2)
PENALTY_ON_ANSWERS = RepetitionPenaltyLogitsProcessor(1.2, prompt_ignore_length=3)


class Mine(LogitsProcessor):
    def __call__(self, input_ids, scores):
        return scores


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"repetition_penalty": 1.2, "sequence_bias": [[[3], 1.0]]}, "repetition_penalty"),
        ({"logits_processor": [TopPLogitsWarper(0.5), PENALTY]}, "repetition_penalty"),
        ({"logits_processor": [PENALTY_ON_ANSWERS]}, "repetition_penalty"),
        ({"no_repeat_ngram_size": 2}, "no_repeat_ngram_size"),
        ({"min_new_tokens": 3}, "min_new_tokens"),
        ({"bad_words_ids": [[3, 4]]}, "bad_words_ids"),
        ({"logits_processor": [Mine()]}, "logits_processor"),
        ({"num_beams": 2}, "num_beams"),
        ({"force_words_ids": [[3]]}, "force_words_ids"),
        ({"constraints": [3]}, "constraints"),
        ({"use_mtp": True}, "use_mtp"),
        ({"return_dict_in_generate": True, "output_scores": True}, "output_scores"),
        ({"gamma": -1}, "gamma"),
        ({"gamma": 1, "solver": TopK(k=2)}, "gamma"),
        ({"block_size": 64}, "block_size"),
        ({"strategy": "beam"}, "strategy"),
        ({"mask_token_id": 1}, "mask_token_id"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(arguments, argument, plain, tokenizer) -> None:
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        plain.generate(**inputs, custom_generate=generate, max_new_tokens=4, **arguments)


def test_a_warper_of_logits_is_applied_before_entropies() -> None:
    logits = torch.tensor([[2.0, 1.0, 0.0, -1.0]])
    spec = LogitStatsSpec(has_entropy=True)
    rules = LogitsRules(1.0, [], 1.0, [TopPLogitsWarper(0.1)])
    narrowed = with_processors(rules)(logits, 0, 1, spec)
    assert (narrowed.entropy, narrowed.best_ids) == ([0.0], [0])


def by_a_map(folder, work):
    """As device_map="auto" places a model that is larger than the accelerator."""
    places = {"device_map": {"lm_head": "cpu", "model": "disk"}, "offload_folder": str(work)}
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **places)


def by_accelerate(folder, work):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    return accelerate.cpu_offload(model, torch.device("cpu"))


@pytest.mark.parametrize("strategy", ["ntp", "sbd", "verify"])
@pytest.mark.parametrize("offloaded", [by_a_map, by_accelerate])
def test_weights_that_wait_elsewhere_give_the_same_answer(
    offloaded, strategy, folder, plain, tmp_path
) -> None:
    model = offloaded(folder, tmp_path)
    assert next(model.parameters()).device.type == "meta"
    ids = torch.tensor([[5, 6, 7]])
    settings = {"custom_generate": generate, "strategy": strategy, "max_new_tokens": LENGTH}
    wanted = plain.generate(input_ids=ids, **settings)
    assert model.generate(input_ids=ids, **settings).tolist() == wanted.tolist()
