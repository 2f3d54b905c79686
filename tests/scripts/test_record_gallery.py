"""The rules by which the gallery's failures are chosen hold what their sentences say."""

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.events import Reveal, Span, StepEvent
from sbd_core.trace import Trace
from scripts.record_gallery import Decoded, num_after_end, success_sentence


def revealed_in(*passes: tuple[int, ...]) -> Trace:
    """A finished answer of four tokens whose positions were revealed in these forward passes."""
    events = [
        StepEvent(
            index=index,
            kind="decode",
            num_cached=0,
            num_causal=0,
            block=Span(0, 6),
            masked=(),
            reveals=tuple(Reveal(position, 1, 0, 1.0) for position in positions),
            committed=(1, 1, 1, 2) if positions is passes[-1] else (),
            draft=(),
            hindsight=(),
            seconds=0.0,
        )
        for index, positions in enumerate(passes)
    ]
    return Trace(
        model="m",
        config=DecodeConfig(),
        prompt="",
        prompt_token_ids=(0,),
        events=tuple(events),
        tokens={},
        text="",
        finish="end_of_sequence",
        versions={},
    )


@pytest.mark.parametrize(
    ("passes", "count"),
    [
        (((0, 1, 2, 3),), 0),
        (((0, 1), (2, 3)), 0),
        (((0, 3), (1, 2)), 2),
        (((0, 1, 3), (2, 4, 5)), 1),
    ],
)
def test_an_end_is_early_only_before_tokens_in_front_of_it(passes, count) -> None:
    assert num_after_end(revealed_in(*passes)) == count


@pytest.mark.parametrize(
    ("passes", "words"),
    [
        (((0, 1), (2, 3)), "no token landed before one on its left"),
        (((0, 1, 3), (2,)), "25% of the tokens landed before one on their left"),
    ],
)
def test_a_right_run_says_how_far_it_left_the_order_of_reading(passes, words) -> None:
    main = revealed_in(*passes)
    sentence = success_sentence(Decoded(None, {"sbd": main, "ntp": main}))
    assert sentence.startswith("With γ = ")
    assert (
        f"nats: 4 tokens in 2 forward passes where next-token prediction takes 2; {words};"
        in sentence
    )
