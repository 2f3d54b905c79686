"""The first visit: a sentence, a race that plays by itself, two ways on, and nothing that moves."""

import re
from unittest import mock

import pytest

from sbd_core.models.model_folder import REAL_MODEL
from scripts.write_views import learn_runs
from tests.browser.conftest import RUN, recorded, sync_api, traces
from tests.browser.test_access import serious
from tests.browser.test_learn import question
from tests.ui.doubles import story_model
from ui.examples import HOME_RUN, PRESETS, gallery_traces, opening_traces
from ui.page import presets_of

pytestmark = pytest.mark.browser
expect = sync_api.expect

COUNTS = "() => [...document.querySelectorAll('.sbd-home-count b')].map((b) => Number(b.innerText))"


def sentence(page):
    return page.locator(".sbd-home-sentence")


@pytest.fixture
def visit(open_page, story_url):
    """The page as whoever comes first opens it."""
    return lambda *size, **media: open_page(f"{story_url}#", *size, **media)


@pytest.fixture(scope="module")
def short_url(serve):
    """A page whose opening run is another one, and short."""
    lines = recorded(story_model(), "home", max_new_tokens=16)
    with mock.patch("ui.values.home", return_value=lines):
        return serve(story_model())


def told(seconds: float) -> str:
    """Format a number as the page does."""
    return f"{seconds * 1000:.0f} ms" if seconds < 0.0995 else f"{seconds:.2f} s"


def test_the_sentence_counts_the_run_that_plays_below_nothing_moves_and_two_ways_lead_on(visit):
    page = visit()
    before = page.locator(".sbd-home-ways").bounding_box()
    main, ntp = gallery_traces(HOME_RUN).values()
    machine = learn_runs().choices.processor
    assert main.config.strategy == "sbd"
    assert main.token_ids == ntp.token_ids
    assert main.seconds < ntp.seconds
    expect(sentence(page)).to_have_text(
        f"The same model writes the same words in {main.num_forwards} forward passes "
        f"instead of {ntp.num_forwards}."
    )
    expect(page.locator(".sbd-home-why")).to_contain_text(
        f"{told(main.seconds)} instead of {told(ntp.seconds)} on an {machine} processor, "
        "timed once; measure yours."
    )
    expect(page.locator(".sbd-home-prompt")).to_have_text(f"Prompt {main.prompt}")
    expect(page.locator(".sbd-home-key li")).to_have_text(["mask", "sure", "unsure", "new"])
    first = page.evaluate(COUNTS)
    page.wait_for_function(f"(first) => ({COUNTS})()[1] > Math.max(first[1] + 2, 8)", arg=first)
    assert page.locator(".sbd-home-ways").bounding_box() == before
    expect(page.locator("#sbd-player")).to_be_hidden()
    page.get_by_role("link", name="How it works").click()
    expect(question(page)).to_be_visible()
    page.go_back()
    expect(sentence(page)).to_be_visible()
    expect(question(page)).to_be_hidden()
    page.get_by_role("button", name="Try your own prompt").click()
    expect(page.locator("#sbd-player")).to_be_hidden()  # somebody else's run
    expect(page.get_by_label("Prompt", exact=True)).to_be_focused()
    expect(page.get_by_label("Prompt", exact=True)).to_have_value("")
    page.get_by_role("link", name="Set Block Decoding").click()
    expect(sentence(page)).to_be_visible()


FIRST = """(name) => {
  const finished = [...document.querySelectorAll('.sbd-home-lane.is-finished')];
  return finished.length === 1 && finished[0].classList.contains(name);
}"""


def test_the_race_is_by_time_or_by_pass_as_is_chosen(visit):
    """Verify needed fewer passes and more time here, so either lane is first by its measure."""
    page = visit()
    page.get_by_role("button", name="Exact (verify) · SmolLM2 135M").click()
    measure = page.get_by_label("Advance").first
    expect(measure).to_have_value("time")
    expect(page.locator(".sbd-home-slowness")).to_have_text(re.compile(r"^shown [\d.]+× slower$"))
    page.wait_for_function(FIRST, arg="sbd-lane-ntp")
    measure.select_option("pass")
    expect(page.locator(".sbd-home-slowness")).to_be_empty()
    page.wait_for_function(FIRST, arg="sbd-lane-main")


