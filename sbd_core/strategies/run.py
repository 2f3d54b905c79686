"""What every strategy shares: one model, one cache, one random stream, one answer so far.

A strategy is a generator that takes turns: it yields the Request of a pass, is sent the Reply,
and yields the pass's StepEvent. Who makes the pass, and with whom together, is not its business.
"""

import math
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sbd_core.config import DecodeConfig
from sbd_core.errors import ModelError
from sbd_core.events import Hindsight, Kind, MaskedPosition, Reveal, Span, StepEvent
from sbd_core.models.base import Cache, Request, SetBlockModel
from sbd_core.sampling import Candidates, forbid, probabilities


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
        """One pass of the model, the mask token made impossible; starts the pass's clock."""
        self._context = (self.cache.length, len(causal_ids))
        reply = yield Request(self.cache, causal_ids, block_ids, num_causal_logits)
        assert reply is not None
        self._began = time.perf_counter() - reply.seconds
        logits = reply.logits
        mask_id = self.model.mask_token_id
        allowed = forbid(logits, mask_id)
        # The maximum is NaN where any logit is; the mask token's own is no longer among them.
        best = allowed.amax(dim=-1).tolist()
        forbidden = [] if mask_id is None else logits[:, mask_id].tolist()
        if not all(-math.inf < one < math.inf for one in best) or not all(
            one < math.inf for one in forbidden
        ):
            raise ModelError(f"{self.model.name}: gave logits that are NaN, infinite or all -inf")
        return allowed

    def candidates(self, logits: Tensor) -> Candidates:
        """Candidates at the config's temperature, drawn from the run's random stream."""
        return Candidates.from_logits(logits, self.config.temperature, self.generator)

    def distributions(self, logits: Tensor) -> Tensor:
        """(rows, vocab) probabilities at the config's temperature."""
        return probabilities(logits, self.config.temperature)

    def recorded(
        self, candidates: Candidates, offsets: Sequence[int], start: int
    ) -> tuple[MaskedPosition, ...]:
        """What the head said at block offsets `offsets` of the block at position `start`."""
        distribution, entropies = candidates.distribution, candidates.entropy.tolist()
        assert distribution is not None
        if not self.config.top_k_recorded:
            return tuple(MaskedPosition(start + i, six(entropies[i]), (), ()) for i in offsets)
        top = distribution.topk(min(self.config.top_k_recorded, distribution.shape[-1]), dim=-1)
        ids, shares = top.indices.tolist(), top.values.tolist()
        return tuple(
            MaskedPosition(start + i, six(entropies[i]), tuple(ids[i]), tuple(map(six, shares[i])))
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


def hindsight_of(
    token_ids: Sequence[int], distributions: Tensor, start: int
) -> tuple[Hindsight, ...]:
    """What causal distributions (len(token_ids), vocab) give the answer's tokens from `start`."""
    best = distributions.argmax(dim=-1, keepdim=True)
    wanted = torch.cat([torch.tensor(token_ids, device=best.device)[:, None], best], dim=1)
    shares = distributions.gather(1, wanted).tolist()
    rows = zip(wanted.tolist(), shares, strict=True)
    return tuple(
        Hindsight(start + offset, token_id, six(share), best_id, six(best_share))
        for offset, ((token_id, best_id), (share, best_share)) in enumerate(rows)
    )


def cut_after_end(token_ids: Sequence[int], end_token_ids: frozenset[int]) -> list[int]:
    """The tokens up to and with the first end-of-sequence; all of them without one."""
    for index, token_id in enumerate(token_ids):
        if token_id in end_token_ids:
            return list(token_ids[: index + 1])
    return list(token_ids)


def six(value: float) -> float:
    """`value` to the six significant digits that events carry."""
    return float(f"{value:.6g}")
