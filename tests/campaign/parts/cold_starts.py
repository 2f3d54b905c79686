"""Links opened while the program is still starting: it goes on, and the link is decoded."""

import json
import subprocess
import sys
import time
import uuid
from pathlib import Path

import httpx

from tests.campaign.figure import Figure
from tests.workers import free_port

ROOT = Path(__file__).parents[3]
LINKS = ("prompt=x&strategy=ntp", "race=ntp,sbd-low&prompt=x&tokens=16")
ENDED, RACED = r"\"type\":\"end\"", "num_passes"
"""What the last lines of a run and the board of a race hold."""
SECONDS = 120.0
TITLE, LINKED = "loaded", "linked"
"""Gradio's names for what the page does when it opens."""


def cold_starts(count: int) -> Figure:
    """Fresh programs that end, or answer with an error, where a link comes before the model."""
    faults = {}
    for number in range(count):
        link = LINKS[number % len(LINKS)]
        fault = fault_of(link)
        if fault is not None:
            faults[f"{number}: {link}"] = fault
    what = f"of {count} cold starts with a link in their first seconds: ended or refused"
    return Figure(what, len(faults), 0, {"faults": faults})


def fault_of(link: str) -> str | None:
    """What went wrong where a link is opened as soon as the page is served; None if nothing."""
    port = free_port()
    words = [sys.executable, "app.py", "--port", str(port), "--device", "cpu"]
    program = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        problem = opened(f"http://127.0.0.1:{port}", link, program)
    except (httpx.HTTPError, ValueError) as error:
        problem = repr(error)
    status = program.poll()
    program.kill()
    said = program.communicate()[1]
    if status is not None:
        return f"the program ended with {status}: {said.strip()[-300:]}"
    return problem or (said.strip()[-300:] if "Traceback" in said else None)


def opened(url: str, link: str, program: "subprocess.Popen[str]") -> str | None:
    """Open a link as the page's script does; what is wrong with the answer."""
    handlers = load_handlers(url, program)
    session = uuid.uuid4().hex[:12]
    for name, data in ((TITLE, []), (LINKED, [None, ""])):
        body = {"data": data, "fn_index": handlers[name], "session_hash": session}
        address = f"{url}/gradio_api/queue/join?{link}"
        httpx.post(address, json=body, timeout=SECONDS).raise_for_status()
    problem: str | None = "no answer"
    address = f"{url}/gradio_api/queue/data?session_hash={session}"
    with httpx.stream("GET", address, timeout=SECONDS) as stream:
        for line in stream.iter_lines():
            message = json.loads(line[5:]) if line.startswith("data:") else {"msg": ""}
            if message["msg"] == "process_completed" and not message["success"]:
                return str(message["output"])
            text = json.dumps(message)
            if "cannot be decoded" in text or "cannot be raced" in text:
                return text
            if message["msg"] == "close_stream":
                return problem
            if ENDED in text or RACED in text:
                problem = None
    return problem


def load_handlers(url: str, program: "subprocess.Popen[str]") -> dict[str, int]:
    """Gradio's numbers of what the page does when it opens, as soon as there is a page."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and program.poll() is None:
        try:
            config = httpx.get(f"{url}/config", timeout=SECONDS).json()
        except httpx.TransportError:
            time.sleep(0.005)
            continue
        return {one["api_name"]: one["id"] for one in config["dependencies"]}
    raise ValueError("the page was never served")
