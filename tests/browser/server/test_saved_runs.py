"""Runs outlive a reload, a restart of the server and a cut of the network; Stop works meanwhile."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.browser.conftest import (
    RUN,
    begin,
    decode,
    decode_button,
    on_watch,
    painted,
    state,
    sync_api,
)
from tests.browser.player.test_branches import intervene, rows
from tests.browser.test_compare import enter, go
from tests.browser.test_share import open_sheet, saved
from tests.ui.doubles import slowed, story_model, wait_for
from tests.workers import free_port
from ui import page as page_module
from ui.decode.session import Session

pytestmark = pytest.mark.browser
expect = sync_api.expect

SAVED = f"""async (numLines) => {{
  const done = (request) => new Promise((resolve) => (request.onsuccess = resolve));
  const opened = indexedDB.open(`sbd ${{location.pathname}} runs`, 1);
  await done(opened);
  const tabs = opened.result.transaction('tabs').objectStore('tabs').getAll();
  await done(tabs);
  opened.result.close();
  const kept = tabs.result.map(({{ runs, shown }}) => runs[shown]?.lines.split('\\n') ?? []);
  return sessionStorage.getItem(`sbd ${{location.pathname}} kept`) === location.search
    && kept.some((lines) => lines[0] === {RUN}.lines[0] && lines.length >= numLines);
}}"""


def news(page):
    return page.locator(".sbd-news")


def is_saved(page):
    """Wait until the run on the page is in the browser's storage, at this address."""
    num_lines = page.evaluate(f"{RUN}.lines.length")
    wait_for(lambda: page.evaluate(SAVED, num_lines))


def tree(page) -> list[str]:
    """Words of every run and the run shown, from top to bottom."""
    page.wait_for_selector("body[data-sbd-ready]")
    painted(page)
    return rows(page).all_inner_texts()


def test_a_tree_outlives_a_reload_and_goes_on_growing(story):
    decode(story)
    intervene(story, "p")
    before, shown = tree(story), state(story)["run"]
    is_saved(story)
    story.reload()
    expect(news(story)).to_contain_text("The 2 runs of this tab were kept in your browser.")
    assert (tree(story), state(story)["run"]) == (before, shown)
    rows(story).nth(0).click()
    intervene(story, "b", tile=2)
    assert len(tree(story)) == 3
    expect(news(story)).to_be_hidden()


def test_a_saved_run_can_be_taken_home_and_charted_after_a_reload(story):
    decode(story)
    open_sheet(story)
    before = {kind: saved(story, f"Save {kind}") for kind in ("JSON", "HTML")}
    is_saved(story)
    story.reload()
    expect(news(story)).to_contain_text("The run of this tab was kept in your browser.")
    story.locator("#sbd-charts .sbd-charts-toggle").click()
    expect(story.locator("#sbd-charts .sbd-charts-status")).to_contain_text("Drag to zoom")
    story.reload()
    expect(news(story)).to_contain_text("The run of this tab was kept in your browser.")
    open_sheet(story)
    assert {kind: saved(story, f"Save {kind}") for kind in before} == before


def test_a_link_that_this_tab_has_decoded_is_not_decoded_anew(story):
    decode(story)
    run = state(story)["run"]
    is_saved(story)
    assert "prompt=" in story.url
    story.reload()
    expect(news(story)).to_contain_text("The run of this tab was kept in your browser.")
    assert state(story)["run"] == run
    other = story.context.new_page()
    other.goto(story.url)
    other.wait_for_function(
        "(run) => !['opening', run].includes("
        "document.querySelector('.sbd-host')?.sbdPlayer?.run?.id ?? 'opening')",
        arg=run,
    )
    other.close()


@pytest.fixture
def port() -> int:
    return free_port()


def launched(port: int, model):
    demo = page_module.build(model)
    address = {"server_name": "127.0.0.1", "server_port": port}
    demo.launch(prevent_thread_lock=True, quiet=True, **address, **page_module.launch_options())
    return demo


