"""Roofline: a calculator at an address of its own; what it cannot use it says."""

import csv
import io
import itertools
import json
import re
from pathlib import Path

import pytest

from tests.browser.conftest import painted, sync_api, turn_to
from tests.browser.test_access import serious, tab_reaches_all

pytestmark = pytest.mark.browser
expect = sync_api.expect

DRAWN = "document.querySelector('.sbd-roofline .js-plotly-plot .main-svg') !== null"
LEGEND = """[...document.querySelectorAll('.sbd-roofline .legend .traces')]
  .map((line) => line.getBoundingClientRect())"""


def open_roofline(page):
    turn_to(page, "Roofline")
    page.wait_for_function(DRAWN)
    painted(page)


def box(page, label):
    return page.locator(".sbd-roofline-form").get_by_label(label, exact=True)


def gain(page):
    return page.locator(".sbd-roofline-facts strong").first


def test_what_is_changed_is_answered_and_kept_in_the_address(story):
    open_roofline(story)
    expect(story.locator("#sbd-player")).to_be_hidden()
    expect(gain(story)).to_have_text(re.compile(r"^\d+\.\d\d×$"))
    first = gain(story).inner_text()
    roofline = story.locator(".sbd-roofline").get_by_role("button", name="roofline", exact=True)
    expect(roofline).to_be_hidden()
    story.get_by_role("button", name="Explain the calculation").click()
    roofline.hover()
    expect(story.locator(".sbd-roofline .sbd-term-note")).to_contain_text("whichever is longer")
    box(story, "Device").select_option("measured")
    box(story, "Model").select_option("bundled")
    box(story, "Tokens in the KV cache").fill("256")
    expect(gain(story)).not_to_have_text(first)
    measured = story.get_by_role("button", name="Explain Measured")
    expect(measured).to_have_attribute("data-words", re.compile("timed forward passes"))
    assert story.url.endswith("#roofline?device=measured&model=bundled&cache=256")
    titles = story.locator(".sbd-roofline .sbd-chart h3").all_inner_texts()
    assert titles == ["Cost of more tokens"]
    for stage in story.locator(".sbd-roofline .sbd-chart-stage").all():
        stage.scroll_into_view_if_needed()
        expect(stage.locator(".main-svg").first).to_be_visible()
    turn_to(story, "Watch")
    expect(story.locator("#sbd-player")).to_be_visible()
    assert story.url.endswith("#watch")


def test_an_address_opens_it_and_what_makes_no_sense_is_said(open_page, story_url):
    page = open_page(f"{story_url}#roofline?device=tpu&block=0&cache=NaN&speed=2")
    page.wait_for_function(DRAWN)
    problems = page.locator(".sbd-roofline-problems p")
    expect(problems).to_have_count(3)
    expect(problems.first).to_contain_text('no device "tpu"')
    wrong = page.locator(".sbd-roofline-form input[aria-invalid='true']")
    expect(wrong).to_have_count(2)
    expect(page.locator(".sbd-roofline-form .sbd-roofline-problems")).to_be_visible()
    expect(gain(page)).to_have_text(re.compile("×$"))
    expect(box(page, "Tokens per forward pass")).to_have_value("2")
    box(page, "Device").select_option("h100-bf16")
    box(page, "Block size").fill("8")
    box(page, "Tokens in the KV cache").fill("64")
    expect(problems).to_have_count(0)
    expect(wrong).to_have_count(0)


def test_the_legend_has_room_for_its_words(story):
    open_roofline(story)
    lines = story.evaluate(LEGEND)
    assert len(lines) == 4
    for one, other in itertools.combinations(lines, 2):
        is_beside = one["right"] <= other["left"] + 1 or other["right"] <= one["left"] + 1
        assert is_beside or abs(one["top"] - other["top"]) > 10
    expect(story.locator(".sbd-roofline .ytitle")).to_have_text("time, times one token")


def test_the_table_is_saved_as_csv_and_as_json(story):
    open_roofline(story)
    box(story, "Block size").fill("8")
    files = {}
    for kind in ("CSV", "JSON"):
        with story.expect_download() as download:
            story.get_by_role("button", name=f"Save this table as {kind}").click()
        assert download.value.suggested_filename == f"sbd-roofline.{kind.lower()}"
        files[kind] = Path(download.value.path()).read_text("utf-8")
    rows = json.loads(files["JSON"])
    cells = list(csv.DictReader(io.StringIO(files["CSV"])))
    assert cells == [{name: str(value) for name, value in row.items()} for row in rows]
    values = {row["name"]: row["value"] for row in rows if row["part"] != "slowdown"}
    assert values["block"] == 8
    assert values["Speed-up"] == gain(story).inner_text()


def test_a_config_can_be_pasted_or_opened(story, tmp_path):
    open_roofline(story)
    config = box(story, "Config")
    expect(config).to_be_hidden()
    box(story, "Model").select_option("own")
    problems = story.locator(".sbd-roofline-problems")
    expect(problems).to_contain_text("config")
    config.fill('{"model_type": "t5", "is_encoder_decoder": true}')
    expect(problems).to_contain_text("an encoder and a decoder")
    config.fill(
        '{"hidden_size": 512, "intermediate_size": 2048, "num_attention_heads": 8,'
        ' "num_hidden_layers": 4, "vocab_size": 1000, "model_type": "<img src=x>"}'
    )
    expect(problems).to_be_empty()
    expect(gain(story)).to_have_text(re.compile("×$"))
    (tmp_path / "config.json").write_text('{"model_type": "mixtral", "num_experts": 8}')
    story.get_by_label("Open a config").set_input_files(tmp_path / "config.json")
    expect(problems).to_contain_text("several experts")


def test_nothing_serious_is_wrong_and_tab_reaches_every_control(open_page, story_url):
    page = open_page(story_url, 390, 844, color_scheme="dark", reduced_motion="reduce")
    open_roofline(page)
    box(page, "Model").select_option("own")
    expect(box(page, "Config")).to_be_visible()
    page.wait_for_function(DRAWN)
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab_reaches_all(page, ".sbd-roofline-form")
