"""Measures how long a forward pass takes, by its number of rows (input positions).

Strategy verify plans by these costs if the DecodeConfig's max_rows is None. The costs are measured
with one text after a short prompt, and kept in the cache folder.
"""

import hashlib
import json
import logging
import math
import os
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from sbd_core.config import NUM_ALTERNATIVES, RowCosts
from sbd_core.environment import processor_name
from sbd_core.errors import ArgumentError
from sbd_core.files import cache_folder, write_text
from sbd_core.models.protocol import Cache, ForwardRequest, SetBlockModel
from sbd_core.models.runtime import one_thread_between_passes
from sbd_core.sampling import LogitStatsSpec, argmax

NUM_ROWS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48)
NUM_PROMPT = 64
MAX_CAUSAL = 5
ROWS_A_CAUSAL = 3
"""In a measured pass, one row in this many is causal (an exact token or a draft), up to MAX_CAUSAL
rows; the others are masks, as usual in verify. Both rows of a pass of 2 are causal."""
NUM_DRAFTED = 4
"""Number of a block's rows whose logit statistics are timed too."""
BUDGET_SECONDS = 2.0
MAX_ROUNDS = 40
STEADY = 1.5
"""An undisturbed measurement's median time of one-row passes is at most this times the least."""
AGAIN_SECONDS = 120
"""Seconds until a disturbed measurement is repeated; its costs are not written to a file."""
FORMAT = 9

logger = logging.getLogger(__name__)
_known: dict[str, tuple[str, RowCosts, float]] = {}
"""{key of model and machine: (name, costs, time.monotonic() until which the costs hold)}."""


def row_costs_of(model: SetBlockModel) -> RowCosts:
    """Return the costs of a model's forward passes on this machine.

    Reads them from the cache folder, or measures them if the model, its dtype or backend, or the
    machine is new.
    """
    depends_on = _depends_on(model)
    key = hashlib.sha256(json.dumps(depends_on).encode()).hexdigest()[:24]
    if key not in _known or time.monotonic() > _known[key][2]:
        file, until = cache_folder() / f"row-costs-{key}.json", math.inf
        costs = _read(file)
        if costs is None:
            costs, is_steady = measure_row_costs(model)
            if is_steady:
                _write(file, costs, depends_on)
            else:
                until = time.monotonic() + AGAIN_SECONDS
                logger.warning("other work disturbed the measuring of rows' costs")
        name = f"{model.name}, {depends_on['dtype']}" if depends_on["dtype"] else model.name
        _known[key] = name, costs, until
    return _known[key][1]


def known_row_costs() -> dict[str, RowCosts]:
    """Return the costs that this process has used so far: {"model, dtype": costs}."""
    return {name: costs for name, costs, _ in _known.values()}


def measure_row_costs(model: SetBlockModel) -> tuple[RowCosts, bool]:
    """Time forward passes of 1 to 48 rows for about BUDGET_SECONDS.

    Returns the median times, and whether the measurement was undisturbed by other work.
    """
    assert model.mask_token_id is not None
    reach = model.max_positions or NUM_PROMPT + NUM_ROWS[-1]
    longest = min(NUM_ROWS[-1], reach - 1)
    [cache] = model.new_caches(1)
    prompt = [0] * min(NUM_PROMPT, reach - longest)
    sizes = [size for size in NUM_ROWS if size <= longest]
    seconds: dict[int, list[float]] = {size: [] for size in sizes}
    _seconds(model, ForwardRequest(cache, prompt, (), 1))
    _seconds(model, _request(model, cache, sizes[-1]))  # not measured, as the cache grows
    cache.truncate(len(prompt))
    singles = []
    began = time.perf_counter()
    for _ in range(MAX_ROUNDS):
        # Passes of one row mostly follow each other, and are quicker for it.
        singles.append(_seconds(model, _request(model, cache, 1)))
        cache.truncate(len(prompt))
        for size in sizes:
            seconds[size].append(_seconds(model, _request(model, cache, size)))
            cache.truncate(len(prompt))
        if time.perf_counter() - began > BUDGET_SECONDS:
            break
    singles += seconds[1]
    is_steady = statistics.median(singles) <= STEADY * min(singles)
    points = tuple((size, statistics.median(times)) for size, times in seconds.items())
    return RowCosts(points), is_steady


def _request(model: SetBlockModel, cache: Cache, num_rows: int) -> ForwardRequest:
    num_causal = 2 if num_rows == 2 else min(max(1, num_rows // ROWS_A_CAUSAL), MAX_CAUSAL)
    masks = [model.mask_token_id or 0] * (num_rows - num_causal)
    return ForwardRequest(cache, [0] * num_causal, masks, num_causal)


def _seconds(model: SetBlockModel, request: ForwardRequest) -> float:
    """Time a forward pass and the work that decoding does on its logits; returns seconds.

    The work is computing statistics and, if the model has a sampler head, adjusting logits.
    """
    spec = LogitStatsSpec(forbidden_id=model.mask_token_id)
    began = time.perf_counter()
    [logits] = model.forward_batch([request])
    first, head = request.num_causal_logits, model.sampler_head
    with one_thread_between_passes(model):
        model.compute_logit_stats(logits, 0, first, spec)
        stop = min(len(logits), first + NUM_DRAFTED)
        if head is not None and stop > first + 1:
            walk = head.begin(logits[first + 1 : stop])
            for row in range(first + 1, stop):
                walk.add_to(row - first - 1, 0)
                argmax(logits[row : row + 1])
        if request.block_ids:
            spec = replace(spec, num_top=1 + NUM_ALTERNATIVES, has_entropy=True)
            model.compute_logit_stats(logits, first, stop, spec)
    return time.perf_counter() - began


def _depends_on(model: SetBlockModel) -> dict[str, Any]:
    """Collect everything that the costs depend on, as JSON data."""
    backend = getattr(model, "backend", model)
    return {
        "format": FORMAT,
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "device": torch.cuda.get_device_name() if "cuda" in model.device else model.device,
        "torch": str(torch.__version__),
        "model": model.name,
        "num_parameters": model.num_parameters,
        "shape": model.shape.as_json() if model.shape else None,
        "backend": f"{type(backend).__module__}.{type(backend).__name__}",
        "dtype": getattr(model, "dtype", None),
        "has_sampler_head": model.sampler_head is not None,
    }


def _read(file: Path) -> RowCosts | None:
    """Read the costs in `file`; None if it is missing or damaged."""
    try:
        return RowCosts.from_data(json.loads(file.read_text(encoding="utf-8"))["points"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, ArgumentError) as error:
        logger.warning("%s is measured again, as it cannot be read: %s", file, error)
        return None


def _write(file: Path, costs: RowCosts, depends_on: dict[str, Any]) -> None:
    """Write the costs to `file`, or log a warning if that fails."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps({**depends_on, "points": costs.points}))
    except (OSError, ArgumentError) as error:
        logger.warning("%s cannot be kept: %s", file, error)