SERVE = """
import sys
from tests.ui.doubles import slowed, story_model
from ui import page
port, seconds = int(sys.argv[1]), float(sys.argv[2])
address = {"server_name": "127.0.0.1", "server_port": port}
demo = page.build(slowed(story_model(), seconds))
demo.launch(prevent_thread_lock=True, quiet=True, **address, **page.launch_options())
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def served_apart(port: int, seconds: float) -> Iterator[None]:
    """The page in a process of its own, which is killed at the end."""
    words = [sys.executable, "-c", SERVE, str(port), str(seconds)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, text=True, **pipes) as process:
        try:
            assert process.stdout
            assert any(line == "ready\n" for line in process.stdout)
            yield
        finally:
            process.kill()


@pytest.mark.slow
def test_a_run_cut_off_by_a_restart_of_the_server_is_kept_as_far_as_it_came(contexts, port):
    page = contexts(False).new_page()
    with served_apart(port, 0.3):
        page.goto(on_watch(f"http://127.0.0.1:{port}"))
        page.wait_for_selector(".sbd-tile", state="attached")
        begin(page)
        run = state(page)["run"]
        page.wait_for_function(
            "document.querySelector('.sbd-host').sbdPlayer.run.main.steps.length > 3"
        )
        is_saved(page)
    with served_apart(port, 0.0):
        expect(news(page)).to_contain_text("The page was loaded anew.", timeout=60_000)
        expect(news(page)).to_contain_text("What was cut off can be decoded again.")
        kept = state(page)
        assert kept["run"] == run
        assert kept["main"]["steps"] > 3
        decode(page)
        expect(news(page)).to_be_hidden()
        page.close()


def is_idle(session: Session) -> bool:
    """Whether no run is before one that comes now."""
    ticket = session.queue.join("the test")
    num_ahead = session.queue.num_ahead(ticket)
    session.queue.leave(ticket)
    return num_ahead == 0


def test_while_the_server_is_away_stop_ends_the_run_as_far_as_it_came(contexts, port, monkeypatch):
    sessions = []

    def make_session(*args, **named):
        sessions.append(Session(*args, **named))
        return sessions[-1]

    monkeypatch.setattr(page_module, "Session", make_session)
    demo = launched(port, slowed(story_model(), 0.6))
    page = contexts(False).new_page()
    page.goto(on_watch(f"http://127.0.0.1:{port}"))
    page.wait_for_selector(".sbd-tile", state="attached")
    begin(page)
    waiting, racing = (page.context.new_page() for _ in range(2))
    for each in (waiting, racing):
        each.goto(on_watch(page.url.partition("?")[0].partition("#")[0]))
        each.wait_for_selector(".sbd-tile", state="attached")
    decode_button(waiting).click()
    expect(waiting.get_by_text("Another decode is before yours")).to_be_visible()
    enter(racing)
    go(racing).click()
    expect(racing.locator(".sbd-compare-news")).to_contain_text("before yours")
    page.context.set_offline(True)
    for each in (page, waiting):
        each.get_by_role("button", name="Stop", exact=True).click()
    racing.locator(".sbd-compare-stop").click()
    expect(news(page)).to_contain_text("The server does not answer; the run stands here")
    assert page.evaluate("document.querySelector('.sbd-host').sbdPlayer.run.isStopped")
    words = "The server does not answer; nothing of the new run has come."
    expect(news(waiting)).to_have_text(words)
    words = "The server does not answer; nothing more of this run has come."
    expect(racing.locator(".sbd-compare-news")).to_have_text(words)
    for button in (decode_button(page), decode_button(waiting), go(racing)):
        expect(button).to_be_enabled()
    page.context.set_offline(False)
    for each in (page, waiting, racing):
        each.close()
    wait_for(lambda: is_idle(sessions[0]))  # a run in a thread must not outlive the interpreter
    demo.close()
