"""Laws of the solver that takes each block's first token from the causal row before it."""

import dataclasses

import pytest
import torch

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.sampling import Candidates, forbid
from sbd_core.solvers import CausalFirst
from sbd_core.trace import Trace
from tests.core.decoding.doubles import chance_model, corpus_texts, random_ids

PENALTIES = (1.0, 1.3)
GREEDY = DecodeConfig(
    strategy="sbd", solver=CausalFirst(gamma=3.0), block_size=5, max_new_tokens=24
)


def first_tokens(trace: Trace) -> dict[int, int]:
    """{position: token} of the first token of each block."""
    return {event.block.start: event.reveals[0].token_id for event in trace.events}


def next_token(model: HuggingFaceModel, ids: tuple[int, ...], penalty: float) -> int:
    config = DecodeConfig(strategy="ntp", max_new_tokens=1, repetition_penalty=penalty)
    return generate(model, ids, config).token_ids[0]


@pytest.mark.parametrize("penalty", PENALTIES)
def test_each_block_starts_with_what_ntp_gives_behind_the_same_text(adapted, penalty) -> None:
    config = dataclasses.replace(GREEDY, repetition_penalty=penalty)
    num_guessed = 0
    for prompt in random_ids(3, adapted.vocabulary_size):
        trace = generate(adapted, prompt, config)
        for start, token_id in first_tokens(trace).items():
            prefix = (*trace.prompt_token_ids, *trace.token_ids[:start])
            assert token_id == next_token(adapted, prefix, penalty)
        num_guessed += trace.num_tokens - trace.num_forwards
    assert num_guessed > 0, "no token was guessed, so none could have been wrong"


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_gamma_0_is_next_token_prediction(adapted, penalty, temperature) -> None:
    shared = {"max_new_tokens": 12, "repetition_penalty": penalty}
    shared |= {"temperature": temperature}
    config = DecodeConfig(strategy="sbd", solver=CausalFirst(gamma=0.0), block_size=1,
                          allows_untrained_block_size=True, **shared)  # fmt: skip
    ntp = DecodeConfig(strategy="ntp", **shared)
    wide = dataclasses.replace(config, block_size=4)
    for prompt in random_ids(3, adapted.vocabulary_size):
        wanted, found = generate(adapted, prompt, ntp), generate(adapted, prompt, config)
        assert (found.token_ids, found.num_forwards) == (wanted.token_ids, wanted.num_forwards)
        if not temperature:  # above 0 the block's rows draw from the same stream
            assert generate(adapted, prompt, wide).token_ids == wanted.token_ids


def test_what_the_causal_rows_say_later_agrees_with_every_first_token(nano) -> None:
    num_guessed = 0
    for text in corpus_texts(6):
        trace = generate(nano, text, dataclasses.replace(GREEDY, block_size=16))
        firsts = first_tokens(trace)
        later = {item.position: item for event in trace.events for item in event.hindsight}
        num_guessed += len(later.keys() - firsts.keys())
        for position, token_id in firsts.items():
            if position in later:
                assert later[position].argmax_id == token_id
    assert num_guessed > 20


def test_the_forward_pass_of_the_prompt_gives_tokens_too() -> None:
    trace = generate(chance_model(3), "ab", GREEDY)
    assert trace.events[0].kind == "prefill"
    assert trace.events[0].committed
    assert all(len(event.committed) == len(event.reveals) for event in trace.events)


def test_each_guess_is_recorded_by_the_row_of_its_own_position(nano: HuggingFaceModel) -> None:
    config = DecodeConfig(
        strategy="sbd", solver=CausalFirst(gamma=1.0), block_size=5, max_new_tokens=20
    )
    assert nano.mask_token_id is not None
    trace = generate(nano, corpus_texts(1)[0], config)
    for event in trace.events:
        ids = [*trace.prompt_token_ids, *trace.token_ids[: event.block.start]]
        masks = [nano.mask_token_id] * event.block.size
        logits = nano.forward(nano.new_cache(), ids, masks, 1)
        forbid(logits, [nano.mask_token_id])
        said = Candidates.from_logits(torch.cat([logits[:1], logits[2:]]))
        found = [masked.entropy for masked in event.masked]
        assert found == pytest.approx(said.entropy.tolist(), rel=1e-3, abs=1e-5)
        for reveal in event.reveals[1:]:
            place = reveal.position - event.block.start
            assert reveal.probability == pytest.approx(float(said.probability[place]), rel=1e-3)
