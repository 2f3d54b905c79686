"""The page's scripts know the constants of Python, and read a run as Python does."""

import json
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from sbd_core import DecodeConfig, generate, plots, roofline
from sbd_core.config import decode_settings
from sbd_core.cost import ForwardCost
from sbd_core.masks import decoding_mask
from sbd_core.run_lines import replay_lines
from sbd_core.solvers import EntropyBound
from sbd_core.trace import Trace
from scripts import web_constants, write_tables
from scripts.web_constants import LINK_FIELDS
from scripts.write_views import charts, device_data
from tests.core.decoding.doubles import used_alternative
from tests.ui.doubles import story_model
from ui.decode.form import LABELS, Form
from ui.server import DECODE_SIGNATURE


def test_the_committed_constants_are_what_python_says():
    assert json.loads(web_constants.FILE.read_text("utf-8")) == json.loads(
        json.dumps(web_constants.constants())
    )


def test_every_setting_of_the_page_is_known_to_the_form_its_links_and_the_api():
    places = {
        "the form's errors": LABELS,
        "links": LINK_FIELDS.values(),
        "the API": DECODE_SIGNATURE.parameters,
    }
    names = [item["name"] for item in decode_settings() if item["link"]]
    assert len(names) == 13
    for name in names:
        assert [place for place, known in places.items() if name not in known] == [], name
        assert name in Form("p", **{name: 1}).settings


NODE = shutil.which("node")
DIST = Path(__file__).parents[2] / "assets" / "dist"
RUN = """
import { readFileSync } from "node:fs";
import {
  costOf, entropyHeatmap, History, maskOf, rowsOf, slowdownCurve, solverChart, tokensPerPass,
  traceText,
} from "./page.js";

const history = new History();
history.accept(readFileSync(0, "utf8"));
const { run } = history;
"""
MASKS = """
const masks = run.main.steps.map((_, pass) => {
  const { numCached, visible } = maskOf(run, pass);
  const keys = Array.from({ length: numCached + visible.length }, (_, key) => key);
  const rows = visible.map(({ seen, first, stop }) =>
    keys.map((key) => key - numCached).map((own) => own < seen || (own >= first && own < stop)),
  );
  const read = rowsOf(run, pass);
  return { rows, read: read.map(({ token, isMask }) => (isMask ? null : token)) };
});
console.log(JSON.stringify(masks));
"""
TRACES = """
const found = [...run.lanes.values()].map((lane) => {
  const numPrompt = run.promptIds.length;
  const costs = lane.steps.map((step, pass) =>
    costOf(run.shape, step, lane.name, numPrompt),
  );
  return {
    trace: traceText(run, lane),
    costs: costs.map((cost) => [cost.rows, cost.flops, cost.weightBytes, cost.cacheBytes]),
  };
});
console.log(JSON.stringify(found));
"""


