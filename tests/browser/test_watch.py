"""The Watch view in a real browser: decoding, stepping, stopping, bad input, small screens."""

import json
import re
import time

import pytest

from tests.browser.conftest import painted, state
from tests.ui.doubles import ANSWER

pytestmark = pytest.mark.browser


def decode(page):
    """Press Decode and wait until both lanes are complete; the playhead is at the last pass."""
    old = state(page)["run"]
    page.get_by_role("button", name="Decode", exact=True).click()
    page.wait_for_function(
        "(old) => { const p = document.querySelector('.sbd-host').sbdPlayer;"
        " return p.run.id !== old && p.run.isComplete }",
        arg=old,
    )
    page.get_by_role("button", name="Last pass").click()
    painted(page)


def test_opens_on_a_recorded_run_that_plays_by_itself(story):
    story.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.state.pass >= 2")
    assert state(story)["run"] == "opening"
    assert story.locator(".sbd-tile.is-new").count() > 0


def test_decode_lands_tokens_out_of_order_and_both_lanes_end_on_the_text(story):
    decode(story)
    now = state(story)
    passes = dict(now["main"]["fixed"])
    assert any(passes[p] < passes[q] for p in passes for q in passes if p > q)
    assert now["main"]["text"] == now["ntp"]["text"] == ANSWER
    text = story.get_by_label("Text decoded so far").inner_text()
    assert text.removesuffix("end").strip() == ANSWER
    assert now["main"]["steps"] < now["ntp"]["steps"] == len(passes)


def test_history_can_be_stepped_while_the_run_goes_on(open_page, slow_url):
    page = open_page(slow_url)
    page.get_by_role("button", name="Decode", exact=True).click()
    page.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.run.id !== 'opening'")
    page.wait_for_function(
        "document.querySelector('.sbd-host').sbdPlayer.run.main.steps.length > 2"
    )
    page.get_by_role("button", name="Back one pass").click()
    seen = state(page)
    assert not seen["isPlaying"]
    page.wait_for_function(
        "(n) => document.querySelector('.sbd-host').sbdPlayer.run.main.steps.length > n",
        arg=seen["main"]["steps"],
    )
    assert state(page)["pass"] == seen["pass"]
    page.get_by_role("button", name="Stop").click()


def test_keys_belong_to_the_prompt_while_it_has_the_focus(story):
    story.get_by_role("button", name="First pass").click()
    story.get_by_label("Prompt").click()
    story.keyboard.type("a b")
    story.keyboard.press("ArrowRight")
    story.keyboard.press("End")
    assert state(story)["pass"] == 0
    assert not state(story)["isPlaying"]


def test_stop_frees_the_model_within_a_second(open_page, slow_url):
    first, second = open_page(slow_url), open_page(slow_url)
    first.get_by_role("button", name="Decode", exact=True).click()
    first.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.run.id !== 'opening'")
    second.get_by_role("button", name="Decode", exact=True).click()
    second.get_by_text("yours is next").wait_for()
    first.get_by_role("button", name="Stop").click()
    began = time.monotonic()
    second.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.run.id !== 'opening'")
    assert time.monotonic() - began < 2
    first.get_by_text("Stopped.").wait_for()
    first.wait_for_timeout(500)
    assert first.get_by_text("Stopped.").is_visible()
    assert first.get_by_role("button", name="Decode", exact=True).is_enabled()
    second.get_by_role("button", name="Stop").click()


def test_closing_the_page_frees_the_model(open_page, slow_url):
    first, second = open_page(slow_url), open_page(slow_url)
    first.get_by_role("button", name="Decode", exact=True).click()
    first.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.run.id !== 'opening'")
    first.close()
    began = time.monotonic()
    second.get_by_role("button", name="Decode", exact=True).click()
    second.wait_for_function("document.querySelector('.sbd-host').sbdPlayer.run.id !== 'opening'")
    assert time.monotonic() - began < 2
    second.get_by_role("button", name="Stop").click()


def test_bad_input_says_the_rule_and_keeps_prompt_and_trace(story):
    decode(story)
    before = state(story)["run"]
    story.get_by_label("Prompt").fill("   ")
    story.get_by_role("button", name="Decode", exact=True).click()
    alert = story.get_by_role("alert").filter(has_text="Prompt must not be empty.")
    alert.wait_for()
    assert story.get_by_label("Prompt").input_value() == "   "
    assert state(story)["run"] == before
    story.get_by_label("Prompt").fill("fine")
    decode(story)
    assert alert.count() == 0


def test_hostile_prompt_and_tokens_are_shown_as_typed_and_nothing_runs(open_page, hostile_url):
    page = open_page(hostile_url)
    prompt = "<script>window.hacked=1</script> ${window.hacked=1} \"'` \u202e<m><eos> {{value}}"
    page.get_by_label("Prompt").fill(prompt)
    decode(page)
    page.get_by_role("button", name="First pass").click()
    for _ in range(state(page)["main"]["steps"]):
        page.keyboard.press("ArrowRight")
        painted(page)
    shown = page.get_by_label("Text decoded so far").inner_text()
    for text in ("<script>window.hacked=1</script>", "${window.hacked=1}", "{{value}}", "<m>"):
        assert text in shown
    assert "U+202E" in shown
    assert page.locator(".sbd-prompt").inner_text() == prompt
    assert page.get_by_label("Prompt").input_value() == prompt
    assert page.evaluate("window.hacked") is None


