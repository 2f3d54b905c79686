"""What measure_page measures of a visit: its start, access for everyone, what leaving frees."""

import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from scripts.measures.page import spread
from tests.browser.conftest import (
    begin,
    decode_button,
    go_to,
    has_begun,
    painted,
    returning,
)
from tests.browser.test_access import CONTROLS, FOCUS, serious

ROOT = Path(__file__).parents[2]


def cold_start(browser: Any) -> dict[str, Any]:
    """Seconds from `python app.py` to a page whose tiles move, in a fresh process and tab.

    Also to the model being there, from when on Decode need not wait.
    """
    times, ready = [], []
    for _ in range(3):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        began = time.monotonic()
        command = [sys.executable, "app.py", "--port", str(port), "--host", "127.0.0.1"]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        page = returning(browser.new_page())
        try:
            wait_for_port(port)
            page.goto(f"http://127.0.0.1:{port}")
            page.wait_for_selector(".sbd-tile.is-new")
            times.append(time.monotonic() - began)
            page.locator(".sbd-model", has_text="parameters").wait_for()
            ready.append(time.monotonic() - began)
        finally:
            page.context.close()
            process.terminate()
            process.wait()
    return {"value": round(statistics.median(times), 1), "seconds": spread(times),
            "seconds_to_model": spread(ready)}  # fmt: skip


def wait_for_port(port: int) -> None:
    """Until somebody listens."""
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)


def access(page: Any) -> dict[str, Any]:
    """Serious or critical findings of axe-core in light and dark, and controls Tab misses."""
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        go_to(page, 3)
        page.locator(".sbd-tile").nth(3).click()
        found += serious(page)
        for key in ("?", "l"):
            page.keyboard.press(key)
            found += serious(page)
            page.keyboard.press("Escape")
        page.keyboard.press("Escape")
    page.mouse.move(0, 0)  # what is pointed at decides how many candidates can be chosen
    painted(page)
    wanted = set(page.evaluate(CONTROLS))
    page.evaluate("document.activeElement.blur()")
    reached = set()
    for _ in range(len(wanted) + 5):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(FOCUS)[0])
    return {"value": len(found) + len(wanted - reached), "serious_or_critical": found,
            "controls": len(wanted), "not_reached_by_tab": len(wanted - reached)}  # fmt: skip


def freed(open_tab: Any) -> dict[str, Any]:
    """Seconds from leaving a run to the first painted line of the next visitor's."""
    times = {}
    ways = {
        "stop": lambda tab: tab.get_by_role("button", name="Stop").click(),
        "reload": lambda tab: tab.reload(wait_until="commit"),
        "close": lambda tab: tab.close(),
    }
    for name, leave in ways.items():
        first, second = open_tab(), open_tab()
        begin(first)
        decode_button(second).click()
        second.get_by_text("yours is next").wait_for()
        began = time.monotonic()
        leave(first)
        has_begun(second)
        times[name] = round(time.monotonic() - began, 2)
        for tab in (first, second):
            tab.close()
    return {"value": max(times.values()), "seconds": times}
