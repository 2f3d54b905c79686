"""The figures: every number in them is counted from the Trace, token texts stay text."""

import csv
import json
import math
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import plotly.graph_objects as go
import pytest

from sbd_core import plots
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate, make_trace
from sbd_core.errors import ArgumentError
from sbd_core.events import Hindsight, Span, StepEvent
from sbd_core.plots import solvers, theme
from sbd_core.plots.roofline import BLOCK_SIZES, KV_LENGTHS, NFE_SPEEDUPS
from sbd_core.plots.solver_curves import SYMBOLS, CurvePoint, RunMark, curves, dominated
from sbd_core.plots.theme import token_name
from sbd_core.plots.trace_figures import agreements, entropies_at_reveal, joint_reveals
from sbd_core.roofline import DEVICES, H100_FP8, speedup
from sbd_core.solvers import SOLVER_TITLES, SOLVERS, EntropyBound
from sbd_core.trace import Trace
from scripts.write_tables import accuracy_at_speed
from tests.ui.doubles import story_model
from tests.ui.events import block_pass, prefill
from ui.views.charts import card_words, sweep

FIGURES = (
    plots.entropy_heatmap,
    plots.tokens_per_forward_pass,
    plots.entropy_at_reveal,
    plots.hindsight,
    plots.cost_of_parallelism,
)
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
HOSTILE = ["<b>bold</b>", "<a href='javascript:1'>x</a>", "%{x}", "&lt;i&gt;", "\u202e", "$x$"]


def run(pieces=None, **settings) -> Trace:
    model = story_model(pieces) if pieces else story_model()
    settings = {"solver": EntropyBound(0.35), "max_new_tokens": 96, **settings}
    return generate(model, "p", DecodeConfig(**settings))


def two_names(after: float = 0.01) -> Trace:
    """Two tokens landed at once, each 0.5 likely; together they are 0.5 * `after` likely."""
    half = {7: 0.5, 8: 0.5}
    read = (Hindsight(0, 7, 0.5, 7, 0.5), Hindsight(1, 8, after, 7, 0.99))
    events = [
        prefill(),
        block_pass(1, Span(0, 2), {0: (0.7, half), 1: (0.7, half)}, {0: 7, 1: 8}, (7, 8)),
        block_pass(2, Span(2, 2), {2: (0.1, half), 3: (0.1, half)}, {2: 7, 3: 7}, (7, 7), read),
    ]
    return make_trace(story_model(), "p", (0,), DecodeConfig(max_new_tokens=4), events)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return run()


@pytest.fixture(params=["sbd", "verify", "ntp"])
def any_trace(request) -> Trace:
    solver = {} if request.param == "sbd" else {"solver": EntropyBound()}
    return run(strategy=request.param, **solver)


def data_of(figure) -> list[dict]:
    return json.loads(figure.to_json())["data"]


def test_the_heatmap_holds_every_masked_position_and_every_reveal(trace):
    heatmap, dots = data_of(plots.entropy_heatmap(trace))
    cells = {
        (x, y + 1): value
        for y, row in enumerate(heatmap["z"])
        for x, value in enumerate(row)
        if value is not None
    }
    assert cells == {
        (item.position, event.index + 1): theme.unsureness(item.entropy)
        for event in trace.events
        for item in event.masked
    }
    landed = [(r.position, event.index + 1) for event in trace.events for r in event.reveals]
    assert list(zip(dots["x"], dots["y"], strict=True)) == landed


def test_entropy_at_reveal_is_that_of_the_pass_that_revealed(trace):
    rows = entropies_at_reveal(trace)
    assert len(rows) == sum(len(event.reveals) for event in trace.events)
    for position, number, entropy, token_id in rows:
        event = trace.events[number - 1]
        assert entropy in [item.entropy for item in event.masked if item.position == position]
        assert token_id in [r.token_id for r in event.reveals if r.position == position]
    [dots] = data_of(plots.entropy_at_reveal(trace))
    assert dots["y"] == [theme.unsureness(entropy) for _, _, entropy, _ in rows]


def test_agreement_knows_what_was_read_again_and_what_not():
    _, first, last = agreements(two_names())
    assert (first.same, first.other, first.unread) == ((7,), (8,), ())
    assert (last.same, last.other, last.unread) == ((), (), (7, 7))


