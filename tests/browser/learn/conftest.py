"""The lesson as a file of its own, opened offline at a scene."""

import pytest

from ui.share import lesson_page as export


@pytest.fixture(scope="module")
def lesson_url(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("learn") / "learn.html"
    path.write_text(export.page(), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def lesson(browser, lesson_url):
    """Open a scene of the exported file, offline; an error on the page fails the test."""
    pages, wrongs = [], []

    def open_it(scene: object = 1, width: int = 1440, height: int = 900, scheme: str = "light"):
        context = browser.new_context(viewport={"width": width, "height": height}, offline=True)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.on("pageerror", lambda error: wrongs.append(str(error)))
        page.on("request", lambda r: r.url.startswith("file:") or wrongs.append(r.url))
        page.goto(f"{lesson_url}#learn/{scene}")
        page.wait_for_selector(".sbd-learn-question")
        pages.append(context)
        return page

    yield open_it
    for context in pages:
        context.close()
    assert wrongs == []


def question(page):
    return page.locator(".sbd-learn-question")


def answer(page):
    return page.locator(".sbd-learn-answer")


def why(page):
    return page.locator(".sbd-learn-why")


def drag(page, locator, part: float):
    box = locator.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 3, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * part, middle, steps=6)
    page.mouse.up()
