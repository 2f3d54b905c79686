"""Runs half an hour of work on a borrowed GPU machine: python -m scripts.on_gpu STEP

First copy the repository to the machine, and the base model's file to base.gguf in WORK, the folder
that --work names. Run the step `base`, which unpacks the file, then the steps in the order of
STEPS. A step takes at most MOST_MINUTES, resumes where it stopped, and leaves its results in WORK.
Last, `figures` collects the measurements in one results file.
--dry-run tries the steps with tiny numbers on a CPU, or on the GPU with --device cuda.
"""

import argparse
import json
import os
import signal
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from sbd_core.__main__ import main as sbd
from sbd_core.benchmark.methods import as_loaded, by_engine, by_transformers, ours
from sbd_core.decoding.api import generate
from sbd_core.decoding.prompt_files import read_prompts
from sbd_core.environment import environment
from sbd_core.files import ASSETS
from sbd_core.models.backends.choose import choose
from sbd_core.models.backends.llama.cuda_graph import CudaGraphBackend, captured
from sbd_core.models.bases import GGUF_FILE, SMOLLM2, fetch
from sbd_core.models.block_adapter import read_info
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.loading import load
from sbd_core.models.model_folder import CHECKPOINTS, DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.models.protocol import ForwardRequest
from sbd_core.training.checkpoint import RECIPE_FILE, export, load_model
from sbd_core.training.recipe import read_recipe

MOST_MINUTES = 9.0
DRY_STEPS = ("--steps", 1)
SHARE_OF_START = 0.3
"""Weight of the bundled model in average_with_start()."""
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


@dataclass(frozen=True, slots=True)
class Kit:
    """Settings of one step.

    work: folder outside the repository that keeps results between commands.
    minutes: time limit of the step, counted from `began`, a time of time.monotonic().
    is_dry: whether this is a dry run, with nano instead of SmolLM2 and tiny numbers.
    """

    work: Path
    minutes: float
    is_dry: bool = False
    device: str = "cuda"
    began: float = field(default_factory=time.monotonic)

    @property
    def seconds_left(self) -> float:
        """Seconds until the step's time limit; negative after it."""
        return self.began + 60 * self.minutes - time.monotonic()

    @property
    def compiling(self) -> list[str]:
        """The command-line flags that make training use torch.compile on a GPU; empty on a CPU."""
        return ["--compile"] if self.device == "cuda" else []

    @property
    def base(self) -> str:
        """Name or folder of the base model, for command lines."""
        return str(DEFAULT_CHECKPOINT) if self.is_dry else SMOLLM2.name

    @property
    def text(self) -> Path:
        """The file of requests and answers written by the base model."""
        return self.work / "text.jsonl"

    def of(self, real: Any, dry: Any) -> Any:
        """Return `dry` in a dry run, else `real`."""
        return dry if self.is_dry else real


class Findings:
    """Named measurements in a JSON file, saved one by one; later runs measure what is missing."""

    def __init__(self, kit: Kit, step: str) -> None:
        self.file = kit.work / f"{step}.json"
        self._kit = kit
        self.data: dict[str, Any] = {"circumstances": environment(None), "device": kit.device}
        if self.file.is_file():
            self.data = json.loads(self.file.read_text(encoding="utf-8"))

    def add(self, name: str, measure: Callable[[], Any]) -> None:
        """Store the result or error of measure(), unless `name` is stored or no time is left."""
        if name in self.data or self._kit.seconds_left < 0:
            return
        try:
            self.data[name] = measure()
        except Exception as error:  # a failure must not keep the others from being measured
            self.data[name] = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(f"{name}: {json.dumps(self.data[name])[:200]}", flush=True)
        self.file.write_text(json.dumps(self.data, indent=1) + "\n", encoding="utf-8")


def milliseconds(run: Callable[[], Any], device: str, times: int = 20) -> float:
    """Median milliseconds of `times` calls, after three warm-up calls."""
    durations = []
    for _ in range(times + 3):
        began = time.perf_counter()
        run()
        if device == "cuda":
            torch.cuda.synchronize()
        durations.append(1000 * (time.perf_counter() - began))
    return round(statistics.median(durations[3:]), 4)


