"""How far verify drafts: while the head is sure, after what was accepted, never past the end."""

import math
from itertools import pairwise

import pytest

from sbd_core import DecodeConfig, generate
from sbd_core.decoding.drafts import GROWTH, SHORTEST
from tests.scripted import ScriptedModel

END, B, C = 1, 2, 3


def drafter(chances: list[float], *, end_at: int = -1, drafted: int = C) -> ScriptedModel:
    """NTP says "c" without end, or <eos> at position end_at.

    The masked head says `drafted` with chances[i % len] at answer position i.
    """

    def exact(position: int) -> list[float]:
        best = END if position == end_at else C
        return [-math.inf, *(9.0 if token == best else 0.0 for token in (END, B, C))]

    def guess(position: int) -> list[float]:
        chance = chances[position % len(chances)]
        best = END if position == end_at else drafted
        others = math.log((1 - chance) / 2)
        return [-math.inf, *(math.log(chance) if t == best else others for t in (END, B, C))]

    return ScriptedModel(
        texts=["<m>", "<eos>", "b", "c"],
        next_logits=lambda tokens: exact(len(tokens) - 1),
        block_logits=lambda tokens, block: [guess(len(tokens) - 1 + i) for i in range(len(block))],
        mask_token_id=0,
        end_token_ids=frozenset({END}),
    )


def decoded(model: ScriptedModel, num_new: int, block_size: int = 16):
    config = DecodeConfig(strategy="verify", block_size=block_size, max_new_tokens=num_new)
    return generate(model, "b", config)


def test_a_draft_ends_where_it_is_more_likely_wrong_than_right() -> None:
    """0.9, 0.9 and 0.9 leave 0.73; with 0.6 it would be 0.44."""
    trace = decoded(drafter([0.9, 0.9, 0.9, 0.9, 0.6, 0.9, 0.9, 0.9]), 20)
    assert len(trace.events[0].draft) == 3
    assert trace.token_ids == (C,) * 20
    unsure = decoded(drafter([0.45]), 20)
    assert all(not event.draft for event in unsure.events)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_sure_head_drafts_whole_blocks_up_to_block_size(temperature) -> None:
    config = DecodeConfig(
        strategy="verify", block_size=12, max_new_tokens=60, temperature=temperature
    )
    trace = generate(drafter([0.999]), "b", config)
    assert max(event.block.size for event in trace.events) == 12
    assert max(len(event.draft) for event in trace.events) == 11


def test_a_refused_draft_makes_the_next_one_short_and_accepted_ones_let_it_grow() -> None:
    refused = [event.block.size for event in decoded(drafter([0.99], drafted=B), 40).events]
    assert refused[0] == 16
    assert set(refused[2:10]) == {SHORTEST}
    events = decoded(drafter([0.99, 0.99, 0.99, 0.6]), 200).events
    for event, following in pairwise(events[1:-3]):
        expected = min(16, max(SHORTEST, GROWTH * len(event.committed)))
        assert following.block.size == expected


def test_no_masks_are_fed_behind_a_drafted_end() -> None:
    model = drafter([0.999], end_at=5)
    trace = decoded(model, 40)
    assert trace.token_ids == (C, C, C, C, C, END)
    assert trace.num_forwards == 2
    assert model.calls[-1] == (1, 6, 0)
