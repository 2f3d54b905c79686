"""The state that every strategy builds on: model, cache, random generator and the answer so far.

A strategy requests the forward pass that it needs and turns the result into an event. It does not
know who makes the forward pass, or which other texts share it.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Tensor

from sbd_core.config import DecodeConfig
from sbd_core.decoding.repetition import SeenTokens
from sbd_core.errors import ArgumentError, ModelError
from sbd_core.events import Hindsight, MaskedPosition, Span, StepEvent
from sbd_core.models.protocol import Cache, ForwardRequest, PredraftBlock, SetBlockModel
from sbd_core.sampling import LogitStats, LogitStatsSpec


@dataclass(frozen=True, slots=True)
class ForwardResult:
    """The logits (rows, vocab) of a request. seconds: this text's share of the pass's time."""

    logits: Tensor
    seconds: float


class Strategy(Protocol):
    """One decode in progress. The caller calls next_request() and update() in turn."""

    def next_request(self) -> ForwardRequest | None:
        """Return the request of the next forward pass; None when the answer is complete."""
        ...

    def update(self, result: ForwardResult) -> StepEvent:
        """Return the event of the requested forward pass. Raises ModelError for unusable logits."""
        ...


class DecodingState:
    """The state of one decode, with methods by which a strategy makes its requests and events.

    config: result of resolve_defaults(), so that its repetition_penalty is a number.
    """

    def __init__(
        self, model: SetBlockModel, cache: Cache, prompt_ids: Sequence[int], config: DecodeConfig
    ) -> None:
        self.model = model
        self.prompt_ids = tuple(prompt_ids)
        self.config = config
        self.cache = cache
        self.generator = torch.Generator().manual_seed(config.seed)
        self.answer: list[int] = []
        assert config.repetition_penalty is not None
        penalty = config.repetition_penalty
        self._seen = SeenTokens(penalty) if penalty != 1 else None
        self._causal_spec = LogitStatsSpec(
            forbidden_id=model.mask_token_id, temperature=config.temperature
        )
        self._block_spec = replace(
            self._causal_spec,
            num_top=config.top_k_recorded,
            has_entropy=True,
            has_margin=config.solver.needs_margin,
        )
        self._num_forwards = 0
        self._began = 0.0
        self._context = (0, 0)

    @property
    def is_recorded(self) -> bool:
        """Whether an event of ntp or verify shall hold the masked positions; see top_k_recorded."""
        return self.config.top_k_recorded > 0

    @property
    def num_left(self) -> int:
        """Number of tokens that may still be added to the answer."""
        return self.config.max_new_tokens - len(self.answer)

    @property
    def is_finished(self) -> bool:
        """Whether the answer ends with an end-of-sequence token or has max_new_tokens tokens."""
        return self.num_left <= 0 or not self.model.end_token_ids.isdisjoint(self.answer[-1:])

    def request(
        self,
        causal_ids: Sequence[int],
        block_ids: Sequence[int],
        num_causal_logits: int,
        predrafts: Sequence[PredraftBlock] = (),
    ) -> ForwardRequest:
        """Make the request of one forward pass; for the arguments see ForwardRequest."""
        self._context = (self.cache.length, len(causal_ids))
        if self._seen is not None:
            num_sure = len(causal_ids) - max(0, num_causal_logits - 1)
            self._seen.read(causal_ids, num_cached=self.cache.length, num_sure=num_sure)
        return ForwardRequest(self.cache, causal_ids, block_ids, num_causal_logits, predrafts)

    def receive(self, result: ForwardResult) -> Tensor:
        """Return the result's logits, and start to time the event. Call this first in update()."""
        self._began = time.perf_counter() - result.seconds
        return result.logits

    def causal_stats(self, logits: Tensor, stop: int, *, is_recorded: bool = False) -> LogitStats:
        """Statistics of the first `stop` causal rows: the best token and its probability.

        is_recorded: whether to add the statistics that the solver and the events need.
        """
        before = () if self._seen is None else self._seen.before_causal_rows(stop)
        spec = self._block_spec if is_recorded else self._causal_spec
        return self._stats(logits, 0, stop, spec, before)

    def block_stats(self, logits: Tensor, start: int, block_ids: Sequence[int]) -> LogitStats:
        """Statistics of a block's rows, from `start` on, as the solver and the events need them.

        block_ids: the block's token ids as the model read them. A repetition penalty on a row also
            covers the block's known tokens to the left of the row.
        """
        mask_id = self.model.mask_token_id
        before = () if self._seen is None else self._seen.before_block_rows(block_ids, mask_id)
        return self._stats(logits, start, start + len(block_ids), self._block_spec, before)

    def alternative_stats(self, logits: Tensor, row: int, before: Sequence[int]) -> LogitStats:
        """Statistics of an alternative's causal row: the best token and its probability.

        before: (for a repetition penalty) the accepted draft tokens, then the alternative.
        """
        return self._stats(logits, row, row + 1, self._causal_spec, [before])

    def draft(
        self,
        logits: Tensor,
        start: int,
        stop: int,
        exact: Sequence[int],
        *,
        is_recorded: bool,
        num_top: int = 0,
    ) -> tuple[LogitStats, list[int]]:
        """Draft tokens from a block's rows, logits[start:stop]; returns (statistics, tokens).

        exact: the final tokens after the token of the first causal row with logits. The last of
            these stands at the block's first position, in place of the first token returned.
        is_recorded: whether to add the statistics that events need.
        num_top: the statistics of each row hold at least this many of the likeliest tokens.
        With a repetition penalty or a sampler head, a token depends on the tokens before it.
        """
        spec = self._block_spec if is_recorded else self._causal_spec
        spec = replace(spec, num_top=max(spec.num_top, num_top))
        head = self.model.sampler_head
        if self._seen is None and head is None:
            stats = self._stats(logits, start, stop, spec)
            return stats, stats.sample(self.generator)
        before, chosen, parts = list(exact[:-1]), list(exact[-1:]), list[LogitStats]()
        walk = None if head is None or stop - start < 2 else head.begin(logits[start + 1 : stop])
        for row in range(start, stop):
            if walk is not None and row > start:
                walk.add_to(row - start - 1, chosen[-1])
            # Once each: measuring applies the model's processors, and twice may not be as once.
            parts.append(self._stats(logits, row, row + 1, spec, [before]))
            if row > start:
                chosen += parts[-1].sample(self.generator)
            before.append(chosen[-1])
        return LogitStats.concatenate(parts), chosen

    def _stats(
        self,
        logits: Tensor,
        start: int,
        stop: int,
        spec: LogitStatsSpec,
        before: Sequence[Sequence[int]] = (),
    ) -> LogitStats:
        """Penalise logits[start:stop]; return their statistics. before: not_added of penalise()."""
        if self._seen is not None:
            self._seen.penalise(logits[start:stop], before)
        return self._measured(logits, start, stop, spec)

    def _measured(self, logits: Tensor, start: int, stop: int, spec: LogitStatsSpec) -> LogitStats:
        try:
            return self.model.compute_logit_stats(logits, start, stop, spec)
        except ArgumentError as error:
            raise ModelError(
                f"{self.model.name}: gave logits that are NaN, infinite or all -inf"
            ) from error

    def event(
        self, block: Span, *, committed: Sequence[int] = (), draft: Sequence[int] = (), **parts: Any
    ) -> StepEvent:
        """Add `committed` to the answer and make the event. For the arguments see StepEvent."""
        index, self._num_forwards = self._num_forwards, self._num_forwards + 1
        self.answer.extend(committed)
        return StepEvent(
            index,
            "decode" if index else "prefill",
            *self._context,
            block,
            committed=tuple(committed),
            draft=tuple(draft),
            seconds=round_to_6_digits(time.perf_counter() - self._began),
            **parts,
        )


