"""Makes forward passes of fixed shape on fixed buffers, so that CUDA graphs can replay them.

A forward pass is padded to one of a few numbers of rows (input positions) per text. All forward
passes of one shape share their buffers, and change only the contents. The logits stay on the
device. Without CUDA, the same code runs without a graph.
"""

import warnings
import weakref
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from sbd_core.models.backends.llama.forward import (
    FusedLlamaBackend,
    KVCachePool,
    PaddedBatchAttention,
)
from sbd_core.models.backends.slots import SlotCache, rows_of
from sbd_core.models.protocol import ForwardRequest

NUM_WARM_UPS = 3
"""Number of runs on a side stream before a capture, as libraries initialise in the first ones."""
INITIAL_CAPACITY = 1024
"""Positions per slot of a new pool. They double when they run out, as growth costs a capture."""


class CudaGraphBackend:
    """Backend that replays the forward passes of a FusedLlamaBackend as CUDA graphs.

    A graph is used if a forward pass reads all texts that share a KVCachePool, and no text has more
    than 2 * block_size rows, or 8 * block_size if any text has predrafts. The FusedLlamaBackend
    makes all other forward passes, on the same caches.
    """

    name = "PyTorch, CUDA graphs"
    has_own_threads = False

    def __init__(self, fused: FusedLlamaBackend, block_size: int) -> None:
        self.fused = fused
        self.dtype = fused.dtype
        self.shapes = (1, *(block_size * times for times in (1, 2, 4, 8)))
        self._at_rest: list[KVCachePool] = []

    def new_caches(self, count: int) -> list[SlotCache[KVCachePool]]:
        """Make `count` empty caches that one forward pass can serve together.

        A single new cache reuses the memory and CUDA graphs of a cache that is out of use.
        """
        if count == 1 and self._at_rest:
            pool = self._at_rest.pop()
        else:
            pool = self.fused.new_caches(count)[0].pool
            pool.ensure_capacity(INITIAL_CAPACITY)
        caches = [SlotCache(pool, slot) for slot in range(count)]
        if count == 1:
            weakref.finalize(caches[0], self._at_rest.append, pool)
        return caches

    def forward(self, requests: Sequence[ForwardRequest]) -> list[Tensor]:
        """Make one forward pass over texts that share a pool; see SetBlockModel.forward_batch."""
        pool = requests[0].cache.pool
        most = max(text.num_rows for text in requests)
        has_predrafts = any(text.predrafts for text in requests)
        widest = self.shapes[-1] if has_predrafts else self.shapes[2]
        if most > widest or len(requests) != pool.num_slots:
            return self.fused.forward(requests)
        width = next(shape for shape in self.shapes if shape >= most)
        adapts = self.fused.has_adapter and any(text.block_rows() for text in requests)
        needed = max(text.cache.length for text in requests) + max(width, self.shapes[2])
        if needed > pool.capacity:
            pool.ensure_capacity(max(needed, 2 * pool.capacity))
        if (width, adapts) not in pool.steps:
            pool.steps[width, adapts] = CudaGraphStep(self.fused, pool, width, adapts=adapts)
        logits = pool.steps[width, adapts].run(requests)
        kept = []
        for text in requests:
            first = text.num_rows - text.num_logits
            # Copied, as the next forward pass overwrites the buffer.
            kept.append(logits[text.cache.slot, first : text.num_rows].clone())
            text.cache.length += len(text.causal_ids)
        return kept


class CudaGraphStep:
    """A forward pass with `width` rows (input positions) for each slot of a pool.

    It is valid until the pool grows. adapts: True applies the block adapter to the rows of blocks.
    """

    def __init__(
        self, fused: FusedLlamaBackend, pool: KVCachePool, width: int, *, adapts: bool = False
    ) -> None:
        device, slots = pool.keys.device, pool.num_slots
        self._fused, self._adapts = fused, adapts
        # Kept alive here, as the graph reads this very memory. The pool itself is not, as it keeps
        # its steps: its memory shall be freed together with its caches.
        self.keys, self.values = pool.keys, pool.values
        self._rotary = fused.rotary_until(pool.capacity)
        self.inputs = torch.zeros(9, slots, width, dtype=torch.long, device=device)
        """rows_of() the text in each slot, padded to `width` rows."""
        self.logits = torch.zeros(slots, width, fused.weights.head.shape[1], device=device)
        self._slot = torch.arange(slots, device=device).repeat_interleave(width)
        self._offset = torch.arange(width, device=device).repeat(slots)
        self._replay: Callable[[], None] | None = None

    @torch.inference_mode()
    def run(self, requests: Sequence[ForwardRequest]) -> Tensor:
        """Run the forward pass; returns logits (slots, width, vocab), valid until the next run.

        The rows of a slot beyond those of its text are padding, and their logits mean nothing.
        """
        rows = torch.zeros(self.inputs.shape, dtype=torch.long)
        rows[5] = 1  # padding sees the first key, so that its softmax is a number
        for text in requests:
            slot, start = text.cache.slot, text.cache.length
            # Keys of padding lie after the text, where the next forward pass overwrites them.
            rows[4, slot] = torch.arange(start, start + rows.shape[2])
            rows[:, slot, : text.num_rows] = torch.from_numpy(rows_of(text))
        # Pinned, as the device may still copy while the next pass is prepared.
        rows = rows.pin_memory() if self.inputs.is_cuda else rows
        self.inputs.copy_(rows, non_blocking=True)
        if self._replay is None:
            self._replay = captured(self._forward, self.logits)
        self._replay()
        return self.logits

    def _forward(self) -> None:
        """Compute self.logits from self.inputs, with the same shapes and addresses in each call."""
        fused, capacity = self._fused, self.keys.shape[-1]
        ids, positions, _, _, key_places, *_, of_block = self.inputs.flatten(1)
        places, visible = (self._slot, self._offset, key_places), self.inputs[5:8]
        attention = PaddedBatchAttention(self.keys, self.values, places, visible, capacity)
        block_rows = of_block[:, None].bool() if self._adapts else None
        hidden = fused.hidden(ids, positions, self._rotary, [attention], block_rows)
        logits = torch.mm(fused.weights.norm(hidden), fused.weights.head)
        self.logits.copy_(logits.view(self.logits.shape))


def captured(run: Callable[[], None], output: Tensor) -> Callable[[], None]:
    """Capture `run` as a CUDA graph, and return a function that replays the graph.

    output: the tensor that `run` writes. Returns `run` itself if it is not on a CUDA device, and
    with a warning if the capture fails or its first replay writes other numbers than `run` did.
    """
    if output.device.type != "cuda":
        return run
    try:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(NUM_WARM_UPS):
                run()
        torch.cuda.current_stream().wait_stream(side)
        expected = output.clone()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run()
        output.zero_()
        graph.replay()
        torch.testing.assert_close(output, expected, atol=1e-2, rtol=1e-2)
    except (RuntimeError, AssertionError) as error:
        reason = " ".join(str(error).split())[:200]
        warnings.warn(f"CUDA graph not used, forward passes run one by one: {reason}", stacklevel=2)
        return run
    return graph.replay
