"""The Measure of sbd_core.sampling in one call of C; see measure.c."""

from ctypes import c_float, c_int, c_int64, c_void_p

import torch
from torch import Tensor

from sbd_core.errors import ArgumentError
from sbd_core.models.backends.c.compiler import library
from sbd_core.sampling import Measures, Wanted, measured

FP32_BYTES = 4
BEST = 2
"""Tokens a row always looked for: the margin is between two."""


class NativeMeasure:
    """measured() of fp32 logits in the CPU's memory at temperature 0; any other goes there."""

    def __init__(self) -> None:
        """Raises ArgumentError if nothing compiles here."""
        self._call = library().measure
        self._call.restype = c_int
        self._call.argtypes = [c_void_p, *[c_int64] * 4, c_void_p, c_void_p]

    def __call__(self, logits: Tensor, start: int, stop: int, wanted: Wanted) -> Measures:
        """See sbd_core.sampling.Measure."""
        is_plain = logits.is_cpu and logits.dtype == torch.float32 and logits.is_contiguous()
        if wanted.temperature or logits.ndim != 2 or not is_plain:
            return measured(logits, start, stop, wanted)
        num_rows, vocabulary = stop - start, logits.shape[1]
        num_best = min(max(wanted.num_top, BEST), vocabulary)
        size = num_rows * num_best
        ids, numbers = (c_int64 * size)(), (c_float * (size + 2 * num_rows))()
        forbidden = -1 if wanted.forbidden_id is None else wanted.forbidden_id
        place = logits.data_ptr() + start * vocabulary * FP32_BYTES
        if not vocabulary or not self._call(
            place, num_rows, vocabulary, forbidden, num_best, ids, numbers
        ):
            raise ArgumentError("logits", "must be finite or -inf, and allow some token", "NaN")
        num_top = min(wanted.num_top, vocabulary)
        firsts = range(0, size, num_best) if num_top else ()
        return Measures(
            probability=numbers[:size:num_best],
            margin=numbers[size + num_rows :],
            entropy=numbers[size : size + num_rows],
            logits=logits,
            start=start,
            temperature=0.0,
            best_ids=ids[::num_best],
            top_ids=[ids[first : first + num_top] for first in firsts],
            top_probabilities=[numbers[first : first + num_top] for first in firsts],
            distribution=None,
        )