def test_presets_fill_the_prompt_and_a_second_press_gives_another(story):
    chip = story.get_by_role("button", name="Python")
    seen = [story.get_by_label("Prompt").input_value()]
    for _ in range(2):
        chip.click()
        story.wait_for_function(
            "(old) => document.querySelector('#sbd-prompt-box textarea').value !== old",
            arg=seen[-1],
        )
        seen.append(story.get_by_label("Prompt").input_value())
    assert len(set(seen)) == 3


def test_solver_choice_shows_its_own_parameter(story):
    assert story.get_by_label("number input for γ").is_visible()
    story.get_by_label("Solver").click()
    story.get_by_role("option", name="Confidence threshold").click()
    story.get_by_label("number input for τ").wait_for()
    assert not story.get_by_label("number input for γ").is_visible()


def test_every_control_is_reached_by_tab_and_shows_its_focus(story):
    story.get_by_role("button", name="Last pass").click()
    painted(story)
    wanted = story.evaluate("""() => [...document.querySelectorAll(
        'button, input, select, textarea, [tabindex]')].filter((n) => n.offsetParent && !n.disabled
        && n.tabIndex >= 0 && n.getBoundingClientRect().width > 0)
        .map((n, i) => { n.dataset.stop = i; return String(i); })""")
    story.evaluate("document.activeElement.blur()")
    seen, invisible = set(), []
    for _ in range(len(wanted) + 5):
        story.keyboard.press("Tab")
        stop, has_ring = story.evaluate("""() => {
          const n = document.activeElement;
          const rings = [n, n.firstElementChild, n.closest('.secondary-wrap')].filter(Boolean);
          return [n.dataset.stop ?? null, rings.some((r) => {
            const s = getComputedStyle(r);
            return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1;
          })];
        }""")
        seen.add(stop)
        if stop is not None and not has_ring:
            invisible.append(stop)
    assert set(wanted) <= seen
    assert [story.evaluate(f"document.querySelector('[data-stop=\"{i}\"]').outerHTML.slice(0, 120)")
            for i in invisible] == []  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_a_phone_without_sideways_scrolling(open_page, story_url, scheme):
    page = open_page(story_url, 390, 844, color_scheme=scheme)
    decode(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tops = page.locator(".sbd-tile").evaluate_all("all => all.map(n => n.offsetTop)")
    assert len(set(tops)) == 2


def test_theme_parameter_makes_it_dark(open_page, story_url):
    page = open_page(story_url + "?__theme=dark", color_scheme="light")
    colour = page.evaluate("getComputedStyle(document.querySelector('.sbd-card')).backgroundColor")
    assert max(int(value) for value in re.findall(r"\d+", colour)[:3]) < 60


BAD_POSTS = {
    "gamma below 0": ({3: -1}, "γ must be a finite number >= 0"),
    "gamma is a list": ({3: [1]}, "γ must be a finite number >= 0"),
    "block of 999": ({8: 999}, "Block size must be from 2 to 16"),
    "unknown solver": ({2: "magic"}, "Solver must be one of"),
    "1 MB prompt": ({0: "x" * 2**20}, "Prompt must be at most 2,000 characters"),
    "nothing at all": (dict.fromkeys(range(10)), "Prompt must not be empty"),
}


def test_raw_posts_with_bad_values_get_the_same_one_line_answer(story):
    changes: dict = {}

    def change(route):
        body = route.request.post_data_json
        for index, value in changes.items():
            body["data"][index] = value
        route.continue_(post_data=json.dumps(body))

    story.route("**/queue/join*", change)
    for wrong, message in BAD_POSTS.values():
        changes.clear()
        changes.update(wrong)
        story.get_by_role("button", name="Decode", exact=True).click()
        story.get_by_role("alert").filter(has_text=message).wait_for()
        assert state(story)["run"] == "opening"
        story.locator("#sbd-go button.primary:enabled").wait_for()


def test_pin_decodes_again_with_that_token_and_branch_keeps_what_was_there(story):
    decode(story)
    story.get_by_role("button", name="First pass").click()
    story.keyboard.press("ArrowRight")
    story.locator(".sbd-tile").nth(1).click()
    row = story.locator(".sbd-top-row").nth(1)
    wanted = row.locator(".sbd-top-token").inner_text()
    row.click()
    old = state(story)["run"]
    story.locator(".sbd-action-pin").click()
    story.wait_for_function(
        "(old) => { const { run } = document.querySelector('.sbd-host').sbdPlayer;"
        " return run.id !== old && run.isComplete; }",
        arg=old,
    )
    story.get_by_role("button", name="Last pass").click()
    story.get_by_role("button", name="First pass").click()
    story.keyboard.press("ArrowRight")
    painted(story)
    pinned = story.locator(".sbd-tile").nth(1)
    assert "is-pinned" in pinned.get_attribute("class")
    assert pinned.locator(".sbd-tile-token").inner_text() == wanted
