"""Makes the forward passes of a Llama-shaped model with ONNX Runtime, on the CPU."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from torch import Tensor

from sbd_core.models.backends.onnx.export import BLOCKS_GRAPH_FILE, GRAPH_FILE, Dtype, GraphShape
from sbd_core.models.backends.slots import SlotCache, rows_of
from sbd_core.models.protocol import ForwardRequest

STEP = 64
"""Capacity is a multiple of this, so that sums over positions keep their order when it grows."""


class OnnxCachePool:
    """KV cache of several texts, each in a slot of its own with room for `capacity` positions.

    parts: each layer's keys, then its values; each tensor (slots, KV heads, capacity, head size).
    Positions beyond a text's length (see SlotCache) hold finite numbers; attention gives these
    positions a weight of 0.
    """

    def __init__(self, num_slots: int, shape: GraphShape) -> None:
        self.num_slots = num_slots
        self.capacity = 0
        sizes = (num_slots, shape.num_kv_heads, 0, shape.head_size)
        self.parts = [torch.zeros(sizes) for _ in range(2 * shape.num_layers)]
        self.bindings: dict[tuple[int, ...], tuple[Any, Any]] = {}
        """Bindings of sessions to the memory of `parts`, with the rotary tables that they also use.
        A larger capacity invalidates them.
        """

    def ensure_capacity(self, length: int) -> None:
        """Make room for at least `length` positions in every slot.

        Grows by a quarter or more, so that a text is copied only a few times. Doubling would cost
        more, as attention also reads empty positions.
        """
        if length <= self.capacity:
            return
        wanted = max(length, self.capacity * 5 // 4)
        more = -(-wanted // STEP) * STEP - self.capacity
        self.parts = [torch.nn.functional.pad(part, (0, 0, 0, more)) for part in self.parts]
        self.capacity += more
        self.bindings.clear()


LONG = 48
"""A text of more rows gets a forward pass of its own, as it would make others read much padding."""
MOST_ROWS = 512
"""Largest number of causal rows in a forward pass, as attention scores grow with their square."""
ZERO, HIDDEN = np.float32(0), np.float32(-np.inf)
REACH = 1024
"""Number of positions by which the rotary table grows."""


def sessions_of(
    folder: Path, num_threads: int, *, sums_in_32_bits: bool = False
) -> tuple[Any, ...]:
    """Call session_of() for each graph in a folder; the graph without block adapter is first."""
    files = (folder / GRAPH_FILE, folder / BLOCKS_GRAPH_FILE)
    return tuple(
        session_of(str(file), num_threads, sums_in_32_bits=sums_in_32_bits)
        for file in files
        if file.name == GRAPH_FILE or file.exists()
    )


def session_of(graph: str | bytes, num_threads: int, *, sums_in_32_bits: bool = False) -> Any:
    """Open a session of one graph, given as the path of its file or as its bytes.

    sums_in_32_bits: True uses slower products of uint8 and int8, which are exact also on a
        processor that adds them in 16 bits (x64 without VNNI).
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = num_threads
    options.inter_op_num_threads = 1
    # Threads wait busily for work only within a forward pass.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.add_session_config_entry("session.x64quantprecision", str(int(sums_in_32_bits)))
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


