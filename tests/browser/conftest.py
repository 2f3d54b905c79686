"""One Chromium and a few pages over scripted models; every page must stay clean and local."""

import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from unittest import mock
from urllib.parse import urlparse

import psutil
import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.models.model_folder import REAL_MODEL
from sbd_core.replay import page_of
from sbd_core.run_lines import replay_lines
from sbd_core.solvers import EntropyBound
from sbd_core.trace import Trace
from tests.scripted import ScriptedModel
from tests.ui.doubles import slowed, story_model
from tests.workers import free_port
from ui import server
from ui.best_settings import Best, best_for
from ui.examples import BUNDLED_MODEL, gallery
from ui.models import LazyModel

sync_api = pytest.importorskip("playwright.sync_api")
sync_api.expect.set_options(timeout=60_000)  # a busy machine is slow, not wrong

CHROMIUM = shutil.which("chromium")
"""The system's; without one Playwright takes its own."""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = [
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "</script>",
    "${window.hacked=1}",
    "{{value}}",
    "`",
    "\"'\\",
    "\u202eevil",
    "\x00\x1b[31m",
    "<m>",
    "<eos>",
    " averyveryverylongtokenthatcannotfitatile",
    "\U0001f600",
]

HOSTILE_PROMPT = "<script>window.hacked=1</script> ${window.hacked=1} \"'` \u202e<m><eos> {{value}}"

RUN = "document.querySelector('.sbd-host').sbdPlayer.run"

STATE = """() => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  const lane = (item) => item && { steps: item.steps.length, finish: item.finish,
    text: item.text, tokens: item.numCommitted,
    fixed: [...item.fixed.values()].filter((f) => f.position < item.end)
      .map((f) => [f.position, f.pass]) };
  return { run: player.run?.id, pass: player.state.pass, isPlaying: player.state.isPlaying,
    main: lane(player.run.main), ntp: lane(player.run.ntp) };
}"""


NAMES_A_VIEW = re.compile(r"#|[?&](prompt|lanes)=")


def on_watch(url: str) -> str:
    """The address with Watch in front, if it names no view, decode or lanes of its own."""
    return url if NAMES_A_VIEW.search(url) else f"{url}#watch"


def turn_to(page, view: str):
    """Click the link of a view in the head, which a phone keeps in a menu."""
    menu = page.locator(".sbd-menu")
    link = page.get_by_role("navigation", name="Views").get_by_role("link", name=view)
    menu.or_(link).filter(visible=True).first.wait_for()
    if menu.is_visible():
        menu.click()
    link.click()


def state(page):
    """The player's state, once the screen shows it too."""
    painted(page)
    return page.evaluate(STATE)


def painted(page):
    """Wait until what was just done is on the screen."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => "
                  "requestAnimationFrame(done)))")  # fmt: skip


def push(page, lines: str):
    """Hand wire lines to the player, as an engine would."""
    page.evaluate("(text) => document.querySelector('.sbd-host').sbdPlayer.push(text)", lines)
    painted(page)


def go_to_end(page, which: str):
    """Go to the First or Last forward pass by its button, by key on a phone, which has none."""
    button = page.get_by_role("button", name=f"{which} forward pass")
    if button.is_visible():
        button.click()
    else:
        page.keyboard.press({"First": "Home", "Last": "End"}[which])


def go_to(page, pass_index: int):
    """Stand still at a pass, by the keys."""
    go_to_end(page, "First")
    for _ in range(pass_index):
        page.keyboard.press("ArrowRight")
    painted(page)


def details(page):
    """Open the drawer of the run's numbers, timings and hindsight."""
    page.get_by_role("button", name="Details", exact=True).click()


def advanced(page):
    """Show every setting of the form."""
    page.locator(".sbd-advanced-switch[aria-expanded=false]").click()


EXACT, PAPER, ONE = "Exact (verify)", "Set Block Decoding", "Next-token prediction"
FIRST = "Causal token first"


def choose_strategy(page, name: str):
    """One of the three above; only the paper's takes pins and branches."""
    page.get_by_role("radio", name=name).check()


def decode_button(page):
    return page.get_by_role("button", name="Decode", exact=True)


def unfold(page):
    """Open the form, which a phone folds into its prompt."""
    edit = page.get_by_role("button", name="Edit in the form")
    prompt = page.get_by_label("Prompt", exact=True)
    edit.or_(prompt).filter(visible=True).first.wait_for()
    if edit.is_visible():
        edit.click()


def click_card(page, name: str):
    """Open a run of the gallery."""
    place = [item.name for item in gallery()].index(name)
    page.locator(".sbd-gallery-card").nth(place).click()
    has_begun(page)


def begin(page):
    """Press Decode and wait until the run that it starts is the one on the page."""
    old = state(page)["run"]
    unfold(page)
    decode_button(page).click()
    has_begun(page, old)


def has_begun(page, old: str = "opening"):
    """Wait until a run other than `old` is the one on the page."""
    page.wait_for_function(
        "(old) => document.querySelector('.sbd-host').sbdPlayer.run.id !== old", arg=old
    )


SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries())
      if (!hadRecentInput) window.shifts.push(value);
  }).observe({ type: "layout-shift", buffered: true });
}"""
MOST_SHIFT = 0.01
"""Layout shift, by the browser's own measure, while the page is built and a run comes in."""


def decode(page):
    """Press Decode and wait until both lanes are complete; the playhead is at the last pass."""
    begin(page)
    # Looking in every frame would take time from an engine on this machine.
    complete = "document.querySelector('.sbd-host').sbdPlayer.run.isComplete"
    page.wait_for_function(complete, polling=100)
    go_to_end(page, "Last")
    painted(page)


