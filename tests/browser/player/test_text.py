"""Text is text: hostile tokens, spaces, line breaks, parts of characters; and how tokens land."""

import pytest

from tests.browser.conftest import go_to, painted, push, recorded, sync_api
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect

CODE = ["def f", "(n):", "\n", "    ", "\t", "return", " n", "  ", "+", " 1", " ", "\n", "end"]


def show(page, pieces, run_id):
    """The last pass of a run that answers with these pieces."""
    push(page, recorded(story_model(pieces), run_id))
    page.get_by_role("button", name="Last forward pass").click()
    painted(page)


def lane(page):
    return page.get_by_label("Text decoded so far")


def test_the_lane_keeps_its_layout_and_marks_what_is_easily_missed(replay):
    show(replay, CODE, "code")
    assert lane(replay).inner_text().removesuffix("end").rstrip() == "".join(CODE)
    marked = lane(replay).locator(".sbd-space")
    expect(marked).to_have_text(["    ", "  ", " "], use_inner_text=True)
    expect(lane(replay).locator(".sbd-break")).to_have_count(2)
    expect(lane(replay).locator(".sbd-tab")).to_have_count(1)


REVEALS = """() => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  const step = player.run.main.steps[player.state.pass];
  const landing = document.getAnimations().filter((a) => a.effect.target.matches?.('.sbd-tile'))
    .filter((a) => a.constructor === Animation)
    .map((a) => [a.effect.getTiming().delay,
      Number(a.effect.target.querySelector('.sbd-tile-position').textContent)]);
  return { landing: landing.sort((a, b) => a[0] - b[0]).map((pair) => pair[1]),
    reveals: step.reveals.map((each) => each.position) };
}"""


def slowly(page):
    """Let every animation run at a thousandth of its speed, so that it can be looked at."""
    client = page.context.new_cdp_session(page)
    client.send("Animation.enable")
    client.send("Animation.setPlaybackRate", {"playbackRate": 0.001})


def test_tokens_of_a_pass_land_in_the_order_of_their_entropy(replay):
    slowly(replay)
    go_to(replay, 1)
    seen = replay.evaluate(REVEALS)
    assert len(seen["reveals"]) > 2
    assert seen["landing"] == seen["reveals"]


def test_nothing_lands_on_the_way_back_or_without_motion(open_page, replay_url):
    page = open_page(replay_url)
    slowly(page)
    go_to(page, 2)
    page.keyboard.press("ArrowLeft")
    painted(page)
    assert page.evaluate(REVEALS)["landing"] == []
    calm = open_page(replay_url, reduced_motion="reduce")
    slowly(calm)
    go_to(calm, 1)
    assert calm.evaluate(REVEALS)["landing"] == []
