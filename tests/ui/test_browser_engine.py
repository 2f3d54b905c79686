"""The browser's engine under Node decodes an exported folder as sbd_core does, token for token.

Runs what visitors run, the committed bundle, under Node alone: none of its packages is installed.
Tokens, reveals and every other whole number of a trace are equal, entropies and probabilities to
1e-4, and so is the line that opens a run. Where a solver prefers one of two positions
whose scores are equal up to rounding, the two may part; such decodes are counted as ties.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import onnx
import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.loading import load
from sbd_core.models.web_export import export_web
from sbd_core.models.web_folder import PRODUCTS, entry_of
from sbd_core.run_lines import RunLines
from sbd_core.solvers import SOLVERS, EntropyBound, TopK
from sbd_core.tasks import TASKS, held_out
from sbd_core.trace import Trace

ENGINE_TESTS = Path(__file__).parents[2] / "ui" / "web" / "tests" / "engine"
LONGEST = 128
SEED = 0
WAYS = 4
"""Number of ways to decode one prompt; the next prompt takes the next ways."""


def ways(model: HuggingFaceModel) -> list[DecodeConfig]:
    """Every strategy, every solver, and the settings that change what a forward pass does."""
    plain = DecodeConfig(max_new_tokens=LONGEST)
    solvers = [*(rule() for rule in SOLVERS.values()), TopK(3, "entropy"), TopK(3, "margin")]
    blocks = [replace(plain, solver=solver, seed=SEED + 3) for solver in solvers]
    verify = replace(plain, strategy="verify")
    ends = sorted(model.end_token_ids)[:1]
    answer = [*model.encode("The answer is", is_raw=True)]
    pins = dict(enumerate([*answer, *ends], start=3))
    penalised = [
        replace(plain, strategy="ntp"),
        replace(plain, solver=EntropyBound(0.5), pinned=pins),
        replace(verify, max_rows=12),
        replace(verify, max_rows=4),
    ]
    return [
        replace(plain, strategy="ntp"),
        *blocks,
        verify,
        replace(verify, max_rows=7),
        replace(verify, block_size=4),
        replace(verify, max_rows=17),
        replace(plain, solver=EntropyBound(0.5), block_size=7, max_new_tokens=40),
        replace(plain, solver=EntropyBound(0.5), pinned=pins, max_new_tokens=40),
        replace(plain, pinned=dict(enumerate(answer * 8)), block_size=4, max_new_tokens=60),
        replace(plain, is_raw_prompt=True, max_new_tokens=30),
        *(replace(way, repetition_penalty=1.3, max_new_tokens=60) for way in penalised),
    ]


OF_NO_TASK = "Tell me about the sea, 3 trains and a haiku."
"""Its drafts are mostly rejected, so that alternatives and predrafts come to use."""


def prompts(count: int) -> list[str]:
    """Held-out prompts, as many of each task; one that no task has, with odd characters, among
    them."""
    each = -(-count // len(TASKS))
    columns = [held_out(name, each) for name in TASKS]
    found = [example.prompt for row in zip(*columns, strict=True) for example in row]
    return ["Ünïcode ½ \u2028 日本語 🙂 <m> don't  \t 0123\n\n", *found][:count]


def traces(model: HuggingFaceModel, count: int, num_ways: int) -> Iterator[str]:
    """Traces and the line that opens each as JSON; the next prompt has the next num_ways ways."""
    turns = cycle(ways(model))
    cases = [(prompt, way) for prompt in prompts(count) for way in islice(turns, num_ways)]
    rejecting = [way for way in ways(model) if way.strategy == "verify"]
    for prompt, way in [*cases, *((OF_NO_TASK, way) for way in rejecting)]:
        trace = generate(model, prompt, way)
        data = {"trace": json.loads(trace.to_json()), "start": first_line(model, trace)}
        yield json.dumps(data)  # escaped: U+2028 ends a line for Node


def first_line(model: HuggingFaceModel, trace: Trace) -> str:
    """The values that the page is sent before the first forward pass."""
    return RunLines("golden", model.token_text).start(
        trace.prompt,
        [trace.config],
        model=model.name,
        end_token_ids=model.end_token_ids,
        prompt_token_ids=trace.prompt_token_ids,
        shape=model.shape,
    )


def compare(lines: Iterable[str], folder: Path, num_threads: int = 1) -> dict[str, Any]:
    """The verdict of Node: {"cases", "tokens", "ties", "differences": [sentence], "largest"}."""
    words = ["node", str(ENGINE_TESTS / "compare.js"), str(folder), str(num_threads)]
    said = subprocess.run(words, input="".join(f"{line}\n" for line in lines), text=True,
                          stdout=subprocess.PIPE, encoding="utf-8", check=False)  # fmt: skip
    result: dict[str, Any] = json.loads(said.stdout)
    return result


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Nano as browsers have it."""
    out = tmp_path_factory.mktemp("exported") / "nano"
    export_web(None, out)
    return out