def decode(kit: Kit) -> None:
    """Measure SmolLM2: tokens per second of each method, and milliseconds of forward passes."""
    findings = Findings(kit, "decode")
    findings.add("bytes a second", lambda: bandwidth(kit))
    model = load(kit.of(REAL_MODEL, None), device=kit.device, dtype=kit.of("bfloat16", "float32"))
    ids = [model.encode(prompt, is_raw=False) for prompt in own_prompts(kit.of(10, 1))]
    num_tokens = kit.of(128, 8)
    for method in by_engine(model, ours(model, num_tokens)):
        findings.add(f"tokens a second, {method.name}", partial(speed, kit, method.answer, ids))
    measure_generate(kit, findings, "SmolLM2", model, ids, num_tokens)
    passes(kit, findings, "SmolLM2", model.backend, model.model)
    for method in by_transformers(model, num_tokens):  # last, as they take longest
        findings.add(f"tokens a second, {method.name}", partial(speed, kit, method.answer, ids))


def large(kit: Kit) -> None:
    """Measure tokens per second and forward passes of an 8B Llama with random weights."""
    findings = Findings(kit, "large")
    findings.add("bytes a second", lambda: bandwidth(kit))
    name, weights = "Llama 8B shape", random_llama(kit.of(LLAMA_8B, TINY), kit)
    tokenizer = AutoTokenizer.from_pretrained(DEFAULT_CHECKPOINT)
    backend = choose(weights, name, block_size=32)
    model = HuggingFaceModel(weights, tokenizer, name, backend=backend)
    prompts = [tuple(range(5, 5 + kit.of(512, 8)))]
    num_tokens = kit.of(128, 8)
    [ntp] = by_engine(model, {"ntp": ours(model, num_tokens)["ntp"]})
    findings.add(f"tokens a second, ntp, {name}", lambda: speed(kit, ntp.answer, prompts))
    measure_generate(kit, findings, name, model, prompts, num_tokens)
    passes(kit, findings, name, backend, weights)


def exactness(kit: Kit) -> None:
    """Count the answers in which verify and next-token prediction differ, in bf16 and in fp32."""
    findings = Findings(kit, "exactness")
    prompts = own_prompts(kit.of(100, 2))
    for dtype in kit.of(("bfloat16", "float32"), ("float32",)):
        name = f"verify differs from ntp, {dtype}, {len(prompts)} prompts"
        findings.add(name, partial(differing, kit, dtype, prompts, kit.of(128, 8)))


def own_prompts(count: int) -> list[Any]:
    """The first `count` prompts of assets/requests/own.jsonl."""
    file = ASSETS / "requests" / "own.jsonl"
    return [row["prompt"] for row in read_prompts("requests", file)][:count]


def measure_generate(
    kit: Kit, findings: Findings, name: str, model: HuggingFaceModel, ids: Any, num_tokens: int
) -> None:
    """Measure tokens per second of transformers' generate() with a static cache."""
    ask = static_generate(as_loaded(model), num_tokens, is_compiled=kit.device == "cuda")
    findings.add(f"tokens a second, compiled generate(), {name}", partial(speed, kit, ask, ids))


def bandwidth(kit: Kit) -> float:
    """Measured memory bandwidth in bytes per second, which limits the speed of forward passes."""
    source = torch.ones(kit.of(2**30, 2**20), dtype=torch.uint8, device=kit.device)
    target = torch.empty_like(source)
    return 2 * len(source) / (milliseconds(lambda: target.copy_(source), kit.device) / 1000)


def speed(kit: Kit, ask: Callable[[Sequence[int]], Any], prompts: Sequence[Sequence[int]]) -> Any:
    """Answer the prompts one at a time; return total tokens, forward passes and seconds.

    ask: function that answers a prompt of token ids. One call before the measurement warms up.
    """
    ask(prompts[0])
    num_tokens = num_forwards = 0
    began = time.perf_counter()
    for prompt in prompts:
        answer = ask(prompt)
        num_tokens += len(answer.token_ids) if hasattr(answer, "token_ids") else answer
        num_forwards += getattr(answer, "num_forwards", 0)
    if kit.device == "cuda":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - began
    return {"tokens": num_tokens, "forwards": num_forwards, "seconds": seconds}


