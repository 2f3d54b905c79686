"""No listener and no run stays once a player or a tree is gone."""

import pytest

from tests.browser.conftest import painted, state, sync_api

pytestmark = pytest.mark.browser
expect = sync_api.expect


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


def test_views_that_are_built_again_leave_no_listener_behind(story):
    bundle = story.evaluate(
        "() => performance.getEntriesByType('resource').map((entry) => entry.name)"
        ".find((name) => name.includes('dist/page.js'))"
    )
    assert bundle
    again = """async (bundle) => {
      const { mount } = await import(bundle);
      const element = document.querySelector(".sbd-host").parentElement;
      mount("player", { element, value: "", trigger: () => {} });
    }"""
    before = listeners(story)
    assert len(before["document"]) > 5
    for _ in range(3):
        story.evaluate(again, bundle)
    assert listeners(story) == before


GROW = """(number) => {
  const { sbdPlayer: player } = document.querySelector(".sbd-host");
  const [start, ...rest] = player.run.lines;
  const run = (id, ask) => [JSON.stringify({ ...JSON.parse(start), ask }), ...rest]
    .map((line) => line.replace(/"run":"[^"]*"/, `"run":"${id}"`)).join("\\n");
  player.push(run(`first${number}`, ""));
  player.push(run(`branch${number}`, player.family.ask(player.run, { kind: "gamma" })));
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
