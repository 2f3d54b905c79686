"""The charts of the page: every figure of a kept run, both themes in one answer."""

import copy
import json
import re
from dataclasses import replace

import pytest

from sbd_core import plots
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.errors import ArgumentError
from sbd_core.plots import theme
from sbd_core.rules import EntropyBound
from tests.ui.doubles import story_model
from ui.charts.section import MAX_MARKED, charts_of, mark_of
from ui.components.assets import ASSETS
from ui.decode.form import Form
from ui.decode.session import Session
from ui.decode.visitor_runs import Finished, VisitorRuns
from ui.gallery.recorded import gallery, gallery_traces
from ui.share.sheet import open_recorded, open_trace


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
    assert own["text"][0].startswith("Your run: Entropy bound (Eq. 8), γ 0.35<br>answer ")


def marks_of(visit):
    """The words of every mark, the newest last."""
    return list(charts_of(visit, {"run": "opening"})["figures"][-1]["data"][-1]["text"])


def stage_says(wire):
    """Of the main lane: whether its answer is right, None where that is not judged."""
    lines = [json.loads(line) for line in wire.splitlines()]
    verdict = next(line for line in lines if line["type"] == "end")["verdict"]
    return verdict and verdict["right"]


def test_a_mark_has_the_verdict_that_the_stage_shows_of_the_run(trace, monkeypatch):
    said = {True: "answer right", False: "answer wrong", None: "answer not checked"}
    visit = VisitorRuns(first={"opening": lambda: {"sbd": trace}})
    opened = [open_recorded(visit, {"name": item.name})[0] for item in gallery()]
    code = next(item.name for item in gallery() if item.name.startswith("code-"))
    brought = gallery_traces(code)["sbd"].to_json()
    opened.append(open_trace(visit, {"text": brought}))
    monkeypatch.setattr("ui.decode.verdict.verdict_on", None)  # no mark runs a function again
    verdicts = [stage_says(wire) for wire in opened]
    assert verdicts[-1] is None
    expected = [said[verdict] for verdict in verdicts][-MAX_MARKED:]
    assert [words.split("<br>")[-1] for words in marks_of(visit)] == expected


def test_a_decoded_run_is_marked_with_its_verdict(trace):
    visit = VisitorRuns(first={"opening": lambda: {"sbd": trace}})
    form = Form(prompt="What is 100 + 21?", strategy="sbd", max_new_tokens=96)
    wire = "\n".join(update.wire for update in Session(story_model()).decode(form, visit))
    assert '"right":true' in wire
    assert marks_of(visit)[-1].endswith("answer right")


def test_tokens_that_were_given_are_not_counted_in_a_mark(trace):
    config = replace(trace.config, pinned={0: trace.token_ids[0], 2: trace.token_ids[2], 95: 5})
    mark = mark_of(Finished({"sbd": replace(trace, config=config)}, None))
    assert trace.num_tokens < 95
    assert mark.speed == (trace.num_tokens - 2) / trace.num_forwards


def test_a_run_that_is_gone_is_refused_in_words(trace):
    with pytest.raises(ArgumentError, match="is not kept here any more"):
        charts_of(VisitorRuns(), {"run": "two"})
