"""The charts of the page: every figure of a run, both themes in one answer."""

import copy
import json
import re

import pytest

from sbd_core import plots
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.files import ASSETS
from sbd_core.plots import theme
from sbd_core.solvers import EntropyBound
from tests.ui.doubles import story_model
from ui.views.charts import MAX_MARKED, figures_of


@pytest.fixture(scope="module")
def trace():
    return generate(story_model(), "p", DecodeConfig(solver=EntropyBound(0.35), max_new_tokens=96))


def test_the_colours_are_those_of_the_style_sheet():
    sheet = (ASSETS / "css" / "player.css").read_text("utf-8")
    for index, ink in enumerate((theme.LIGHT, theme.DARK)):
        for name in ("card", "line", "text", "muted", "accent", "sbd", "verify", "ntp"):
            assert re.findall(rf"--sbd-{name}: (#\w+);", sheet)[index] == getattr(ink, name)


def with_changes(old, new):
    """Apply changes as ui/web/charts.ts does."""
    if isinstance(new, dict) and isinstance(old, list):
        return [with_changes(item, new.get(str(index), {})) for index, item in enumerate(old)]
    if isinstance(new, dict) and isinstance(old, dict):
        return {key: with_changes(value, new.get(key, value)) for key, value in old.items()}
    return new


def test_the_page_gets_every_chart_of_a_run_in_both_themes(trace):
    charts = json.loads(json.dumps(figures_of({"trace": trace.to_json()})))
    cards = json.loads((ASSETS / "charts.json").read_text("utf-8"))
    assert [each["id"] for each in charts] == [card["id"] for card in cards]
    for each in charts:
        assert each["layout"]["paper_bgcolor"] == theme.LIGHT.card
        assert each["dark"]["layout"]["paper_bgcolor"] == theme.DARK.card
    heatmap = charts[0]
    light = {key: copy.deepcopy(heatmap[key]) for key in ("data", "layout")}
    dark = json.loads(plots.entropy_heatmap(trace, "dark").to_json())
    assert with_changes(light, heatmap["dark"]) == {key: dark[key] for key in light}
    assert len(json.dumps(heatmap["dark"])) < len(json.dumps(heatmap["data"])) / 2


def test_the_readers_own_runs_are_marked_among_the_solvers(trace):
    text = trace.to_json()
    assert figures_of({"trace": text})[-1]["data"][-1]["name"] != "your runs"
    said = {True: "answer right", False: "answer wrong", None: "answer not checked"}
    marks = [{"name": f"run {right}", "rate": 2.5, "right": right} for right in said]
    own = figures_of({"trace": text, "marks": marks})[-1]["data"][-1]
    assert own["name"] == "your runs"
    assert list(own["x"]) == [2.5] * 3
    expected = [f"Your run: run {right}<br>{words}" for right, words in said.items()]
    assert list(own["text"]) == expected


MARK = {"name": "a", "rate": 1.0, "right": None}


@pytest.mark.parametrize(
    "marks",
    [
        "x",
        [MARK] * (MAX_MARKED + 1),
        [3],
        [{}],
        [{**MARK, "rate": "2"}],
        [{**MARK, "rate": float("nan")}],
        [{**MARK, "right": 1}],
        [{**MARK, "name": None}],
    ],
)
def test_marks_that_the_page_does_not_make_are_refused_in_words(trace, marks):
    with pytest.raises(ArgumentError, match=r"^marks: must be"):
        figures_of({"trace": trace.to_json(), "marks": marks})


@pytest.mark.parametrize("text", [None, 3, "{}", "x"])
def test_charts_of_what_is_no_trace_are_refused_in_words(text):
    with pytest.raises(SetBlockDecodingError, match="trace"):
        figures_of({"trace": text})
