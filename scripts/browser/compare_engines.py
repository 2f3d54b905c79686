"""Decodes the same prompts in Python and in the browser's engine under Node, and compares all.

python -m scripts.browser.compare_engines                     600 prompts, every way of decoding
python -m scripts.browser.compare_engines --prompts 24 --ways 4

Tokens, reveals and every other whole number of a trace must be equal, entropies and probabilities
to 1e-4, and so must the wire lines that the page reads. Where a solver prefers one of two positions
whose scores are equal up to rounding, the two may part; such decodes are counted as ties. --wasm
says which of the two compiled files decodes; a browser takes sbd-fma.wasm where it can. The last
line is one JSON object; --out writes it too.
Exit status: 0 all equal, 1 not, 2 no Node.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import Any

import sbd_core
from sbd_core.circumstances import circumstances
from sbd_core.config import SOLVERS, DecodeConfig, EntropyBound, TopK
from sbd_core.decoding.api import generate
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.threads import choose_threads
from sbd_core.package.files import write_text
from sbd_core.replay.wire_format import RunWire
from sbd_core.tasks import TASKS, held_out
from sbd_core.trace import Trace
from scripts.browser.build_wasm import FILES

ROOT = Path(__file__).parents[2]
COMPARE = ROOT / "ui" / "web" / "tests" / "engine" / "compare.js"
RELAXED_SIMD = "--experimental-wasm-relaxed-simd"
"""What older Nodes must be told to run sbd-fma.wasm; newer ones do not know it."""
LONGEST = 128
SEED = 0
CHECKPOINT = "checkpoint"
"""The model's name in wire lines, as compare.js has it."""


def ways(model: HuggingFaceModel) -> list[DecodeConfig]:
    """Every strategy, every solver, and the settings that change what a forward pass does."""
    plain = DecodeConfig(max_new_tokens=LONGEST)
    solvers = [*(rule() for rule in SOLVERS.values()), TopK(3, "entropy"), TopK(3, "margin")]
    blocks = [replace(plain, solver=solver, seed=SEED + 3) for solver in solvers]
    verify = replace(plain, strategy="verify")
    ends = sorted(model.end_token_ids)[:1]
    answer = [*model.encode("The answer is", is_raw=True)]
    pins = dict(enumerate([*answer, *ends], start=3))
    return [
        replace(plain, strategy="ntp"),
        *blocks,
        verify,
        replace(verify, num_predrafts=2, draft_threshold=0.3),
        replace(plain, solver=EntropyBound(0.5), block_size=7, max_new_tokens=40),
        replace(plain, solver=EntropyBound(0.5), pinned=pins, max_new_tokens=40),
        replace(plain, pinned=dict(enumerate(answer * 8)), block_size=4, max_new_tokens=60),
        replace(plain, strategy="ntp", temperature=0.7, seed=SEED + 5),
        replace(plain, temperature=0.7, seed=SEED + 6),
        replace(verify, temperature=0.7, seed=SEED + 7, num_predrafts=1),
        replace(plain, is_raw_prompt=True, max_new_tokens=30),
    ]


def prompts(count: int) -> list[str]:
    """Held-out prompts, as many of each task; one that no task has, with odd characters, among
    them."""
    each = -(-count // len(TASKS))
    columns = [held_out(name, each) for name in TASKS]
    found = [example.prompt for row in zip(*columns, strict=True) for example in row]
    return ["Ünïcode ½ \u2028 日本語 🙂 <m> don't  \t 0123\n\n", *found][:count]


def traces(model: HuggingFaceModel, count: int, num_ways: int | None) -> Iterator[str]:
    """Traces with their wire lines as JSON; num_ways of each prompt, other ones for the next."""
    known = ways(model)
    turn = 0
    for prompt in prompts(count):
        for _ in range(num_ways or len(known)):
            trace = generate(model, prompt, known[turn % len(known)])
            data = {"trace": json.loads(trace.to_json()), "wire": wire_lines(model, trace)}
            yield json.dumps(data)  # escaped: U+2028 ends a line for Node
            turn += 1


def wire_lines(model: HuggingFaceModel, trace: Trace) -> list[str]:
    """What the page is sent of a trace's start and forward passes."""
    wire = RunWire("golden", model.token_text, model.shape)
    start = wire.start(
        trace.prompt,
        trace.config,
        [trace.config.strategy],
        model=CHECKPOINT,
        end_token_ids=model.end_token_ids,
        prompt_token_ids=trace.prompt_token_ids,
    )
    return [start, *(wire.step(trace.config.strategy, event) for event in trace.events)]


def node_flags() -> list[str]:
    """What Node must be told to run each compiled file."""
    words = ["node", "--v8-options"]
    known = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return [RELAXED_SIMD] if RELAXED_SIMD in known else []


def compare(
    lines: Iterable[str], folder: Path | None = None, wasm: str = "sbd-fma.wasm"
) -> dict[str, Any]:
    """What Node says: {"cases", "tokens", "ties", "differences": [sentence], "largest"}.

    lines: those of traces(). folder: the model that made them; default: the bundled checkpoint.
    """
    words = ["node", *node_flags(), str(COMPARE), str(folder or DEFAULT_CHECKPOINT), wasm]
    node = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert node.stdin is not None
    assert node.stdout is not None
    try:
        for line in lines:
            node.stdin.write(line + "\n")
    except BrokenPipeError:
        pass  # it ended early; what it said says why
    said = node.communicate()[0]
    result: dict[str, Any] = json.loads(said)
    return result


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="model folder; default: the bundled checkpoint")
    parser.add_argument("--prompts", type=int, default=600, help="how many (default %(default)s)")
    parser.add_argument("--ways", type=int, help="ways of decoding each prompt; default: all")
    parser.add_argument("--wasm", choices=FILES, default="sbd-fma.wasm", help="compiled file")
    parser.add_argument("--out", type=Path, help="write the JSON object to this file too")
    flags = parser.parse_args()
    if which("node") is None:
        print("compare_engines: needs Node, which is not on the PATH", file=sys.stderr)
        return 2
    model = sbd_core.load(flags.model, device="cpu", dtype="float32", native=False)
    choose_threads(model.num_parameters)
    said = compare(traces(model, flags.prompts, flags.ways), model.folder, flags.wasm)
    asked = {"model": model.name, "wasm": flags.wasm, "prompts": flags.prompts}
    result = {**asked, **said, **circumstances(model.folder)}
    for difference in said["differences"][:20]:
        print(difference[:1000])
    if flags.out:
        write_text(flags.out, json.dumps(result, indent=1) + "\n")
    result["differences"] = len(said["differences"])
    print(json.dumps(result))
    return 1 if said["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())
