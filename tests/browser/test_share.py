"""Taking a run home and bringing one: every file is saved by a click and opened again."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.replay import Replay, replay_html
from sbd_core.solvers import EntropyBound, LeftToRight
from sbd_core.trace import Trace
from tests.browser.conftest import HOSTILE, decode, has_begun, state, sync_api, traces
from tests.ui.doubles import story_model

pytestmark = pytest.mark.browser
expect = sync_api.expect


def open_sheet(page):
    page.get_by_role("button", name="Take it home").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def saved(page, button: str) -> tuple[str, bytes]:
    """(name, content) of the file that a button of the open sheet saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    expect(page.locator(".sbd-share-status")).to_contain_text("Saved ")
    return download.value.suggested_filename, download.value.path().read_bytes()


def bring(page, path: Path, content: str | bytes):
    """Choose a file with this content by the button of the open sheet."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open file").click()
    chooser.value.set_files(path)


def timeless(trace: Trace) -> Trace:
    """A trace without its clock: what two decodes of the same settings have in common."""
    return replace(trace, events=tuple(replace(event, seconds=0.0) for event in trace.events))


def test_a_saved_trace_opens_again_as_the_same_run(story, tmp_path):
    decode(story)
    shown = state(story)["main"]
    open_sheet(story)
    name, content = saved(story, "Save JSON")
    expect(story.locator(".sbd-share")).to_contain_text("without next-token prediction beside it")
    assert name.startswith("sbd-")
    assert name.endswith(".json")
    trace = Trace.from_json(content.decode())
    assert trace.num_forwards == shown["steps"]
    assert trace.text == shown["text"]
    old = state(story)["run"]
    bring(story, tmp_path / name, content)
    expect(story.get_by_role("dialog")).not_to_be_visible()
    assert state(story)["run"] != old
    assert state(story)["main"] == shown
    open_sheet(story)
    assert Trace.from_json(saved(story, "Save JSON")[1].decode()) == trace


def test_the_opening_run_can_be_taken_home_and_dropped_on_the_page(story):
    story.keyboard.press("s")
    expect(story.get_by_role("dialog")).to_be_visible()
    name, content = saved(story, "Save JSON")
    story.keyboard.press("s")
    expect(story.get_by_role("dialog")).not_to_be_visible()
    decode(story)
    old = state(story)["run"]
    data = story.evaluate_handle(
        "([name, text]) => { const data = new DataTransfer();"
        "data.items.add(new File([text], name)); return data; }",
        [name, content.decode()],
    )
    story.dispatch_event("body", "drop", {"dataTransfer": data})
    has_begun(story, old)
    expect(story.locator(".sbd-prompt")).to_have_text(Trace.from_json(content.decode()).prompt)


DAMAGED = [
    (b"\xff\xfe\x00", "trace: must be JSON"),
    ('{"format":"x","version":1}', "trace.format: must be"),
    (b"x" * 50_000_000, "big.json must be at most 5.0 MB; got 50.0 MB."),
]
"""(a file, start of the sentence that says what is wrong); more in tests/ui/test_trace_files.py."""


def test_a_bad_trace_is_answered_by_a_sentence_and_nothing_is_lost(story, tmp_path):
    decode(story)
    story.get_by_label("Prompt").fill("mine")
    before = state(story)
    open_sheet(story)
    for text, sentence in DAMAGED:
        bring(story, tmp_path / "big.json", text)
        status = story.locator(".sbd-share-status.is-error")
        expect(status).to_contain_text(sentence)
        assert "\n" not in status.inner_text()
        assert state(story) == before
        story.keyboard.press("s")
        open_sheet(story)
    expect(story.get_by_label("Prompt")).to_have_value("mine")


def test_the_saved_page_replays_from_a_file_with_no_request(story, open_page, tmp_path):
    decode(story)
    shown = state(story)
    open_sheet(story)
    name, content = saved(story, "Save HTML")
    path = tmp_path / name
    path.write_bytes(content)
    story.goto("about:blank")  # the page asks its server now and then
    requests = []
    story.context.on("request", lambda request: requests.append(request.url))
    page = open_page(path.as_uri())
    page.get_by_role("button", name="Last forward pass").click()
    assert state(page)["main"] == shown["main"]
    assert state(page)["ntp"] == shown["ntp"]
    assert [url for url in requests if not url.startswith("blob:")] == [path.as_uri()]


def test_a_page_of_128_tokens_has_at_most_400_kb():
    model = story_model([f" word{i}" for i in range(200)])
    main, ntp = traces(model)
    assert main.num_tokens == 128
    assert len(replay_html(main, ntp).encode()) <= 400_000


def test_the_staircase_is_saved_at_double_size(open_page, replay_url):
    page = open_page(replay_url, color_scheme="dark")
    open_sheet(page)
    name, content = saved(page, "Save PNG")
    assert name == "sbd-p.png"
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    assert picture.size == (2560, 1120)
    assert sum(picture.getpixel((4, 4))) < 600
    assert len(picture.getcolors(1_000_000)) > 100


WATCH_TIMER = """() => {
  const bar = document.querySelector(".sbd-share-bar");
  const seen = { longest: 0, ticks: 0, begin: 0, end: 0 };
  window.seen = seen;
  let last = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    if (bar.hidden && !seen.begin) return;
    if (!seen.begin) seen.begin = last = now;
    seen.longest = Math.max(seen.longest, now - last);
    seen.ticks += 1;
    seen.end = last = now;
    if (bar.hidden) clearInterval(timer);
  }, 5);
}"""


def test_sixty_passes_make_an_animation_of_at_most_3_mb_while_the_page_answers(open_page, tmp_path):
    model = story_model([f" word{i}" for i in range(90)])
    main, ntp = traces(model, solver=LeftToRight(1))
    few = replace(main, events=main.events[:60], finish="stopped")
    assert few.num_forwards == 60
    path = tmp_path / "run.html"
    path.write_text(replay_html(few, ntp), encoding="utf-8")
    page = open_page(path.as_uri())
    open_sheet(page)
    page.evaluate(WATCH_TIMER)
    _, content = saved(page, "Save GIF")
    expect(page.get_by_role("progressbar")).to_be_hidden()
    timed = page.evaluate("window.seen")
    # Shares, not seconds: a busy machine is slow, but no single task may hold the page.
    assert timed["ticks"] >= 30, timed
    assert timed["longest"] <= (timed["end"] - timed["begin"]) / 5, timed
    assert len(content) <= 3_000_000
    animation = Image.open(io.BytesIO(content))
    assert animation.size == (1280, 720)
    assert animation.n_frames == few.num_forwards
    seen, durations = set(), []
    for index in range(animation.n_frames):
        animation.seek(index)
        durations.append(animation.info["duration"])
        shown = animation.convert("RGB")
        assert shown.getpixel((4, 4)) == (248, 247, 244)  # the page's, not one near it
        seen.add(hash(shown.tobytes()))
    assert durations == [250] * 59 + [3000]
    assert len(seen) == animation.n_frames


def test_a_trace_replays_in_its_frame_and_touches_nothing_around_it(open_page, replay_url):
    trace = generate(story_model(HOSTILE * 2), "p", DecodeConfig(solver=EntropyBound(0.35)))
    page = open_page(replay_url)
    page.set_content(f"<!doctype html><title>notes</title>{Replay(trace)._repr_html_()}")
    frame = page.frame_locator("iframe")
    expect(frame.locator(".sbd-host")).to_contain_text("forward passes")
    frame.get_by_role("button", name="Last forward pass").click()
    expect(frame.locator(".sbd-host")).to_contain_text(
        f"{trace.num_forwards} / {trace.num_forwards}"
    )
    assert page.evaluate("window.hacked") is None
    outer = "() => { try { return parent.document.title } catch { return 'shut off' } }"
    assert page.frames[1].evaluate(outer) == "shut off"
