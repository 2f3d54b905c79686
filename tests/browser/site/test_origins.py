"""Sites of one origin, models of others and plain http: each leaves what a visitor has stored."""

import hashlib
import json
import re
import shutil

import pytest

from scripts.static_site import write_site
from tests.browser.conftest import CHROMIUM, FLAGS, on_watch, sync_api
from tests.browser.server.test_saved_run import is_saved
from tests.browser.site.conftest import (
    HERE,
    Counting,
    Quiet,
    Readable,
    address,
    decode_here,
    is_complete,
    kept_here,
    serving,
    until,
)
from tests.browser.test_share import open_sheet

pytestmark = pytest.mark.browser
expect = sync_api.expect
PROMPT = "What is 12 + 30?"
STORED = """async () => [
  ...await caches.keys(),
  ...(await indexedDB.databases()).map(({ name }) => name),
  ...Object.keys(sessionStorage),
  ...Object.keys(localStorage),
]"""
"""Names of everything that this origin has in the browser."""


class Jekyll(Quiet):
    """Serves no Markdown."""

    def do_GET(self) -> None:
        if self.path.endswith(".md"):
            self.send_error(404)
        else:
            super().do_GET()


def test_two_sites_of_one_origin_keep_what_is_theirs(context, site, tmp_path, exports) -> None:
    paths = ("/a/", "/b/", "/")
    for path in paths[::-1]:
        shutil.copytree(site, tmp_path / "root" / path[1:], dirs_exist_ok=True)
    page = context.new_page()
    with serving(tmp_path / "root", Jekyll) as server:
        origin = address(server)[:-1]
        for path in paths:
            page.goto(on_watch(origin + path))
            kept_here(page)
            page.wait_for_selector(".sbd-tile")
            assert not page.locator(".sbd-news:visible").all(), "a run of another site"
            decode_here(page, PROMPT)
            is_saved(page)
        kinds = ("model", "page", "runtime", "sbd-run", "sbd-prompt")
        stored = page.evaluate(STORED)
        assert {f"sbd {path} {kind}" for path in paths for kind in kinds} == {
            " ".join(name.split()[:3]) for name in stored
        }
        write_site(tmp_path / "other", exports[:1])  # one model fewer: another version
        shutil.copytree(tmp_path / "other", tmp_path / "root", dirs_exist_ok=True)
        page.evaluate("navigator.serviceWorker.ready.then((found) => found.update())")
        [old] = [name for name in stored if name.startswith("sbd / page ")]
        until(page, f"({STORED})().then((names) => !names.includes({json.dumps(old)}))")
        new = page.evaluate(STORED)
        assert [name for name in stored if name not in new] == [old]
        server.shutdown()
        server.server_close()
        for path in paths[::2]:
            page.goto(on_watch(origin + path))
            assert decode_here(page, PROMPT)["main"]["text"].endswith("42.")


def test_a_model_of_another_host_leaves_the_visitors_own(context, site, tmp_path) -> None:
    shutil.copytree(site / "models" / "sbd-nano", tmp_path / "sbd-nano")
    file = tmp_path / "sbd-nano" / "manifest.json"
    manifest = json.dumps({**json.loads(file.read_text("utf-8")), "version": "another"})
    file.write_text(manifest, encoding="utf-8")
    page = context.new_page()
    with serving(site, Counting) as server, serving(tmp_path, Readable) as other:
        page.goto(on_watch(address(server)))
        kept_here(page)
        own = page.evaluate("caches.keys()")
        link = f"{address(server)}?model={address(other)}sbd-nano"
        page.goto(on_watch(link))
        expect(page.get_by_text(f"{HERE} by sbd-nano")).to_be_visible()
        assert decode_here(page, PROMPT)["main"]["text"].endswith("42.")
        names = page.evaluate("caches.keys()")
        assert {*own} < {*names}
        [foreign] = {*names} - {*own}
        digest = hashlib.sha256(manifest.encode()).hexdigest()
        assert foreign == f"sbd / model {address(other)}sbd-nano/ {digest}"
        Counting.asked.clear()
        page.goto("about:blank")
        page.goto(on_watch(address(server)))
        expect(page.get_by_text(re.compile(f"{HERE}, on"))).to_be_visible()
        assert not [path for path in Counting.asked if path.endswith(".bin")]


def test_a_page_over_plain_http_of_another_machine_decodes(chromium, site) -> None:
    rule = "--host-resolver-rules=MAP machine.example 127.0.0.1"
    started = chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, rule])
    page = started.new_page()
    wrongs: list[str] = []
    page.on("pageerror", lambda error: wrongs.append(str(error)))
    with serving(site) as server:
        page.goto(on_watch(f"http://machine.example:{server.server_address[1]}/"))
        expect(page.get_by_text(HERE)).to_be_visible()
        lacks = "[isSecureContext, typeof caches, typeof crypto.subtle, typeof crypto.randomUUID]"
        assert page.evaluate(lacks) == [False, *["undefined"] * 3]
        assert page.evaluate("[navigator.locks, navigator.clipboard].every((one) => !one)")
        first = decode_here(page, PROMPT)
        assert first["main"]["text"].endswith("42.")
        assert decode_here(page, "What is < 7 + 8 <eos> ?")["run"] != first["run"]
        is_saved(page)
        open_sheet(page)
        page.get_by_role("button", name="Copy link").click()
        expect(page.locator(".sbd-share-status")).to_contain_text("http://machine.example")
        page.keyboard.press("Escape")
        old = decode_here(page, PROMPT)["run"]
        page.locator(".sbd-gallery-card").first.click()
        is_complete(page, old)
        page.goto("about:blank")
    started.close()
    assert wrongs == []
