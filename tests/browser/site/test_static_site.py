"""The static site from a plain file server: it decodes, with threads and without a network."""

import json
import re

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.trace import Trace
from scripts.static_site import write_site
from scripts.time_browser import timed
from scripts.web_constants import constants
from tests.browser.conftest import decode_button, on_watch, sync_api, turn_to
from tests.browser.server.test_saved_run import is_saved
from tests.browser.site.conftest import (
    DECODE,
    HERE,
    KEPT,
    RUN,
    Counting,
    Quiet,
    Readable,
    Stalling,
    address,
    decode_here,
    is_complete,
    kept_here,
    say_it_is_large,
    serving,
    until,
    visiting,
)
from tests.browser.test_compare import LANES
from tests.browser.test_share import open_sheet, saved
from tests.ui.doubles import wait_for

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_it_decodes_and_goes_on_without_a_network_with_threads(open_page, server):
    page = open_page(address(server))
    expect(page.get_by_text(HERE)).to_be_visible()
    online = decode_here(page, "What is 12 + 30?")
    assert not page.evaluate("crossOriginIsolated")  # from the second view on
    assert online["main"]["steps"] < online["ntp"]["steps"] == online["ntp"]["tokens"]
    chip = page.locator(".sbd-verdict-chip:visible")
    expect(chip).to_have_attribute("data-words", re.compile("Not checked"))
    until(page, KEPT)
    is_saved(page)
    server.shutdown()
    server.server_close()
    page.reload()
    expect(page.get_by_text(HERE)).to_be_visible()
    expect(page.locator(".sbd-news")).to_contain_text(
        "The page was loaded anew; its last run was kept in your browser."
    )
    open_sheet(page)
    assert Trace.from_json(saved(page, "Save JSON")[1].decode()).text == online["main"]["text"]
    assert b"What is 12 + 30?" in saved(page, "Save HTML")[1]
    page.keyboard.press("Escape")
    page.wait_for_timeout(1500)
    assert page.evaluate(f"{RUN}.id") == online["run"], "what is kept is not decoded anew"
    has_threads(page, server)
    offline = decode_here(page, "What is 12 + 30?")
    assert [offline["main"], offline["ntp"]] == [online["main"], online["ntp"]]
    page.get_by_role("button", name="Charts", exact=True).click()
    expect(page.locator(".sbd-charts .main-svg").first).to_be_visible()
    turn_to(page, "Roofline")
    expect(page.locator(".sbd-roofline-facts strong").first).to_have_text(re.compile(r"^\d.*×$"))
    expect(page.locator(".sbd-roofline .main-svg").first).to_be_visible()


def test_it_decodes_in_a_frame_of_a_page_that_shares_no_memory(open_page, server, tmp_path):
    page = open_page(address(server))
    kept_here(page)
    frame = f'<iframe src="{address(server)}" width="1200" height="800"></iframe>'
    (tmp_path / "index.html").write_text(f'<link rel="icon" href="data:,">{frame}')
    with serving(tmp_path) as other:
        page.goto(address(other))
        framed = page.frames[1]
        until(framed, f"document.body.textContent.includes({json.dumps(HERE)})")
        assert framed.evaluate("navigator.serviceWorker.controller !== null")
        assert not framed.evaluate("crossOriginIsolated")
        link = framed.locator("a", has_text="on its own to decode with more threads")
        assert link.evaluate("(link) => !link.hidden && link.href").startswith(address(server))
        assert framed.evaluate(DECODE, "What is 12 + 30?")["text"].endswith("42.")
        page.goto("about:blank")


def test_the_gallery_and_lanes_work_from_files(open_page, server):
    page = open_page(address(server))
    page.locator(".sbd-gallery-card").first.click()
    is_complete(page, "opening")
    expect(page.get_by_text("This run is recorded, and the form has its settings.")).to_be_visible()
    open_sheet(page)
    assert Trace.from_json(saved(page, "Save JSON")[1].decode()).num_forwards > 1
    assert saved(page, "Save HTML")[0].endswith(".html")
    page.keyboard.press("Escape")
    turn_to(page, "Compare")
    page.locator(".sbd-compare-go").click()
    until(page, f"{LANES}.isRecorded === false && {LANES}.isComplete")
    turn_to(page, "Learn")


SHORT = "prompt=What+is+7+%2B+8%3F&strategy=verify&tokens=24"


def test_a_damaged_part_is_told_and_the_recorded_runs_go_on(contexts, changed):
    def damage(site):
        file = site / "models" / "sbd-nano" / "weights-01.bin"
        file.write_bytes(bytes(file.stat().st_size))

    with visiting(contexts(False), changed(damage)) as page:
        expect(page.locator(".sbd-status-line")).to_have_text(
            re.compile(r"weights-01.bin was altered,.* The recorded runs go on\.")
        )


MEMORY_MB = round(3 * constants()["memoryOfDownload"]["wasm"]) * 10
WAITS = (
    f"Decode fetches the model first, 30.0 MB, about {MEMORY_MB} MB of memory, "
    "and then runs in your browser"
)


