"""What a visitor meets in the first minutes: the opening, the form, recorded runs, the phone."""

import re

import pytest

from tests.browser.conftest import (
    advanced,
    click_card,
    decode,
    decode_button,
    has_begun,
    painted,
    state,
    sync_api,
)
from ui.decode.verdict import verdicts_of
from ui.gallery import recorded
from ui.gallery.examples import presets

pytestmark = pytest.mark.browser
expect = sync_api.expect


def box_of(page, selector: str) -> dict:
    return page.locator(selector).bounding_box()


def test_it_opens_on_a_sudoku_in_the_middle_of_its_block(open_page, story_url):
    page = open_page(story_url, reduced_motion="reduce")
    expect(page.locator(".sbd-sudoku-grid")).to_be_visible()
    assert page.locator(".sbd-tile.is-masked").count() >= 3
    assert page.locator(".sbd-tile:is(.is-new, .is-fixed)").count() >= 3


def test_the_staircase_has_a_third_of_the_height_and_the_transport_is_in_view(story):
    assert box_of(story, ".sbd-stairs-stage")["height"] >= 300
    for top in (0, 400):
        story.evaluate("(top) => scrollTo(0, top)", top)
        transport = box_of(story, ".sbd-transport")
        assert 0 <= transport["y"] <= 900 - transport["height"]


def test_only_presets_prompt_decode_and_one_slider_stand_there_at_first(story):
    for label in ("Strategy", "Solver", "Block size", "Answer with blanks"):
        expect(story.get_by_label(label, exact=True)).to_be_hidden()
    story.get_by_label("Safer to bolder").fill("8")
    advanced(story)
    expect(story.get_by_label("γ", exact=True)).to_have_value("1")
    expect(story.get_by_label("Solver", exact=True)).to_be_visible()


def test_a_typed_gamma_beyond_the_slider_is_run_as_it_is_and_said(story):
    advanced(story)
    story.get_by_label("γ", exact=True).fill("7")
    expect(story.get_by_text("γ 7 is above the usual 0 to 1")).to_be_visible()
    expect(story.locator("#sbd-player .sbd-stale")).to_contain_text("γ 7 instead of")
    decode(story)
    assert story.evaluate("document.querySelector('.sbd-host').sbdPlayer.run.solver.gamma") == 7
    expect(story.locator("#sbd-player .sbd-stale")).to_be_hidden()


@pytest.mark.parametrize("name", ["gamma-too-high", "block-beyond-training"])
def test_a_recorded_run_loads_its_settings_also_unusual_ones_and_they_run(story, name):
    item = next(item for item in recorded.gallery() if item.name == name)
    trace = recorded.gallery_traces(name)["sbd"]
    click_card(story, name)
    expect(story.locator(".sbd-about")).to_have_text(item.sentence)
    expect(story.get_by_label("Prompt")).to_have_value(trace.prompt)
    advanced(story)
    expect(story.get_by_label("γ", exact=True)).to_have_value(f"{trace.config.solver.gamma:g}")
    size = str(trace.config.block_size)
    expect(story.get_by_label("Block size", exact=True)).to_have_value(size)
    expect(story.get_by_text("Unusual, and run as it is:")).to_be_visible()
    expect(story.locator("#sbd-player .sbd-stale")).to_be_hidden()
    decode(story)
    expect(story.get_by_role("alert")).to_have_count(0)
    assert str(story.evaluate(
        "document.querySelector('.sbd-host').sbdPlayer.run.blockSize")) == size  # fmt: skip


def test_a_preset_shows_its_recorded_run_at_once_and_another_prompt_marks_the_stage(story):
    story.get_by_role("button", name=re.compile("^Word problem")).click()
    has_begun(story)
    expect(story.locator(".sbd-prompt")).to_have_text(story.get_by_label("Prompt").input_value())
    expect(story.locator("#sbd-player .sbd-stale")).to_be_hidden()
    expect(story.locator(".sbd-status-line")).to_contain_text("A recorded run, its settings in")
    story.get_by_label("Prompt").fill("Something else.")
    expect(story.locator("#sbd-player .sbd-stale")).to_contain_text("another prompt")
    expect(story.locator(".sbd-status-line")).to_be_empty()


