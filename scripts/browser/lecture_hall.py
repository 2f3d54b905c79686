"""A lecture hall of visitors decodes at once from one static file server.

python -m scripts.browser.lecture_hall --visitors 10 --at-once 5      a short form
python -m scripts.browser.lecture_hall --out assets/results/browser/hall.json

Every visitor is a browser context of its own with nothing cached: opens the page, has engine and
model sent, decodes a held-out prompt. Counts requests that failed, decodes that did not end and
those whose next-token prediction is not that of sbd_core. The last line is one JSON object.
Exit status: 0 none failed and none is lost, 1 otherwise.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sbd_core
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from scripts.browser.compare_engines import prompts
from scripts.browser.report import parser_of, report
from scripts.browser.site_pages import DECODE, RUN, WAIT_MS, Server, chromium, served

POLL_SECONDS = 0.25
IS_READY = "document.querySelector('.sbd-engine-choice-words')?.dataset.state === 'on'"
"""Asked often: it must cost the page no layout."""
ASK = f"(prompt) => void ({DECODE})(prompt).then((said) => {{ window.sbdDone = said; }})"
SAID = f"window.sbdDone && {RUN}.ntp && [{RUN}.ntp.text, {RUN}.maxNewTokens]"
"""What next-token prediction wrote, which the page always decodes too, and its longest answer."""


class Visitor:
    """One browser context on the site, which decodes one prompt."""

    def __init__(self, browser: Any, address: str, prompt: str) -> None:
        """Begin to open the page; nothing is waited for."""
        self.prompt = prompt
        self.num_failed = 0
        self.has_asked = False
        self.context = browser.new_context(viewport={"width": 1024, "height": 700})
        self.context.add_init_script("try { localStorage.setItem('sbd-has-come', '1'); } catch {}")
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT_MS)
        self.page.on("requestfailed", lambda _: self.failed())
        self.page.goto(address, wait_until="commit")

    def failed(self) -> None:
        """A request of the page got no answer."""
        self.num_failed += 1

    def said(self) -> Any:
        """See SAID; None until the decode is complete."""
        if self.has_asked:
            return self.page.evaluate(SAID)
        if self.page.evaluate(IS_READY):
            self.page.evaluate(ASK, self.prompt)
            self.has_asked = True
        return None


def visited(browser: Any, server: Server, texts: list[str]) -> tuple[list[Any], int]:
    """What each of some visitors at once was told, None for a lost one; requests that failed."""
    deadline = time.monotonic() + WAIT_MS / 1000
    visitors = [Visitor(browser, server.address, text) for text in texts]
    found: list[Any] = [None] * len(visitors)
    while None in found and time.monotonic() < deadline:
        for index, visitor in enumerate(visitors):
            found[index] = found[index] or visitor.said()
        time.sleep(POLL_SECONDS)
    num_failed = sum(visitor.num_failed for visitor in visitors)
    for visitor in visitors:
        visitor.context.close()
    return found, num_failed


def num_other(folder: Path, texts: list[str], found: list[Any]) -> int:
    """Decodes whose text is not the one that sbd_core decodes here."""
    model = sbd_core.load(folder, device="cpu")
    count = 0
    for prompt, said in zip(texts, found, strict=True):
        if said is not None:
            text, longest = said
            config = DecodeConfig(strategy="ntp", max_new_tokens=longest)
            count += text != generate(model, prompt, config).text
    return count


def main(words: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--visitors", type=int, default=300, help="how many (default %(default)s)")
    parser.add_argument("--at-once", type=int, default=50, help="pages open (default %(default)s)")
    flags = parser.parse_args(words)
    texts = prompts(flags.visitors)
    found: list[Any] = []
    num_failed, began = 0, time.monotonic()
    with (
        TemporaryDirectory() as folder,
        served(Path(folder), flags.model) as server,
        chromium() as browser,
    ):
        for start in range(0, len(texts), flags.at_once):
            group = texts[start : start + flags.at_once]
            said, failed = visited(browser, server, group)
            found += said
            num_failed += failed
            print(f"{len(found)} of {len(texts)} visitors", flush=True)
        num_failed += server.num_failed
        num_requests, num_bytes = server.num_requests, server.num_bytes
        version = browser.version
    seconds = round(time.monotonic() - began, 1)
    result = {
        "visitors": len(texts),
        "at_once": flags.at_once,
        "requests": num_requests,
        "requests_failed": num_failed,
        "decodes_lost": found.count(None),
        "other_texts": num_other(flags.model, texts, found),
        "megabytes_a_visitor": round(num_bytes / 1e6 / len(texts), 2),
        "seconds": seconds,
    }
    is_met = not (num_failed or result["decodes_lost"])
    return report(result, flags, {"chromium": version}, is_met=is_met)


if __name__ == "__main__":
    sys.exit(main())
