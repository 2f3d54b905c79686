"""Measures the static site in headless Chromium: what a visitor downloads, waits and keeps.

python -m scripts.browser.measure_site --decodes 20     a short form
python -m scripts.browser.measure_site --out assets/results/browser/site.json

Decodes held-out prompts one after the other in one page. Figures: bytes and seconds until the first
live decode is complete, cold; the longest task of the page's thread while it decodes, also in the
time that it had a processor, which others on the machine disturb less; the memory of the page and
its worker after the last decode over that after the first tenth. The last line is one JSON object.
Exit status: 0 every target is met, 1 one is not.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scripts.browser.compare_engines import prompts
from scripts.browser.memory import memory
from scripts.browser.report import parser_of, report
from scripts.browser.site_pages import DECODE, Server, chromium, open_page, served

TARGETS = {
    "first_decode_megabytes": 16.0,
    "first_decode_seconds": 3.0,
    "longest_task_ms": 50.0,
    "memory_ratio": 1.1,
}
"""The most of each that is wanted."""
TRACED = 20
"""Decodes that are traced, as a trace of all would be too large."""
MAIN_THREAD = "CrRendererMain"


def first_decode(browser: Any, server: Server, prompt: str) -> tuple[Any, dict[str, float]]:
    """A page that has decoded once, and what that took."""
    before, began = server.num_bytes, time.perf_counter()
    page = open_page(browser, server.address)
    page.evaluate(DECODE, prompt)
    seconds = time.perf_counter() - began
    return page, {
        "first_decode_megabytes": round((server.num_bytes - before) / 1e6, 2),
        "first_decode_seconds": round(seconds, 2),
    }


def longest_task(trace: bytes) -> dict[str, float]:
    """Of the page's thread, in wall-clock time and in the time that it had a processor."""
    events = json.loads(trace)["traceEvents"]
    threads = {
        (e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"
    }
    tasks = [
        event
        for event in events
        if "RunTask" in event["name"] and threads.get((event["pid"], event["tid"])) == MAIN_THREAD
    ]
    return {
        "longest_task_ms": max(task.get("dur", 0) for task in tasks) / 1000,
        "longest_task_processor_ms": max(task.get("tdur", 0) for task in tasks) / 1000,
    }


def num_bytes(kept: dict[str, int]) -> int:
    """Of the page and its worker together."""
    return kept["page_bytes"] + kept["worker_bytes"]


def measure(browser: Any, server: Server, texts: list[str]) -> dict[str, Any]:
    """Every figure."""
    page, figures = first_decode(browser, server, texts[0])
    browser.start_tracing(page=page, categories=["toplevel"])
    early = max(1, len(texts) // 10)
    tasks: dict[str, float] = {}
    kept = []
    for index, text in enumerate(texts[1:], start=1):
        page.evaluate(DECODE, text)
        if index == min(TRACED, len(texts) - 1):
            tasks = longest_task(browser.stop_tracing())
        if index in (early, len(texts) - 1):
            page.evaluate(DECODE, texts[0])  # the page holds one run: the same one each time
            kept.append(memory(page))
    return {
        **figures,
        **tasks,
        "memory_ratio": round(num_bytes(kept[-1]) / num_bytes(kept[0]), 3),
        "memory": kept,
        "num_decodes": len(texts),
    }


def main(words: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--decodes", type=int, default=200, help="how many (default %(default)s)")
    flags = parser.parse_args(words)
    texts = prompts(max(2, flags.decodes))
    with (
        TemporaryDirectory() as folder,
        served(Path(folder), flags.model) as server,
        chromium() as browser,
    ):
        found, version = measure(browser, server, texts), browser.version
    for name, most in TARGETS.items():
        print(f"{name:24} {found[name]:8} of at most {most}")
    is_met = all(found[name] <= most for name, most in TARGETS.items())
    return report({**found, "targets": TARGETS}, flags, {"chromium": version}, is_met=is_met)


if __name__ == "__main__":
    sys.exit(main())
