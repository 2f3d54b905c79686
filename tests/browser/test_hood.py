"""Under the hood: opened by one button or key, moved by the player's own scrubber."""

import re

import pytest

from sbd_core.cost import LayerShape, ModelShape
from tests.browser.conftest import go_to, painted, push, recorded, state, sync_api
from tests.browser.test_access import serious, tab_reaches_all
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect

RIDING = """() => document.querySelector('.sbd-host').sbdPlayer.run.main.steps
  .findIndex(({ kind, causal }) => kind !== 'prefill' && causal)"""


LAYER = LayerShape(hidden_size=64, feed_forward_size=128, num_heads=4, num_kv_heads=2, head_size=16)
SHAPE = ModelShape(layer=LAYER, num_layers=2, vocabulary_size=96, bytes_per_value=4)


@pytest.fixture
def shaped(replay):
    """The player with a run of a model whose shape is known."""
    push(replay, recorded(story_model(shape=SHAPE), "shaped"))
    return replay


def button(page):
    return page.get_by_role("button", name="Under the hood")


def open_hood(page):
    button(page).click()
    expect(page.locator(".sbd-hood-body")).to_be_visible()
    painted(page)


def open_program(page):
    page.locator(".sbd-hood-programs summary").click()
    expect(page.locator(".sbd-hood-line").first).to_be_visible()


def to_riding(page) -> int:
    """Go to the first forward pass in which a finished block rides along."""
    riding = page.evaluate(RIDING)
    assert riding > 0
    page.evaluate("(n) => document.querySelector('.sbd-host').sbdPlayer.seek(n, true)", riding)
    painted(page)
    return riding


def test_closed_it_draws_nothing_open_it_follows_the_scrubber(shaped):
    go_to(shaped, 0)
    expect(button(shaped)).to_have_attribute("aria-expanded", "false")
    expect(shaped.locator(".sbd-hood-grid")).to_have_count(0)
    open_hood(shaped)
    title = shaped.locator(".sbd-hood-mask h3").first
    expect(title).to_contain_text("in forward pass 1:")
    expect(shaped.locator(".sbd-hood-line").first).to_be_hidden()
    open_program(shaped)
    riding = to_riding(shaped)
    expect(title).to_contain_text(f"in forward pass {riding + 1}: 32 rows")
    for kind in ("cached", "causal", "block"):
        expect(shaped.locator(f".sbd-hood-grid path.is-{kind}")).to_be_visible()
    words = shaped.locator(".sbd-hood-mask > .sbd-hood-words")
    expect(words).to_contain_text("16 tokens are read causally")
    expect(words).to_contain_text("to the left and to the right")
    expect(shaped.locator(".sbd-hood-cache")).to_contain_text("16 tokens written")
    lit = shaped.locator(".sbd-hood-line.is-lit")
    expect(lit.filter(has_text="First time")).to_be_visible()
    shaped.keyboard.press("ArrowRight")
    painted(shaped)
    expect(title).to_contain_text(f"in forward pass {riding + 2}: 16 rows")
    expect(lit.filter(has_text="Other times")).to_be_visible()
    shaped.keyboard.press("u")
    expect(shaped.locator(".sbd-hood-body")).to_be_hidden()


def test_a_row_is_read_by_pointing_and_by_the_slider(shaped):
    open_hood(shaped)
    to_riding(shaped)
    readout = shaped.locator(".sbd-hood-readout")
    expect(readout).to_contain_text("Point at a row")
    slider = shaped.get_by_role("slider", name="Row of the mask")
    grid = shaped.locator(".sbd-hood-grid")
    slider.focus()
    shaped.keyboard.press("Home")
    grid.dispatch_event("pointerleave")  # as when the page moves under a pointer that rests
    expect(readout).to_have_text(re.compile(r"^Row 1, .*riding along.* may attend to"))
    before = state(shaped)["pass"]
    shaped.keyboard.press("ArrowRight")
    expect(readout).to_have_text(re.compile("^Row 2, "))
    assert state(shaped)["pass"] == before, "the arrow is the slider's here"
    text = slider.get_attribute("aria-valuetext")
    assert text.startswith("Row 2, ")
    shaped.keyboard.press("End")
    expect(readout).to_have_text(re.compile(r"^Row 32, .*its block of 16, both ways"))
    slider.blur()
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    shaped.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 4)
    expect(readout).to_have_text(re.compile("^Row 32, "))
    shaped.mouse.move(0, 0)
    expect(readout).to_contain_text("Point at a row")


def test_the_cost_is_that_of_the_chosen_device(shaped):
    open_hood(shaped)
    to_riding(shaped)
    rows = shaped.locator(".sbd-hood-table tr")
    expect(rows.filter(has_text=re.compile(r"^\s*Rows"))).to_contain_text("32")
    least = rows.filter(has_text="Roofline")
    expect(least).to_contain_text("H100")
    value = least.locator("td").first
    first = value.inner_text()
    shaped.get_by_label("Device of the roofline").select_option("a100-bf16")
    expect(least).to_contain_text("A100")
    expect(value).not_to_have_text(first)
    expect(least).not_to_contain_text("the rate of the rest")
    shaped.get_by_label("Device of the roofline").select_option("h100-fp8")
    expect(least).to_contain_text("attention at 0.5 times the rate of the rest")
    output = f"{2 * 32 * 96 * 64 / 1000:.0f} kFLOP and {96 * 64 * 4 / 1000:.1f} kB of it"
    expect(shaped.locator(".sbd-hood-cost")).to_contain_text(f"The output layer is {output}")
    expect(shaped.get_by_text("does not say which model made it")).to_be_hidden()


def test_a_trace_without_a_shape_says_what_is_missing_and_shows_the_rest(replay):
    open_hood(replay)
    open_program(replay)
    go_to(replay, 3)
    expect(replay.locator(".sbd-hood-cost")).to_contain_text("does not say which model made it")
    rows = replay.locator(".sbd-hood-table tr")
    expect(rows.filter(has_text=re.compile(r"^\s*Rows"))).to_contain_text("16")
    expect(rows.filter(has_text="Measured")).to_contain_text("s")
    expect(replay.locator(".sbd-hood-line.is-lit").first).to_be_visible()


def test_nothing_serious_is_wrong_and_tab_reaches_every_control(open_page, story_url):
    page = open_page(story_url, 390, 844, color_scheme="dark", reduced_motion="reduce")
    push(page, recorded(story_model(shape=SHAPE), "shaped"))
    to_riding(page)
    open_hood(page)
    assert serious(page, ".sbd-hood") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab_reaches_all(page, ".sbd-hood")
