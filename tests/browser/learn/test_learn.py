"""The Learn view: every scene by keys, by clicks and by its address."""

import re
from functools import partial

import pytest

from tests.browser.conftest import sync_api
from tests.browser.learn.conftest import answer, question, why
from tests.browser.test_access import serious, tab_reaches_all
from ui.decode.form import DEFAULT_GAMMA
from ui.views.learn import plain
from ui.views.learn import scenes as scenes_of

pytestmark = pytest.mark.browser
expect = sync_api.expect
WINDOW_HEIGHT = 900
LAST = 10
scenes = partial(scenes_of, has_model=False)  # of the exported file


def test_keys_walk_every_scene_there_and_back(lesson):
    page = lesson()
    for number, scene in enumerate(scenes(), 1):
        expect(question(page)).to_have_text(scene["question"])
        assert serious(page) == []
        if number < LAST:  # the last has no question to answer
            expect(answer(page)).to_be_empty()
        assert page.url.endswith(f"#learn/{scene['address']}") or number == 1
        page.keyboard.press("ArrowRight")
        expect(answer(page)).to_have_text(plain(scene["answer"]))
        expect(why(page)).to_have_text(plain(scene.get("why", "")))
        if number < LAST:
            page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(question(page)).to_have_text(scenes()[-2]["question"])
    page.keyboard.press("Home")
    expect(question(page)).to_have_text(scenes()[0]["question"])
    page.keyboard.press("End")
    expect(question(page)).to_have_text(scenes()[-1]["question"])


def test_clicks_walk_every_scene_and_the_browser_goes_back(lesson):
    page = lesson()
    for scene in scenes()[:-1]:
        expect(question(page)).to_have_text(scene["question"])
        page.get_by_role("button", name="Show me").click()
        expect(answer(page)).to_have_text(plain(scene["answer"]))
        expect(page.locator(".sbd-learn-act")).to_be_hidden()
        following = page.get_by_role("button", name="Next", exact=True)
        box = following.bounding_box()
        assert box["y"] + box["height"] <= WINDOW_HEIGHT, scene["title"]
        following.click()
    expect(answer(page)).to_have_text(scenes()[-1]["answer"])
    page.get_by_role("button", name="Scene 4: The budget").click()
    expect(question(page)).to_have_text(scenes()[3]["question"])
    page.go_back()
    expect(question(page)).to_have_text(scenes()[-1]["question"])


def test_an_unknown_scene_is_a_sentence_and_the_view_goes_on(lesson):
    page = lesson("<img src=x onerror=alert(1)>")
    expect(page.get_by_role("alert")).to_contain_text("There is no scene “<img src=x")
    expect(question(page)).to_have_text(scenes()[0]["question"])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(question(page)).to_have_text(scenes()[1]["question"])
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_presenters_remote_turns_the_scenes_in_a_lecture(lesson):
    page = lesson(2)
    page.keyboard.press("PageDown")
    expect(answer(page)).to_be_empty()
    page.keyboard.press("l")
    page.keyboard.press("PageDown")
    expect(answer(page)).to_have_text(plain(scenes()[1]["answer"]))
    page.keyboard.press("PageDown")
    expect(question(page)).to_have_text(scenes()[2]["question"])
    page.keyboard.press("PageUp")
    expect(question(page)).to_have_text(scenes()[1]["question"])


def test_gamma_dragged_in_a_lecture_leaves_the_arrows_to_the_scenes(lesson):
    page = lesson(4, 1920, 1080)
    page.keyboard.press("l")
    box = page.get_by_role("slider").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 10)
    page.mouse.up()
    expect(answer(page)).to_have_text(plain(scenes()[3]["answer"]))
    page.keyboard.press("ArrowRight")
    expect(question(page)).to_have_text(scenes()[4]["question"])


def test_a_word_explains_itself(lesson):
    page = lesson("masks")
    page.keyboard.press("ArrowRight")
    word = page.get_by_role("button", name="mask", exact=True)
    expect(word).to_have_attribute("aria-description", re.compile("^A place"))
    word.hover()
    expect(page.locator(".sbd-term-note")).to_contain_text("not known yet")


def test_the_last_scene_decodes_in_the_player_by_what_the_lesson_told_of(open_page, story_url):
    page = open_page(f"{story_url}#learn/your-turn")
    page.get_by_label("Your prompt").fill("my own prompt")
    expect(page.locator(".sbd-learn-step.is-main:visible")).to_have_count(1)
    expect(page.locator(".sbd-learn-skip")).to_be_hidden()
    page.get_by_role("button", name="Decode it").click()
    page.wait_for_function(
        "document.querySelector('.sbd-host').sbdPlayer.run.prompt === 'my own prompt'"
    )
    run = page.evaluate("(({ strategy, solver }) => ({ strategy, solver }))"
                        "(document.querySelector('.sbd-host').sbdPlayer.run)")  # fmt: skip
    assert run["strategy"] == "sbd"
    assert run["solver"] == {"name": "entropy-bound", "gamma": DEFAULT_GAMMA}
    expect(page.locator("#sbd-player .sbd-stale")).to_be_hidden()
    expect(page.locator(".sbd-tile").first).to_be_visible()


def test_on_the_page_axe_finds_nothing_serious_and_tab_reaches_all(open_page, story_url):
    page = open_page(f"{story_url}#learn/3", color_scheme="dark", reduced_motion="reduce")
    page.keyboard.press("ArrowRight")
    assert serious(page) == []
    tab_reaches_all(page)