def said_by_node(script: str, lines: str) -> Any:
    """Run a script over the `run` of these lines; returns what it prints."""
    assert NODE is not None
    words = [NODE, "--no-warnings", "--input-type=module", "--eval", RUN + script]
    done = subprocess.run(words, cwd=DIST, input=lines, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


SETTINGS: dict[str, dict] = {
    "ntp": {"strategy": "ntp"},
    "sbd": {"strategy": "sbd", "solver": EntropyBound(6.0), "block_size": 8},
    "verify": {"strategy": "verify", "max_rows": 12, "block_size": 8},
    "alternatives": {"strategy": "verify", "block_size": 4},
}


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
@pytest.mark.parametrize("name", SETTINGS)
def test_the_mask_from_the_trace_is_that_of_every_forward_pass(llama, name) -> None:
    given = []
    forward_batch = llama.forward_batch

    def remembering(requests):
        for request in requests:
            mask = decoding_mask(
                request.cache.length,
                len(request.causal_ids),
                len(request.block_ids),
                request.predraft_shapes,
            )
            ids = [None if i == llama.mask_token_id else i for i in request.token_ids]
            given.append({"rows": mask.int().tolist(), "read": ids})
        return forward_batch(requests)

    llama.forward_batch = remembering
    try:
        config = DecodeConfig(max_new_tokens=40, **SETTINGS[name])
        trace = generate(llama, "some other words", config)
    finally:
        del llama.forward_batch
    found = said_by_node(MASKS, replay_lines("r", {config.strategy: trace}))
    assert len(found) == len(given) > 2
    for pass_index, (mine, wanted) in enumerate(zip(found, given, strict=True)):
        assert mine["rows"] == wanted["rows"], pass_index
        assert mine["read"] == wanted["read"], pass_index
    if config.strategy == "verify":
        assert any(event.predrafts for event in trace.events)
    if name == "alternatives":
        assert used_alternative(trace)


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
@pytest.mark.parametrize("name", ["sbd", "verify", "alternatives"])
def test_the_trace_that_is_saved_and_its_costs_are_those_of_the_decode(llama, name) -> None:
    config = DecodeConfig(max_new_tokens=40, **SETTINGS[name])
    plain = DecodeConfig(strategy="ntp", max_new_tokens=40)
    traces = [generate(llama, "a <few> words", each) for each in (config, plain)]
    lines = replay_lines("r", {trace.config.strategy: trace for trace in traces})
    found = said_by_node(TRACES, lines)
    assert [Trace.from_json(each["trace"]) for each in found] == traces
    for each, trace in zip(found, traces, strict=True):
        assert [ForwardCost(*cost) for cost in each["costs"]] == list(trace.costs)


FIGURES = """
const marks = [{ name: "a <b>", rate: 2.5, right: true }, { name: "c", rate: 1, right: null }];
const shapes = { published: LAYERS.published, corrected: LAYERS.corrected };
const setup = { shapes, device: DEVICE, cache: 300, batch: 2 };
const timed = { name: "timed", seconds: { 1: 0.5, 2: 0.75 } };
const figures = [
  entropyHeatmap(run), tokensPerPass(run), solverChart(SWEEP, []),
  solverChart(SWEEP, marks), slowdownCurve(9, setup, timed),
];
const drawn = [false, true].map((isDark) =>
  figures.map(({ draw }) => draw({ isDark, isNarrow: false })),
);
console.log(JSON.stringify(drawn));
"""


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
@pytest.mark.parametrize("name", ["ntp", "sbd", "verify"])
def test_the_figures_of_the_page_are_those_of_python(name) -> None:
    trace = generate(story_model(), "p", DecodeConfig(max_new_tokens=60, **SETTINGS[name]))
    results = write_tables.results("sweep")
    device = roofline.DEVICES["h100-fp8"]
    layers = {"published": roofline.LLAMA_8B_PUBLISHED, "corrected": roofline.LLAMA_8B}
    given = {
        "SWEEP": charts()["sweep"],
        "DEVICE": device_data(device),
        "LAYERS": {mode: {**asdict(layer), "num_layers": 1} for mode, layer in layers.items()},
    }
    known = "".join(f"const {key} = {json.dumps(value)};" for key, value in given.items())
    found = said_by_node(known + FIGURES, replay_lines("r", {name: trace}))
    for theme, (*drawn, marked, curve) in zip(("light", "dark"), found, strict=True):
        wanted = [
            plots.entropy_heatmap(trace, theme),
            plots.tokens_per_forward_pass(trace, theme),
            plots.solvers(results, theme),
        ]
        for mine, figure in zip(drawn, wanted, strict=True):
            data = json.loads(figure.to_json())
            for only_of_python in ("meta", "template"):
                data["layout"].pop(only_of_python)
            if "z" in data["data"][0]:
                data["data"][0]["text"] = [[*map(likely, row)] for row in data["data"][0]["text"]]
            assert_close(mine, data)
        *others, own = marked["data"]
        assert len(others) == len(drawn[-1]["data"])
        assert own["x"] == [2.5, 1]
        assert "a &lt;b&gt;" in own["text"][0]
        assert own["y"][0] < min(min(line["y"]) for line in others)
        for line, mode in zip(curve["data"], ("published", "corrected"), strict=False):
            times = [roofline.slowdown(n, 300, 2, mode, device=device) for n in line["x"]]
            assert_close(line["y"], [round(time, 4) for time in times])
        assert [each["name"] for each in curve["data"][2:]] == ["timed", "your block"]


def likely(text: str) -> str:
    """The note on a cell without the tokens, after the first, that the page would read as 0.0 %."""
    entropy, *tops = text.split("<br>")
    kept = [top for top in tops if top is tops[0] or float(top.split(" %")[0]) >= 0.05]
    return "<br>".join([entropy, *kept])


def assert_close(found: Any, wanted: Any) -> None:
    """Assert that two pieces of JSON are equal, numbers but for rounding."""
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for key, value in wanted.items():
            assert_close(found[key], value)
    elif isinstance(wanted, list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_close(one, other)
    else:
        is_number = type(wanted) in (int, float)
        assert found == (pytest.approx(wanted) if is_number else wanted)
