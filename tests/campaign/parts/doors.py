"""Hostile links, trace files and posts: what a page makes of them, counted in a real browser."""

import json
import random
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from tests.browser.conftest import CHROMIUM, FLAGS, on_watch
from tests.campaign.figure import Figure
from tests.campaign.server import Served, Visitor, served
from tests.ui.doubles import story_model
from ui.decode.form import Form

MAX_ELEMENTS = 5_000
OUR_CODE = ("/ui/", "/sbd_core/")
HUGE = ["0", "-1", "65", "1025", "100000", "1000000000", "9" * 20, "9" * 400, "1e9", "nan", "x", ""]
TEXTS = ["\x00\x01\x02", "\u202e" * 50, "<script>window.hacked=1</script>", "${window.hacked=1}"]
SETTLE_MS = 700
MAX_SECONDS_FROZEN = 10.0
GIVE = """(text) => {
  const data = new DataTransfer();
  data.items.add(new File([text], "run.json"));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
}"""
COUNT = "() => [document.getElementsByTagName('*').length, Boolean(window.hacked)]"


def links() -> Iterator[str]:
    """Addresses with a bad or extreme value each, for every strategy; the worst first."""
    for block in ("100000", "1000000000", "64"):
        yield urlencode({"prompt": "x", "strategy": "ntp", "block": block, "tokens": "256"})
    for name in ("block", "tokens", "gamma", "seed", "k", "tau", "pins"):
        for value in HUGE:
            for strategy in ("ntp", "sbd", "verify"):
                yield urlencode({"prompt": "x", "strategy": strategy, name: value})
    for value in HUGE:
        yield urlencode({"race": "ntp,sbd-low,verify", "prompt": "x", "block": value})
        yield urlencode({"race": value, "prompt": "x"})
    for text in TEXTS:
        for name in ("prompt", "strategy", "solver", "by", "race"):
            yield urlencode({"prompt": "x", name: text})


def trace_files() -> Iterator[str]:
    """A valid trace with one value of its config, events or texts made extreme; the worst first."""
    plain = generate(story_model(), "p", DecodeConfig(max_new_tokens=32)).to_json()
    for text in ("a" + "\u0301" * 100_000, "a" + "\u0301" * 20_000):
        yield edited(plain, lambda data, t=text: data.update(prompt=t))
        yield edited(plain, lambda data, t=text: data.update(model=t))
    yield edited(plain, lambda data: _retext(data, "a" + "\u0301" * 10_000))
    for name in ("block_size", "max_new_tokens"):
        for value in (10**5, 10**9, 64, 1, -1, 10**300):
            yield edited(plain, lambda data, n=name, v=value: data["config"].update({n: v}))
    for size in (10**5, 10**9, 1024, 64):
        yield edited(plain, lambda data, s=size: data["events"][1].update(block=[0, s]))
        yield edited(plain, lambda data, s=size: data["events"][1].update(block=[s, 16]))
    for count in (10**5, 2_000, 1_000):
        yield edited(plain, lambda data, c=count: _commit(data, c))
    for text in ("\x01" * 10_000, "\x01" * 60, " " * 10_000, "\n" * 10, "a" * 10**5, *TEXTS):
        yield edited(plain, lambda data, t=text: _retext(data, t))
        yield edited(plain, lambda data, t=text: data.update(prompt=t, text=t, model=t))
    yield from ("", "{}", "[" * 10**5, "null", plain[:1000], plain + plain)


def _commit(data: dict[str, Any], count: int) -> None:
    data["config"]["max_new_tokens"] = 2**19
    data["events"][-1]["committed"] = [3] * count


def _retext(data: dict[str, Any], text: str) -> None:
    data["tokens"] = dict.fromkeys(data["tokens"], text)
    data["text"] = ""


def edited(plain: str, change: Any) -> str:
    """The trace with a change made."""
    data = json.loads(plain)
    change(data)
    return json.dumps(data)


