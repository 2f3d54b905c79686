"""Hand-made events for view tests: small, readable, no model."""

from sbd_core.events import Hindsight, MaskedPosition, Reveal, Span, StepEvent


def prefill(num_prompt: int = 5, seconds: float = 0.25) -> StepEvent:
    """The pass that reads the prompt."""
    return StepEvent(0, "prefill", 0, num_prompt, Span(0, 0), (), (), (), (), (), seconds)


def block_pass(
    index: int,
    block: Span,
    masked: dict[int, tuple[float, dict[int, float]]],
    reveals: dict[int, int],
    committed: tuple[int, ...] = (),
    hindsight: tuple[Hindsight, ...] = (),
    seconds: float = 0.125,
) -> StepEvent:
    """A decode pass. masked: {position: (entropy, {token: probability})}, best first."""
    return StepEvent(
        index=index,
        kind="decode",
        num_cached=5,
        num_causal=len(hindsight),
        block=block,
        masked=tuple(
            MaskedPosition(position, entropy, tuple(top), tuple(top.values()))
            for position, (entropy, top) in masked.items()
        ),
        reveals=tuple(
            Reveal(position, token, rank, masked[position][1].get(token, 0.5))
            for rank, (position, token) in enumerate(reveals.items())
        ),
        committed=committed,
        draft=(),
        hindsight=hindsight,
        seconds=seconds,
    )


def two_passes() -> list[StepEvent]:
    """A block of two: position 1 is surer and lands first, position 0 in the next pass."""
    block = Span(0, 2)
    return [
        prefill(),
        block_pass(
            1, block, {0: (1.25, {7: 0.5, 8: 0.25}), 1: (0.0625, {9: 0.96, 8: 0.0001})}, {1: 9}
        ),
        block_pass(2, block, {0: (0.5, {7: 0.75, 8: 0.25})}, {0: 7}, committed=(7, 9)),
    ]
