"""The whole campaign: python -m tests.campaign [--only NAME ...] [--short]

Prints the targets beside what was found. All of it together writes assets/results/campaign.json;
some parts replace their rows there, if the rest is of the same machine and versions. It takes some
fifteen minutes on two cores; --short takes about a minute and writes nothing.
Exit status: 0 every target is met, 1 one is not.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import torch

from sbd_core.environment import environment
from sbd_core.files import write_text
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from tests.campaign.figure import Figure
from tests.campaign.parts.abandoned import caches_after
from tests.campaign.parts.cold_starts import cold_starts
from tests.campaign.parts.command_lines import command_lines, start_ups
from tests.campaign.parts.doors import dom_elements, posts
from tests.campaign.parts.memory import growth
from tests.campaign.parts.proxies import behind_a_proxy
from tests.campaign.parts.visitors import crowd
from ui.assets import ASSETS

RESULTS = ASSETS / "results" / "campaign.json"


def log() -> Path:
    """A file for what the page writes meanwhile."""
    return Path(tempfile.mkdtemp()) / "page.log"


PARTS: dict[str, tuple[Callable[[], Figure], Callable[[], Figure]]] = {
    "dom": (lambda: dom_elements(40, 60), lambda: dom_elements(3, 4)),
    "posts": (lambda: posts(400, log()), lambda: posts(20, log())),
    "caches": (lambda: caches_after(80), lambda: caches_after(12)),
    "memory": (lambda: growth(500, 200, 50), lambda: growth(30, 10, 10)),
    "visitors": (lambda: crowd(80, 7.0), lambda: crowd(24, 1.0)),
    "command-lines": (lambda: command_lines(400), lambda: command_lines(30)),
    "start-up": (lambda: start_ups(60), lambda: start_ups(5)),
    "proxies": (lambda: behind_a_proxy(60, 20, 1.0), lambda: behind_a_proxy(16, 8, 0.1)),
    "cold-starts": (lambda: cold_starts(10), lambda: cold_starts(2)),
}
"""Each part as it is, and in its short form."""


def main() -> int:
    """Run the parts that were asked for, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--only", choices=PARTS, nargs="+", help="some parts")
    parser.add_argument("--short", action="store_true", help="small counts; writes no file")
    flags = parser.parse_args()
    torch.set_num_threads(1)
    rows = {}
    for name in flags.only or PARTS:
        began = time.monotonic()
        figure = PARTS[name][flags.short]()
        rows[name] = {**figure.to_data(), "seconds": round(time.monotonic() - began, 1)}
        met = "" if figure.is_met else " NOT MET"
        print(f"| {figure.what} | {figure.value} | at most {figure.target:g} |{met}", flush=True)
    facts = environment(DEFAULT_CHECKPOINT)
    facts |= {package: version(package) for package in ("gradio", "playwright")}
    print(json.dumps(rows, indent=1))
    known = json.loads(RESULTS.read_text("utf-8"))
    others = known["rows"] if known["circumstances"] == facts else {}
    found = {name: (others | rows)[name] for name in PARTS if name in others | rows}
    if not flags.short and len(found) == len(PARTS):
        text = json.dumps({"circumstances": facts, "rows": found}, indent=1)
        write_text(RESULTS, text + "\n")
    return 0 if all(row["is_met"] for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