def masked_positions(
    stats: LogitStats, offsets: Sequence[int], start: int, num_top: int | None = None
) -> tuple[MaskedPosition, ...]:
    """Make the MaskedPositions at `offsets` of a block that starts at position `start`.

    num_top: number of likeliest tokens to record; None records all that `stats` lists.
    """
    ids = [each[:num_top] for each in stats.top_ids]
    probabilities = [each[:num_top] for each in stats.top_probabilities]
    return tuple(
        MaskedPosition(
            start + i,
            round_to_6_digits(stats.entropy[i]),
            tuple(ids[i]) if ids else (),
            tuple(map(round_to_6_digits, probabilities[i])) if ids else (),
        )
        for i in offsets
    )


def make_hindsight(
    token_ids: Sequence[int], stats: LogitStats, start: int
) -> tuple[Hindsight, ...]:
    """Make the Hindsight of tokens from position `start` on. stats: one causal row per token."""
    probabilities = stats.token_probabilities(token_ids)
    hindsight = []
    for row, (token_id, best_id) in enumerate(zip(token_ids, stats.best_ids, strict=True)):
        best = round_to_6_digits(stats.probability[row])
        own = best if token_id == best_id else round_to_6_digits(probabilities[row])
        hindsight.append(Hindsight(start + row, token_id, own, best_id, best))
    return tuple(hindsight)


def cut_after_end(token_ids: Sequence[int], end_token_ids: frozenset[int]) -> list[int]:
    """The tokens up to and including the first end-of-sequence; all tokens if there is none."""
    ends = (index for index, token_id in enumerate(token_ids) if token_id in end_token_ids)
    return list(token_ids[: next(ends, len(token_ids)) + 1])


def round_to_6_digits(value: float) -> float:
    """Round a number of an event to six significant digits."""
    return float(f"{value:.6g}")