def traces(model: ScriptedModel, prompt: str = "p", **settings) -> tuple[Trace, Trace]:
    """One prompt decoded by sbd and by next-token prediction."""
    settings = {"solver": EntropyBound(0.35), "max_new_tokens": 128, **settings}
    main = DecodeConfig(**settings)
    plain = DecodeConfig(strategy="ntp", max_new_tokens=128)
    return generate(model, prompt, main), generate(model, prompt, plain)


def recorded(model: ScriptedModel, run_id: str, prompt: str = "p", **settings) -> str:
    """The wire lines of both."""
    main, ntp = traces(model, prompt, **settings)
    return replay_lines(run_id, {main.config.strategy: main, "ntp": ntp})


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[ScriptedModel], str]]:
    """Serve a model's page on 127.0.0.1; gives its address. Everything closes at the end."""
    pages = []

    def start_from(name: str, **facts) -> Best:
        """The paper's rule, at whose tiles these tests look, but for the models measured."""
        if name not in (BUNDLED_MODEL, REAL_MODEL):
            return Best("sbd", "not measured")
        return best_for(name, **{**facts, "has_adapter": name == REAL_MODEL})

    def start(model: ScriptedModel) -> str:
        page = server.build(model)
        pages.append(page)
        return server.serve(page, "127.0.0.1", free_port())

    with mock.patch("ui.page.best_for", start_from):
        yield start
    for page in pages:
        server.stop(page)


@pytest.fixture(scope="session")
def story_url(serve) -> str:
    return serve(story_model())


@pytest.fixture(scope="session")
def measured_url(serve) -> str:
    """A page over a model of the name that the committed evaluation is of."""
    return serve(story_model(name=BUNDLED_MODEL))


@pytest.fixture(scope="session")
def slow_url(serve) -> str:
    """A run of this page takes half a minute, unless somebody ends it."""
    return serve(slowed(story_model(), 0.3))


@pytest.fixture(scope="session")
def hostile_url(serve, tmp_path_factory) -> str:
    """Its answers, its name and its presets are hostile."""
    wicked = tmp_path_factory.mktemp("presets") / "wicked.json"
    row = {"label": HOSTILE[1], "prompts": [HOSTILE_PROMPT, HOSTILE[0]], "family": ""}
    wicked.write_text(json.dumps([row]), encoding="utf-8")
    model = story_model(HOSTILE * 2, name=HOSTILE[1])
    return serve(LazyModel.of(model, presets=str(wicked)))


@pytest.fixture(scope="session")
def chromium() -> Iterator["sync_api.BrowserType"]:
    before = psutil.Process().children()
    playwright = sync_api.sync_playwright().start()
    drivers = [each for each in psutil.Process().children() if each not in before]
    yield playwright.chromium
    # On a machine under load the driver was seen not to end for five minutes.
    kill = threading.Timer(5, lambda: [driver.kill() for driver in drivers])
    kill.start()
    playwright.stop()
    kill.cancel()


@pytest.fixture(scope="session")
def browser(chromium) -> Iterator["sync_api.Browser"]:
    """A browser for contexts of a test's own, which remember nothing of others."""
    started = chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    yield started
    started.close()


@pytest.fixture(scope="session")
def contexts(chromium, tmp_path_factory) -> Iterator[Callable[[bool], "sync_api.BrowserContext"]]:
    """One for mice and one for fingers: pages share what was loaded, and no storage that the page
    uses. Each has a profile, which keeps compiled scripts and so halves the work of opening one."""
    made = {}

    def context(has_touch: bool) -> "sync_api.BrowserContext":
        if has_touch not in made:
            profile = tmp_path_factory.mktemp("profile")
            made[has_touch] = chromium.launch_persistent_context(
                profile,
                executable_path=CHROMIUM,
                args=FLAGS,
                has_touch=has_touch,
                bypass_csp=True,  # which forbids wait_for_function(), not what the page does
            )
        return made[has_touch]

    yield context
    for each in made.values():
        each.close()


def is_wrong(line) -> bool:
    """An error on the console."""
    return line.type == "error"


def is_foreign(url: str) -> bool:
    parts = urlparse(url)
    return parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != "127.0.0.1"


@pytest.fixture
def open_page(contexts) -> Iterator[Callable[..., "sync_api.Page"]]:
    """Open an address in a new tab; at the end, fail on errors and foreign requests."""
    pages, wrongs = [], []

    def watch(page):
        page.on("pageerror", lambda error: wrongs.append(f"page error: {error}"))
        page.on("console", lambda line: wrongs.append(line.text) if is_wrong(line) else None)
        page.on("request", lambda r: wrongs.append(r.url) if is_foreign(r.url) else None)

    def open_it(
        url: str, width: int = 1440, height: int = 900, *, has_touch: bool = False, **media
    ) -> "sync_api.Page":
        page = contexts(has_touch).new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(**media)
        page.set_default_timeout(60_000)
        watch(page)
        page.goto(on_watch(url))
        # The opening run is there, if behind lanes that the address asks for.
        page.wait_for_selector(".sbd-tile", state="attached")
        page.wait_for_selector("body:is([data-sbd-ready], :not(.sbd-page))")
        return page

    yield open_it
    for page in pages:
        page.close()
    assert wrongs == []


@pytest.fixture(scope="session")
def replay_url(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("replay") / "replay.html"
    path.write_text(page_of(recorded(story_model(), "story")), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def replay(open_page, replay_url):
    return open_page(replay_url)


@pytest.fixture
def story(open_page, story_url):
    return open_page(story_url)
