"""Measures decoding on a GPU machine: python -m scripts.on_gpu STEP

The checkout and the base's file, as WORK/base.gguf, are copied there first; `base` unpacks it. Each
step takes at most its minutes, resumes where it ended, and leaves a JSON file in WORK; `figures`
makes a results file of them. --dry-run makes all steps, tiny, on a CPU or with --device cuda.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig

from sbd_core.benchmark.api import median_seconds
from sbd_core.benchmark.methods import TimedAnswer, as_loaded, by_engine, by_transformers, ours
from sbd_core.decoding.api import generate
from sbd_core.decoding.prompt_files import read_prompts
from sbd_core.environment import environment
from sbd_core.files import ASSETS
from sbd_core.models.backends.choose import choose
from sbd_core.models.backends.cuda_graph import CudaGraphBackend, captured
from sbd_core.models.bases import GGUF_FILE, SMOLLM2, fetch
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.loading import load
from sbd_core.models.protocol import ForwardRequest

ROWS, CACHED = (1, 2, 4, 8, 16, 17, 32, 64), (512, 2048, 4096, 8192, 16_384)
LLAMA_8B = {
    "vocab_size": 128_256,
    "hidden_size": 4096,
    "intermediate_size": 14_336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 32_768,
}
TINY = {
    "vocab_size": 128,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 256,
}


class Findings:
    """Measurements of a step by name, written to a JSON file after each; known ones are skipped.

    is_dry: nano in place of SmolLM2, and numbers that cost nothing.
    """

    def __init__(
        self, work: Path, step: str, minutes: float, device: str = "cuda", *, is_dry: bool = False
    ) -> None:
        self._file, self._ends = work / f"{step}.json", time.monotonic() + 60 * minutes
        self.device, self._is_dry = device, is_dry
        self.data: dict[str, Any] = {"circumstances": environment(None), "device": device}
        if self._file.is_file():
            self.data = json.loads(self._file.read_text(encoding="utf-8"))

    def of(self, real: Any, dry: Any) -> Any:
        """The value of a real visit or of a dry run."""
        return dry if self._is_dry else real

    def add(self, name: str, measure: Callable[[], Any]) -> None:
        """Measure unless it is there or the time is over; a failure is a finding, too."""
        if name in self.data or time.monotonic() > self._ends:
            return
        try:
            self.data[name] = measure()
        except Exception as error:  # one that fails must not cost the others their machine
            self.data[name] = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(f"{name}: {json.dumps(self.data[name])[:200]}", flush=True)
        self._file.write_text(json.dumps(self.data, indent=1) + "\n", encoding="utf-8")

    def add_speed(
        self, name: str, ask: Callable[[Sequence[int]], Any], prompts: Sequence[Sequence[int]]
    ) -> None:
        """Tokens and seconds, one prompt at a time, the first asked once before; and passes."""

        def measure() -> dict[str, float]:
            ask(prompts[0])
            began = time.perf_counter()
            answers = [ask(prompt) for prompt in prompts]
            if self.device == "cuda":
                torch.cuda.synchronize()
            seconds = time.perf_counter() - began
            return {
                "tokens": sum(len(answer.token_ids) for answer in answers),
                "forwards": sum(answer.num_forwards for answer in answers),
                "seconds": seconds,
            }

        self.add(f"tokens a second, {name}", measure)

    def add_bandwidth(self) -> None:
        """Bytes a second that a copy reads and writes, which give the floor of a forward pass."""
        source = torch.ones(self.of(2**30, 2**20), dtype=torch.uint8, device=self.device)
        target = torch.empty_like(source)

        def measure() -> float:
            return 2 * len(source) / median_seconds(lambda: target.copy_(source), self.device)

        self.add("bytes a second", measure)


def decode(findings: Findings) -> None:
    """Measure SmolLM2: tokens a second of strategies and of generate(), forward passes by rows."""
    findings.add_bandwidth()
    model = load(
        findings.of(REAL_MODEL, None),
        device=findings.device,
        dtype=findings.of("bfloat16", "float32"),
    )
    ids = [model.encode(prompt, is_raw=False) for prompt in own_prompts(findings.of(10, 1))]
    num_tokens = findings.of(128, 8)
    for method in by_engine(model, ours(model, num_tokens)):
        findings.add_speed(method.name, method.answer, ids)
    measure_generate(findings, "SmolLM2", model, ids, num_tokens)
    passes(findings, "SmolLM2", model.backend, model.model)
    for method in by_transformers(model, num_tokens):  # last, as they take longest
        findings.add_speed(method.name, method.answer, ids)


def large(findings: Findings) -> None:
    """Measure random weights of an 8 B Llama's shape: forward passes by rows, tokens a second."""
    findings.add_bandwidth()
    name, shape = "Llama 8B shape", LlamaConfig(**findings.of(LLAMA_8B, TINY))
    dtype = findings.of(torch.bfloat16, torch.float32)
    with torch.device(findings.device):
        weights = AutoModelForCausalLM.from_config(shape, dtype=dtype).eval()
    tokenizer = AutoTokenizer.from_pretrained(DEFAULT_CHECKPOINT)
    backend = choose(weights, name, block_size=32)
    model = HuggingFaceModel(weights, tokenizer, name, backend=backend)
    prompts = [tuple(range(5, 5 + findings.of(512, 8)))]
    num_tokens = findings.of(128, 8)
    [ntp] = by_engine(model, {"ntp": ours(model, num_tokens)["ntp"]})
    findings.add_speed(f"ntp, {name}", ntp.answer, prompts)
    measure_generate(findings, name, model, prompts, num_tokens)
    passes(findings, name, backend, weights)


