"""Predrafts for likely rejections: the answers stay NTP's, the blocks see what they should."""

import random
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch

from sbd_core import DecodeConfig, Trace, generate
from sbd_core.config import MAX_PREDRAFTS
from sbd_core.decoding.drafts import confident_length, predraft_offsets
from sbd_core.models.protocol import ForwardRequest
from tests.core.decoding import reference
from tests.core.decoding.chance_models import chance_model
from tests.core.decoding.prompts import corpus_texts, random_ids
from tests.core.decoding.test_cache_laws import assert_near, check_cache_after_every_pass
from tests.core.models.tiny_models import REACH


def ahead(num_predrafts: int, threshold: float = 0.0, **settings: Any) -> DecodeConfig:
    """verify with predrafts; at threshold 0 every draft is as long as may be."""
    return DecodeConfig(
        strategy="verify",
        num_predrafts=num_predrafts,
        draft_threshold=threshold,
        **{"block_size": 6, "max_new_tokens": 16, **settings},
    )


def test_the_offsets_are_those_of_the_least_sure_tokens_out_of_all() -> None:
    draw = random.Random(2)
    for _ in range(500):
        sure = [draw.choice([0.1, 0.5, draw.random()]) for _ in range(draw.randrange(12))]
        every = predraft_offsets(sure, MAX_PREDRAFTS)
        assert every == list(range(len(sure)))
        for count in range(len(sure) + 1):
            chosen = predraft_offsets(sure, count)
            others = [offset for offset in every if offset not in chosen]
            assert len(chosen) == count
            assert chosen == sorted(chosen)
            for offset in chosen:
                assert all((sure[offset], offset) < (sure[other], other) for other in others)


def test_a_draft_is_as_long_as_the_product_stays_at_the_threshold() -> None:
    assert confident_length([0.5, 0.5, 0.5], 0.25) == 2
    assert confident_length([0.5, 0.5, 0.5], 0.0) == 3
    assert confident_length([1.0, 0.999], 1.0) == 1
    assert confident_length([], 0.5) == 0


def num_used(trace: Trace) -> int:
    return sum(predraft.is_used for event in trace.events for predraft in event.predrafts)


def test_answers_are_those_of_ntp_on_random_models(tiny) -> None:
    used = 0
    for index, prompt in enumerate(random_ids(12, tiny.vocabulary_size)):
        expected = generate(tiny, prompt, DecodeConfig(strategy="ntp", max_new_tokens=16))
        for num_predrafts in (1, 3, MAX_PREDRAFTS):
            trace = generate(tiny, prompt, ahead(num_predrafts, (0.0, 0.15, 0.3)[index % 3]))
            assert trace.token_ids == expected.token_ids
        used += num_used(trace)
    assert used > 12, "hardly a predraft was ever used"


def test_predrafts_save_forward_passes() -> None:
    def num_forwards(num_predrafts: int) -> int:
        return sum(
            generate(
                chance_model(seed, agreement=0.7, end_bias=-9.0),
                "abc",
                ahead(num_predrafts, max_new_tokens=60),
            ).num_forwards
            for seed in range(20)
        )

    none, one, every = (num_forwards(count) for count in (0, 1, MAX_PREDRAFTS))
    assert every < one < none
    assert every < 0.8 * none


def test_bundled_answers_are_those_of_ntp_and_take_fewer_forward_passes(nano) -> None:
    counts = {0: 0, 4: 0}
    for text in corpus_texts(12):
        expected = generate(nano, text, DecodeConfig(strategy="ntp", max_new_tokens=40)).token_ids
        for count in counts:
            trace = generate(nano, text, ahead(count, 0.3, max_new_tokens=40, block_size=16))
            assert trace.token_ids == expected
            counts[count] += trace.num_forwards
    assert counts[4] < counts[0]


@dataclass
class Rows:
    """A model that keeps what every forward pass was asked and what came back."""

    model: Any
    calls: list[tuple[int, ForwardRequest, torch.Tensor]] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def forward_batch(self, requests):
        lengths = [request.cache.length for request in requests]
        given = self.model.forward_batch(requests)
        for length, request, logits in zip(lengths, requests, given, strict=True):
            self.calls.append((length, request, logits.clone()))
        return given


def check_against_full_forwards(model, prompt, config) -> int:
    """Every predraft as one forward from scratch sees it; gives back how many there were."""
    rows = Rows(model)
    trace = generate(rows, prompt, config)
    text = [*trace.prompt_token_ids, *trace.token_ids]
    num_checked = 0
    for num_cached, request, logits in rows.calls:
        row = request.num_causal_logits + len(request.block_ids)
        for block in request.predrafts:
            seen = [*text[:num_cached], *request.causal_ids[: block.num_causal]]
            size = len(block.token_ids)
            expected = reference.full_forward(model, seen, block.token_ids)[-size:]
            assert_near(logits[row : row + size], expected)
            row += size
            num_checked += 1
    return num_checked


def test_with_cache_equals_from_scratch_on_random_models(tiny) -> None:
    assert sum(
        check_against_full_forwards(tiny, prompt, ahead(3))
        for prompt in random_ids(4, tiny.vocabulary_size)
    )


def test_the_cache_is_that_of_a_causal_forward(tiny) -> None:
    for prompt in random_ids(2, tiny.vocabulary_size):
        check_cache_after_every_pass(tiny, prompt, ahead(3))


@pytest.mark.parametrize("seed", range(3))
def test_events_say_what_was_drafted_ahead_and_what_was_used(seed) -> None:
    model = chance_model(seed, agreement=0.7, end_bias=-9.0)
    trace = generate(model, "abc", ahead(2, max_new_tokens=40))
    assert num_used(trace)
    start, draft = 0, ()
    for event in trace.events:
        places = [predraft.block.start - start for predraft in event.predrafts]
        assert places == sorted(set(places))
        assert len(places) <= 2
        assert all(0 <= place < len(draft) for place in places)
        used = [predraft for predraft in event.predrafts if predraft.is_used]
        num_accepted = len(event.committed) - 1
        is_rejected = num_accepted < len(draft)
        assert len(used) == (is_rejected and num_accepted in places)
        assert all(one.block.start == start + num_accepted for one in used)
        if is_rejected:
            assert event.draft == (used[0].token_ids if used else ())
        for predraft in event.predrafts:
            assert len(predraft.token_ids) == predraft.block.size - 1
            assert predraft.block.stop <= 40
        start, draft = start + len(event.committed), event.draft
    back = Trace.from_json(trace.to_json())
    assert back == trace
    others = replace(trace, events=tuple(replace(e, predrafts=()) for e in trace.events))
    assert Trace.from_json(others.to_json()) != trace


def test_rows_ahead_fit_a_model_whose_positions_are_all_needed(tiny) -> None:
    """More rows than positions are left: none of them stands beyond the last."""
    [prompt] = random_ids(1, tiny.vocabulary_size)
    num_new = REACH - len(prompt)
    config = ahead(8, block_size=16, max_new_tokens=num_new)
    expected = generate(tiny, prompt, DecodeConfig(strategy="ntp", max_new_tokens=num_new))
    assert generate(tiny, prompt, config).token_ids == expected.token_ids
