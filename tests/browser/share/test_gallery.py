"""The gallery: every recorded run can be read, is whole, and opens by a click."""

import json

import pytest

import sbd_core
from sbd_core.errors import ArgumentError
from sbd_core.tasks import story as stories
from scripts.record_gallery import (
    FAILURES,
    REAL_GROUP,
    REAL_KINDS,
    RUNS_PER_TASK,
    Decoded,
    by_blocks,
    mixed_up,
    repeated_part,
    repetition_sentence,
)
from scripts.write_presets import label_of, tasks
from tests.browser.conftest import has_begun, state, sync_api
from ui import recordings
from ui.examples import example_of
from ui.share.trace_files import read_trace

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_the_gallery_holds_every_family_and_its_failures():
    groups = [item.group for item in recordings.gallery()]
    for task in tasks():
        assert groups.count(label_of(task)) == RUNS_PER_TASK
    assert groups.count(REAL_GROUP) == len(REAL_KINDS) + 1
    failures = {item.name for item in recordings.gallery() if item.group == FAILURES}
    always = {"gamma-too-high", "block-beyond-training", "repetition", "names-mixed-up"}
    assert failures - {"early-end"} == always


def test_every_recorded_run_is_valid_and_described_by_one_sentence():
    listed, sentences = {recordings.GALLERY_INDEX}, set()
    for item in recordings.gallery():
        assert item.sentence.endswith(".")
        assert "\n" not in item.sentence
        sentences.add(item.sentence)
        traces = recordings.gallery_traces(item.name)
        assert len({trace.prompt for trace in traces.values()}) == 1
        assert len(item.passes) == traces[item.lanes[0]].num_tokens
        assert item.num_ntp_passes == traces["ntp"].num_forwards
        for lane in item.lanes:
            file = recordings.gallery_file(item.name, lane)
            listed.add(file)
            assert read_trace(file.read_text("utf-8")).config.strategy == lane
    assert set(recordings.GALLERY.iterdir()) == listed
    assert len(sentences) == len(recordings.gallery()), "each run has a sentence of its own"


def test_what_the_real_model_checks_are_the_words_of_next_token_prediction():
    for item in recordings.gallery():
        if item.group == REAL_GROUP and "verify" in item.lanes:
            traces = recordings.gallery_traces(item.name)
            assert traces["verify"].token_ids == traces["ntp"].token_ids
            assert traces["verify"].num_forwards < traces["ntp"].num_forwards


def test_the_repeating_run_repeats_as_its_sentence_says():
    (item,) = [item for item in recordings.gallery() if item.name == "repetition"]
    run = Decoded(None, recordings.gallery_traces(item.name))
    assert item.sentence == repetition_sentence(run)
    assert repeated_part(run.main) > 0.25
    assert repeated_part(run.traces["ntp"]) < 0.05


def test_the_names_are_mixed_up_in_parallel_and_only_then():
    traces = recordings.gallery_traces("names-mixed-up")
    story = example_of(traces["sbd"].prompt)
    assert mixed_up(story, traces["sbd"].text)
    assert stories.check(story, traces["ntp"].text)
    model = sbd_core.load(device="cpu")
    assert stories.check(story, by_blocks(model, story, 0).text)


def test_a_name_that_is_not_in_the_gallery_is_refused():
    for name in ("../opening", "", None, ["x"]):
        with pytest.raises(ArgumentError, match="must be one of the gallery"):
            recordings.gallery_traces(name)


def test_a_damaged_index_is_an_empty_gallery(tmp_path, monkeypatch):
    monkeypatch.setattr(recordings, "GALLERY_INDEX", tmp_path / "index.json")
    for text in ("", "{", "[1]", json.dumps([{"name": "x"}])):
        (tmp_path / "index.json").write_text(text)
        recordings.gallery.cache_clear()
        assert recordings.gallery() == ()
    recordings.gallery.cache_clear()


def test_a_card_opens_its_run_in_the_player(story):
    item = recordings.gallery()[-1]
    trace = recordings.gallery_traces(item.name)[item.lanes[0]]
    expect(story.locator(".sbd-gallery-how")).to_have_text(recordings.HOW_CHOSEN)
    card = story.get_by_role("button", name=item.sentence)
    expect(card.locator(".sbd-gallery-stairs path")).to_have_count(2)
    card.click()
    has_begun(story)
    expect(story.locator(".sbd-prompt")).to_have_text(trace.prompt)
    shown = state(story)
    assert shown["main"]["steps"] == trace.num_forwards
    assert shown["main"]["text"] == trace.text
    assert shown["ntp"]["finish"] is not None
