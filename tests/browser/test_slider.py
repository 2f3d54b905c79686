"""The slider from safer to bolder: where it starts, what it sets, what follows what it says."""

import re

import pytest

from sbd_core.models.model_folder import REAL_MODEL
from tests.browser.conftest import (
    EXACT,
    FIRST,
    ONE,
    PAPER,
    advanced,
    choose_strategy,
    decode,
    state,
    sync_api,
)
from tests.ui.doubles import story_model
from ui.best_settings import FIRST_GAMMA, best_for
from ui.examples import BUNDLED_MODEL
from ui.models import LazyModel, Models

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_the_form_starts_from_the_best_and_turns_to_set_block_decoding_for_blanks(
    open_page, measured_url
):
    best = best_for(BUNDLED_MODEL, can_draft=True)
    page = open_page(measured_url, reduced_motion="reduce")
    expect(page.locator(".sbd-ways-why")).to_contain_text(best.words.replace("γ ", "γ\u00a0"))
    now, stale = page.locator(".sbd-ways-now"), page.locator("#sbd-player .sbd-stale").first
    words = "Exact (verify)" if best.strategy == "verify" else f"γ {best.gamma:g}"
    expect(now).to_have_text(words)
    expect(page.locator(".sbd-ways-best")).to_be_hidden()
    # The recording on the stage was made with the same.
    assert state(page)["run"] == "opening"
    expect(stale).to_be_hidden()
    expect(page.get_by_role("radio", name=EXACT)).to_be_checked(checked=best.strategy == "verify")
    choose_strategy(page, ONE)
    expect(stale).to_contain_text("A recording. Decode runs its prompt with")
    page.get_by_role("button", name="Why the form starts").click()
    page.locator(".sbd-ways-best").click()
    expect(now).to_have_text(words)
    expect(stale).to_be_hidden()
    decode(page)
    strategy = "document.querySelector('.sbd-host').sbdPlayer.run.strategy"
    assert page.evaluate(strategy) == best.strategy
    expect(stale).to_be_hidden()
    expect(page.get_by_role("radio", name=EXACT)).to_be_checked()
    advanced(page)
    page.get_by_label("Answer with blanks").fill("With ___3 pencils")
    expect(page.get_by_role("radio", name=PAPER)).to_be_checked()
    expect(page.get_by_label("Safer to bolder")).to_be_visible()
    why = page.locator(".sbd-ways-why")
    expect(why).to_have_text(re.compile(r"^Only Set Block Decoding fills in blanks"))
    expect(page.locator(".sbd-ways-best")).to_be_hidden()
    decode(page)
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_label("Answer with blanks").fill("")
    expect(why).not_to_contain_text("blanks")


def test_each_choice_sets_the_strategy_and_only_the_paper_s_has_a_slider_which_asks_no_server(
    open_page, measured_url
):
    page = open_page(measured_url, reduced_motion="reduce")
    strategy, slider = page.locator("#sbd-strategy-field select"), page.get_by_label("Safer to")
    for way, name in ((ONE, "ntp"), (EXACT, "verify"), (PAPER, "sbd")):
        choose_strategy(page, way)
        expect(strategy).to_have_value(name)
        expect(slider).to_be_visible(visible=way == PAPER)
    slider.fill("5")
    expect(page.locator(".sbd-ways-now")).to_have_text("γ 0.2")
    advanced(page)
    expect(page.get_by_label("γ", exact=True)).to_have_value("0.2")
    decode(page)
    run = "document.querySelector('.sbd-host').sbdPlayer.run"
    assert page.evaluate(f"[{run}.strategy, {run}.solver.gamma]") == ["sbd", 0.2]
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    page.get_by_label("Safer to bolder").evaluate(
        """range => [1, 3, 8, 1, 2, 5, 4].forEach(place => {
            range.value = place;
            range.dispatchEvent(new Event("input", { bubbles: true }));
        })"""
    )
    expect(page.get_by_label("γ", exact=True)).to_have_value("0.1")
    expect(page.locator(".sbd-ways-now")).to_have_text("γ 0.1")
    assert sent == [], "an answer to an earlier place could come after the last"


def test_an_adapter_offers_what_means_something_and_says_what_it_was_trained_for(serve, open_page):
    """The paper's rule waits under Advanced; a model that was trained for it is one click away."""
    real, nano = (story_model(name=name) for name in (REAL_MODEL, BUNDLED_MODEL))
    offers = [LazyModel.of(real, title="Real"), LazyModel.of(nano)]
    best = best_for(REAL_MODEL, can_draft=True, has_adapter=True)
    gamma, words = FIRST_GAMMA, best.causal_first
    page = open_page(serve(Models(offers)), reduced_motion="reduce")
    outside, other = page.locator(".sbd-ways-outside"), page.get_by_text("Watch nano fill")
    expect(page.get_by_role("radio", name=EXACT)).to_be_checked()
    expect(outside).to_be_hidden()
    choose_strategy(page, FIRST)
    expect(outside).to_have_text(words)
    expect(page.get_by_role("radio", name=PAPER)).to_be_hidden()
    expect(page.get_by_label("Safer to bolder")).to_be_hidden()
    decode(page)
    expect(page.locator(".sbd-headline-why")).to_contain_text("A pass took")
    solver = "document.querySelector('.sbd-host').sbdPlayer.run.solver"
    assert page.evaluate(solver) == {"name": "causal-first", "gamma": gamma}
    advanced(page)
    choose_strategy(page, PAPER)
    expect(outside).to_have_text(best.paper)
    advanced_switch = page.locator(".sbd-advanced-switch")
    advanced_switch.click()
    expect(page.get_by_role("radio", name=PAPER)).to_be_visible()  # what is chosen is shown
    decode(page)
    assert page.evaluate(solver) == {"name": "entropy-bound", "gamma": best.gamma}
    other.click()
    expect(page.get_by_role("radio", name=BUNDLED_MODEL)).to_be_checked()
    expect(page.get_by_role("radio", name=FIRST)).to_be_hidden()
    choose_strategy(page, PAPER)
    expect(outside).to_be_hidden()
