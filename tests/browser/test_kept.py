"""Runs outlive a reload, a restart of the server and a cut of the network; Stop works meanwhile."""

import socket

import pytest

from tests.browser.conftest import begin, decode, painted, slowed, state, sync_api
from tests.browser.test_branches import intervene, rows
from tests.ui.doubles import story_model
from ui import page as page_module

pytestmark = pytest.mark.browser
expect = sync_api.expect

SAVED = "() => sessionStorage.getItem('sbd-kept') === location.search"


def news(page):
    return page.locator(".sbd-news")


def is_saved(page):
    """Wait until what is on the page is in the browser's storage, at this address."""
    page.wait_for_function(SAVED)
    page.wait_for_timeout(600)


def tree(page) -> list[str]:
    """Words of every run and the run shown, from top to bottom."""
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


def test_a_record_that_is_gone_is_decoded_anew(story):
    decode(story)
    run = state(story)["run"]
    is_saved(story)
    story.evaluate("indexedDB.deleteDatabase('sbd')")
    story.reload()
    story.wait_for_function(
        "(run) => !['opening', run].includes("
        "document.querySelector('.sbd-host')?.sbdPlayer?.run?.id ?? 'opening')",
        arg=run,
    )


@pytest.fixture
def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def launched(port: int, model):
    demo = page_module.build(model)
    address = {"server_name": "127.0.0.1", "server_port": port}
    demo.launch(prevent_thread_lock=True, quiet=True, **address, **page_module.launch_options())
    return demo


def test_while_the_server_is_away_stop_ends_the_run_as_far_as_it_came(contexts, free_port):
    demo = launched(free_port, slowed(story_model(), 0.3))
    page = contexts(False).new_page()
    page.goto(f"http://127.0.0.1:{free_port}")
    page.wait_for_selector(".sbd-tile", state="attached")
    begin(page)
    page.context.set_offline(True)
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(news(page)).to_contain_text("The server does not answer", timeout=20_000)
    assert page.evaluate("document.querySelector('.sbd-host').sbdPlayer.run.isStopped")
    page.context.set_offline(False)
    page.close()
    demo.close()
