"""The blocks of all requests that an engine decodes together, as tensors. Imports no vLLM.

A request has a slot. After the prompt, passes read its block both ways until no mask is left. One
more pass reads it causally, which writes its keys and values; then the block's tokens are final and
the next block begins. update() takes all requests of a step at once: no loop over requests, and
nothing is copied to the host. The tensors keep their addresses, as CUDA graphs need.
"""

from collections.abc import Collection, Sequence

import numpy as np
import torch
from torch import Tensor

from sbd_core.decoding.repetition import scaled
from sbd_core.sampling import Softmax
from sbd_core.solvers import Solver
from sbd_core.vllm.rule import Measures, Rule, reveals

MOST_LOGITS = 2**27
"""Logits whose softmax is computed at once: 0.5 GB in fp32 for each of its few temporaries."""


class Blocks:
    """One block and its settings for each of `num_slots` requests.

    token_ids: (slots, block), the mask token where no token is known yet.
    is_causal: (slots,), whether the next pass reads causally: the prompt, or a full block.
    max_length: longest text, in tokens; it may change between steps.
    """

    def __init__(
        self,
        *,
        num_slots: int,
        block_size: int,
        vocabulary_size: int,
        mask_token_id: int,
        max_length: int,
        device: torch.device,
    ) -> None:
        """Make empty slots. max_length: longest text, in tokens."""
        self._mask_id = mask_token_id
        self.max_length = max_length
        self._offsets = torch.arange(block_size, device=device)
        self.token_ids = torch.full((num_slots, block_size), mask_token_id, device=device)
        self.is_causal = torch.ones(num_slots, dtype=torch.bool, device=device)
        self._num_left = torch.zeros(num_slots, dtype=torch.long, device=device)
        self._ranking = torch.zeros(num_slots, dtype=torch.long, device=device)
        self._stop = torch.zeros(num_slots, dtype=torch.long, device=device)
        self._value = torch.zeros(num_slots, dtype=torch.float64, device=device)
        self._penalty = torch.ones(num_slots, device=device)
        self._is_end = torch.zeros(num_slots, vocabulary_size, dtype=torch.bool, device=device)
        self._is_seen = torch.zeros_like(self._is_end)
        # On the host, so that a step knows without waiting what it need not compute.
        self._has_penalty = np.zeros(num_slots, dtype=bool)
        self._needs_margin = np.zeros(num_slots, dtype=bool)

    def add(
        self,
        slot: int,
        *,
        solver: Solver,
        num_left: int,
        end_token_ids: Collection[int],
        penalty: float,
        token_ids: Sequence[int],
    ) -> None:
        """Begin a request, or one that was interrupted, in a slot, whatever the slot held before.

        num_left: number of tokens that the answer may still get.
        end_token_ids: tokens that end the answer.
        penalty: repetition penalty; 1 means none.
        token_ids: the prompt, and the part of the answer that is there already.
        Raises ArgumentError for a solver without a Rule.
        """
        rule = Rule.of(solver)
        self.token_ids[slot] = self._mask_id
        self.is_causal[slot] = True
        self._num_left[slot] = num_left
        self._ranking[slot], self._stop[slot] = rule.ranking, rule.stop
        self._value[slot], self._penalty[slot] = rule.value, penalty
        device = self._offsets.device
        for flags, ids in ((self._is_end, end_token_ids), (self._is_seen, token_ids)):
            flags[slot] = False
            flags[slot, torch.tensor(list(ids), dtype=torch.long, device=device)] = True
        self._has_penalty[slot] = penalty != 1
        self._needs_margin[slot] = solver.needs_margin

    def sizes(self, slots: Tensor, starts: Tensor) -> Tensor:
        """Number of positions of each slot's block: fewer where the answer or the text must end.

        slots: (requests,). starts: (requests,), length of the text before the block.
        """
        room = torch.minimum(self._num_left[slots], self.max_length - starts)
        return room.clamp(0, len(self._offsets))

    def update(
        self,
        logits: Tensor,
        *,
        slots: Tensor,
        host_slots: "np.ndarray",
        starts: Tensor,
        first_rows: Tensor,
        num_rows: Tensor,
        is_prompt_read: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Take the result of a forward pass; all but `logits` have one entry for each request.

        logits: (rows, vocab), the rows of one request's block after those of another's; changed.
        slots, host_slots: the requests' slots, on the device and as a numpy array.
        starts: length of the text that was in the KV cache before the pass.
        first_rows, num_rows: where a request's rows of logits begin, and their number. 0 for a
            prompt; for a block, fewer than its size if the step had no room for it: it is read
            again.
        is_prompt_read: whether the pass read the last of the prompt.
        Returns (token ids (requests, block), number of those that are final and in the cache now).
        """
        token_ids, is_causal = self.token_ids[slots], self.is_causal[slots]
        sizes = self.sizes(slots, starts)
        inside = self._offsets < sizes[:, None]
        is_whole = (num_rows > 0) & (num_rows >= sizes)
        if len(logits):
            rows = (first_rows[:, None] + self._offsets).clamp_max(len(logits) - 1)
            self._penalise(logits, slots, host_slots, num_rows)
            measures = self._measures(
                logits, rows, needs_margin=self._needs_margin[host_slots].any()
            )
            is_masked = self._is_open(slots, token_ids) & inside
            rule = self._ranking[slots], self._stop[slots], self._value[slots]
            is_revealed = reveals(measures, is_masked, *rule)
            is_revealed &= (is_whole & ~is_causal)[:, None]
            token_ids = torch.where(is_revealed, measures.token_ids, token_ids)
        is_full = ~(self._is_open(slots, token_ids) & inside).any(1)
        is_final = is_whole & is_causal
        ends = self._is_end[slots].gather(1, token_ids) & inside
        # Up to and including the first end; a block that the answer's end cuts has no other.
        num_kept = (inside & (ends.cumsum(1) - ends.long() == 0)).sum(1)
        num_final = num_kept * is_final
        begins = is_final | is_prompt_read
        self.token_ids[slots] = token_ids.masked_fill(begins[:, None], self._mask_id)
        self.is_causal[slots] = torch.where(is_whole, is_full, is_causal) & ~begins
        self._num_left[slots] -= num_final
        if self._has_penalty[host_slots].any():
            final = self._offsets < num_final[:, None]
            # The mask token stands for none, as it is never an answer.
            self._is_seen[slots[:, None], token_ids.masked_fill(~final, self._mask_id)] = True
        return token_ids, num_final

    def _is_open(self, slots: Tensor, token_ids: Tensor) -> Tensor:
        """Whether a position, (requests, block), is masked and no known end token comes before."""
        ends = self._is_end[slots].gather(1, token_ids)
        return (token_ids == self._mask_id) & (ends.cumsum(1) == 0)

    def _measures(self, logits: Tensor, rows: Tensor, *, needs_margin: bool) -> Measures:
        """Measure all rows of logits; rows: index (requests, block) of each position's row."""
        logits[:, self._mask_id] = -torch.inf
        columns = []
        for part in logits.split(max(1, MOST_LOGITS // logits.shape[1])):
            softmax = Softmax.of(part, 0.0)
            margin = softmax.margin() if needs_margin else softmax.total
            columns.append((softmax.best, softmax.entropy(), 1 / softmax.total, margin))
        best, entropy, confidence, margin = (
            torch.cat(each)[rows] for each in zip(*columns, strict=True)
        )
        return Measures(best, entropy, confidence, margin if needs_margin else None)

    def _penalise(
        self, logits: Tensor, slots: Tensor, host_slots: "np.ndarray", num_rows: Tensor
    ) -> None:
        """Penalise, in each row, tokens of the text and known ones of the block to its left."""
        if not self._has_penalty[host_slots].any():
            return
        owner = torch.repeat_interleave(slots, num_rows, output_size=len(logits))
        first = torch.repeat_interleave(
            num_rows.cumsum(0) - num_rows, num_rows, output_size=len(logits)
        )
        place = torch.arange(len(logits), device=logits.device) - first
        to_the_left = self._offsets < place[:, None]
        seen = self._is_seen[owner]
        seen.scatter_(1, self.token_ids[owner].masked_fill(~to_the_left, self._mask_id), value=True)
        penalty = self._penalty[owner][:, None].to(logits.dtype)
        logits.copy_(torch.where(seen, scaled(logits, penalty), logits))
