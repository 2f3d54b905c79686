"""The static site with threads, and what it holds in memory after many decodes."""

import time

import pytest

from scripts.browser.memory import memory
from tests.browser.conftest import sync_api
from tests.browser.site.conftest import HERE, RUN, Quiet, address, decode_here, kept_here, serving

pytestmark = pytest.mark.browser
expect = sync_api.expect


class Isolating(Quiet):
    """Lets pages share memory with threads."""

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


class Readable(Quiet):
    """Lets pages of other origins read its files, and says nothing more of them."""

    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()


def workers_of(tools, start: str) -> list[str]:
    """Addresses of the browser's workers, but service workers, that begin so."""
    found = tools.send("Target.getTargets")["targetInfos"]
    return [one["url"] for one in found if one["type"] == "worker" and one["url"].startswith(start)]


def has_threads(page, server) -> None:
    """Wait until a worker decodes for each thread that a page may have here."""
    assert page.evaluate("crossOriginIsolated")
    num_threads = min(4, page.evaluate("navigator.hardwareConcurrency"))
    tools = page.context.browser.new_browser_cdp_session()
    deadline = time.monotonic() + 20
    while len(workers_of(tools, address(server))) != num_threads:
        assert time.monotonic() < deadline, "one worker for each thread"
        time.sleep(0.1)


@pytest.mark.parametrize("server", [Isolating], indirect=True)
def test_threads_decode_where_the_host_lets_them_share_memory(open_page, server):
    page = open_page(address(server))
    expect(page.get_by_text(HERE)).to_be_visible()
    decode_here(page, "What is 12 + 30?")
    expect(page.locator(".sbd-verdict:visible")).to_contain_text(["answer is 42"] * 2)
    has_threads(page, server)


def test_threads_decode_the_same_from_the_second_view_on_whatever_the_host_sends(open_page, server):
    page = open_page(address(server))
    kept_here(page)
    first = decode_here(page, "What is 12 + 30?")
    assert not page.evaluate("crossOriginIsolated")
    page.reload()
    expect(page.get_by_text(HERE)).to_be_visible()
    has_threads(page, server)
    second = decode_here(page, "What is 12 + 30?")
    assert [second["main"], second["ntp"]] == [first["main"], first["ntp"]]
    server.shutdown()
    server.server_close()
    page.reload()
    expect(page.get_by_text(HERE)).to_be_visible()
    has_threads(page, server)
    assert decode_here(page, "What is 12 + 30?")["main"] == first["main"]


def num_runs(page) -> int:
    """Runs that anything on the page still holds."""
    tools = page.context.new_cdp_session(page)
    kind = tools.send("Runtime.evaluate", {"expression": f"{RUN}.constructor.prototype"})
    held = tools.send("Runtime.queryObjects", {"prototypeObjectId": kind["result"]["objectId"]})
    length = {
        "objectId": held["objects"]["objectId"],
        "functionDeclaration": "function () { return this.length; }",
        "returnByValue": True,
    }
    count = tools.send("Runtime.callFunctionOn", length)["result"]["value"]
    tools.detach()
    return count


def test_the_page_holds_no_run_that_gave_way_to_another(open_page, server):
    page = open_page(address(server))
    expect(page.get_by_text(HERE)).to_be_visible()
    held = []
    for _ in range(5):
        decode_here(page, "What is 12 + 30?")
        page.get_by_role("button", name="Last forward pass").click()
        held.append((num_runs(page), memory(page)["nodes"]))
    # The run before may still wait for a collection of garbage; five decodes never leave three.
    assert {count for count, _ in held} <= {1, 2}
    assert held[-1][1] < 1.05 * held[1][1]


def test_a_model_of_another_origin_is_read_by_a_page_with_threads(open_page, server, site):
    page = open_page(address(server))
    kept_here(page)
    with serving(site, Readable) as other:
        page.goto(f"{address(server)}?model={address(other)}model")
        expect(page.get_by_text(f"{HERE} by model")).to_be_visible()
        has_threads(page, server)
        decode_here(page, "What is 12 + 30?")
