"""Forward passes of random weights in a model's shape: against memory, by rows, as the cache grows.

What a forward pass costs does not depend on what the weights are, so a shape is enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import Linear
from transformers import LlamaConfig, LlamaForCausalLM

from sbd_core.benchmark.forward_passes import machine, median_seconds
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import stream
from sbd_core.models.backends.choose import choose
from sbd_core.models.hf_model import Backend
from sbd_core.models.protocol import ForwardRequest, SetBlockModel
from sbd_core.roofline import Shape, pass_seconds

BATCHES = (1, 4, 8)
CACHES = (1024, 16384)
BLOCK_SIZE = 16
ROWS = (1, BLOCK_SIZE, 2 * BLOCK_SIZE)
SPARE_MEMORY = 0.9
"""Share of a GPU's memory that weights and cache may take."""
_COMMON: dict[str, Any] = {"max_position_embeddings": 2 * CACHES[-1], "tie_word_embeddings": False}
SHAPES: dict[str, dict[str, Any]] = {
    "llama-3.1-8b": {
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 128256,
    },
    "sbd-nano": {
        "hidden_size": 256,
        "intermediate_size": 704,
        "num_hidden_layers": 6,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "vocab_size": 2048,
    },
}

Row = dict[str, float]
Pattern = Sequence[tuple[int, int, int]]
"""Of each forward pass: tokens fed causally, block positions, tokens the answer grew by."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A model of random weights, and the roofline to compare it with."""

    backend: Backend
    model: LlamaForCausalLM
    device: torch.device
    num_weight_bytes: int

    def seconds(self, batch: int, num_queries: int, num_cached: int) -> float:
        """Median seconds of a forward pass of `num_queries` rows of each of `batch` texts."""
        caches = self.backend.new_caches(batch)
        for cache in caches:
            cache.pool.ensure_capacity(num_cached + 2 * BLOCK_SIZE)
            cache.length = num_cached
        requests = [ForwardRequest(cache, (), [0] * num_queries, 0) for cache in caches]
        return median_seconds(lambda: self.backend.forward(requests), str(self.device))

    def cache_bytes(self, batch: int, num_cached: int) -> int:
        """Bytes of keys and values."""
        key = self.model.model.layers[0].self_attn.k_proj
        per_token = 2 * len(self.model.model.layers) * key.out_features * key.weight.itemsize
        return batch * (num_cached + 2 * BLOCK_SIZE) * per_token


def bench_of(shape: str, device: torch.device) -> Bench:
    """Random weights of SHAPES[shape]: bf16 and static on a GPU, fp32 on the CPU."""
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    config = LlamaConfig(**SHAPES[shape], **_COMMON, dtype=dtype)
    default = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with device, torch.random.fork_rng():
            torch.manual_seed(0)  # always the same weights, whose graph is kept then
            model = LlamaForCausalLM(config).eval()
    finally:
        torch.set_default_dtype(default)
    backend = choose(model, shape, block_size=BLOCK_SIZE)
    read = sum(m.weight.nbytes for m in model.modules() if isinstance(m, Linear))
    return Bench(backend, model, device, read)


def measured_shape(
    shape: str, device: torch.device, pattern: Pattern
) -> tuple[dict[str, Any], list[str]]:
    """Every figure of a shape, and reasons for those left out."""
    bench = bench_of(shape, device)
    here = machine(bench.model.lm_head.weight)
    is_cuda = device.type == "cuda"
    left_out: list[str] = []
    rows: dict[str, dict[str, Row]] = {}
    for batch in BATCHES if is_cuda else BATCHES[:1]:
        fits = [c for c in CACHES if _fits(bench, batch, c)]
        left_out += [
            f"batch {batch}, {cached} cached: left out, the GPU's memory does not hold it"
            for cached in CACHES
            if cached not in fits
        ]
        rows[str(batch)] = {str(cached): _row(bench, batch, cached, here) for cached in fits}
        if len(fits) == len(CACHES):
            rows[str(batch)]["growth"] = _growth(rows[str(batch)])
    found: dict[str, Any] = {
        "shape": shape,
        "weight_bytes": bench.num_weight_bytes,
        "copy_bandwidth": round(here.bandwidth),
        "batches": rows,
        "replay": replayed(bench, pattern),
    }
    if not is_cuda:
        left_out.append("llama-3.1-8b in bf16 and batches: left out, they need a CUDA device")
    return found, left_out


