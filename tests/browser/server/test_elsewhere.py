"""The page where a browser gives it less: in a frame of another site, and over plain http."""

import json
from pathlib import Path

import pytest

from tests.browser.conftest import CHROMIUM, FLAGS, RUN, decode, decode_button, state, sync_api
from tests.browser.site.conftest import address, serving
from tests.browser.test_share import open_sheet
from tests.ui.doubles import ANSWER

pytestmark = pytest.mark.browser
expect = sync_api.expect
BLOCKED = {"profile": {"block_third_party_cookies": True, "cookie_controls_mode": 1}}
"""Chromium's preferences with third-party cookies and storage blocked."""
STORED = """() => ["localStorage", "sessionStorage"].map((name) => {
  try { return typeof globalThis[name]; } catch (error) { return error.name; }
})"""


def watched(page) -> list[str]:
    """The errors of a page and of the frames in it, which come in as they happen."""
    wrongs: list[str] = []
    page.on("pageerror", lambda error: wrongs.append(str(error)))
    page.on("console", lambda line: wrongs.append(line.text) if line.type == "error" else None)
    return wrongs


def test_in_a_frame_of_another_site_that_may_store_nothing_the_page_decodes(
    chromium, story_url, tmp_path: Path
) -> None:
    preferences = tmp_path / "profile" / "Default" / "Preferences"
    preferences.parent.mkdir(parents=True)
    preferences.write_text(json.dumps(BLOCKED), encoding="utf-8")
    around = tmp_path / "around"
    around.mkdir()
    frame = f'<iframe src="{story_url}#watch" width="1400" height="900"></iframe>'
    (around / "index.html").write_text(f'<link rel="icon" href="data:,">{frame}', encoding="utf-8")
    context = chromium.launch_persistent_context(
        tmp_path / "profile", executable_path=CHROMIUM, args=FLAGS, bypass_csp=True
    )
    page = context.new_page()
    wrongs = watched(page)
    with serving(around) as other:
        # Another name is another site; another port is not.
        page.goto(address(other).replace("127.0.0.1", "localhost"))
        framed = page.frames[1]
        framed.wait_for_selector("body[data-sbd-ready]")
        assert framed.evaluate(STORED) == ["SecurityError"] * 2
        decode_button(framed).click()
        framed.wait_for_function(f"{RUN}.id !== 'opening' && {RUN}.isComplete")
        assert framed.evaluate(f"{RUN}.main.text") == ANSWER
        context.close()
    assert wrongs == []


def test_over_plain_http_in_a_network_the_page_decodes_and_shows_links_to_copy(
    chromium, story_url
) -> None:
    rule = "--host-resolver-rules=MAP machine.example 127.0.0.1"
    started = chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, rule])
    page = started.new_page(bypass_csp=True)
    wrongs = watched(page)
    url = story_url.replace("127.0.0.1", "machine.example")
    page.goto(f"{url}#watch")
    page.wait_for_selector("body[data-sbd-ready]")
    lacks = "[crypto.subtle, navigator.clipboard, navigator.serviceWorker, navigator.locks]"
    assert page.evaluate(f"[isSecureContext, ...{lacks}].every((one) => !one)")
    decode(page)
    assert state(page)["main"]["text"] == ANSWER
    open_sheet(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".sbd-share-status")).to_contain_text(f"{url}?prompt=")
    started.close()
    # Of its headers Chromium says that one needs https.
    assert [line for line in wrongs if "Cross-Origin-Opener-Policy" not in line] == []