def dom_elements(num_links: int, num_files: int) -> Figure:
    """The most elements that a page holds after any of the links and trace files."""
    from playwright.sync_api import sync_playwright

    rng = random.Random(15)
    first, *more = links()
    chosen_links = [first, *rng.sample(more, min(num_links - 1, len(more)))]
    files = list(trace_files())
    chosen_files = [files[0], *rng.sample(files[1:], min(num_files, len(files)) - 1)]
    worst, at, is_hacked, num_frozen = 0, "", False, 0
    with served(story_model()) as page, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        tab = browser.new_page()
        tab.set_default_timeout(60_000)

        def look(what: str) -> None:
            nonlocal worst, at, is_hacked, num_frozen
            try:
                tab.wait_for_timeout(SETTLE_MS)
                began = time.monotonic()
                count, hacked = tab.evaluate(COUNT)
                num_frozen += time.monotonic() - began > MAX_SECONDS_FROZEN
            except Exception:  # a tab that does not answer is what the figure is about
                num_frozen += 1
                return
            is_hacked |= hacked
            if count > worst:
                worst, at = count, what[:200]

        for link in chosen_links:
            tab.goto(f"{page.url}/?{link}")
            tab.wait_for_selector(".sbd-tile", state="attached")
            look(link)
        tab.goto(on_watch(page.url))
        tab.wait_for_selector(".sbd-tile", state="attached")
        for text in chosen_files:
            tab.evaluate(GIVE, text)
            look(f"trace of {len(text)} characters: {text[:60]}")
        browser.close()
    return Figure(
        "DOM elements from any link or trace file",
        10**9 if num_frozen or is_hacked else worst,
        MAX_ELEMENTS,
        {
            "most_elements": worst,
            "at": at,
            "num_links": len(chosen_links),
            "num_files": len(chosen_files),
            "num_frozen": num_frozen,
            "code_ran": is_hacked,
        },
    )


JUNK: list[Any] = [
    None, True, -1, 10**400, 0.5, "", "x" * 10_000, "\ud800", [], [[]], {}, {"a": []}, "${1}",
]  # fmt: skip


def posts(count: int, log: Path) -> Figure:
    """Raw posts of junk to every door; tracebacks in the log, and answers that came late."""
    rng = random.Random(16)
    late: list[str] = []
    with (
        log.open("w") as file,
        redirect_stdout(file),
        redirect_stderr(file),
        served(story_model()) as page,
    ):
        num_refused = sum(_post(page, rng, late) for _ in range(count))
        broken = [found for _ in range(count) for found in _quick_post(page, rng)]
        visitor = Visitor(page)
        visitor.ask_api()
        ending, _ = visitor.listen()
        visitor.leave()
    tracebacks = log.read_text().split("Traceback")[1:]
    # Gradio logs one of its own for a post with too few values.
    num_tracebacks = sum(any(place in text for place in OUR_CODE) for text in tracebacks)
    return Figure(
        f"tracebacks and late answers in {count} hostile posts",
        num_tracebacks + len(late) + len(broken) + (ending != "done"),
        0,
        {
            "broken": broken[:3],
            "num_refused": num_refused,
            "logged_by_gradio": len(tracebacks) - num_tracebacks,
            "next_run": ending,
            "late": late[:3],
        },
    )


def _post(page: Served, rng: random.Random, late: list[str]) -> bool:
    """One junk post and its answer; whether it was refused outright."""
    function = rng.choice(list(page.functions))
    visitor = Visitor(page)
    values = [rng.choice(JUNK) for _ in range(rng.choice((12, 4, 2, 0)))]
    if rng.random() < 0.4:
        names = list(Form.__dataclass_fields__)
        values[1:] = [dict(zip(names, _sendable(rng.choices(JUNK, k=len(names))), strict=True))]
    began = time.monotonic()
    try:
        if rng.random() < 0.3:
            door = rng.choice(["run/decode", "run/race", "api/decode", "call/decode", "upload"])
            answer = visitor.post(door, {"data": _sendable(values), "fn_index": 0})
            return bool(answer.status_code >= 400)
        visitor.ask(function, _sendable(values), rng.choice([None, {}, [], {"lanes": [1]}]))
        for message in visitor.messages():
            if message["msg"] in ("process_completed", "process_generating"):
                break
    except Exception:
        return True
    finally:
        visitor.leave()
        if time.monotonic() - began > 5:
            late.append(function)
    return False


MEMBERS = ("solver", "strategy", "gamma", "cells", "kind", "run", "lanes", "text", "name", "config")
"""Of what the page's script sends with an event."""


def _quick_post(page: Served, rng: random.Random) -> list[str]:
    """Junk posted to everything that is answered beside the line; what breaks of it."""
    broken = []
    visitor = Visitor(page)
    for function, num_values in page.quick.items():
        [junk] = _sendable([rng.choice(JUNK)])
        event = {rng.choice(MEMBERS): junk, "model": "own"}
        body = {"data": [None] * num_values, "fn_index": function, "event_data": event}
        answer = visitor.post("run/predict", {**body, "session_hash": visitor.session})
        if answer.status_code >= 500:
            broken.append(f"{function}: {event}"[:200])
    visitor.leave()
    return broken


def _sendable(values: list[Any]) -> list[Any]:
    """What JSON and UTF-8 can carry."""
    return [
        None if value == "\ud800" or (isinstance(value, int) and value > 10**18) else value
        for value in values
    ]
