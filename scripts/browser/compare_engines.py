"""Decodes the same prompts in Python and in the browser's engine under Node, and compares all.

python -m scripts.browser.compare_engines                     600 prompts, every way of decoding
python -m scripts.browser.compare_engines --each-strategy     600 prompts, three ways each
python -m scripts.browser.compare_engines --prompts 24 --ways 4

Tokens, reveals and every other whole number of a trace must be equal, entropies and probabilities
to 1e-4, and so must the wire lines that the page reads. Where a solver prefers one of two positions
whose scores are equal up to rounding, the two may part; such decodes are counted as ties. --wasm
says which of the compiled files decodes; a browser takes sbd-fma.wasm where it can. The last
line is one JSON object; --out writes it too.
Exit status: 0 all equal, 1 not, 2 no Node.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from shutil import which
from typing import Any

import sbd_core
from sbd_core.config import SOLVERS, DecodeConfig, EntropyBound, TopK
from sbd_core.decoding.api import generate
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.threads import choose_threads
from sbd_core.replay.wire_format import RunWire
from sbd_core.tasks import TASKS, held_out
from sbd_core.trace import Trace
from scripts.browser.build_wasm import FILES
from scripts.browser.node import node_flags, node_version
from scripts.browser.report import parser_of, report

ROOT = Path(__file__).parents[2]
COMPARE = ROOT / "ui" / "web" / "tests" / "engine" / "compare.js"
LONGEST = 128
EACH_STRATEGY = -1
SEED = 0
MOST_TOLD = 100
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


def chosen_ways(model: HuggingFaceModel, num_ways: int | None) -> Iterator[list[DecodeConfig]]:
    """How each prompt is decoded, other ways for the next: num_ways of all, None for all of them.

    EACH_STRATEGY: one way of each strategy.
    """
    known = ways(model)
    if num_ways == EACH_STRATEGY:
        strategies = dict.fromkeys(way.strategy for way in known)
        turns = [cycle([way for way in known if way.strategy == name]) for name in strategies]
    else:
        turns = [cycle(known)] * (num_ways or len(known))
    while True:
        yield [next(turn) for turn in turns]


def traces(model: HuggingFaceModel, count: int, num_ways: int | None) -> Iterator[str]:
    """Traces with their wire lines as JSON. num_ways: see chosen_ways."""
    for prompt, chosen in zip(prompts(count), chosen_ways(model, num_ways), strict=False):
        for way in chosen:
            trace = generate(model, prompt, way)
            data = {"trace": json.loads(trace.to_json()), "wire": wire_lines(model, trace)}
            yield json.dumps(data)  # escaped: U+2028 ends a line for Node


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
    parser = parser_of(__doc__)
    parser.add_argument("--prompts", type=int, default=600, help="how many (default %(default)s)")
    how_many = parser.add_mutually_exclusive_group()
    how_many.add_argument("--ways", type=int, help="ways of decoding each prompt; default: all")
    how_many.add_argument(
        "--each-strategy", dest="ways", action="store_const", const=EACH_STRATEGY,
        help="decode each prompt by each strategy, with each of its solvers in turn",
    )  # fmt: skip
    parser.add_argument("--wasm", choices=FILES, default="sbd-fma.wasm", help="compiled file")
    flags = parser.parse_args()
    if which("node") is None:
        print("compare_engines: needs Node, which is not on the PATH", file=sys.stderr)
        return 2
    model = sbd_core.load(flags.model, device="cpu", dtype="float32", native=False)
    choose_threads(model.num_parameters)
    said = compare(traces(model, flags.prompts, flags.ways), model.folder, flags.wasm)
    differences = [difference[:1000] for difference in said["differences"]]
    print("\n".join(differences[:20]))
    asked = {"model": model.name, "wasm": flags.wasm, "prompts": flags.prompts}
    counts = {"num_differences": len(differences), "differences": differences[:MOST_TOLD]}
    versions = {"node": node_version()}
    return report({**asked, **said, **counts}, flags, versions, is_met=not differences)


if __name__ == "__main__":
    sys.exit(main())
