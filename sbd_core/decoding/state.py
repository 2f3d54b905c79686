"""What every strategy shares: one model, one cache, one random stream, one answer so far.

A strategy is a generator that takes turns: it yields the Request of a pass, is sent the Reply,
and yields the pass's StepEvent. Who makes the pass, and with whom together, is not its business.
"""

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError, ModelError
from sbd_core.events import Hindsight, Kind, MaskedPosition, Reveal, Span, StepEvent
from sbd_core.models.protocol import Cache, Request, SetBlockModel
from sbd_core.sampling import Measures, Wanted
from sbd_core.solvers import needs_margin


@dataclass(frozen=True, slots=True)
class Reply:
    """Logits of a Request (wanted rows, vocab), and the seconds it took or its share of them."""

    logits: Tensor
    seconds: float


Decoding = Generator[Request | StepEvent, Reply | None, None]
"""A strategy at work."""


class Run:
    """State of one decode. Every forward goes through `forward`, every event through `event`."""

    def __init__(
        self, model: SetBlockModel, cache: Cache, prompt_ids: Sequence[int], config: DecodeConfig
    ) -> None:
        self.model = model
        self.prompt_ids = tuple(prompt_ids)
        self.config = config
        self.cache = cache
        self.generator = torch.Generator().manual_seed(config.seed)
        self.answer: list[int] = []
        mask_id, temperature = model.mask_token_id, config.temperature
        self._of_known = Wanted(mask_id, temperature)
        self._of_predicted = Wanted(
            mask_id, temperature, config.top_k_recorded, True, needs_margin(config.solver)
        )
        self._num_passes = 0
        self._began = 0.0
        self._context = (0, 0)

    @property
    def num_left(self) -> int:
        """Tokens the answer may still grow by."""
        return self.config.max_new_tokens - len(self.answer)

    @property
    def is_finished(self) -> bool:
        """True once the answer ends with an end-of-sequence or has its full length."""
        ends = bool(self.answer) and self.answer[-1] in self.model.end_token_ids
        return ends or self.num_left <= 0

    def forward(
        self, causal_ids: Sequence[int], block_ids: Sequence[int], num_causal_logits: int
    ) -> Generator[Request, Reply | None, Tensor]:
        """One pass of the model; starts the pass's clock."""
        self._context = (self.cache.length, len(causal_ids))
        reply = yield Request(self.cache, causal_ids, block_ids, num_causal_logits)
        assert reply is not None
        self._began = time.perf_counter() - reply.seconds
        return reply.logits

    def known(self, logits: Tensor, stop: int) -> Measures:
        """Of the rows before `stop` what a check of tokens needs: the best one's probability."""
        return self._measured(logits, 0, stop, self._of_known)

    def predicted(self, logits: Tensor, start: int) -> Measures:
        """Of the rows from `start` on all that solver and record of a prediction need."""
        return self._measured(logits, start, logits.shape[0], self._of_predicted)

    def _measured(self, logits: Tensor, start: int, stop: int, wanted: Wanted) -> Measures:
        try:
            return self.model.measure(logits, start, stop, wanted)
        except ArgumentError as error:
            raise ModelError(
                f"{self.model.name}: gave logits that are NaN, infinite or all -inf"
            ) from error

    def recorded(
        self, measures: Measures, offsets: Sequence[int], start: int
    ) -> tuple[MaskedPosition, ...]:
        """What the head said at block offsets `offsets` of the block at position `start`."""
        entropy, ids, shares = measures.entropy, measures.top_ids, measures.top_probabilities
        if not ids:
            return tuple(MaskedPosition(start + i, six(entropy[i]), (), ()) for i in offsets)
        return tuple(
            MaskedPosition(start + i, six(entropy[i]), tuple(ids[i]), tuple(map(six, shares[i])))
            for i in offsets
        )

    def event(
        self,
        *,
        block: Span,
        masked: tuple[MaskedPosition, ...] = (),
        reveals: tuple[Reveal, ...] = (),
        committed: Sequence[int] = (),
        draft: Sequence[int] = (),
        hindsight: tuple[Hindsight, ...] = (),
    ) -> StepEvent:
        """The event of the pass just made; its committed tokens join the answer."""
        kind: Kind = "decode" if self._num_passes else "prefill"
        index, self._num_passes = self._num_passes, self._num_passes + 1
        self.answer.extend(committed)
        return StepEvent(
            index=index,
            kind=kind,
            num_cached=self._context[0],
            num_causal=self._context[1],
            block=block,
            masked=masked,
            reveals=reveals,
            committed=tuple(committed),
            draft=tuple(draft),
            hindsight=hindsight,
            seconds=six(time.perf_counter() - self._began),
        )


def hindsight_of(token_ids: Sequence[int], measures: Measures, start: int) -> tuple[Hindsight, ...]:
    """What the causal head gives the answer's tokens from `start`, a row of measures each."""
    rows = zip(
        token_ids,
        measures.shares(token_ids),
        measures.best_ids,
        measures.probability,
        strict=True,
    )
    found = []
    for position, (token_id, share, best_id, best_share) in enumerate(rows, start):
        best = six(best_share)
        own = best if token_id == best_id else six(share)
        found.append(Hindsight(position, token_id, own, best_id, best))
    return tuple(found)


def cut_after_end(token_ids: Sequence[int], end_token_ids: frozenset[int]) -> list[int]:
    """The tokens up to and with the first end-of-sequence; all of them without one."""
    for index, token_id in enumerate(token_ids):
        if token_id in end_token_ids:
            return list(token_ids[: index + 1])
    return list(token_ids)


def six(value: float) -> float:
    """`value` to the six significant digits that events carry."""
    return float(f"{value:.6g}")
