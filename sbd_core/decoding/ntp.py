"""Next-token prediction: one token a pass, with a KV cache. The baseline."""

from sbd_core.decoding.state import Decoding, Run, hindsight_of
from sbd_core.events import Reveal, Span


def ntp(run: Run) -> Decoding:
    """The prompt's pass already gives the first token, so N tokens take N passes."""
    causal_ids = list(run.prompt_ids)
    while not run.is_finished:
        measures = run.predicted((yield from run.forward(causal_ids, (), 1)), 0)
        position, causal_ids = len(run.answer), measures.drawn(run.generator)
        [hindsight] = hindsight_of(causal_ids, measures, position)
        yield run.event(
            block=Span(position, 1),
            masked=run.recorded(measures, (0,), position),
            reveals=(Reveal(position, hindsight.token_id, 0, hindsight.probability),),
            committed=causal_ids,
            hindsight=(hindsight,),
        )