def _fits(bench: Bench, batch: int, num_cached: int) -> bool:
    if bench.device.type != "cuda":
        return True
    _, total = torch.cuda.mem_get_info(bench.device)
    needed = bench.num_weight_bytes + bench.cache_bytes(batch, num_cached)
    return needed < SPARE_MEMORY * total


def _row(bench: Bench, batch: int, num_cached: int, here: Any) -> Row:
    """Milliseconds by rows; what reading the weights alone takes; the corrected roofline's."""
    times = {rows: bench.seconds(batch, rows, num_cached) for rows in ROWS}
    reading = bench.num_weight_bytes / here.bandwidth
    theory = bench.model.config.num_hidden_layers * pass_seconds(
        1, num_cached, batch, "corrected", shape=Shape.of(bench.model.config), device=here
    )
    found = {f"milliseconds_{rows}": round(1000 * s, 4) for rows, s in times.items()}
    return found | {
        "one_over_weight_read": round(times[1] / reading, 3),
        "block_over_one": round(times[BLOCK_SIZE] / times[1], 3),
        "two_blocks_over_one": round(times[2 * BLOCK_SIZE] / times[1], 3),
        "roofline_milliseconds_1": round(1000 * theory, 4),
    }


def _growth(rows: dict[str, Row]) -> Row:
    """How much longer a one-token forward pass takes with the longest cache than the shortest."""
    short, long = (rows[str(cached)] for cached in CACHES)
    more = long["milliseconds_1"] - short["milliseconds_1"]
    expected = long["roofline_milliseconds_1"] - short["roofline_milliseconds_1"]
    return {
        "milliseconds_more": round(more, 4),
        "roofline_milliseconds_more": round(expected, 4),
        "over_roofline": round(more / expected, 3),
    }


def recorded_pattern(model: SetBlockModel, prompt: Sequence[int], config: DecodeConfig) -> Pattern:
    """The forward passes of one decode after its prompt's."""
    events = list(stream(model, prompt, config))[1:]
    return [(e.num_causal, e.block.size, len(e.committed)) for e in events]


def replayed(bench: Bench, pattern: Pattern) -> Row:
    """A recorded decode's forward passes and as many of one token, on the shape: both speed-ups.

    The prompt's forward pass, the same for both, is left out of time and count.
    """
    num_tokens = sum(grown for _, _, grown in pattern)
    causal, blocks = [0] * (2 * BLOCK_SIZE), [0] * BLOCK_SIZE

    def decode(passes: Sequence[tuple[int, int]]) -> float:
        [cache] = bench.backend.new_caches(1)

        def run() -> None:
            cache.truncate(0)
            for num_causal, num_block in passes:
                request = ForwardRequest(cache, causal[:num_causal], blocks[:num_block], num_causal)
                [logits] = bench.backend.forward([request])
                # A decode waits for its statistics before it can ask for the next forward pass.
                logits.select(-1, 0).cpu()

        return median_seconds(run, str(bench.device))

    by_blocks = decode([(num_causal, num_block) for num_causal, num_block, _ in pattern])
    one_by_one = decode([(1, 0)] * num_tokens)
    in_passes, in_time = num_tokens / len(pattern), one_by_one / by_blocks
    return {
        "num_tokens": num_tokens,
        "num_passes": len(pattern),
        "nfe_speedup": round(in_passes, 3),
        "wall_clock_speedup": round(in_time, 3),
        "share": round(in_time / in_passes, 3),
    }
