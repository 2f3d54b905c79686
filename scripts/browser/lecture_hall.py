"""A lecture hall of visitors decodes at once from one static file server.

python -m scripts.browser.lecture_hall --visitors 10 --at-once 5      a short form
python -m scripts.browser.lecture_hall --out assets/results/browser/hall.json

Every visitor is a browser context of its own with nothing cached: opens the page, has engine and
model sent, decodes a held-out prompt and leaves once the page is kept for the next visit; then the
next one comes in, so that as many are at work all the time. Counts requests that failed, decodes
that did not end and those whose next-token prediction is not that of sbd_core. All share this
machine's cores; in a hall each has a machine. The last line is one JSON object.
Exit status: 0 none failed and none is lost, 1 otherwise.
"""

import sys
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sbd_core
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from scripts.browser.compare_engines import prompts
from scripts.browser.report import parser_of, report
from scripts.browser.site_pages import DECODE, RUN, WAIT_MS, Server, chromium, served

POLL_SECONDS = 0.5
PATIENCE_SECONDS = 900.0
"""Of a visitor who waits while others decode on the same cores."""
IS_READY = "document.querySelector('.sbd-engine-choice-words')?.dataset.state === 'on'"
"""Asked often: it must cost the page no layout."""
ASK = f"(prompt) => void ({DECODE})(prompt).then((said) => {{ window.sbdDone = said; }})"
IS_KEPT = "navigator.serviceWorker.controller !== null"
SAID = f"window.sbdDone && {IS_KEPT} && {RUN}.ntp && [{RUN}.ntp.text, {RUN}.maxNewTokens]"
"""What next-token prediction wrote, which the page always decodes too, and its longest answer."""


class Visitor:
    """One browser context on the site, which decodes one prompt."""

    def __init__(self, browser: Any, address: str, prompt: str) -> None:
        """Begin to open the page; nothing is waited for."""
        self.prompt = prompt
        self.deadline = time.monotonic() + PATIENCE_SECONDS
        self.num_failed = 0
        self.has_asked = False
        # A page that moves draws all the time, in a hall each on a machine of its own.
        self.context = browser.new_context(
            viewport={"width": 1024, "height": 700}, reduced_motion="reduce"
        )
        self.context.add_init_script("try { localStorage.setItem('sbd-has-come', '1'); } catch {}")
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT_MS)
        self.page.on("requestfailed", lambda _: self.failed())
        self.page.goto(address, wait_until="commit")

    def failed(self) -> None:
        """A request of the page got no answer."""
        self.num_failed += 1

    def said(self) -> Any:
        """See SAID; nothing until the decode is complete and the page is kept."""
        if self.has_asked:
            return self.page.evaluate(SAID)
        if self.page.evaluate(IS_READY):
            self.page.evaluate(ASK, self.prompt)
            self.has_asked = True
        return None


def visited(browser: Any, server: Server, texts: list[str], at_once: int) -> tuple[list[Any], int]:
    """What each visitor was told, None for a lost one; requests of pages that failed."""
    found: list[Any] = [None] * len(texts)
    num_failed = num_gone = 0
    waiting = iter(enumerate(texts))
    inside: dict[int, Visitor] = {}
    while num_gone < len(texts):
        for index, text in islice(waiting, at_once - len(inside)):
            inside[index] = Visitor(browser, server.address, text)
        for index, visitor in list(inside.items()):
            found[index] = visitor.said() or None
            if found[index] is None and time.monotonic() < visitor.deadline:
                continue
            num_failed += visitor.num_failed
            inside.pop(index).context.close()
            num_gone += 1
            if num_gone % at_once == 0:
                print(f"{num_gone} of {len(texts)} visitors", flush=True)
        time.sleep(POLL_SECONDS)
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
    began = time.monotonic()
    with (
        TemporaryDirectory() as folder,
        served(Path(folder), flags.model) as server,
        chromium() as browser,
    ):
        found, num_failed = visited(browser, server, texts, flags.at_once)
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