@pytest.fixture(scope="module")
def exported() -> HuggingFaceModel:
    """The same numbers in Python."""
    return load(dtype="float32")


@pytest.fixture(scope="module")
def lines(exported) -> list[str]:
    """Lines of enough prompts for every way to be gone once."""
    return list(traces(exported, -(-len(ways(exported)) // WAYS), WAYS))


@needs_node
@pytest.mark.parametrize("num_threads", [1, 2])
def test_tokens_and_reveals_are_those_of_sbd_core(lines, folder, num_threads) -> None:
    given = lines if num_threads == 1 else lines[::-6]  # threads change how, not what
    said = compare(given, folder, num_threads)
    assert said["differences"] == []
    assert said["cases"] == len(given)
    # Positions that are equally good up to rounding are rare.
    assert said["ties"] <= said["cases"] // 20
    assert 0 < said["largest"] < 1e-4


@needs_node
def test_another_model_is_told_apart(exported, folder, tmp_path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    manifest = json.loads((other / "manifest.json").read_text(encoding="utf-8"))
    file = other / manifest["graphs"]["wasm"]["file"]
    graph = onnx.load(file, load_external_data=False)
    norms = [f"layer.{layer}.attention_norm.weight" for layer in (0, 5)]
    one, two = (each for each in graph.graph.initializer if each.name in norms)
    one.name, two.name = two.name, one.name
    onnx.save(graph, file)
    manifest["files"][file.name] = entry_of(file)
    (other / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    said = compare(islice(traces(exported, 2, 3), 6), other)
    assert len(said["differences"]) == said["cases"] == 6


@needs_node
def test_the_engine_decodes_a_model_under_node(folder) -> None:
    words = ["node", "--test", "--disable-warning=ExperimentalWarning", "session.model.js"]
    env = {**os.environ, "SBD_WEB_MODEL": str(folder)}
    said = subprocess.run(words, cwd=ENGINE_TESTS, env=env, capture_output=True, encoding="utf-8")
    assert said.returncode == 0, said.stdout


OPENING = """
import { openFolder } from "./exported.js";
const told = await openFolder(process.argv[1]).then(() => "opened", (error) => error.message);
console.log(told);
process.exit();
"""


def opened(folder: Path) -> str:
    """The words of Node on opening an exported folder."""
    words = ["node", "--input-type=module", "-e", OPENING, str(folder)]
    said = subprocess.run(words, cwd=ENGINE_TESTS, capture_output=True, encoding="utf-8")
    return said.stdout.strip() or said.stderr


@needs_node
def test_products_of_int8_are_tried_out_at_opening(tmp_path) -> None:
    folder = tmp_path / "web"
    export_web(None, folder, dtype="int8")
    assert opened(folder) == "opened"
    file, manifest = folder / PRODUCTS, folder / "manifest.json"
    graph = onnx.load(file)
    [middle] = [each for each in graph.graph.initializer if each.name == "middle.float"]
    middle.float_data[0] += 1  # the products differ from it now
    onnx.save(graph, file)
    data = json.loads(manifest.read_text(encoding="utf-8"))
    data["files"][PRODUCTS] = entry_of(file)
    manifest.write_text(json.dumps(data), encoding="utf-8")
    assert opened(folder).startswith("This browser’s products of 8-bit integers are not exact")