def test_the_cost_of_two_names_at_once_is_the_ratio_of_the_probabilities():
    [row] = joint_reveals(two_names())
    assert (row.pass_number, row.positions, row.token_ids) == (2, (0, 1), (7, 8))
    assert math.exp(row.separate) == pytest.approx(0.25)
    assert math.exp(row.joint) == pytest.approx(0.005)
    assert math.exp(row.cost) == pytest.approx(50)
    _, separate, joint = data_of(plots.cost_of_parallelism(two_names()))
    assert separate["x"] == [pytest.approx(math.log10(0.25))]
    assert joint["x"] == [pytest.approx(math.log10(0.005))]
    assert "50 times less likely together" in joint["text"][0]


def test_gambles_come_widest_gap_first_and_hold_no_pass_of_one(trace):
    rows = joint_reveals(trace)
    assert rows
    gaps = [abs(row.cost) for row in rows]
    assert gaps == sorted(gaps, reverse=True)
    assert all(len(row.token_ids) > 1 for row in rows)


def test_verify_reads_nothing_again_and_its_marks_coincide_as_the_charts_say():
    verified = run(strategy="verify", solver=EntropyBound())
    assert not any(row.unread or row.other for row in agreements(verified))
    assert joint_reveals(verified)
    assert {row.cost for row in joint_reveals(verified)} == {0.0}
    masked = {(item.position, event.index) for event in verified.events for item in event.masked}
    revealed = {(item.position, event.index) for event in verified.events for item in event.reveals}
    assert revealed - masked


def test_a_probability_of_nought_is_drawn_at_the_edge_and_said_to_be():
    read = (Hindsight(0, 7, 0.5, 7, 0.5), Hindsight(1, 8, 0.0, 7, 1.0))
    events = list(two_names().events)
    half = {7: 0.5, 8: 0.5}
    events[2] = block_pass(2, Span(2, 1), {2: (0.1, half)}, {2: 7}, (7,), read)
    trace = make_trace(story_model(), "p", (0,), DecodeConfig(max_new_tokens=4), events)
    figure = plots.cost_of_parallelism(trace)
    _, _, joint = data_of(figure)
    [edge] = joint["x"]
    assert edge == figure.layout.xaxis.range[0] == figure.layout.xaxis.tickvals[-1]
    assert figure.layout.xaxis.ticktext[-1] == f"≤ 10<sup>{edge}</sup>"
    assert "in hindsight 0 % (below the axis, drawn at its end)" in joint["text"][0]
    assert "more than" in joint["text"][0]
    words = next(card for card in card_words() if card["id"] == "cost-of-parallelism")["words"]
    assert f"“≤ 10{str(edge).translate(RAISED)}”" in words


def test_the_chart_of_solvers_says_its_block_size_and_which_runs_are_strokes():
    words = next(card for card in card_words() if card["id"] == "solvers")["words"]
    assert f"in blocks of {sweep()['block_size']}:" in words
    assert "not runs made to be timed" in words
    assert "{" not in words


def test_every_figure_is_plotlys_with_an_id_of_its_own(any_trace):
    """Plotly's own schema refuses a field that it does not know, or a value that it cannot draw."""
    for trace in (any_trace, two_names()):
        made = [make(trace) for make in FIGURES]
        assert all(isinstance(figure, go.Figure) for figure in made)
        assert len({figure.layout.meta["id"] for figure in made}) == len(made)


def test_an_empty_trace_has_figures_too():
    empty = make_trace(story_model(), "p", (0,), DecodeConfig(), [])
    for make in FIGURES:
        assert make(empty, "dark").layout.paper_bgcolor == theme.DARK.card


def test_a_run_too_long_for_a_heatmap_is_refused_in_words():
    far = StepEvent(0, "decode", 0, 0, Span(0, 300_000), (), (), (), (), (), 0.0)
    trace = make_trace(story_model(), "p", (0,), DecodeConfig(), [far])
    with pytest.raises(ArgumentError, match="trace: must have at most 250,000 cells"):
        plots.entropy_heatmap(trace)