def test_a_preset_whose_recorded_run_is_missing_says_so_and_goes_on(story, monkeypatch, tmp_path):
    monkeypatch.setattr(recorded, "GALLERY", tmp_path)
    story.get_by_role("button", name=re.compile("^JSON")).click()
    expect(story.get_by_role("alert")).to_contain_text("is missing or damaged here")
    assert state(story)["run"] == "opening"
    decode(story)


def test_on_a_phone_the_stage_is_in_view_after_decode_and_the_staircase_is_second(
    open_page, story_url
):
    page = open_page(story_url, 390, 844, has_touch=True, reduced_motion="reduce")
    button = decode_button(page).bounding_box()
    assert button["y"] + button["height"] < min(box_of(page, ".sbd-host")["y"], 844 / 2)
    grid, cell = box_of(page, ".sbd-sudoku-grid"), page.locator(".sbd-sudoku-cell").first
    assert grid["width"] < 4.4 * cell.bounding_box()["width"]
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    decode(page)
    assert -10 <= box_of(page, ".sbd-host")["y"] < 200
    transport = box_of(page, ".sbd-transport")
    assert 0 <= transport["y"] <= 844 - transport["height"]
    places = [box_of(page, f".sbd-{name}")["y"] for name in ("tiles", "stairs", "lane-ntp")]
    assert places == sorted(places)
    expect(page.locator(".sbd-tile-position").first).to_be_hidden()
    assert box_of(page, ".sbd-stairs-stage")["width"] <= 390


def test_on_a_phone_the_views_stand_under_the_subtitle_in_line_with_it(open_page, story_url):
    page = open_page(story_url, 390, 844, has_touch=True, reduced_motion="reduce")
    parts = [box_of(page, f".sbd-header {part}") for part in ("h1", "p", ".sbd-views")]
    assert len({part["x"] for part in parts}) == 1
    assert sorted(part["y"] for part in parts) == [part["y"] for part in parts]


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1920, 1080)])
def test_the_texts_of_both_lanes_begin_at_one_height(open_page, story_url, width, height):
    page = open_page(story_url, width, height, reduced_motion="reduce")
    texts = page.locator(".sbd-lanes .sbd-text")
    expect(texts).to_have_count(2)
    assert len({text.bounding_box()["y"] for text in texts.all()}) == 1
    texts.last.evaluate("text => { text.previousSibling.hidden = true; }")  # no verdict
    assert len({text.bounding_box()["y"] for text in texts.all()}) == 1


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1920, 1080)])
def test_a_lecture_keeps_prompt_and_legend_fills_with_the_sudoku_and_clips_nothing(
    open_page, story_url, width, height
):
    page = open_page(story_url, width, height, reduced_motion="reduce")
    page.keyboard.press("l")
    painted(page)
    expect(page.locator(".sbd-prompt")).to_be_visible()
    expect(page.locator(".sbd-prompt-row .sbd-legend")).to_be_visible()
    grid = box_of(page, ".sbd-sudoku-grid")
    assert grid["height"] >= height * 0.45
    shown = page.locator(".is-lecture :is(.sbd-sudoku-grid, .sbd-transport, .sbd-prompt-row, "
                         ".sbd-lane, .sbd-numbers)")  # fmt: skip
    for box in [item.bounding_box() for item in shown.all() if item.is_visible()]:
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= height


