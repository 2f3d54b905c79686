"""What model.generate() is asked beside the prompt is honoured, or refused by name."""

from dataclasses import replace

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    LogitsProcessor,
)
from transformers.generation import (
    RepetitionPenaltyLogitsProcessor,
    StoppingCriteria,
    TopPLogitsWarper,
)

import sbd_core
from sbd_core import ArgumentError, DecodeConfig
from sbd_core.hf import generate
from sbd_core.solvers import TopK
from tests.core.hf.conftest import LENGTH, PROMPTS, answers, expected


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
    greedy = plain.generate(**inputs, custom_generate=generate, max_new_tokens=LENGTH)
    ntp = {"strategy": "ntp"}
    greedy = plain.generate(**inputs, custom_generate=generate, max_new_tokens=LENGTH, **ntp)
    one = plain.generate(**inputs, **{**options, "top_k": 1}, **ntp)
    assert torch.equal(one, greedy), "the best of one is the best"
    narrow = plain.generate(**inputs, **{**options, "top_p": 1e-6}, **ntp)
    assert torch.equal(narrow, greedy)
    several = plain.generate(
        input_ids=inputs["input_ids"][:1], **options, num_return_sequences=3, seed=5
    )
    assert torch.equal(several[0], first[0])
    assert not torch.equal(several[0], several[1])


def test_suppressed_tokens_never_come(plain, tokenizer) -> None:
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    options = {"custom_generate": generate, "max_new_tokens": LENGTH}
    [whole] = plain.generate(**inputs, **options).tolist()
    worst = whole[-1]
    for refusal in ({"suppress_tokens": [2, worst]}, {"bad_words_ids": [[worst]]}):
        [other] = plain.generate(**inputs, **options, **refusal).tolist()
        assert worst not in other[inputs["input_ids"].shape[1] :]


@pytest.mark.parametrize("strategy", ["ntp", "sbd", "verify"])
def test_a_repetition_penalty_is_that_of_our_generate(strategy, plain, ours, tokenizer) -> None:
    """From an argument, from the folder's generation_config, and from two processors at once."""
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
    with pytest.raises(ArgumentError) as caught:
        plain.generate(**inputs, custom_generate=generate, max_new_tokens=4, **arguments)
    assert caught.value.argument == argument


def test_the_output_object_counts_forward_passes(plain, ours, tokenizer) -> None:
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    output = plain.generate(
        **inputs, custom_generate=generate, max_new_tokens=LENGTH, return_dict_in_generate=True
    )
    trace = sbd_core.generate(
        ours, inputs["input_ids"][0].tolist(), DecodeConfig(max_new_tokens=LENGTH)
    )
    assert output.num_forwards == (trace.num_forwards,)
    assert output.tokens_per_forward == pytest.approx(trace.tokens_per_forward)
    revealing = sum(bool(event.reveals) for event in trace.events)
    assert output.tokens_per_revealing_forward == pytest.approx(trace.num_tokens / revealing)


def test_a_warper_of_logits_is_applied_before_entropies() -> None:
    from sbd_core.models.logits_rules import LogitsRules, with_processors
    from sbd_core.sampling import LogitStatsSpec

    logits = torch.tensor([[2.0, 1.0, 0.0, -1.0]])
    spec = LogitStatsSpec(has_entropy=True)
    narrowed = with_processors(LogitsRules(1.0, [], 1.0, [TopPLogitsWarper(0.1)]))(
        logits.clone(), 0, 1, spec
    )
    assert narrowed.entropy == [0.0]
    assert narrowed.best_ids == [0]
