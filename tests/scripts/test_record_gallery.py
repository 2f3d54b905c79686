"""The rules by which the gallery's failures are chosen hold what their sentences say."""

from dataclasses import replace

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.events import Reveal, Span, StepEvent
from sbd_core.rules import EntropyBound
from sbd_core.tasks.base import Example
from sbd_core.trace import Trace
from scripts.record_gallery import (
    Decoded,
    MixUp,
    early_sentence,
    num_after_end,
    repetition_sentence,
    success_sentence,
)


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


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (DecodeConfig(solver=EntropyBound(4)), "With γ = 4 nats, the end was revealed before 2"),
        (
            DecodeConfig(block_size=32),
            "With blocks of 32, twice the largest it was trained on,",
        ),
    ],
)
def test_an_early_end_names_the_setting_that_it_comes_of(config, words) -> None:
    main = revealed_in((0, 3), (1, 2))
    run = Decoded(None, {"sbd": replace(main, config=config), "ntp": main})
    assert early_sentence(run).startswith(words)


def test_names_mixed_up_are_not_said_to_be_the_only_fault() -> None:
    main = revealed_in((0, 1), (2, 3))
    lanes = {"sbd": main, "ntp": main}
    mix = MixUp(Example("story", "", "", ""), lanes, main, 0.5, "Oreo the rhino", "Oreo", "cat")
    assert mix.sentence.startswith("One fault with γ = 0.5 nats, maybe not the only one: ")
    assert "every fact that is checked is kept" in mix.sentence


def test_what_repeats_is_counted_in_tokens_of_letters_and_called_so() -> None:
    main = replace(revealed_in((0, 1), (2, 3)), tokens={1: "y", 2: "."})
    sentence = repetition_sentence(Decoded(None, {"sbd": main, "ntp": main}))
    assert "4 tokens, 50% of them words or letters that repeat the token on their left;" in sentence
