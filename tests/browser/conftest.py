"""One Chromium and a few pages over scripted models; every page must stay clean and local."""

import time
from collections.abc import Callable, Iterator
from urllib.parse import urlparse

import pytest

from sbd_core.config import DecodeConfig, EntropyBound
from sbd_core.decoder import generate
from sbd_core.models.scripted import ScriptedModel
from sbd_core.trace import Trace
from tests.ui.doubles import story_model
from ui import page as page_module
from ui import view_model
from ui.export import standalone_html

sync_api = pytest.importorskip("playwright.sync_api")

CHROMIUM = "/usr/bin/chromium"
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


STATE = """() => {
  const player = document.querySelector('.sbd-host').sbdPlayer;
  const lane = (item) => item && { steps: item.steps.length, finish: item.finish,
    text: item.text, fixed: [...item.fixed.values()].filter((f) => f.position < item.end)
      .map((f) => [f.position, f.pass]) };
  return { run: player.run?.id, pass: player.state.pass, isPlaying: player.state.isPlaying,
    main: lane(player.run.main), ntp: lane(player.run.ntp) };
}"""


def state(page):
    """What the player holds, once it is also what the screen shows."""
    painted(page)
    return page.evaluate(STATE)


def painted(page):
    """Wait until what was just done is on the screen."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => "
                  "requestAnimationFrame(done)))")  # fmt: skip


def traces(model: ScriptedModel, prompt: str = "p", **settings) -> tuple[Trace, Trace]:
    """One prompt decoded by sbd and by next-token prediction."""
    settings = {"solver": EntropyBound(0.35), "max_new_tokens": 128, **settings}
    main = DecodeConfig(**settings)
    plain = DecodeConfig(strategy="ntp", max_new_tokens=128)
    return generate(model, prompt, main), generate(model, prompt, plain)


def recorded(model: ScriptedModel, run_id: str, prompt: str = "p", **settings) -> str:
    """The wire lines of both."""
    main, ntp = traces(model, prompt, **settings)
    return view_model.replay(run_id, {"sbd": main, "ntp": ntp})


def slow_model(seconds: float) -> ScriptedModel:
    """The story with passes that take `seconds` each."""
    model = story_model()
    forward = model.forward

    def slow_forward(*args):
        time.sleep(seconds)
        return forward(*args)

    model.forward = slow_forward  # type: ignore[method-assign]
    return model


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[ScriptedModel], str]]:
    """Serve a model's page on 127.0.0.1; gives its address. Everything closes at the end."""
    pages = []

    def start(model: ScriptedModel) -> str:
        demo = page_module.build(model)
        pages.append(demo)
        _, url, _ = demo.launch(
            prevent_thread_lock=True,
            server_name="127.0.0.1",
            quiet=True,
            **page_module.launch_options(),
        )
        return url

    yield start
    for demo in pages:
        demo.close()


@pytest.fixture(scope="session")
def story_url(serve) -> str:
    return serve(story_model())


@pytest.fixture(scope="session")
def slow_url(serve) -> str:
    return serve(slow_model(0.1))


@pytest.fixture(scope="session")
def hostile_url(serve) -> str:
    return serve(story_model(HOSTILE * 2))


@pytest.fixture(scope="session")
def browser() -> Iterator["sync_api.Browser"]:
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser) -> Iterator[Callable[..., "sync_api.Page"]]:
    """Open an address in a fresh context; at the end, fail on errors and foreign requests."""
    contexts, wrongs = [], []

    def is_foreign(url: str) -> bool:
        return urlparse(url).scheme in ("http", "https", "ws", "wss") and (
            urlparse(url).hostname != "127.0.0.1"
        )

    def open_it(url: str, width: int = 1440, height: int = 900, **options) -> "sync_api.Page":
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: wrongs.append(f"page error: {error}"))
        page.on(
            "console",
            lambda line: wrongs.append(f"console: {line.text}") if line.type == "error" else None,
        )
        page.on(
            "request",
            lambda request: wrongs.append(request.url) if is_foreign(request.url) else None,
        )
        page.goto(url)
        page.wait_for_selector(".sbd-tile")  # the opening run is there
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert wrongs == []


@pytest.fixture(scope="session")
def replay_url(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("replay") / "replay.html"
    path.write_text(standalone_html(recorded(story_model(), "story")), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def replay(open_page, replay_url):
    return open_page(replay_url)


@pytest.fixture
def story(open_page, story_url):
    return open_page(story_url)
