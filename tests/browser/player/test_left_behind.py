"""What a player may leave behind: a page that answers while a GIF is made or has failed, and no
listener once the player is destroyed."""

import io

import pytest
from PIL import Image

from sbd_core.replay.page import replay_html
from sbd_core.rules import LeftToRight
from tests.browser.conftest import painted, state, sync_api, traces
from tests.browser.share.test_share import open_sheet, saved
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect

MAX_FRAMES = 240
"""Of ui/web/core/limits.js."""

FAULTS = {
    "the worker is refused": """() => {
      window.Worker = function () { throw new Error("workers are switched off"); };
    }""",
    "the script throws": """() => {
      const address = URL.createObjectURL(new Blob(["throw new Error('out of memory')"]));
      window.Worker = class extends Worker { constructor() { super(address); } };
    }""",
    "an order fails inside the worker": """() => {
      window.Worker = class extends Worker {
        postMessage(order, handed) { super.postMessage({ ...order, kind: "frame" }, handed); }
      };
    }""",
}
WORDS = {
    "the worker is refused": "The animation cannot be made: workers are switched off.",
    "the script throws": "out of memory",
    "an order fails inside the worker": "no animation was begun",
}

WATCH_TIMER = """() => {
  const player = document.querySelector(".sbd-host").sbdPlayer;
  const bar = document.querySelector(".sbd-share-bar");
  const seen = { longest: 0, ticks: 0, begin: 0, end: 0 };
  window.seen = seen;
  let last = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    if (bar.hidden && !seen.begin) return;
    if (!seen.begin) seen.begin = last = now;
    seen.longest = Math.max(seen.longest, now - last);
    seen.ticks += 1;
    seen.end = last = now;
    if (bar.hidden) clearInterval(timer);
  }, 5);
}"""


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


@pytest.fixture(scope="module")
def long_run(tmp_path_factory) -> str:
    """The address of a replay of more forward passes than an animation has frames."""
    model = story_model([f" word{i}" for i in range(250)])
    main, ntp = traces(model, solver=LeftToRight(1), max_new_tokens=250)
    assert main.num_forwards > MAX_FRAMES
    path = tmp_path_factory.mktemp("long") / "run.html"
    path.write_text(replay_html(main, ntp), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("fault", FAULTS)
def test_an_animation_that_fails_is_a_sentence_and_the_button_works_again(replay, fault):
    replay.evaluate("() => { window.RealWorker = window.Worker; }")
    replay.evaluate(FAULTS[fault])
    open_sheet(replay)
    replay.get_by_role("button", name="Save GIF").click()
    status = replay.locator(".sbd-share-status.is-error")
    expect(status).to_contain_text("The animation cannot be made: ")
    expect(status).to_contain_text(WORDS[fault])
    assert "Error:" not in status.inner_text()
    expect(replay.locator(".sbd-share-bar")).to_be_hidden()
    replay.evaluate("() => { window.Worker = window.RealWorker; }")
    _, content = saved(replay, "Save GIF")
    expect(status).to_have_count(0)
    assert Image.open(io.BytesIO(content)).size == (1280, 720)


def test_a_long_run_is_sampled_and_the_page_answers_while_its_animation_is_made(
    open_page, long_run
):
    page = open_page(long_run)
    open_sheet(page)
    page.evaluate(WATCH_TIMER)
    _, content = saved(page, "Save GIF")
    assert MAX_FRAMES / 2 < Image.open(io.BytesIO(content)).n_frames <= MAX_FRAMES
    page.wait_for_function("document.querySelector('.sbd-share-bar').hidden")
    seen = page.evaluate("window.seen")
    # Shares, not seconds: a busy machine is slow, but no single task may hold the page.
    assert seen["ticks"] >= 30, seen
    assert seen["longest"] <= (seen["end"] - seen["begin"]) / 5, seen


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
