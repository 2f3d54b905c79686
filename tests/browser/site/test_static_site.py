"""The static site from a plain file server: it decodes, and goes on once the network is cut."""

import json
import re

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from sbd_core.trace import Trace
from scripts.browser.site_pages import DECODE
from scripts.static_site import write_site
from tests.browser.conftest import sync_api
from tests.browser.server.test_saved_runs import HOLDS_TRACES, SAVED
from tests.browser.share.test_share import open_sheet, saved
from tests.browser.site.conftest import (
    HERE,
    KEPT,
    RUN,
    address,
    decode_here,
    is_complete,
    kept_here,
    serving,
    until,
)

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_it_decodes_and_goes_on_without_a_network(open_page, server):
    page = open_page(address(server))
    expect(page.get_by_text(HERE)).to_be_visible()
    online = decode_here(page, "What is 12 + 30?")
    assert online["main"]["steps"] < online["ntp"]["steps"] == online["ntp"]["tokens"]
    expect(page.locator(".sbd-verdict:visible")).to_contain_text(["answer is 42"] * 2)
    expect(page.get_by_text("Charts of a run are made by Python")).to_be_visible()
    until(page, KEPT)
    until(page, SAVED.removeprefix("() => "))
    until(page, HOLDS_TRACES.removeprefix("() => "))  # its last lines are there too
    server.shutdown()
    server.server_close()
    page.reload()
    expect(page.get_by_text(HERE)).to_be_visible()
    expect(page.locator(".sbd-news")).to_contain_text("The page was loaded anew.")
    open_sheet(page)
    assert Trace.from_json(saved(page, "Save JSON")[1].decode()).text == online["main"]["text"]
    assert b"What is 12 + 30?" in saved(page, "Save HTML")[1]
    page.keyboard.press("Escape")
    offline = decode_here(page, "What is 12 + 30?")
    assert offline["main"]["text"] == online["main"]["text"]


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
        assert framed.evaluate(DECODE, "What is 12 + 30?")["text"].endswith("42.")
        page.goto("about:blank")


def test_the_gallery_the_race_and_links_work_from_files(open_page, server):
    page = open_page(address(server))
    page.locator(".sbd-gallery-card").first.click()
    is_complete(page, "opening")
    expect(page.get_by_text("A recorded run, its settings in the form.")).to_be_visible()
    open_sheet(page)
    page.get_by_role("button", name="Save JSON").click()
    words = "Here only a run that your browser decoded can be saved as a trace."
    expect(page.locator(".sbd-share-status.is-error")).to_have_text(words)
    assert saved(page, "Save HTML")[0].endswith(".html")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Race", exact=True).first.click()
    page.locator(".sbd-race-go").click()
    until(page, "document.querySelector('.sbd-race').sbdRace?.board?.is_recorded === false")
    linked = open_page(address(server) + "?prompt=What+is+7+%2B+8%3F&strategy=verify&tokens=24")
    is_complete(linked, "opening")
    assert linked.evaluate(f"[{RUN}.prompt, {RUN}.strategy, {RUN}.maxNewTokens]") == [
        "What is 7 + 8?", "verify", 24,
    ]  # fmt: skip
    page.get_by_role("button", name="Learn", exact=True).click()


def test_an_address_can_name_another_model(open_page, server):
    page = open_page(address(server) + "?model=model")
    title = page.locator(".sbd-model")
    expect(title).to_have_text(re.compile(r"^model · \d+\.\d M parameters · in your browser$"))


def test_an_address_that_names_no_model_is_told(contexts, server):
    page = contexts(False).new_page()
    try:
        page.goto(address(server) + "?model=nowhere&view=watch")
        words = "The model’s folder has no config.json. The recorded runs go on."
        expect(page.locator(".sbd-status-line")).to_have_text(words)
    finally:
        page.close()


DROP = """async ([names, extra]) => {
  const data = new DataTransfer();
  for (const name of names) {
    const file = await fetch(`model/${name}`);
    data.items.add(new File([await file.arrayBuffer()], name));
  }
  for (const name of extra) data.items.add(new File([new Uint8Array(4)], name));
  const drop = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
  document.body.dispatchEvent(drop);
}"""


def test_a_dropped_model_decodes_and_a_broken_one_is_told(open_page, server, site):
    page = open_page(address(server))
    expect(page.get_by_text(HERE)).to_be_visible()
    names = [file.name for file in (site / "model").iterdir()]
    small = [name for name in names if "safetensors" not in name]
    page.evaluate(DROP, [small, ["model.safetensors"]])
    line = page.locator(".sbd-status-line")
    expect(line).to_have_text("model.safetensors is cut off. The recorded runs go on.")
    decode_here(page, "What is 7 + 8?")
    page.evaluate(DROP, [names, []])
    expect(page.get_by_text(f"{HERE} by your model")).to_be_visible()
    decode_here(page, "What is 12 + 30?")


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ArgumentError, match=r"^out: must be a new or empty folder"):
        write_site(tmp_path, DEFAULT_CHECKPOINT)
    assert (tmp_path / "thesis.txt").exists()


def test_a_model_that_no_browser_can_run_is_refused(tmp_path, tiny_folders):
    with pytest.raises(ArgumentError, match=r"^model: must be a folder of a Llama-shaped"):
        write_site(tmp_path / "out", tiny_folders["gpt2"])
