"""Set Block Decoding, Algorithms 2-3 of the paper.

A block starts as masks; each pass reveals the positions its solver picks. The first pass of
a block also reads the block before it causally, which is what puts it in the KV cache.
"""

from collections.abc import Generator, Sequence

from torch import Tensor

from sbd_core.decoding.state import Decoding, Reply, Run, cut_after_end, hindsight_of, six
from sbd_core.events import Hindsight, Reveal, Span, StepEvent
from sbd_core.models.protocol import Request
from sbd_core.sampling import Measures, forbid
from sbd_core.solvers import ranked


class Riders:
    """Final tokens that are not in the cache yet and ride along with the next pass.

    They come back with what the causal head thinks of them, one pass late: a token is judged by
    the row of the token before it.
    """

    def __init__(self, before: Measures) -> None:
        """before: of the prompt's last token alone."""
        self.token_ids: list[int] = []
        self._start = 0
        self._before = before

    def add(self, token_ids: list[int]) -> None:
        """Have more final tokens ride along."""
        self.token_ids += token_ids

    def arrive(self, measures: Measures) -> tuple[Hindsight, ...]:
        """Take the pass's causal measures, a row for each rider; empties the riders."""
        first, *others = self.token_ids
        last = len(others)
        hindsight = hindsight_of([first], self._before, self._start)
        hindsight += hindsight_of(others, measures.rows(0, last), self._start + 1)
        self._start += len(self.token_ids)
        self._before = measures.rows(last, last + 1)
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

    def keep_open(self, logits: Tensor, first: int) -> None:
        """Take the ends that would cut off a token pinned later out of logits (.., vocab).

        The block's rows are those from `first` on.
        """
        if self._num_before_pins:
            forbid(logits[first : first + self._num_before_pins], sorted(self._end_ids))

    @property
    def final_token_ids(self) -> list[int] | None:
        """What the block adds to the answer, None while a mask stands before its end."""
        known = cut_after_end(self.token_ids, self._end_ids)
        return None if self._mask_id in known else known

    def masked(self) -> list[int]:
        """Offsets that are masked and before the first end-of-sequence known.

        What stands after the end is no part of the answer, so no pass is spent on it.
        """
        before_end = cut_after_end(self.token_ids, self._end_ids)
        return [offset for offset, known in enumerate(before_end) if known == self._mask_id]

    def reveal(
        self, order: Sequence[int], token_ids: list[int], measures: Measures
    ) -> tuple[Reveal, ...]:
        """Fix the tokens at offsets `order`, out of one for every position of the block."""
        reveals = []
        shares = measures.shares(token_ids)
        for rank, offset in enumerate(order):
            token_id = self.token_ids[offset] = token_ids[offset]
            reveals.append(Reveal(self.span.start + offset, token_id, rank, six(shares[offset])))
        return tuple(reveals)


def sbd(run: Run) -> Decoding:
    """Prefill, then block after block until an end-of-sequence or the full length."""
    assert run.model.mask_token_id is not None
    riders = Riders(run.known((yield from run.forward(run.prompt_ids, (), 1)), 1))
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
        hindsight = riders.arrive(run.known(logits, num_riders)) if num_riders else ()
        block.keep_open(logits, num_riders)
        measures = run.predicted(logits, num_riders)
        token_ids, masked = measures.drawn(run.generator), block.masked()
        recorded = run.recorded(measures, masked, block.span.start)
        order = ranked(run.config.solver, measures, masked, run.generator)
        reveals = block.reveal(order, token_ids, measures)
        final = block.final_token_ids
        yield run.event(
            block=block.span,
            masked=recorded,
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
    hindsight = riders.arrive(run.known(logits, num_riders))
    return run.event(block=Span(len(run.answer), 0), committed=waiting, hindsight=hindsight)
