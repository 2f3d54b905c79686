"""The charts: every number in them is counted from the Trace, token texts stay text."""

import json
import math
import re

import plotly.graph_objects as graph_objects
import pytest

from sbd_core.config import DecodeConfig, EntropyBound
from sbd_core.decoding.api import generate, make_trace
from sbd_core.errors import ArgumentError
from sbd_core.events import Hindsight, Span, StepEvent
from sbd_core.trace import Trace
from tests.ui.doubles import story_model
from tests.ui.events import block_pass, prefill
from ui.charts import figures as drawn
from ui.charts import look
from ui.charts.cost import cost_of_parallelism
from ui.charts.facts import agreements, entropies_at_reveal, gambles, token_name
from ui.charts.section import charts_of
from ui.components.assets import ASSETS
from ui.decode.visitor_runs import VisitorRuns

HOSTILE = ["<b>bold</b>", "<a href='javascript:1'>x</a>", "%{x}", "&lt;i&gt;", "\u202e", "$x$"]


def run(pieces=None, **settings) -> Trace:
    model = story_model(pieces) if pieces else story_model()
    settings = {"solver": EntropyBound(0.35), "max_new_tokens": 96, **settings}
    return generate(model, "p", DecodeConfig(**settings))


def two_names() -> Trace:
    """Two tokens landed at once, each 0.5 likely; together they are 0.5 * 0.01 likely."""
    half = {7: 0.5, 8: 0.5}
    read = (Hindsight(0, 7, 0.5, 7, 0.5), Hindsight(1, 8, 0.01, 7, 0.99))
    events = [
        prefill(),
        block_pass(1, Span(0, 2), {0: (0.7, half), 1: (0.7, half)}, {0: 7, 1: 8}, (7, 8)),
        block_pass(2, Span(2, 2), {2: (0.1, half), 3: (0.1, half)}, {2: 7, 3: 7}, (7, 7), read),
    ]
    return make_trace(story_model(), "p", DecodeConfig(max_new_tokens=4), events)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return run()


@pytest.fixture(params=["sbd", "verify", "ntp"])
def any_trace(request) -> Trace:
    solver = {} if request.param == "sbd" else {"solver": EntropyBound()}
    return run(strategy=request.param, **solver)


def data_of(figure) -> list[dict]:
    return json.loads(json.dumps(figure))["data"]


def test_the_heatmap_holds_every_masked_position_and_every_reveal(trace):
    heatmap, dots = data_of(drawn.entropy_heatmap(trace, look.LIGHT))
    cells = {
        (x, y + 1): value
        for y, row in enumerate(heatmap["z"])
        for x, value in enumerate(row)
        if value is not None
    }
    assert cells == {
        (item.position, event.index + 1): look.unsureness(item.entropy)
        for event in trace.events
        for item in event.masked
    }
    landed = [(r.position, event.index + 1) for event in trace.events for r in event.reveals]
    assert list(zip(dots["x"], dots["y"], strict=True)) == landed


def test_the_bars_count_the_reveals_of_each_pass(any_trace):
    [bars] = data_of(drawn.tokens_per_pass(any_trace, look.LIGHT))
    assert bars["x"] == [event.index + 1 for event in any_trace.events]
    assert bars["y"] == [len(event.reveals) for event in any_trace.events]


def test_entropy_at_reveal_is_that_of_the_pass_that_revealed(trace):
    rows = entropies_at_reveal(trace)
    assert len(rows) == sum(len(event.reveals) for event in trace.events)
    for position, number, entropy, token_id in rows:
        event = trace.events[number - 1]
        assert entropy in [item.entropy for item in event.masked if item.position == position]
        assert token_id in [r.token_id for r in event.reveals if r.position == position]
    [dots] = data_of(drawn.entropy_at_reveal(trace, look.LIGHT))
    assert dots["y"] == [look.unsureness(entropy) for _, _, entropy, _ in rows]


def test_agreement_stacks_up_to_the_reveals(any_trace):
    stacks = data_of(drawn.hindsight_agreement(any_trace, look.LIGHT))
    heights = [sum(column) for column in zip(*(bar["y"] for bar in stacks), strict=True)]
    assert heights == [len(event.reveals) for event in any_trace.events]


def test_agreement_knows_what_was_read_again_and_what_not():
    _, first, last = agreements(two_names())
    assert (first.same, first.other, first.unread) == ((7,), (8,), ())
    assert (last.same, last.other, last.unread) == ((), (), (7, 7))


