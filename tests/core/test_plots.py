"""The figures: every number in them is counted from the Trace, token texts stay text."""

import json
import re

import plotly.graph_objects as go
import pytest

from sbd_core import plots
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate, make_trace
from sbd_core.errors import ArgumentError
from sbd_core.events import Hindsight, Span, StepEvent
from sbd_core.plots import solvers, theme
from sbd_core.plots.solver_curves import CurvePoint, curves
from sbd_core.plots.theme import token_name
from sbd_core.plots.trace_figures import agreements
from sbd_core.solvers import SOLVER_SOURCES, SOLVER_TITLES, SOLVERS, EntropyBound
from sbd_core.trace import Trace
from scripts.write_tables import accuracy_at_speed
from tests.core.cli.commands import python
from tests.ui.doubles import story_model
from tests.ui.events import block_pass, prefill

FIGURES = (plots.entropy_heatmap, plots.tokens_per_forward_pass)
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


def test_agreement_knows_what_was_read_again_and_what_not():
    _, first, last = agreements(two_names())
    assert first == {"same": (7,), "other": (8,), "unread": ()}
    assert last == {"same": (), "other": (), "unread": (7, 7)}


def test_the_bars_of_a_pass_are_its_tokens_by_their_agreement(trace):
    bars = data_of(plots.tokens_per_forward_pass(trace))
    assert [bar["name"] for bar in bars] == ["the same token", "another token", "not read again"]
    counts = [sum(each) for each in zip(*(bar["y"] for bar in bars), strict=True)]
    assert counts == [len(event.reveals) for event in trace.events]
    assert all(sum(bar["y"]) for bar in bars[::2])


def test_verify_reads_nothing_again_and_has_dots_without_a_colour_as_the_charts_say():
    verified = run(strategy="verify", solver=EntropyBound())
    assert not any(row["unread"] or row["other"] for row in agreements(verified))
    masked = {(item.position, event.index) for event in verified.events for item in event.masked}
    revealed = {(item.position, event.index) for event in verified.events for item in event.reveals}
    assert revealed - masked


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
    assert python(code).stdout == 'plotly is not installed: pip install "sbd-core[plots]"\n'


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


def test_the_chart_draws_each_curve_by_speed_and_the_exact_strategies() -> None:
    lines = solvers({"rows": {**ROWS, "verify": row(0.9, 4.0)}}).data
    bound, top, ntp, verify = lines
    assert bound["x"] == (1.0, 3.0, 5.0)
    assert bound["y"] == (85.0, 80.0, 60.0)
    assert bound["text"] == ("0", "0.1", "0.5")
    names = ("Top-k", "Next-token prediction", "Exact (verify)")
    assert (top["name"], ntp["name"], verify["name"]) == names
    assert [(line["x"], line["y"]) for line in (ntp, verify)] == [
        ((1.0,), (90.0,)),
        ((4.0,), (90.0,)),
    ]
    assert len({line["marker"]["symbol"] for line in lines}) == 4
    assert len(solvers({"rows": ROWS}).data) == 3, "verify where the file has its row"


def test_every_line_has_a_name_and_a_mark_of_its_own() -> None:
    rows = {"NTP": row(0.9, 1.0), **{f"{name} 1": row(0.5, 2.0) for name in SOLVERS}}
    figure = solvers({"rows": rows})
    assert figure.layout.showlegend
    names = {
        ", ".join(filter(None, (title, SOLVER_SOURCES.get(name))))
        for name, title in SOLVER_TITLES.items()
    }
    assert {line.name for line in figure.data} == {"Next-token prediction", *names}
    assert len({(line.marker.symbol, line.line.dash) for line in figure.data}) == len(figure.data)


@pytest.mark.parametrize("wrong", [{}, {"rows": {}}, {"rows": {"SBD": {}}}, [], None])
def test_results_that_are_no_sweep_are_refused(wrong) -> None:
    with pytest.raises(ArgumentError, match="results: must be those of a sweep"):
        solvers(wrong)