@pytest.mark.parametrize("wrong", ["blue", None, 3, []])
def test_a_theme_that_is_none_is_refused(trace, wrong):
    for make in FIGURES:
        with pytest.raises(ArgumentError, match="theme: must be one of light, dark"):
            make(trace, wrong)


def test_no_token_text_is_markup():
    trace = run(HOSTILE * 4)
    for make in FIGURES:
        text = json.dumps(make(trace).to_plotly_json(), separators=(",", ":"))
        tags = set(re.findall(r"<(/?\w+)", text))
        assert tags <= {"br", "b", "/b", "sup", "/sup", "extra", "/extra"}
        assert "<b>bold" not in text
        for template in re.findall(r'"hovertemplate":"(.*?)"', text):
            assert "bold" not in template


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" cat", "·cat"),
        ("a b ", "a b·"),
        ("  ", "··"),
        ("\n", "⏎"),
        ("", "∅"),
        ("\u202ex", "U+202Ex"),
        ("x" * 40, "x" * 23 + "…"),
    ],
)
def test_what_cannot_be_seen_has_a_mark(text, shown):
    assert token_name(text) == shown


def test_without_plotly_one_line_says_what_to_install():
    code = "import sys; sys.modules['plotly'] = None\n"
    code += "import sbd_core\ntry: sbd_core.plots\nexcept ImportError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == 'plotly is not installed: pip install "sbd-core[plots]"\n'


def row(accuracy: float, speed: float) -> dict:
    return {"mean": {"accuracy": accuracy, "tokens_per_forward": speed}}


ROWS = {
    "NTP": row(0.9, 1.0),
    "entropy-bound 0.1": row(0.8, 3.0),
    "entropy-bound 0.5": row(0.6, 5.0),
    "entropy-bound 0": row(0.85, 1.0),
    "top-k 2": row(0.5, 2.0),
}


@pytest.mark.parametrize(
    ("speed", "expected"), [(1, 0.85), (2, 0.825), (3, 0.8), (4, 0.7), (5, 0.6), (5.1, None)]
)
def test_accuracy_at_a_speed_lies_between_its_neighbours(speed, expected) -> None:
    found = accuracy_at_speed(curves(ROWS)["entropy-bound"], speed)
    assert found == (None if expected is None else pytest.approx(expected))
    assert accuracy_at_speed([CurvePoint("1", 0.5, 1.0)], 1) is None, "one setting is no curve"


def test_the_chart_draws_each_curve_by_speed_and_next_token_prediction() -> None:
    bound, top, ntp = solvers({"rows": ROWS}).data
    assert bound["x"] == (1.0, 3.0, 5.0)
    assert bound["y"] == (85.0, 80.0, 60.0)
    assert bound["text"] == ("0", "0.1", "0.5")
    assert (top["name"], ntp["name"]) == ("Top-k", "Next-token prediction")
    assert ntp["y"] == (90.0,)
    assert len({line["marker"]["symbol"] for line in (bound, top, ntp)}) == 3


def test_a_solver_is_pale_if_another_is_as_right_and_as_quick_at_every_setting() -> None:
    assert dominated(curves(ROWS)) == {"top-k"}
    assert dominated(curves({"a 1": row(0.5, 2.0), "b 1": row(0.5, 2.0)})) == set()
    assert dominated(curves({"a 1": row(0.5, 2.0), "b 1": row(0.6, 1.0)})) == set()
    both = {"a 1": row(0.1, 1.0), "a 9": row(0.1, 9.0), "b 9": row(0.1, 9.0)}
    assert dominated(curves({**both, "c 1": row(0.5, 2.0)})) == {"a"}, "alike at 9, outdone at 1"
    bound, top, _ = solvers({"rows": ROWS}).data
    assert top["opacity"] < bound["opacity"] == 1


def test_every_line_is_named_and_no_name_stands_on_another() -> None:
    rows = {"NTP": row(0.9, 1.0), **{f"{name} 1": row(0.5, 2.0) for name in SOLVERS}}
    labels = solvers({"rows": rows}).layout.annotations
    assert {label.text for label in labels} == {"Next-token prediction", *SOLVER_TITLES.values()}
    heights = sorted(label.ay for label in labels if label.showarrow)
    gaps = [b - a for a, b in pairwise(heights)]
    assert min(gaps) > 0.04 * (90 - 50)


