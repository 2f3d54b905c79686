"""Photograph the page: python -m scripts.take_pictures [--only NAME ...]

Writes assets/pictures/NAME.png. Uses the bundled checkpoint if it is there, else a scripted
model; what is seen is the recorded opening run, so that only the pictures of a run in progress
and of a race change by themselves.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sbd_core
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.threads import choose_threads
from scripts.pictures.acts import (
    LANDING_MS,
    PLAYER,
    SEEK,
    as_it_is,
    at_speed_limits,
    in_lecture,
    in_race,
    mid_run,
    under_the_hood,
    with_blanks,
    with_branches,
    with_charts,
    with_cost,
    with_dragged_budget,
    with_help,
    with_inspector,
    with_share,
    with_solvers,
    with_staircases,
    with_sudoku,
)
from tests.browser.conftest import (
    CHROMIUM,
    FLAGS,
    painted,
    returning,
    slowed,
)
from tests.ui.doubles import story_model
from ui import page as page_module
from ui.components.assets import ASSETS

FOLDER = ASSETS / "pictures"
SHOWN_PART = 0.35
SECONDS_A_PASS = 0.2  # while a run is photographed; else it is over too soon


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One picture: the window in CSS pixels, and what is done on the page before."""

    width: int = 1440
    height: int = 900
    scheme: str = "light"
    act: Callable[[Any], None] = as_it_is
    is_live: bool = False


SHOTS = {
    "watch-1440-light": Shot(),
    "watch-1440-dark": Shot(scheme="dark"),
    "watch-1920-light": Shot(width=1920, height=1080),
    "watch-390-light": Shot(width=390, height=844),
    "watch-390-dark": Shot(width=390, height=844, scheme="dark"),
    "lecture-1920-light": Shot(width=1920, height=1080, act=in_lecture),
    "lecture-1920-dark": Shot(width=1920, height=1080, scheme="dark", act=in_lecture),
    "inspector-1440-dark": Shot(scheme="dark", act=with_inspector),
    "inspector-390-light": Shot(width=390, height=844, act=with_inspector),
    "budget-1440-light": Shot(act=with_dragged_budget),
    "help-1440-light": Shot(act=with_help),
    "race-1440-light": Shot(height=1080, act=in_race),
    "race-390-dark": Shot(width=390, height=844, scheme="dark", act=in_race),
    "hood-1440-light": Shot(act=under_the_hood),
    "hood-1440-dark": Shot(scheme="dark", act=under_the_hood),
    "hood-1920-light": Shot(width=1920, height=1080, act=under_the_hood),
    "hood-390-light": Shot(width=390, height=844, act=under_the_hood),
    "staircases-1440-light": Shot(act=with_staircases),
    "staircases-390-dark": Shot(width=390, height=844, scheme="dark", act=with_staircases),
    "limits-1440-light": Shot(act=at_speed_limits),
    "limits-1440-dark": Shot(scheme="dark", act=at_speed_limits),
    "limits-1920-light": Shot(width=1920, height=1080, act=at_speed_limits),
    "limits-390-light": Shot(width=390, height=844, act=at_speed_limits),
    "charts-1440-light": Shot(act=with_charts),
    "charts-1440-dark": Shot(scheme="dark", act=with_charts),
    "cost-1440-light": Shot(act=with_cost),
    "solvers-1440-light": Shot(act=with_solvers),
    "sudoku-1440-light": Shot(act=with_sudoku),
    "blanks-1440-light": Shot(height=1080, act=with_blanks),
    "branches-1440-light": Shot(act=with_branches),
    "share-1440-light": Shot(act=with_share),
    "run-1440-light": Shot(act=mid_run, is_live=True),
}


def model() -> SetBlockModel:
    """The bundled checkpoint, or a double with its name."""
    if (sbd_core.DEFAULT_CHECKPOINT / "config.json").exists():
        return sbd_core.load(device="cpu")
    return story_model(name="sbd-nano")


def photograph(browser: Any, url: str, shot: Shot, path: Path) -> None:
    """One picture of the page in a tab of its own."""
    size = {"width": shot.width, "height": shot.height}
    with browser.new_context(viewport=size, has_touch=shot.width < 640) as context:
        page = returning(context).new_page()
        page.emulate_media(color_scheme=shot.scheme)
        page.goto(url)
        page.wait_for_selector(".sbd-tile")
        page.wait_for_selector("#sbd-strategy-field input", state="attached")
        page.evaluate(SEEK, SHOWN_PART)
        shot.act(page)
        if not shot.is_live:
            page.wait_for_timeout(LANDING_MS)
        painted(page)
        page.screenshot(path=path, animations="disabled")
        if shot.is_live and page.evaluate(f"{PLAYER}.run.main.finish") is not None:
            raise SystemExit(f"{path.stem}: the run was over before the picture was taken")


def main() -> None:
    """Serve, visit in every size and scheme, photograph."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, prog="python -m scripts.take_pictures")
    parser.add_argument("--only", choices=SHOTS, nargs="+", default=list(SHOTS))
    names = parser.parse_args().only
    FOLDER.mkdir(exist_ok=True)
    shown = model()
    choose_threads(shown.num_parameters)
    demo = page_module.build(shown)
    options = page_module.launch_options()
    _, url, _ = demo.launch(
        prevent_thread_lock=True, server_name="127.0.0.1", quiet=True, **options
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name in names:
            path = FOLDER / f"{name}.png"
            if SHOTS[name].is_live:
                slowed(shown, SECONDS_A_PASS)
            photograph(browser, url, SHOTS[name], path)
            print(f"wrote {path.name}, {path.stat().st_size / 1000:.0f} kB")
        browser.close()
    demo.close()


if __name__ == "__main__":
    main()
