"""compute_logit_stats() in one call of C; see logit_stats.c."""

from ctypes import c_float, c_int, c_int64, c_void_p

import torch
from torch import Tensor

from sbd_core.errors import ArgumentError
from sbd_core.models.backends.c.compiler import library
from sbd_core.sampling import LogitStats, LogitStatsSpec, compute_logit_stats

FP32_BYTES = 4
BEST = 2
"""Tokens a row always looked for: the margin is between two."""


class CComputeLogitStats:
    """For fp32 logits in the CPU's memory at temperature 0; others go to compute_logit_stats()."""

    def __init__(self) -> None:
        """Raises ArgumentError if nothing compiles here."""
        self._call = library().logit_stats
        self._call.restype = c_int
        self._call.argtypes = [c_void_p, *[c_int64] * 4, c_void_p, c_void_p]

    def __call__(self, logits: Tensor, start: int, stop: int, spec: LogitStatsSpec) -> LogitStats:
        """See sbd_core.sampling.ComputeLogitStats."""
        is_plain = logits.is_cpu and logits.dtype == torch.float32 and logits.is_contiguous()
        if spec.temperature or logits.ndim != 2 or not is_plain:
            return compute_logit_stats(logits, start, stop, spec)
        num_rows, vocabulary = stop - start, logits.shape[1]
        num_best = min(max(spec.num_top, BEST), vocabulary)
        size = num_rows * num_best
        ids, numbers = (c_int64 * size)(), (c_float * (size + 2 * num_rows))()
        forbidden = -1 if spec.forbidden_id is None else spec.forbidden_id
        place = logits.data_ptr() + start * vocabulary * FP32_BYTES
        if not vocabulary or not self._call(
            place, num_rows, vocabulary, forbidden, num_best, ids, numbers
        ):
            raise ArgumentError("logits", "must be finite or -inf, and allow some token", "NaN")
        num_top = min(spec.num_top, vocabulary)
        firsts = range(0, size, num_best) if num_top else ()
        return LogitStats(
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