class OnnxBackend:
    """ONNX Runtime backend of one model. Threads may share it, but not its caches."""

    name = "ONNX Runtime"
    has_own_threads = True

    def __init__(
        self, sessions: Sequence[Any], shape: GraphShape, rotary: Any, dtype: Dtype = "float32"
    ) -> None:
        """Take the sessions of sessions_of(), and the shape and dtype of their graphs.

        rotary: the model's module that computes rotary cosines and sines.
        """
        self.sessions = sessions
        self.dtype: str = dtype
        self.shape = shape
        self._rotary_embedding = rotary
        self._rotary = self._rotary_table(REACH)

    def new_caches(self, count: int) -> list[SlotCache[OnnxCachePool]]:
        """Make `count` empty caches that forward() can serve together."""
        pool = OnnxCachePool(count, self.shape)
        return [SlotCache(pool, slot) for slot in range(count)]

    def forward(self, requests: Sequence[ForwardRequest]) -> list[Tensor]:
        """Make one forward pass for all texts of up to LONG rows, and one for each longer text.

        See SetBlockModel.forward_batch. A prompt of over MOST_ROWS tokens takes several passes.
        """
        requests = [self._read_beginning(request) for request in requests]
        groups = [[i for i, request in enumerate(requests) if request.num_rows <= LONG]]
        groups += [[i] for i, request in enumerate(requests) if request.num_rows > LONG]
        by_index: dict[int, Tensor] = {}
        for group in filter(None, groups):
            by_index.update(zip(group, self._run([requests[i] for i in group]), strict=True))
        return [by_index[i] for i in range(len(requests))]

    def _read_beginning(self, request: ForwardRequest) -> ForwardRequest:
        """Read all but the last part of a very long prompt; returns a request for what is left."""
        ids, kept = request.causal_ids, max(request.num_causal_logits, 1)
        while len(ids) > max(MOST_ROWS, kept) and not request.predrafts:
            size = min(MOST_ROWS, len(ids) - kept)
            self._run([ForwardRequest(request.cache, ids[:size], (), 1)])
            ids = ids[size:]
        return replace(request, causal_ids=ids)

    def _run(self, requests: Sequence[ForwardRequest]) -> list[Tensor]:
        """Run the graph once; export.py describes its inputs."""
        pool, shape = requests[0].cache.pool, self.shape
        rows = np.concatenate([rows_of(request) for request in requests], axis=1)
        token_ids, positions, slots, offsets, places, seen, first, stop, is_of_block = rows
        sizes = [request.num_rows for request in requests]
        lengths = [request.cache.length for request in requests]
        num_rows, reach = sum(sizes), max(map(add, lengths, sizes))
        pool.ensure_capacity(reach)
        used = [request.cache.slot for request in requests]
        first_slot, num_slots = min(used), max(used) + 1 - min(used)
        slots -= first_slot
        kv_heads = shape.num_kv_heads
        # A single row would be multiplied by another kernel, which rounds differently.
        width = max(*sizes, 1 + (shape.num_heads == kv_heads))
        queries = np.zeros((num_slots, width), np.int64)
        query_positions = queries.copy()
        queries[slots, offsets] = np.arange(num_rows)
        query_positions[slots, offsets] = positions
        heads_of_rows = np.empty((num_rows, kv_heads, 3), np.int64)
        heads_of_rows[:, :, 0], heads_of_rows[:, :, 2] = slots[:, None], places[:, None]
        heads_of_rows[:, :, 1] = np.arange(kv_heads)
        group = shape.num_heads // kv_heads
        bias = np.full((num_slots, group, width, pool.capacity), -np.inf, np.float32)
        least = min(lengths)  # every row sees the keys before it
        bias[..., : max(least, 1)] = 0  # padding too, so that its softmax is a number
        keys, (seen, first, stop) = np.arange(least, reach), rows[5:8, :, None]
        is_seen = (keys < seen) | ((keys >= first) & (keys < stop))
        bias[slots, :, offsets, least:reach] = np.where(is_seen, ZERO, HIDDEN)[:, None]
        counts = [request.num_logits for request in requests]
        ends = zip(accumulate(sizes), counts, strict=True)
        wanted = [row for end, count in ends for row in range(end - count, end)]
        inputs = {
            "token_ids": token_ids,
            "positions": positions[None],
            "wanted": np.array(wanted, np.int64),
            "places": heads_of_rows,
            "queries": queries,
            "query_positions": query_positions,
            "rows": slots * width + offsets,
            "bias": bias.reshape(num_slots, 1, group * width, -1),
        }
        reads_blocks = len(self.sessions) > 1 and bool(is_of_block.any())
        if reads_blocks:
            inputs["is_of_block"] = is_of_block.astype(np.float32)[:, None]
        # RotaryEmbedding takes no more rows than its table has, whatever their positions.
        rotary, session = self._rotary_until(max(reach, num_rows)), self.sessions[reads_blocks]
        key = (reads_blocks, first_slot, num_slots, len(rotary[0]))
        if key not in pool.bindings:
            pool.bindings[key] = _bound(session, pool, first_slot, num_slots, rotary), rotary
        binding, _ = pool.bindings[key]
        for name, values in inputs.items():
            binding.bind_cpu_input(name, values)
        logits = torch.empty(len(wanted), shape.vocabulary)
        binding.bind_output("logits", "cpu", 0, np.float32, list(logits.shape), logits.data_ptr())
        session.run_with_iobinding(binding)
        for request in requests:
            request.cache.length += len(request.causal_ids)
        return list(logits.split(counts))

    def _rotary_until(self, length: int) -> tuple[np.ndarray, np.ndarray]:
        table = self._rotary
        if length > len(table[0]):
            table = self._rotary = self._rotary_table(-(-length // REACH) * REACH)
        return table

    @torch.inference_mode()
    def _rotary_table(self, length: int) -> tuple[np.ndarray, np.ndarray]:
        """Compute rotary cosines and sines, each (length, head size / 2)."""
        positions = torch.arange(length)[None]
        tables = self._rotary_embedding(torch.zeros(1), positions)
        half = self.shape.head_size // 2
        cosines, sines = (np.ascontiguousarray(t[0, :, :half].numpy()) for t in tables)
        return cosines, sines


def _bound(
    session: Any,
    pool: OnnxCachePool,
    first_slot: int,
    num_slots: int,
    rotary: tuple[np.ndarray, np.ndarray],
) -> Any:
    """Make a binding of a session to some slots of a pool and to rotary cosines and sines."""
    binding = session.io_binding()
    for name, table in zip(("cosines", "sines"), rotary, strict=True):
        binding.bind_cpu_input(name, table)
    sizes = [num_slots, *pool.parts[0].shape[1:]]
    for index, part in enumerate(pool.parts):
        name = f"{'values' if index % 2 else 'keys'}.{index // 2}"
        place = ("cpu", 0, np.float32, sizes, part[first_slot].data_ptr())
        binding.bind_input(name, *place)
        binding.bind_output(f"{name}.new", *place)
    return binding