def test_the_race_has_a_row_a_lane_four_recorded_ones_with_grids_and_verdicts(open_page, story_url):
    page = open_page(story_url, reduced_motion="reduce")
    page.locator(".sbd-view", has_text="Race").click()
    lanes = page.locator(".sbd-race-lane")
    expect(lanes).to_have_count(4)
    verdicts = page.locator(".sbd-race-verdict .sbd-verdict")
    expect(verdicts).to_have_count(4)
    num_right = sum(verdict["right"] for verdict in verdicts_of(recorded.race_traces()).values())
    expect(page.locator(".sbd-race-verdict .sbd-verdict.is-right")).to_have_count(num_right)
    for lane in lanes.all():
        tops = [lane.locator(name).bounding_box()["y"]
                for name in (".sbd-race-run", ".sbd-race-text", ".sbd-race-verdict")]  # fmt: skip
        assert max(tops) - min(tops) < 30
        assert lane.locator(".is-sudoku .sbd-race-token:visible").count() == 16
    page.keyboard.press("?")
    expect(page.locator(".sbd-race .sbd-help")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    told = page.locator(".sbd-race-told")
    expect(told).to_contain_text(re.compile("link", re.IGNORECASE))


def test_every_setting_that_differs_marks_the_stage_and_setting_it_back_clears_it(story):
    advanced(story)
    decode(story)
    stale = story.locator("#sbd-player .sbd-stale").first
    longest = story.get_by_label("number input for Longest answer")
    before = longest.input_value()
    longest.fill("64")
    expect(stale).to_contain_text(f"at most 64 tokens instead of {before}")
    longest.fill(before)
    expect(stale).to_be_hidden()
    story.get_by_label("Solver", exact=True).click()
    story.get_by_role("option", name="Random").click()
    expect(stale).to_contain_text("the solver Random")
    story.get_by_label("Solver", exact=True).click()
    story.get_by_role("option", name="Entropy bound (Eq. 8)").click()
    expect(stale).to_be_hidden()


def test_the_solver_that_is_chosen_says_what_its_gamma_is_and_what_the_picture_shows(story):
    advanced(story)
    title = story.locator(".sbd-budget h3")
    expect(title).to_have_text("Entropy budget, Eq. 8")
    story.get_by_label("Solver", exact=True).click()
    story.get_by_role("option", name="Entropy threshold").click()
    expect(story.get_by_text("uncertainty that a token must stay below")).to_be_visible()
    decode(story)
    expect(title).to_have_text("Entropy of each mask")
    expect(story.locator(".sbd-gamma")).to_have_attribute("aria-label", re.compile("stay below"))
    story.get_by_label("Solver", exact=True).click()
    story.get_by_role("option", name="Random").click()
    decode(story)
    expect(title).to_have_text("Entropy, added up")


def test_no_tick_stands_under_the_label_of_the_budget(story):
    for _ in range(4):
        story.keyboard.press("ArrowRight")
        painted(story)
        label = box_of(story, ".sbd-budget-free") if story.locator(
            ".sbd-budget-free").is_visible() else None  # fmt: skip
        ticks = story.locator(".sbd-budget-tick:not(.is-under)").all()
        for tick in [tick.bounding_box() for tick in ticks] if label else []:
            is_left = tick["x"] + tick["width"] <= label["x"] + 6
            assert is_left or tick["x"] >= label["x"] + label["width"] - 6


def test_the_transport_covers_none_of_the_staircase(story):
    stage, transport = box_of(story, ".sbd-stairs-stage"), box_of(story, ".sbd-transport")
    assert stage["y"] + stage["height"] <= transport["y"]


def test_the_chip_of_another_text_is_not_pressed_while_a_recorded_run_is_on_the_stage(story):
    expect(story.locator(".sbd-chip[aria-pressed=true]")).to_have_count(1)
    click_card(story, "gamma-too-high")
    prompt = story.get_by_label("Prompt").input_value()
    pressed = [preset.label for preset in presets() if prompt in preset.prompts]
    expect(story.locator(".sbd-chip[aria-pressed=true]")).to_have_count(len(pressed))
    for label in pressed:
        expect(story.locator(".sbd-chip", has_text=label)).to_have_attribute("aria-pressed", "true")
