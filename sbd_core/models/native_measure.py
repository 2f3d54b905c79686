"""The Measure of sbd_core.sampling in one call of C; see measure.c."""

from ctypes import c_float, c_int, c_int64, c_void_p

import torch
from torch import Tensor

from sbd_core.errors import ArgumentError
from sbd_core.models.compiled import library
from sbd_core.sampling import Measures, Wanted, measured

BEST = 2
"""Tokens a row always looked for: the margin is between two."""


class NativeMeasure:
    """measured() of fp32 logits in the CPU's memory at temperature 0; any other goes there."""

    def __init__(self) -> None:
        """Raises ArgumentError if nothing compiles here."""
        self._call = library().measure
        self._call.restype = c_int
        self._call.argtypes = [c_void_p, *[c_int64] * 4, *[c_void_p] * 4]

    def __call__(self, logits: Tensor, wanted: Wanted) -> Measures:
        """See sbd_core.sampling.Measure."""
        is_plain = logits.device.type == "cpu" and logits.dtype == torch.float32
        if wanted.temperature or logits.ndim != 2 or not (is_plain and logits.is_contiguous()):
            return measured(logits, wanted)
        num_rows, vocabulary = logits.shape
        num_best = min(max(wanted.num_top, BEST), vocabulary)
        ids, shares = (c_int64 * (num_rows * num_best))(), (c_float * (num_rows * num_best))()
        entropies, margins = (c_float * num_rows)(), (c_float * num_rows)()
        forbidden = -1 if wanted.forbidden_id is None else wanted.forbidden_id
        if not vocabulary or not self._call(
            *(logits.data_ptr(), num_rows, vocabulary, forbidden, num_best),
            *(ids, entropies, margins, shares),
        ):
            raise ArgumentError("logits", "must be finite or -inf, and allow some token", "NaN")
        num_top = min(wanted.num_top, vocabulary)
        starts = range(0, num_rows * num_best, num_best) if num_top else ()
        return Measures(
            probability=shares[::num_best],
            margin=margins[:],
            entropy=entropies[:],
            logits=logits,
            temperature=0.0,
            best_ids=ids[::num_best],
            top_ids=[ids[start : start + num_top] for start in starts],
            top_probabilities=[shares[start : start + num_top] for start in starts],
            distribution=None,
        )
