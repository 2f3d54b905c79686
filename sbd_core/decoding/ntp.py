"""Next-token prediction, the baseline: one token per forward pass, with a KV cache."""

from sbd_core.decoding.state import (
    DecodingState,
    ForwardResult,
    make_hindsight,
    masked_positions,
)
from sbd_core.events import Reveal, Span, StepEvent
from sbd_core.models.protocol import ForwardRequest


class NextTokenPrediction:
    """Strategy `ntp`. The prefill gives the first token, so N tokens take N forward passes."""

    def __init__(self, state: DecodingState) -> None:
        self._state = state
        self._causal_ids = list(state.prompt_ids)

    def next_request(self) -> ForwardRequest | None:
        state = self._state
        return None if state.is_finished else state.request(self._causal_ids, (), 1)

    def update(self, result: ForwardResult) -> StepEvent:
        state = self._state
        stats = state.causal_stats(state.receive(result), 1, is_recorded=state.is_recorded)
        position, self._causal_ids = len(state.answer), stats.sample(state.generator)
        [hindsight] = make_hindsight(self._causal_ids, stats, position)
        return state.event(
            Span(position, 1),
            masked=masked_positions(stats, (0,), position) if state.is_recorded else (),
            reveals=(Reveal(position, hindsight.token_id, 0, hindsight.probability),),
            committed=self._causal_ids,
            hindsight=(hindsight,),
        )
