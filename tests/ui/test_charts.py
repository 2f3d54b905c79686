"""The charts of the page: every figure of a kept run, both themes in one answer."""

import copy
import json
import re

import pytest

from sbd_core import plots
from sbd_core.config import DecodeConfig, EntropyBound
from sbd_core.decoding.api import generate
from sbd_core.errors import ArgumentError
from sbd_core.plots import theme
from tests.ui.doubles import story_model
from ui.charts.section import charts_of
from ui.components.assets import ASSETS
from ui.decode.visitor_runs import VisitorRuns


@pytest.fixture(scope="module")
def trace():
    return generate(story_model(), "p", DecodeConfig(solver=EntropyBound(0.35), max_new_tokens=96))


def test_the_colours_are_those_of_the_style_sheet():
    sheet = (ASSETS / "css" / "player.css").read_text("utf-8")
    for index, ink in enumerate((theme.LIGHT, theme.DARK)):
        for name in ("card", "line", "text", "muted", "accent", "sbd", "verify", "ntp"):
            assert re.findall(rf"--sbd-{name}: (#\w+);", sheet)[index] == getattr(ink, name)


def with_changes(old, new):
    """As ui/web/core/changes.js."""
    if isinstance(new, dict) and isinstance(old, list):
        return [with_changes(item, new.get(str(index), {})) for index, item in enumerate(old)]
    if isinstance(new, dict) and isinstance(old, dict):
        return {key: with_changes(value, new.get(key, value)) for key, value in old.items()}
    return new


def test_the_page_gets_every_chart_of_a_kept_run_in_both_themes(trace):
    visit = VisitorRuns()
    visit.keep("one", lambda: {"sbd": trace})
    charts = json.loads(json.dumps(charts_of(visit, {"run": "one"})))
    assert charts["name"] == "sbd-p"
    cards = json.loads((ASSETS / "charts.json").read_text("utf-8"))
    assert [each["id"] for each in charts["figures"]] == [card["id"] for card in cards]
    for each in charts["figures"]:
        assert each["layout"]["paper_bgcolor"] == theme.LIGHT.card
        assert each["dark"]["layout"]["paper_bgcolor"] == theme.DARK.card
    heatmap = charts["figures"][0]
    light = {key: copy.deepcopy(heatmap[key]) for key in ("data", "layout")}
    dark = json.loads(plots.entropy_heatmap(trace, "dark").to_json())
    assert with_changes(light, heatmap["dark"]) == {key: dark[key] for key in light}
    assert len(json.dumps(heatmap["dark"])) < len(json.dumps(heatmap["data"])) / 2


def test_the_readers_own_runs_are_marked_among_the_solvers(trace):
    visit = VisitorRuns(first={"opening": lambda: {"sbd": trace}})

    def last_of(run):
        return charts_of(visit, {"run": run})["figures"][-1]["data"][-1]

    assert last_of("opening")["name"] != "your runs"
    visit.keep("one", lambda: {"sbd": trace})
    visit.settle("one")
    own = last_of("opening")
    assert own["name"] == "your runs"
    assert list(own["x"]) == [round(trace.tokens_per_forward, 4)]
    assert own["text"][0].startswith("Entropy bound (Eq. 8), γ 0.35, answer ")


def test_a_run_that_is_gone_is_refused_in_words(trace):
    with pytest.raises(ArgumentError, match="is not kept here any more"):
        charts_of(VisitorRuns(), {"run": "two"})
