"""Bad arguments: the right error, at the call, on one line, naming argument, rule and value."""

import math
from functools import partial

import numpy as np
import pytest
import torch

import sbd_core
from sbd_core import ArgumentError, DecodeConfig, ModelError, generate, stream
from sbd_core.errors import SetBlockDecodingError
from sbd_core.solvers import (
    SOLVERS,
    CausalFirst,
    ConfidenceThreshold,
    EntropyBound,
    Factor,
    LeftToRight,
    Random,
    TopK,
    make_solver,
)
from tests.core.decoding.doubles import MASK, TEXTS, chance_model
from tests.scripted import ScriptedModel

NAN, INF, HUGE = math.nan, math.inf, 10**400


def brief(value: object) -> str:
    """A test's id: the start of the value."""
    return ascii(value)[:16]


def refused(call, argument: str, value: object) -> None:
    """An ArgumentError about `argument` whose one line shows the value, shortened if long."""
    with pytest.raises(ArgumentError) as caught:
        call()
    error = caught.value
    assert isinstance(error, SetBlockDecodingError)
    assert isinstance(error, ValueError)
    assert error.argument == argument
    text = str(error)
    assert text.startswith(f"{argument}: ")
    assert "\n" not in text
    assert len(text) < 500
    assert text.rpartition("; got ")[2][:20] == ascii(value)[:20]


IDS = [3, 1, 4, 1, 5]
AS_IDS = {
    "a tuple": tuple(IDS),
    "an array": np.array(IDS),
    "an array of bytes": np.array(IDS, dtype=np.uint8),
    "a tensor": torch.tensor(IDS),
    "numbers of NumPy": list(np.array(IDS)),
    "numbers of torch": list(torch.tensor(IDS)),
}


@pytest.mark.parametrize("kind", AS_IDS)
def test_token_ids_may_be_whole_numbers_of_any_library(kind) -> None:
    model, config = chance_model(0), DecodeConfig(max_new_tokens=4)
    trace = generate(model, AS_IDS[kind], config)
    assert trace.prompt_token_ids == tuple(IDS)
    assert all(type(token_id) is int for token_id in trace.prompt_token_ids)
    assert sbd_core.Trace.from_json(trace.to_json()) == trace


@pytest.mark.parametrize(
    "ids",
    [
        torch.tensor([IDS]),
        np.array([1.0]),
        np.array([True]),
        torch.tensor([1.5]),
        np.array(["a"]),
        torch.tensor(3),
    ],
    ids=brief,
)
def test_other_arrays_are_refused_by_the_rule_they_break(ids) -> None:
    rule = "prompt: must (hold token ids from 0 to .* in one sequence|be text, messages or)"
    with pytest.raises(ArgumentError, match=rule):
        generate(chance_model(0), ids, DecodeConfig())


NO_FLAGS, NO_COUNTS = (0, 1, None, "yes"), (0, -1, 1.5, True, None)
BAD_SETTINGS = [
    *((DecodeConfig, "strategy", value) for value in ("SBD", ["sbd"])),
    *((DecodeConfig, "solver", value) for value in ("entropy-bound", None, EntropyBound)),
    *((DecodeConfig, "block_size", value) for value in (*NO_COUNTS, 1.0, "4", NAN, -HUGE)),
    *((DecodeConfig, "max_new_tokens", value) for value in (*NO_COUNTS, 2.0, False, "8", INF)),
    *((DecodeConfig, "temperature", value) for value in (-0.1, NAN, INF, -INF, True, "1", None)),
    *((DecodeConfig, "temperature", value) for value in (HUGE, 1j)),
    *((DecodeConfig, "seed", value) for value in (-1, 2**63, 0.0, True, "0", None, HUGE)),
    *((DecodeConfig, "top_k_recorded", value) for value in (-1, 51, 1.0, True, None)),
    *((DecodeConfig, "max_rows", value) for value in (*NO_COUNTS, "2", NAN, INF)),
    *((DecodeConfig, "repetition_penalty", value) for value in (0, 0.09, 101, -1.1, NAN, INF)),
    *((DecodeConfig, "repetition_penalty", value) for value in (True, "1.1", HUGE)),
    *((DecodeConfig, "is_raw_prompt", value) for value in NO_FLAGS),
    *((DecodeConfig, "allows_untrained_block_size", value) for value in NO_FLAGS),
    *((DecodeConfig, "pinned", value) for value in (None, [1, 2], "x", 3)),
    *(
        (rule, "gamma", value)
        for rule in SOLVERS.values()
        if "gamma" in rule.__dataclass_fields__
        for value in (-1e-9, -1, NAN, INF, -INF, True, "0.1", None, HUGE, -HUGE)
    ),
    *((ConfidenceThreshold, "tau", value) for value in (-0.1, 1.1, NAN, True, HUGE)),
    *((Factor, "factor", value) for value in (-0.1, NAN, INF, None, HUGE)),
    *((rule, "k", value) for rule in (TopK, Random, LeftToRight) for value in NO_COUNTS),
    *((TopK, "by", value) for value in ("", "probability", None, ["margin"], 0)),
]


@pytest.mark.parametrize(("made", "field", "value"), BAD_SETTINGS, ids=brief)
def test_a_bad_setting_is_named(made, field, value) -> None:
    refused(lambda: made(**{field: value}), field, value)


def pinned(pins: dict, **settings) -> object:
    return stream(chance_model(0), "ab", DecodeConfig(max_new_tokens=8, pinned=pins, **settings))