def test_a_large_model_is_fetched_when_it_is_to_decode_and_that_can_be_cancelled(
    contexts, changed, exports
):
    site = changed(lambda folder: say_it_is_large(folder, exports[0]))
    page = contexts(False).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    Stalling.goes_on.clear()
    with serving(site, Stalling) as server:
        page.goto(on_watch(address(server)))
        words = page.locator(".sbd-engine-choice-words")
        expect(words).to_have_text(WAITS)
        assert not [url for url in asked if "/models/" in url or "onnxruntime" in url]
        decode_button(page).click()
        whole = exports[0].download["wasm"]
        rest = whole - exports[0].manifest["files"]["weights-01.bin"]["size"]
        fetched = f"{rest / 1e6:.1f} of {whole / 1e6:.1f} MB"
        expect(words).to_have_text(f"Fetching the model: {fetched}")
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(page.locator(".sbd-status-line")).to_have_text("Stopped before it began.")
        expect(decode_button(page)).to_be_enabled()
        page.get_by_role("button", name="Cancel").click()
        expect(words).to_have_text(WAITS)
        expect(decode_button(page)).to_be_enabled()
        Stalling.goes_on.set()
        decode_here(page, "What is 12 + 30?")
        expect(words).to_contain_text(HERE)
        parts = [url.rpartition("/")[2] for url in asked if url.endswith(".bin")]
        assert sorted(parts) == [f"weights-0{index}.bin" for index in (0, 1, 1, 2)]
        page.get_by_role("button", name="Delete the model").click()
        expect(page.locator(".sbd-status-line")).to_contain_text("was deleted from this browser")
        expect(words).to_have_text(WAITS)
        page.goto(f"{address(server)}?{SHORT}")
        expect(page.locator(".sbd-status-line")).to_have_text(re.compile("^The model of this link"))
        expect(page.get_by_label("Prompt")).to_have_value("What is 7 + 8?")
        page.close()


def test_what_decoding_costs_here_is_measured(browser, site):
    told = timed(browser, site, "models/sbd-nano/", is_isolated=True)
    assert told["model"] == "sbd-nano"
    assert told["engine"].startswith("WebAssembly, threads: ")
    assert 0 < told["ms_by_rows"]["1"] < told["ms_by_rows"]["41"]
    assert min(told["tokens_per_second"].values()) > 0
    memory = told["memory_bytes"]
    num_parameters = 5_300_000
    assert memory["wasm"] > 4 * num_parameters  # in fp32
    assert memory["gpu"] == 0


def test_a_full_storage_is_told_and_the_model_decodes(contexts, server):
    page = contexts(False).new_page()
    try:
        quota = {"origin": address(server).rstrip("/"), "quotaSize": 1_000_000}
        page.context.new_cdp_session(page).send("Storage.overrideQuotaForOrigin", quota)
        page.goto(on_watch(address(server)))
        expect(page.get_by_text(HERE)).to_be_visible()
        expect(page.get_by_text("has no room to keep the model")).to_be_visible()
        decode_here(page, "What is 12 + 30?")
    finally:
        page.close()


def test_an_update_of_the_site_fetches_neither_model_nor_runtime_again(open_page, changed, exports):
    folder = changed(lambda folder: None)
    with serving(folder, Counting) as server:
        page = open_page(address(server))
        kept_here(page)
        old = page.evaluate("caches.keys()")
        assert sorted(name.split()[2] for name in old) == ["model", "page", "runtime"]
        assert "/models/sbd-nano/weights-00.bin" in Counting.asked
        write_site(folder, exports[:1])  # one model fewer: another version
        Counting.asked.clear()
        page.evaluate("navigator.serviceWorker.ready.then((found) => found.update())")
        until(page, f"caches.keys().then((names) => names.join() !== {json.dumps(','.join(old))})")
        until(page, KEPT)
        page.reload()
        decode_here(page, "What is 7 + 8?")
        new = page.evaluate("caches.keys()")
        assert len(set(old) & set(new)) == len(new) - 1 == 2
        large = [path for path in Counting.asked if path.endswith((".bin", ".gz"))]
        assert large == []
        page.goto("about:blank")


def test_a_page_opened_from_a_file_says_how_to_serve_it(browser, site) -> None:
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    page.get_by_text("run python -m http.server in its folder").wait_for()
    page.close()


def test_a_folder_of_something_else_is_left_alone(tmp_path, exports):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ArgumentError, match=r"^out: must be a new folder or an empty one;"):
        write_site(tmp_path, exports)
    assert (tmp_path / "thesis.txt").exists()


class Isolating(Quiet):
    """Lets pages share memory with threads."""

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
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
    wait_for(lambda: len(workers_of(tools, address(server))) == num_threads)


@pytest.mark.parametrize("server", [Isolating], indirect=True)
def test_where_the_host_lets_them_threads_decode_a_link_by_a_model_of_another_origin(
    open_page, server, site
):
    with serving(site, Readable) as other:
        page = open_page(f"{address(server)}?model={address(other)}models/adapted&{SHORT}")
        expect(page.get_by_text(f"{HERE} by adapted")).to_be_visible()
        has_threads(page, server)
        is_complete(page, "opening")
        asked = page.evaluate(f"[{RUN}.prompt, {RUN}.strategy, {RUN}.config.max_new_tokens]")
        assert asked == ["What is 7 + 8?", "verify", 24]
