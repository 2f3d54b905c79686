"""The player alone, without Gradio: replaying, stepping, hostile text, and nothing left behind."""

import re

import pytest

from tests.browser.conftest import go_to, painted, state, sync_api, traces
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_numbers_are_those_of_the_traces_at_the_moment_and_at_the_end(replay):
    main, ntp = traces(story_model())
    passes = replay.locator(".sbd-headline-passes b")
    numbers = replay.locator(".sbd-number")
    go_to(replay, 1)
    tokens = state(replay)["main"]["fixed"]
    so_far = sum(by <= 1 for _, by in tokens)
    expect(passes.first).to_have_text("2")
    expect(numbers.first).to_have_text(str(so_far))
    expect(numbers.nth(1)).to_have_text(f"{so_far / 2:.2f}")
    replay.get_by_role("button", name="Last forward pass").click()
    expect(passes).to_have_text([str(main.num_forwards), str(ntp.num_forwards)])
    expect(numbers).to_have_text(
        [
            str(main.num_tokens),
            f"{main.tokens_per_forward:.2f}",
            re.compile(r"^[\d.]+ (ms|s)$"),
        ]
    )


def test_transport_and_keys_move_the_playhead(replay):
    replay.get_by_role("button", name="First forward pass").click()
    assert state(replay)["pass"] == 0
    for key, expected in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("Home", 0)]:
        replay.keyboard.press(key)
        assert state(replay)["pass"] == expected
    replay.keyboard.press("End")
    last = state(replay)
    assert last["pass"] == last["main"]["steps"] - 1
    replay.set_viewport_size({"width": 390, "height": 844})  # the staircase scrubs where it is wide
    replay.locator(".sbd-range").fill("3")
    assert state(replay)["pass"] == 2
    expect(replay.locator(".sbd-place")).to_have_text(f"pass 3 / {last['main']['steps']}")
    replay.locator(".sbd-range").blur()
    replay.keyboard.press(" ")
    assert state(replay)["isPlaying"]


def middle_of_cell(page, position: int, pass_index: int) -> tuple[float, float]:
    """Place on the screen at which the staircase draws a cell."""
    return page.evaluate(
        """([position, pass]) => {
      const { staircase } = document.querySelector('.sbd-host').sbdPlayer.parts;
      const { left, top } = staircase.stage.getBoundingClientRect();
      const { cellWidth, cellHeight } = staircase.geometry;
      return [left + staircase.margins.left + (position + 0.5) * cellWidth,
        top + staircase.margins.top + (pass + 0.5) * cellHeight];
    }""",
        [position, pass_index],
    )


def test_a_cell_of_the_staircase_is_read_out_where_pointed_at_and_gone_to_where_clicked(replay):
    go_to(replay, 1)
    box = replay.locator(".sbd-stairs-stage").bounding_box()
    replay.mouse.move(*middle_of_cell(replay, 0, 1))
    readout = replay.locator(".sbd-readout")
    expect(readout).to_contain_text("Position 0, forward pass 2")
    expect(readout).to_contain_text(re.compile(r"(revealed|best guess) “With” [\d.]+%"))
    expect(readout).to_contain_text(re.compile(r"entropy [\d.]+ nats"))
    replay.mouse.move(box["x"] + box["width"] - 9, box["y"] + 10)
    expect(readout).to_be_hidden()
    replay.mouse.click(*middle_of_cell(replay, 0, 2))
    assert state(replay)["pass"] == 2
    expect(replay.locator(".sbd-inspector-kicker")).to_have_text("Position 0 · held")


def test_dragging_gamma_lights_what_it_would_reveal_without_a_pass(replay):
    go_to(replay, 1)
    steps = state(replay)["main"]["steps"]
    box = replay.locator(".sbd-budget-track").bounding_box()
    replay.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 10)
    replay.mouse.down()
    replay.mouse.move(box["x"] + box["width"] - 1, box["y"] + 10, steps=5)
    replay.mouse.up()
    expect(replay.locator(".sbd-tile.is-would")).to_have_count(15)
    expect(replay.locator(".sbd-budget-note")).to_contain_text("15 would be revealed")
    replay.mouse.click(box["x"] + 1, box["y"] + 10)
    expect(replay.locator(".sbd-tile.is-would")).to_have_count(1)
    assert state(replay)["main"]["steps"] == steps


def listeners(page) -> dict[str, list[str]]:
    """The types of the listeners on the document and the window, as the browser knows them."""
    client = page.context.new_cdp_session(page)
    found = {}
    for name in ("document", "window"):
        target = client.send("Runtime.evaluate", {"expression": name})["result"]["objectId"]
        held = client.send("DOMDebugger.getEventListeners", {"objectId": target})["listeners"]
        found[name] = sorted(listener["type"] for listener in held)
    client.detach()
    return found


def test_a_destroyed_player_hears_no_key(replay):
    host = "document.querySelector('.sbd-host')"
    before = listeners(replay)
    assert {"keydown", "fullscreenchange", "scroll"} <= set(before["document"])
    replay.locator(".sbd-host").evaluate("(host) => { host.tabIndex = -1; host.focus(); }")
    replay.keyboard.press("End")
    replay.keyboard.press("Home")
    assert state(replay)["pass"] == 0
    replay.keyboard.press("ArrowRight")
    assert state(replay)["pass"] == 1
    replay.evaluate(f"{host}.sbdPlayer.destroy()")
    replay.keyboard.press("ArrowRight")
    assert state(replay)["pass"] == 1
    assert listeners(replay)["document"] == []  # the window has those of the browser's driver


GROW = """(number) => {
  const { sbdPlayer: player } = document.querySelector(".sbd-host");
  const [start, ...rest] = player.run.lines;
  const run = (id, ask) => [JSON.stringify({ ...JSON.parse(start), ask }), ...rest]
    .map((line) => line.replace(/"run":"[^"]*"/, `"run":"${id}"`)).join("\\n");
  player.push(run(`first${number}`, ""));
  player.push(run(`branch${number}`, player.runTree.request(player.run, { kind: "gamma" })));
}"""


def num_runs(page) -> int:
    """The runs that the page holds on to, as the browser knows after it collected its garbage."""
    client = page.context.new_cdp_session(page)
    run = "Object.getPrototypeOf(document.querySelector('.sbd-host').sbdPlayer.run)"
    prototype = client.send("Runtime.evaluate", {"expression": run})["result"]["objectId"]
    found = client.send("Runtime.queryObjects", {"prototypeObjectId": prototype})["objects"]
    count = "function () { return this.length; }"
    named = {"functionDeclaration": count, "objectId": found["objectId"]}
    number = client.send("Runtime.callFunctionOn", named)["result"]["value"]
    client.detach()
    return number


def test_trees_that_gave_way_to_others_are_let_go(replay):
    for number in range(12):
        replay.evaluate(GROW, number)
        painted(replay)
    expect(replay.locator(".sbd-tree-row")).to_have_count(2)
    assert 2 <= num_runs(replay) <= 4