@pytest.mark.parametrize(
    ("call", "argument", "value"),
    [
        (lambda: make_solver("greedy", {}), "solver", "greedy"),
        (lambda: make_solver("top-k", {"gamma": 0.5}), "gamma", 0.5),
        (lambda: make_solver("factor", {"k": 2}), "k", 2),
        *((partial(pinned, {0: 3}, strategy=name), "pinned", name) for name in ("ntp", "verify")),
        (partial(pinned, {0: 3}, solver=CausalFirst()), "pinned", "causal-first"),
        *((partial(pinned, {value: 3}), "pinned offset", value) for value in (-1, 8, True, "0")),
        *((partial(pinned, {0: value}), "pinned[0]", value) for value in (-1, 1.0, None, False)),
        *((partial(pinned, {1: token}), "pinned[1]", token) for token in (MASK, len(TEXTS), 2**62)),
    ],
)
def test_a_solver_or_a_pin_that_cannot_be_is_named(call, argument, value) -> None:
    refused(call, argument, value)


BAD_PROMPTS = [
    *(("", ""), (" \n\t", " \n\t"), ([], []), ((), ())),
    *(([2, True], True), ([2, -1], -1), ([len(TEXTS)], len(TEXTS)), ([2, 3.0], 3.0)),
    *((["a"], "a"), ([None], None), ([2**70], 2**70), (None, None), (5, 5), ({"a": 1}, {"a": 1})),
    (True, True),
]


@pytest.mark.parametrize("strategy", ["sbd", "verify", "ntp"])
@pytest.mark.parametrize(("prompt", "value"), BAD_PROMPTS)
def test_a_bad_prompt_is_named_before_any_pass(strategy, prompt, value) -> None:
    model = chance_model(0)
    config = DecodeConfig(strategy=strategy)
    if isinstance(value, dict):
        value = next(iter(value))
    refused(lambda: stream(model, prompt, config), "prompt", value)
    refused(lambda: generate(model, prompt, config), "prompt", value)
    assert not model.calls


def with_reach(reach: int, **fields) -> ScriptedModel:
    model = chance_model(0, end_bias=-99.0)
    model.max_positions = reach
    for name, value in fields.items():
        setattr(model, name, value)
    return model


def test_a_prompt_too_long_for_the_model_is_refused_with_the_sum() -> None:
    config = DecodeConfig(max_new_tokens=6, block_size=4)
    assert generate(with_reach(10), [2] * 4, config).num_tokens == 6
    refused(lambda: stream(with_reach(10), [2] * 5, config), "prompt", "5 + 6")
    refused(lambda: stream(with_reach(10), "abcde", config), "prompt", "5 + 6")
    longer = DecodeConfig(max_new_tokens=2**40)
    refused(lambda: stream(with_reach(10), "a", longer), "prompt", f"1 + {2**40}")


def test_a_huge_text_is_refused_without_being_encoded() -> None:
    model = with_reach(10)
    model.encode = lambda *_, **__: pytest.fail("encoded")
    refused(lambda: stream(model, "a" * 1001, DecodeConfig()), "prompt", "1001 characters")


@pytest.mark.parametrize("strategy", ["sbd", "verify"])
@pytest.mark.parametrize("size", [1, 3, 9, 100])
def test_a_block_size_outside_the_trained_range_needs_leave(strategy, size) -> None:
    model = with_reach(100, block_range=(4, 8))
    config = {"strategy": strategy, "max_new_tokens": 4}
    refused(lambda: stream(model, "a", DecodeConfig(block_size=size, **config)), "block_size", size)
    allowed = DecodeConfig(block_size=size, allows_untrained_block_size=True, **config)
    assert generate(model, "a", allowed).num_tokens == 4
    for inside in (4, 8):
        assert generate(model, "a", DecodeConfig(block_size=inside, **config)).num_tokens == 4
    ntp = DecodeConfig(strategy="ntp", block_size=size, max_new_tokens=4)
    assert generate(model, "a", ntp).num_tokens == 4


@pytest.mark.parametrize("strategy", ["sbd", "verify"])
def test_a_model_without_a_mask_token_decodes_ntp_only(strategy) -> None:
    model = with_reach(100, mask_token_id=None)
    config = DecodeConfig(strategy=strategy, max_new_tokens=4)
    refused(lambda: stream(model, "a", config), "strategy", strategy)
    assert generate(model, "a", DecodeConfig(strategy="ntp", max_new_tokens=4)).num_tokens == 4


@pytest.mark.parametrize("strategy", ["sbd", "verify", "ntp"])
@pytest.mark.parametrize(("of_mask", "others"), [(NAN, 0.0), (INF, 0.0), (0.0, -INF)])
def test_logits_that_are_no_numbers_or_allow_no_token_are_a_model_error(strategy, of_mask, others):
    model = chance_model(0)
    model.next_logits = lambda tokens: [of_mask] + [others] * (len(TEXTS) - 1)
    with pytest.raises(ModelError, match=model.name):
        generate(model, "a", DecodeConfig(strategy=strategy))


def test_half_a_surrogate_pair_in_the_prompt_is_an_argument_error(llama) -> None:
    for is_raw in (True, False):
        config = DecodeConfig(is_raw_prompt=is_raw, max_new_tokens=2)
        refused(lambda c=config: stream(llama, "a\ud800", c), "prompt", "a\ud800")
