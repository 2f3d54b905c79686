"""The rules by which the gallery's failures are chosen hold what their sentences say."""

import json
from dataclasses import replace

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.events import Reveal, Span, StepEvent
from sbd_core.tasks.base import Example
from sbd_core.trace import Trace
from scripts.record_gallery import (
    Decoded,
    MixUp,
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


TOKENS = {1: " y", 2: "."}


@pytest.mark.parametrize(
    ("passes", "part"), [(((0, 1), (2, 3)), "0% of"), (((0, 1, 3), (2,)), "25% of")]
)
def test_a_run_out_of_order_says_how_far_it_left_the_order_of_reading(passes, part) -> None:
    main = replace(revealed_in(*passes), tokens=TOKENS)
    run = Decoded(Example("math", "", "", ""), {"sbd": main, "ntp": main})
    assert success_sentence(run, 2).startswith(part)


def test_a_quick_run_quotes_the_most_that_one_forward_pass_wrote() -> None:
    main = replace(revealed_in((0,), (1, 2, 3)), tokens=TOKENS)
    run = Decoded(Example("math", "", "", ""), {"sbd": main, "ntp": main})
    assert success_sentence(run, 1) == (
        "“y y” comes in one forward pass; the whole answer takes 2 instead of 2."
    )


@pytest.mark.parametrize(("fill", "is_said"), [("y y", True), ("z", False)])
def test_only_a_blank_that_comes_last_is_said_to(fill, is_said) -> None:
    main = replace(revealed_in((0, 3), (1, 2)), tokens=TOKENS)
    example = Example("infill", "", "", json.dumps({"line": "___", "fills": [[fill]]}))
    words = success_sentence(Decoded(example, {"sbd": main, "ntp": main}), 2)
    assert words.startswith("The blank comes last: “y y”") is is_said


def test_names_mixed_up_are_quoted_and_not_said_to_be_the_only_fault() -> None:
    main = revealed_in((0, 1), (2, 3))
    lanes = {"sbd": main, "ntp": main}
    mix = MixUp(Decoded(None, lanes), main, 0.5, "Oreo the rhino", "Oreo", "cat")
    assert mix.sentence.startswith("Look at “Oreo the rhino”: the prompt has Oreo the cat.")
    assert "no name is mixed up" in mix.sentence
    assert "one fault" not in mix.sentence.lower()


def test_what_repeats_is_counted_in_tokens_of_letters_and_called_so() -> None:
    main = replace(revealed_in((0, 1), (2, 3)), tokens={1: "y", 2: "."})
    sentence = repetition_sentence(Decoded(None, {"sbd": main, "ntp": main}))
    assert "50% of 4 tokens are words or letters that repeat the token on their left;" in sentence