def static_generate(model: Any, num_tokens: int, *, is_compiled: bool) -> Any:
    """Make a function that runs generate() with a static cache and counts the new tokens."""

    def ask(prompt: Sequence[int]) -> int:
        ids = torch.tensor([list(prompt)], device=model.device)
        options = {"do_sample": False, "max_new_tokens": num_tokens, "min_new_tokens": num_tokens}
        with torch.inference_mode():
            output = model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                cache_implementation="static",
                disable_compile=not is_compiled,
                **options,
            )
        return output.shape[1] - ids.shape[1]

    return ask


def differing(kit: Kit, dtype: str, prompts: Sequence[Any], num_tokens: int) -> dict[str, int]:
    """Compare verify with ntp: count differing answers, and tokens before the first difference."""
    model = load(kit.of(REAL_MODEL, None), device=kit.device, dtype=dtype)
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


def random_llama(shape: dict[str, int], kit: Kit) -> Any:
    """A Llama with random weights, in bf16 or, in a dry run, fp32."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(kit.of(torch.bfloat16, torch.float32))
    try:
        with torch.device(kit.device):
            return LlamaForCausalLM(LlamaConfig(**shape)).eval()  # type: ignore[arg-type]
    finally:
        torch.set_default_dtype(before)


def passes(kit: Kit, findings: Findings, name: str, backend: Any, model: Any) -> None:
    """Measure milliseconds of forward passes and their lower bounds, by rows and cached tokens."""
    size = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    config = model.config
    width = config.hidden_size // config.num_attention_heads * config.num_key_value_heads
    kv_bytes = 2 * config.num_hidden_layers * width * next(model.parameters()).element_size()
    reach = config.max_position_embeddings - max(ROWS)
    for cached in kit.of(CACHED, (16, 32)):
        if cached > reach:
            continue
        [cache] = backend.new_caches(1)
        fill(backend, cache, cached)
        for rows in kit.of(ROWS, (1, 3)):

            def measure(cache: Any = cache, cached: int = cached, rows: int = rows) -> Any:
                def once() -> None:
                    backend.forward([ForwardRequest(cache, [5], [5] * (rows - 1), 1)])
                    cache.truncate(cached)

                floor = 1000 * (size + cached * kv_bytes) / findings.data["bytes a second"]
                return {"ms": milliseconds(once, kit.device), "floor_ms": round(floor, 4)}

            findings.add(f"{name}: {rows} rows, {cached} cached", measure)
        if isinstance(backend, CudaGraphBackend) and cached == CACHED[0]:
            for rows in (1, 17):
                findings.add(
                    f"{name}: {rows} rows, {cached} cached, torch.compile",
                    partial(compiled_pass, backend, cache, rows),
                )


def fill(backend: Any, cache: Any, cached: int) -> None:
    """Run forward passes until a KV cache holds `cached` tokens."""
    while cache.length < cached:
        count = min(2048, cached - cache.length)
        backend.forward([ForwardRequest(cache, [7] * count, (), 1)])


def compiled_pass(backend: CudaGraphBackend, cache: Any, rows: int) -> float:
    """Milliseconds of a forward pass that is compiled by torch.compile and runs as a CUDA graph."""
    width = next(shape for shape in backend.shapes if shape >= rows)
    step = backend._step(cache.pool, width, cache.length, adapts=False)
    with torch.inference_mode():
        run = captured(torch.compile(step._forward), step.logits)
        return milliseconds(run, "cuda")


def command(kit: Kit, *words: object) -> None:
    """Run an `sbd` command; interrupt it at the step's time limit, to be resumed later."""
    if kit.seconds_left < 1:
        return
    timer = threading.Timer(kit.seconds_left, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.daemon = True
    timer.start()
    try:
        status = sbd([str(word) for word in words])
    finally:
        timer.cancel()
    if status not in (0, 130):
        raise SystemExit(status)


def text(kit: Kit) -> None:
    """Generate the training text: distinct requests and answers, both written by the base model."""
    words = ["--model", kit.base, "--out", kit.text, "--device", kit.device]
    words += ["--structured-ratio", 0.33, "--examples", kit.of(150_000, 3)]
    words += ["--batch-size", kit.of(1024, 8), "--max-answer-tokens", kit.of(160, 12)]
    command(kit, "synthesize", *words)


def drafting(kit: Kit) -> None:
    """Continue the training of the bundled adapter; write its measurements to drafted.json."""
    out, data = kit.work / "drafting", kit.text
    if kit.is_dry:  # nano's answers may be shorter than a measurement needs
        data = kit.work / "long.jsonl"
        rows = [{"prompt": f"ask {n}", "answer": "and so it goes on " * 6} for n in range(6)]
        data.write_text("\n".join(map(json.dumps, rows)))
    words = ["--base", kit.base, "--data", data, "--out", out, "--device", kit.device]
    bundled = CHECKPOINTS / REAL_MODEL
    words += ["--minutes", kit.of(kit.seconds_left / 60 - 1, 0.01)]
    words += ["--rank", kit.of(read_info(bundled)[0].rank, 2)]
    words += kit.of(
        ["--init", bundled, "--batch-size", 96],
        ["--sampler-width", 4, "--batch-size", 2, "--rows", 16, "--max-tokens", 64],
    )
    words += kit.compiling
    words += ["--learning-rate", 2e-3, "--cooldown", 0.4, "--averaging", 0.995]
    words += ["--block-sizes", "4,4,8,8,16", "--whole-ratio", 0.75, "--first-weight", 0.2]
    command(kit, "train-adapter", *words)
    curve = read_info(out)[0].trained["curve"]
    told = {"before": curve[0]["drafted"], "now": curve[-1]["drafted"], "curve": curve}
    file = kit.work / "drafted.json"
    file.write_text(json.dumps({**told, "circumstances": environment(out)}, indent=1) + "\n")


def decoding(kit: Kit) -> None:
    """Train and evaluate a LoRA adapter that decodes blocks (Eq. 14), with the base as teacher."""
    ready, out = kit.work / "ready", kit.work / "decoding"
    if not ready.exists():
        sizes = ["--min-block-size", kit.of(4, 2), "--max-block-size", 16]
        command(kit, "prepare", kit.base, "--out", ready, *sizes)
    recipe = {"base": "lora", "lora_rank": 32, "distils_base": True, "learning_rate": 5e-4}
    recipe |= kit.of({"batch_size": 256}, {"lora_rank": 2, "batch_size": 4})
    file = kit.work / "decoding-recipe.json"
    file.write_text(json.dumps({**recipe, "row_tokens": 512}))
    words = ["--stage", "sbd", "--recipe", file, "--init", ready, "--data", f"file:{kit.text}"]
    words += ["--out", out, *kit.of(["--minutes", 0.6 * kit.minutes], DRY_STEPS), *kit.compiling]
    command(kit, "train", *words)
    for size in kit.of((4, 8, 16), (4,)):
        requests(kit, out, kit.work / f"decoding-{size}.json", size)


def requests(kit: Kit, model: Path, out: Path, block_size: int) -> None:
    """Evaluate a model on our requests, and on IFEval's if WORK/ifeval.jsonl exists."""
    sets = [*sorted((ASSETS / "requests").glob("*.jsonl")), kit.work / "ifeval.jsonl"]
    sets = [file for file in sets if file.is_file()][: kit.of(3, 1)]
    words = ["--model", model, "--requests", *sets, "--block-size", block_size, "--out", out]
    words += ["--limit", kit.of(64, 1), "--batch-size", kit.of(64, 1), "--device", kit.device]
    command(kit, "evaluate", *words, "--max-new-tokens", kit.of(128, 4))


def nano(kit: Kit) -> None:
    """Continue nano's training, average the new and the bundled weights, and evaluate the mean."""
    trained, released = kit.work / "nano", kit.work / "nano-averaged"
    recipe = {"base": "sbd", "paper_loss_steps": 0, "steps": 1000, "decay_steps": 500}
    recipe |= {"batch_size": kit.of(768, 4)} | kit.of({}, {"steps": 1, "decay_steps": 0})
    file = kit.work / "nano-recipe.json"
    file.write_text(json.dumps(recipe))
    words = ["--stage", "sbd", "--recipe", file, "--init", DEFAULT_CHECKPOINT, "--out", trained]
    length = kit.of(("--minutes", kit.minutes - 1), DRY_STEPS)
    command(kit, "train", *words, *length, *kit.compiling)
    average_with_start(trained, released)
    out = kit.work / "nano.json"
    words = ["--model", released, "--limit", kit.of(200, 1), "--out", out, "--device", kit.device]
    words += kit.of(["--sweep", "--batch-size", 64], ["--max-new-tokens", 4])
    command(kit, "evaluate", *words)


def average_with_start(trained: Path, released: Path) -> None:
    """Write a weighted mean of the weights in `trained` and of the bundled model to `released`."""
    model, tokenizer = load_model(trained)
    start, _ = load_model(DEFAULT_CHECKPOINT)
    for own, before in zip(model.parameters(), start.parameters(), strict=True):
        own.data.lerp_(before.data, SHARE_OF_START)
    export(model, tokenizer, read_recipe("sbd", trained / RECIPE_FILE, {}), released)


STEPS: dict[str, tuple[Callable[[Kit], None], float]] = {
    "decode": (decode, 6.0),
    "large": (large, 4.0),
    "text": (text, 5.0),
    "decoding": (decoding, 8.0),
    "drafting": (drafting, 6.0),
    "nano": (nano, 6.0),
    "exactness": (exactness, 2.0),
}
"""Steps with their minutes, the most valuable first. `decoding` and `drafting` need `text`."""


def run(kit: Kit, step: str) -> None:
    """Run a step, and print how long it took."""
    kit.work.mkdir(parents=True, exist_ok=True)
    STEPS[step][0](kit)
    print(f"{step}: {time.monotonic() - kit.began:.1f} s", flush=True)


def write_figures(work: Path, out: Path) -> None:
    """Write the results of exactness, large and decode to one file, for scripts.write_tables."""
    findings: dict[str, Any] = {}
    for step in ("exactness", "large", "decode"):
        file = work / f"{step}.json"
        findings = json.loads(file.read_text("utf-8")) | findings if file.is_file() else findings
    out.write_text(json.dumps(findings, indent=1) + "\n", encoding="utf-8")


def dry_run(work: Path, device: str = "cpu") -> None:
    """Run every step with tiny numbers, and check that no measurement failed."""
    for step in STEPS:
        run(Kit(work, MOST_MINUTES, is_dry=True, device=device), step)
    assert not [
        name
        for step in ("decode", "large", "exactness")
        for name, value in json.loads((work / f"{step}.json").read_text()).items()
        if isinstance(value, dict) and "error" in value
    ]


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m scripts.on_gpu", description=__doc__)
    parser.add_argument("step", nargs="?", choices=("base", "figures", *STEPS))
    parser.add_argument(
        "--work", type=Path, default=Path("/tmp/on-gpu"), help="folder outside the tree"
    )
    parser.add_argument("--minutes", type=float, help="minutes of the step, instead of its own")
    parser.add_argument("--dry-run", action="store_true", help="all steps, or one, tiny")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="of a dry run")
    flags = parser.parse_args()
    if flags.dry_run and flags.step in STEPS:
        run(Kit(flags.work, MOST_MINUTES, is_dry=True, device=flags.device), flags.step)
    elif flags.dry_run:
        dry_run(flags.work, flags.device)
    elif flags.step == "base":
        fetch(SMOLLM2, given=flags.work / GGUF_FILE)
    elif flags.step == "figures":
        write_figures(flags.work, ASSETS / "results" / "gpu.json")
    elif flags.step is None:
        parser.error("step: must be given without --dry-run")
    else:
        minutes = flags.minutes or STEPS[flags.step][1]
        if not 0 < minutes <= MOST_MINUTES:
            parser.error(f"minutes: must be at most {MOST_MINUTES:g}, got {minutes:g}")
        run(Kit(flags.work, minutes), flags.step)


if __name__ == "__main__":
    main()
