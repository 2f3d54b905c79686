"""The fused forward of single short texts in one call of C: at this size operations cost most.

Many texts, long prompts, what forward.c does not know: all go the fused way. For many texts that is
no loss: 32 of one row took C, text by text, 1.6 times the processor time of one fused forward pass.
"""

from collections.abc import Sequence
from ctypes import POINTER, Structure, c_float, c_int64, c_void_p
from typing import Any

import torch
from torch import Tensor

from sbd_core.errors import ArgumentError
from sbd_core.models.backends.c.compiler import library
from sbd_core.models.backends.llama.attention import LONG
from sbd_core.models.backends.llama.forward import FusedLlamaBackend
from sbd_core.models.backends.llama.kv_cache import FusedLlamaCache
from sbd_core.models.protocol import ForwardRequest

COLUMNS = 32
"""Scores lie in rows of a multiple of this; forward.c has the same number."""


class _Layer(Structure):
    _fields_ = [
        (name, c_void_p)
        for name in ("attention", "query_key_value", "out", "feed_forward", "gate_up", "down")
    ]


class _Model(Structure):
    _fields_ = [
        *((name, c_void_p) for name in ("embedding", "norm", "head")),
        *((name, c_int64) for name in ("layers", "hidden", "heads", "kv_heads", "head_size")),
        *((name, c_int64) for name in ("width", "vocabulary", "between_tokens", "between_values")),
        ("eps", c_float),
    ]


class _Cache(Structure):
    _fields_ = [(name, c_void_p) for name in ("keys", "values")] + [
        (name, c_int64) for name in ("capacity", "between_layers")
    ]


class CBackend:
    """See FusedLlamaBackend; a text of at most LONG rows alone goes to C."""

    def __init__(self, fused: Any, name: str) -> None:
        """Raises ArgumentError for a model it cannot run, or if nothing compiles here."""
        if not can_run_in_c(fused):
            rule = "must be off but for an fp32 model on the CPU, Llama-shaped, without biases"
            raise ArgumentError("native", rule, name)
        self.fused = fused
        self.weights = w = fused.weights
        self._call = library().forward
        self._call.restype = None
        self._call.argtypes = [
            *(POINTER(_Model), POINTER(_Layer), POINTER(_Cache), c_void_p, c_void_p),
            *(POINTER(c_int64), c_int64, c_int64, c_int64, c_int64),
            *(POINTER(c_int64), c_void_p, c_void_p),
        ]
        self._hidden, self._vocabulary = w.head.shape
        width = w.layers[0].gate_up.weight.shape[1] // 2
        self._widest = max(w.layers[0].query_key_value.weight.shape[1], 2 * width)
        pointers = (t.data_ptr() for t in (w.embedding, w.norm.scale, w.head))
        sizes = (len(w.layers), self._hidden, w.num_heads, w.num_kv_heads, w.head_size, width)
        steps = w.embedding.stride()
        self._model = _Model(*pointers, *sizes, self._vocabulary, *steps, float(w.norm.eps))
        self._layers = (_Layer * len(w.layers))(
            *(
                _Layer(
                    layer.attention_norm.scale.data_ptr(),
                    layer.query_key_value.weight.data_ptr(),
                    layer.out.weight.data_ptr(),
                    layer.feed_forward_norm.scale.data_ptr(),
                    layer.gate_up.weight.data_ptr(),
                    layer.down.weight.data_ptr(),
                )
                for layer in w.layers
            )
        )

    def new_caches(self, count: int) -> list[FusedLlamaCache]:
        """Empty caches whose forward passes can be made together."""
        return self.fused.new_caches(count)

    def forward(self, requests: Sequence[ForwardRequest]) -> list[Tensor]:
        """One forward pass over texts of one pool; logits (wanted rows, vocab) of each."""
        first = requests[0]
        if len(requests) > 1 or len(first.causal_ids) + len(first.block_ids) > LONG:
            return self.fused.forward(requests)
        return [self._forward(first)]

    def _forward(self, request: ForwardRequest) -> Tensor:
        cache: FusedLlamaCache = request.cache
        pool, start = cache.pool, cache.length
        ids, num_causal, num_logits = request.token_ids, len(request.causal_ids), request.num_logits
        num_rows = len(ids)
        shapes = ((num_causal, len(request.block_ids)), *request.early_shapes)
        blocks = [size for shape in shapes for size in shape]
        stop = start + num_rows
        pool.ensure_capacity(stop)
        cosines, sines = self.fused.rotary_until(stop)
        keys, values = pool.keys[0, cache.slot], pool.values[0, cache.slot]
        place = _Cache(keys.data_ptr(), values.data_ptr(), pool.capacity, pool.keys.stride(0))
        row = 2 * self._hidden + self._widest + -(-stop // COLUMNS) * COLUMNS
        space = torch.empty(num_rows * row)
        logits = torch.empty(num_logits, self._vocabulary)
        self._pass(
            *(self._model, self._layers, place, cosines.data_ptr(), sines.data_ptr()),
            *((c_int64 * num_rows)(*ids), start, num_rows, num_causal, num_logits),
            (c_int64 * len(blocks))(*blocks),
            *(space.data_ptr(), logits.data_ptr()),
        )
        cache.length += num_causal
        return logits

    def _pass(self, *arguments: Any) -> None:
        """The call of C, by itself so that a profile can tell it from what is around."""
        self._call(*arguments)


def can_run_in_c(backend: Any) -> bool:
    """Whether forward.c computes what this backend does."""
    if not isinstance(backend, FusedLlamaBackend):
        return False
    w = backend.weights
    matrices = [m for y in w.layers for m in (y.query_key_value, y.out, y.gate_up, y.down)]
    norms = [w.norm, *(n for y in w.layers for n in (y.attention_norm, y.feed_forward_norm))]
    return (
        w.embedding.device.type == "cpu"
        and w.embedding.dtype == torch.float32
        and all(matrix.bias is None for matrix in matrices)
        and all(layer.query_norm is None for layer in w.layers)
        and len({float(norm.eps) for norm in norms}) == 1
    )
