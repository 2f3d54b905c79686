"""Next-token prediction: one token a pass, with a KV cache. The baseline."""

from sbd_core.events import Hindsight, Reveal, Span
from sbd_core.strategies.run import Decoding, Run, hindsight_of, six


def ntp(run: Run) -> Decoding:
    """The prompt's pass already gives the first token, so N tokens take N passes."""
    causal_ids = list(run.prompt_ids)
    while not run.is_finished:
        candidates = run.candidates((yield from run.forward(causal_ids, (), 1)))
        assert candidates.distribution is not None
        position, [token_id] = len(run.answer), candidates.token_ids.tolist()
        if run.config.temperature == 0:
            # The token is the best one, whose share is known already.
            [share] = map(six, candidates.probability.tolist())
            best = Hindsight(position, token_id, share, token_id, share)
            hindsight: tuple[Hindsight, ...] = (best,)
        else:
            hindsight = hindsight_of([token_id], candidates.distribution, position)
        yield run.event(
            block=Span(position, 1),
            masked=run.recorded(candidates, [0], position),
            reveals=(Reveal(position, token_id, 0, hindsight[0].probability),),
            committed=[token_id],
            hindsight=hindsight,
        )
        causal_ids = [token_id]
