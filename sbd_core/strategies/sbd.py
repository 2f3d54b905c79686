"""Set Block Decoding, Algorithms 2-3 of the paper.

A block starts as masks; each pass reveals the positions its solver picks. The first pass of
a block also reads the block before it causally, which is what puts it in the KV cache.
"""

from collections.abc import Generator

import torch
from torch import Tensor

from sbd_core.events import Hindsight, Reveal, Span, StepEvent
from sbd_core.models.base import Request
from sbd_core.sampling import Candidates
from sbd_core.solvers import reveal_order
from sbd_core.strategies.run import Decoding, Reply, Run, cut_after_end, hindsight_of, six


class Riders:
    """Final tokens that are not in the cache yet and ride along with the next pass.

    They come back with what the causal head thinks of them, one pass late: the distribution
    of a token is read at the token before it.
    """

    def __init__(self, first_distribution: Tensor) -> None:
        self.token_ids: list[int] = []
        self._start = 0
        self._first_distribution = first_distribution

    def add(self, token_ids: list[int]) -> None:
        """Have more final tokens ride along."""
        self.token_ids += token_ids

    def arrive(self, distributions: Tensor) -> tuple[Hindsight, ...]:
        """Take the pass's causal distributions (riders, vocab); empties the riders."""
        if not self.token_ids:
            return ()
        ahead = torch.cat([self._first_distribution, distributions[:-1]])
        hindsight = hindsight_of(self.token_ids, ahead, self._start)
        self._start += len(self.token_ids)
        self._first_distribution = distributions[-1:]
        self.token_ids = []
        return hindsight


class Block:
    """The k positions being decoded; `mask_id` where nothing is known yet."""

    def __init__(self, run: Run, start: int, size: int, mask_id: int) -> None:
        pinned = run.config.pinned
        self.span = Span(start, size)
        self.token_ids = [pinned.get(start + offset, mask_id) for offset in range(size)]
        self._mask_id = mask_id
        self._end_ids = run.model.end_token_ids
        texts = [offset for offset, token_id in pinned.items() if token_id not in self._end_ids]
        self._num_before_pins = min(max([0, *(offset - start for offset in texts)]), size)

    def may_reveal(self, logits: Tensor) -> Tensor:
        """Logits (size, vocab) without the ends that would cut off a token pinned after them."""
        if self._num_before_pins == 0:
            return logits
        allowed = logits.clone()
        allowed[: self._num_before_pins, sorted(self._end_ids)] = -torch.inf
        return allowed

    @property
    def final_token_ids(self) -> list[int] | None:
        """What the block adds to the answer, None while a mask stands before its end."""
        known = cut_after_end(self.token_ids, self._end_ids)
        return None if self._mask_id in known else known

    def wanted(self) -> list[bool]:
        """Of every position: masked, and before the first end-of-sequence known.

        What stands after the end is no part of the answer, so no pass is spent on it.
        """
        before_end = cut_after_end(self.token_ids, self._end_ids)
        return [
            token_id == self._mask_id and offset < len(before_end)
            for offset, token_id in enumerate(self.token_ids)
        ]

    def reveal(self, order: list[int], candidates: Candidates) -> tuple[Reveal, ...]:
        """Fix the candidates at offsets `order`."""
        assert candidates.distribution is not None
        reveals = []
        chosen = candidates.token_ids.tolist()
        shares = candidates.distribution.gather(1, candidates.token_ids[:, None])[:, 0].tolist()
        for rank, offset in enumerate(order):
            token_id, share = chosen[offset], six(shares[offset])
            self.token_ids[offset] = token_id
            reveals.append(Reveal(self.span.start + offset, token_id, rank, share))
        return tuple(reveals)


def sbd(run: Run) -> Decoding:
    """Prefill, then block after block until an end-of-sequence or the full length."""
    assert run.model.mask_token_id is not None
    riders = Riders(run.distributions((yield from run.forward(run.prompt_ids, (), 1))))
    yield run.event(block=Span(0, 0))
    waiting: list[int] = []
    """Tokens of wholly pinned blocks: final without a pass, committed with the next one."""
    while not run.is_finished:
        start = len(run.answer) + len(waiting)
        size = min(run.config.block_size, run.config.max_new_tokens - start)
        block = Block(run, start, size, run.model.mask_token_id)
        if size and block.final_token_ids is not None:
            waiting += block.final_token_ids
            riders.add(block.final_token_ids)
            if waiting[-1] not in run.model.end_token_ids:
                continue
        if waiting and (not size or waiting[-1] in run.model.end_token_ids):
            yield (yield from _read_only(run, riders, waiting))
            return
        yield from _decode_block(run, block, riders, waiting)
        waiting = []
        riders.add(run.answer[start:])


def _decode_block(run: Run, block: Block, riders: Riders, waiting: list[int]) -> Decoding:
    """The passes of one block, until nothing is masked before its end."""
    while True:
        num_riders = len(riders.token_ids)
        logits = yield from run.forward(riders.token_ids, block.token_ids, num_riders)
        hindsight = riders.arrive(run.distributions(logits[:num_riders])) if num_riders else ()
        candidates = run.candidates(block.may_reveal(logits[num_riders:]))
        is_wanted = block.wanted()
        wanted = [offset for offset, is_one in enumerate(is_wanted) if is_one]
        masked = run.recorded(candidates, wanted, block.span.start)
        order = reveal_order(run.config.solver, candidates, torch.tensor(is_wanted), run.generator)
        reveals = block.reveal(order, candidates)
        final = block.final_token_ids
        yield run.event(
            block=block.span,
            masked=masked,
            reveals=reveals,
            committed=[*waiting, *(final or ())],
            hindsight=hindsight,
        )
        waiting = []
        if final is not None:
            return


def _read_only(
    run: Run, riders: Riders, waiting: list[int]
) -> Generator[Request, Reply | None, StepEvent]:
    """The pass for an answer that ends in wholly pinned blocks: nothing is left to predict."""
    num_riders = len(riders.token_ids)
    logits = yield from run.forward(riders.token_ids, (), num_riders)
    distributions = run.distributions(logits)
    hindsight = riders.arrive(distributions)
    return run.event(block=Span(len(run.answer), 0), committed=waiting, hindsight=hindsight)