def test_the_cost_of_two_names_at_once_is_the_ratio_of_the_probabilities():
    [row] = gambles(two_names())
    assert (row.pass_number, row.positions, row.token_ids) == (2, (0, 1), (7, 8))
    assert math.exp(row.separate) == pytest.approx(0.25)
    assert math.exp(row.joint) == pytest.approx(0.005)
    assert math.exp(row.cost) == pytest.approx(50)
    _, separate, joint = data_of(cost_of_parallelism(two_names(), look.LIGHT))
    assert separate["x"] == [pytest.approx(math.log10(0.25))]
    assert joint["x"] == [pytest.approx(math.log10(0.005))]
    assert "50 times less likely together" in joint["text"][0]


def test_gambles_come_worst_first_and_hold_no_pass_of_one(trace):
    rows = gambles(trace)
    assert rows
    assert [row.cost for row in rows] == sorted((row.cost for row in rows), reverse=True)
    assert all(len(row.token_ids) > 1 for row in rows)


def test_a_probability_of_nought_is_drawn_at_the_edge():
    read = (Hindsight(0, 7, 0.5, 7, 0.5), Hindsight(1, 8, 0.0, 7, 1.0))
    events = list(two_names().events)
    half = {7: 0.5, 8: 0.5}
    events[2] = block_pass(2, Span(2, 1), {2: (0.1, half)}, {2: 7}, (7,), read)
    trace = make_trace(story_model(), "p", DecodeConfig(max_new_tokens=4), events)
    _, _, joint = data_of(cost_of_parallelism(trace, look.LIGHT))
    assert joint["x"] == [-9]


def test_without_a_gamble_the_chart_says_so():
    trace = run(strategy="ntp", solver=EntropyBound())
    figure = cost_of_parallelism(trace, look.LIGHT)
    assert data_of(figure) == []
    assert figure["layout"]["annotations"][0]["text"].startswith("No pass")


def test_plotly_knows_every_field_of_every_figure(any_trace):
    """Its own schema refuses a field that it does not know, or a value that it cannot draw."""
    for trace in (any_trace, two_names()):
        for figure in drawn.figures(trace, look.LIGHT):
            graph_objects.Figure(figure)


def test_an_empty_trace_has_charts_too():
    empty = make_trace(story_model(), "p", DecodeConfig(), [])
    assert len(drawn.figures(empty, look.DARK)) == 5


def test_a_run_too_long_to_chart_is_refused_in_words():
    far = StepEvent(0, "decode", 0, 0, Span(0, 300_000), (), (), (), (), (), 0.0)
    trace = make_trace(story_model(), "p", DecodeConfig(), [far])
    with pytest.raises(ArgumentError, match="must have at most 250,000 cells"):
        drawn.figures(trace, look.LIGHT)


def test_no_token_text_is_markup():
    trace = run(HOSTILE * 4)
    for figure in drawn.figures(trace, look.LIGHT):
        text = json.dumps(figure, separators=(",", ":"))
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


def test_the_scale_and_the_colours_are_those_of_the_page():
    script = (ASSETS / "js" / "scale.js").read_text("utf-8")
    for scheme in ("light", "dark"):
        listed = re.search(rf"{scheme}: \[(.*?)\]", script, re.S)[1]
        assert look.RAMPS[scheme].split() == re.findall(r"#\w{6}", listed)
    assert f"MAX_ENTROPY = {look.MAX_ENTROPY:g};" in script
    assert f"[{', '.join(f'{tick:g}' for tick in look.TICKS)}]" in script
    sheet = (ASSETS / "css" / "player.css").read_text("utf-8")
    for index, ink in enumerate((look.LIGHT, look.DARK)):
        for name in ("card", "line", "text", "muted", "accent", "ntp"):
            assert re.findall(rf"--sbd-{name}: (#\w+);", sheet)[index] == getattr(ink, name)


def test_the_page_gets_every_chart_of_a_kept_run_in_its_scheme(trace):
    visit = VisitorRuns()
    visit.keep("one", lambda: {"sbd": trace})
    rows = json.loads((ASSETS / "charts.json").read_text("utf-8"))
    for is_dark, ink in ((False, look.LIGHT), (True, look.DARK)):
        charts = charts_of(visit, {"run": "one", "isDark": is_dark})
        assert charts["name"] == "sbd-p"
        assert len(charts["figures"]) == len(rows)
        assert {each["layout"]["paper_bgcolor"] for each in charts["figures"]} == {ink.card}
    with pytest.raises(ArgumentError, match="is not kept here any more"):
        charts_of(visit, {"run": "two"})