@pytest.mark.parametrize("width", [1440, 390])
def test_a_prompt_that_works_stands_beside_the_empty_box_and_decodes(visit, width):
    page = visit(width, 844, reduced_motion="reduce")
    page.get_by_role("button", name="Try your own prompt").click()
    samples = page.get_by_role("region", name="Samples").get_by_role("button")
    prompts = [kind["prompts"][0][0] for kind in presets_of(PRESETS)]
    expect(samples).to_have_text(prompts)
    expect(samples.first).to_be_in_viewport()
    assert serious(page) == []
    samples.first.click()
    page.wait_for_function(f"{RUN}.id !== 'opening'")
    expect(page.locator("#sbd-player")).to_be_visible()
    expect(samples.first).to_be_hidden()
    assert page.evaluate(f"[{RUN}.isRecorded, {RUN}.prompt]") == [False, prompts[0]]


def test_another_recorded_run_has_other_numbers_and_is_not_said_to_be_the_same(
    open_page, short_url
):
    page = open_page(f"{short_url}#", reduced_motion="reduce")
    main, ntp = traces(story_model(), max_new_tokens=16)
    assert main.token_ids != ntp.token_ids
    expect(sentence(page)).to_have_text(
        f"The same model writes an answer in {main.num_forwards} forward passes "
        f"instead of {ntp.num_forwards}."
    )
    assert page.evaluate(COUNTS) == [main.num_forwards, ntp.num_forwards]


def test_at_the_end_both_answers_are_whole_and_one_click_shows_a_real_model_checked(visit):
    page = visit(1440, 900, reduced_motion="reduce")
    expect(page.locator(".sbd-home-outcome")).to_have_text(
        "Both answers are identical, token for token."
    )
    inside = """(texts) => texts.every((text) => {
        const box = text.getBoundingClientRect();
        return [...text.querySelectorAll('.sbd-token')].every((token) => {
            const { top, bottom } = token.getBoundingClientRect();
            return top >= box.top - 4 && bottom <= box.bottom + 4;
        });
    })"""
    assert page.locator(".sbd-home-answer > .sbd-text").evaluate_all(inside)
    real = page.get_by_role("button", name="Exact (verify) · SmolLM2 135M")
    real.click()
    main, ntp = opening_traces(REAL_MODEL).values()
    assert main.seconds > ntp.seconds
    assert page.evaluate(COUNTS) == [main.num_forwards, ntp.num_forwards]
    why = page.locator(".sbd-home-why")
    expect(why).to_contain_text("Our addition, not the paper’s")
    expect(why).to_contain_text("SmolLM2 135M; every token is that of next-token prediction")
    expect(why).to_contain_text("by longer passes, timed once; measure yours")
    expect(real).to_be_focused()
    why.get_by_role("button", name="measure yours").click()
    expect(page.locator(".sbd-prompt")).to_have_text(main.prompt)
    timed = "document.querySelector('.sbd-host').sbdPlayer.parts.details.timingOf"
    page.wait_for_function(f"{timed}({RUN}).seconds.length === 5")
    expect(page.locator(".sbd-number-clock")).to_contain_text("median of 5 new runs")
    page.get_by_role("button", name="Close details").click()
    page.get_by_role("button", name="Last forward pass").click()
    label = page.locator(".sbd-headline-label")
    expect(label).to_have_text(re.compile("^(faster|slower|as fast), median of 5$"))


@pytest.mark.parametrize(
    ("address", "part"),
    [
        ("#learn", ".sbd-learn-question"),
        ("#compare", ".sbd-compare-lanes"),
        ("?prompt=p", "#sbd-player"),
        ("?lanes=ntp&prompt=p", ".sbd-compare-lanes"),
    ],
)
def test_an_address_opens_its_view_at_once(open_page, story_url, address, part):
    page = open_page(f"{story_url}{address}")
    expect(page.locator(part)).to_be_visible()
    expect(sentence(page)).to_have_count(0)


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_without_motion_it_shows_its_end_and_everyone_can_use_it(visit, width, scheme):
    page = visit(width, 844, color_scheme=scheme, reduced_motion="reduce")
    expect(page.locator(".sbd-home-lane.is-finished")).to_have_count(2)
    expect(page.get_by_role("button", name="Play (space)", exact=True).first).to_be_visible()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.locator(".sbd-home .sbd-text").first).to_have_text(re.compile("."))