def exactness(findings: Findings) -> None:
    """Count the tokens of verify that are not next-token prediction's, in bf16 and fp32."""
    prompts = own_prompts(findings.of(100, 2))
    for dtype in findings.of(("bfloat16", "float32"), ("float32",)):
        name = f"verify differs from ntp, {dtype}, {len(prompts)} prompts"
        findings.add(name, partial(differing, findings, dtype, prompts, findings.of(128, 8)))


def own_prompts(count: int) -> list[Any]:
    """The first of the requests that come with the tree."""
    file = ASSETS / "requests" / "own.jsonl"
    return [row["prompt"] for row in read_prompts("requests", file)][:count]


def measure_generate(
    findings: Findings, name: str, model: HuggingFaceModel, ids: Any, num_tokens: int
) -> None:
    """Tokens a second of transformers' generate() with a static cache, compiled on a GPU."""
    loaded = as_loaded(model)

    def ask(prompt: Sequence[int]) -> TimedAnswer:
        inputs = torch.tensor([list(prompt)], device=loaded.device)
        with torch.inference_mode():
            output = loaded.generate(
                inputs,
                attention_mask=torch.ones_like(inputs),
                cache_implementation="static",
                disable_compile=findings.device != "cuda",
                do_sample=False,
                max_new_tokens=num_tokens,
                min_new_tokens=num_tokens,
            )
        return TimedAnswer(tuple(output[0, len(prompt) :].tolist()), 0)

    findings.add_speed(f"compiled generate(), {name}", ask, ids)


def differing(
    findings: Findings, dtype: str, prompts: Sequence[Any], num_tokens: int
) -> dict[str, int]:
    """Tokens of verify that are not next-token prediction's; after one, all behind it may be."""
    model = load(findings.of(REAL_MODEL, None), device=findings.device, dtype=dtype)
    configs = ours(model, num_tokens)
    verify = next(config for name, config in configs.items() if name.startswith("verify"))
    pairs = [
        [generate(model, prompt, config).token_ids for config in (configs["ntp"], verify)]
        for prompt in prompts
    ]
    return {
        "answers": len(pairs),
        "differing answers": sum(plain != other for plain, other in pairs),
        "tokens": sum(len(plain) for plain, _ in pairs),
        "tokens until they differ": sum(
            next((i for i, (a, b) in enumerate(zip(*pair, strict=False)) if a != b), len(pair[0]))
            for pair in pairs
        ),
    }