def test_the_readers_runs_are_marked_by_their_speed() -> None:
    runs = [RunMark("<b>x</b>", 4.5, True), RunMark("top-k", 2.0)]
    *lines, own = solvers({"rows": ROWS}, runs=runs).data
    assert own["x"] == (4.5, 2.0)
    assert "&lt;b&gt;" in own["text"][0]
    assert own["text"][0].endswith("right")
    assert own["y"][0] < min(min(line["y"]) for line in lines)
    assert own["marker"]["symbol"] not in SYMBOLS, "no line has the mark of a run"
    assert len(solvers({"rows": ROWS}).data) == len(lines)


def test_verify_has_a_mark_where_the_file_has_its_row() -> None:
    *_, ntp, verify = solvers({"rows": {**ROWS, "verify": row(0.9, 4.0)}}).data
    assert (ntp["name"], verify["name"]) == ("Next-token prediction", "Exact (verify)")
    assert (verify["x"], verify["y"]) == ((4.0,), (90.0,))
    assert ntp["marker"]["symbol"] != verify["marker"]["symbol"]


@pytest.mark.parametrize("wrong", [{}, {"rows": {}}, {"rows": {"SBD": {}}}, [], None])
def test_results_that_are_no_sweep_are_refused(wrong) -> None:
    with pytest.raises(ArgumentError, match="results: must be those of a sweep"):
        solvers(wrong)


TABLE = Path(__file__).parents[1] / "golden" / "table3_slowdown.csv"


@pytest.mark.parametrize("batch_size", [1, 4, 8, 16])
def test_the_published_heatmap_is_the_papers_table_3(batch_size) -> None:
    point = plots.RooflinePoint(device=H100_FP8, batch_size=batch_size)
    values = plots.slowdown_table(point, "published").data[0].z
    rows = [row for row in csv.DictReader(TABLE.open()) if int(row["batch_size"]) == batch_size]
    assert len(rows) == len(BLOCK_SIZES) * len(KV_LENGTHS)
    for row in rows:
        length = KV_LENGTHS.index(int(row["kv_length"]))
        cell = values[length][BLOCK_SIZES.index(int(row["block_size"]))]
        assert f"{cell:.3f}" == row["slowdown"]


def test_the_speedup_heatmap_is_equation_16() -> None:
    point = plots.RooflinePoint(device=DEVICES["a100-bf16"], block_size=4, batch_size=8)
    values = plots.speedup_table(point, "corrected").data[0].z
    gains = [gain for gain in NFE_SPEEDUPS if gain <= 4]
    assert len(values[0]) == len(gains)
    for row, length in zip(values, KV_LENGTHS, strict=True):
        for cell, gain in zip(row, gains, strict=True):
            expected = speedup(4, gain, length, 8, "corrected", device=DEVICES["a100-bf16"])
            assert cell == pytest.approx(expected, abs=5e-4)


def test_the_readers_point_is_framed_and_starred() -> None:
    point = plots.RooflinePoint(device=H100_FP8, block_size=9, kv_length=5000)
    [frame] = plots.slowdown_table(point, "corrected").layout.shapes
    assert (frame.x0 + 0.5, frame.y0 + 0.5) == (BLOCK_SIZES.index(8), KV_LENGTHS.index(4096))
    star = plots.slowdown_curve(point, {1: 1.0, 8: 4.0}).data[-1]
    assert star.x == (9,)
    measured = plots.slowdown_curve(point, {1: 1.0, 8: 4.0}).data[-2]
    assert list(measured.y) == [1.0, 4.0]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("block_size", 0), ("kv_length", -1), ("batch_size", 1.5), ("tokens_per_forward", 17)],
)
def test_a_point_that_makes_no_sense_is_refused(name, wrong) -> None:
    with pytest.raises(ArgumentError, match=name):
        plots.RooflinePoint(device=H100_FP8, **{name: wrong})
    with pytest.raises(ArgumentError, match="tokens_per_forward"):
        plots.RooflinePoint(device=H100_FP8, tokens_per_forward=0)