def passes(findings: Findings, name: str, backend: Any, model: Any) -> None:
    """Milliseconds of a forward pass by rows and KV length, its floor by bandwidth beside it."""
    size = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    config = model.config
    width = config.hidden_size // config.num_attention_heads * config.num_key_value_heads
    kv_bytes = 2 * config.num_hidden_layers * width * next(model.parameters()).element_size()
    reach = config.max_position_embeddings - max(ROWS)
    for cached in findings.of(CACHED, (16, 32)):
        if cached > reach:
            continue
        [cache] = backend.new_caches(1)
        fill(backend, cache, cached)
        for rows in findings.of(ROWS, (1, 3)):

            def measure(cache: Any = cache, cached: int = cached, rows: int = rows) -> Any:
                def once() -> None:
                    backend.forward([ForwardRequest(cache, [5], [5] * (rows - 1), 1)])
                    cache.truncate(cached)

                floor = 1000 * (size + cached * kv_bytes) / findings.data["bytes a second"]
                ms = 1000 * median_seconds(once, findings.device)
                return {"ms": round(ms, 4), "floor_ms": round(floor, 4)}

            findings.add(f"{name}: {rows} rows, {cached} cached", measure)
        if isinstance(backend, CudaGraphBackend) and cached == CACHED[0]:
            for rows in (1, 17):
                findings.add(
                    f"{name}: {rows} rows, {cached} cached, torch.compile",
                    partial(compiled_pass, backend, cache, rows),
                )


def fill(backend: Any, cache: Any, cached: int) -> None:
    """Have a cache hold `cached` tokens."""
    while cache.length < cached:
        count = min(2048, cached - cache.length)
        backend.forward([ForwardRequest(cache, [7] * count, (), 1)])


def compiled_pass(backend: CudaGraphBackend, cache: Any, rows: int) -> float:
    """Milliseconds of the static forward pass in torch.compile's kernels, as a CUDA graph."""
    width = next(shape for shape in backend.shapes if shape >= rows)
    step = backend._step(cache.pool, width, cache.length, adapts=False)
    with torch.inference_mode():
        run = captured(torch.compile(step._forward), step.logits)
        return round(1000 * median_seconds(run, "cuda"), 4)


STEPS: dict[str, tuple[Callable[[Findings], None], float]] = {
    "decode": (decode, 6.0),
    "large": (large, 4.0),
    "exactness": (exactness, 2.0),
}
"""Steps and their minutes, in the order of their worth."""


def run(step: str, work: Path, minutes: float | None = None, **options: Any) -> None:
    """Make a step. options: of Findings."""
    work.mkdir(parents=True, exist_ok=True)
    make, own = STEPS[step]
    make(Findings(work, step, minutes or own, **options))


def write_figures(work: Path, out: Path) -> None:
    """Put the findings of all steps into one file, for scripts.write_tables."""
    findings: dict[str, Any] = {}
    for step in ("exactness", "large", "decode"):
        file = work / f"{step}.json"
        findings = json.loads(file.read_text("utf-8")) | findings if file.is_file() else findings
    out.write_text(json.dumps(findings, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m scripts.on_gpu", description=__doc__)
    parser.add_argument("step", nargs="?", choices=("base", "figures", *STEPS))
    parser.add_argument(
        "--work", type=Path, default=Path("/tmp/on-gpu"), help="folder outside the tree"
    )
    parser.add_argument("--minutes", type=float, help="minutes of the step, instead of its own")
    parser.add_argument("--dry-run", action="store_true", help="all steps, or one, tiny")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="of a dry run")
    flags = parser.parse_args()
    if flags.dry_run:
        for step in [flags.step] if flags.step in STEPS else STEPS:
            run(step, flags.work, device=flags.device, is_dry=True)
    elif flags.step == "base":
        fetch(SMOLLM2, given=flags.work / GGUF_FILE)
    elif flags.step == "figures":
        write_figures(flags.work, ASSETS / "results" / "gpu.json")
    elif flags.step is None:
        parser.error("step: must be given without --dry-run")
    else:
        run(flags.step, flags.work, flags.minutes)


if __name__ == "__main__":
    main()
