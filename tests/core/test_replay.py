"""The page that replays traces: its parts, and that nothing breaks out of it or its frame."""

import html
import re

import pytest

from sbd_core import replay
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate, make_trace
from sbd_core.errors import TraceError
from sbd_core.files import ASSETS
from sbd_core.solvers import EntropyBound
from tests.ui.doubles import story_model

MARKUP = ["</script>", "<script>alert(1)</script>", '"', "'", "&amp;", "-->", "</iframe>"]


def decoded(pieces=None, **settings):
    model = story_model(pieces) if pieces else story_model()
    return generate(model, "p", DecodeConfig(**{"solver": EntropyBound(0.35), **settings}))


def test_the_page_holds_player_styles_and_every_line_of_the_run() -> None:
    main, ntp = decoded(), decoded(strategy="ntp", solver=EntropyBound())
    text = replay.replay_html(main, ntp)
    assert replay.replay_lines("export", {"sbd": main, "ntp": ntp}) in text
    assert (ASSETS / "dist" / "replay.js").read_text("utf-8") in text
    for name in replay.STYLES:
        assert (ASSETS / "css" / f"{name}.css").read_text("utf-8") in text
    assert not re.findall(r"(?:src|href)=[\"']?https?:", text)
    assert "default-src 'none'" in text


def test_no_token_closes_the_script_that_holds_it() -> None:
    text = replay.replay_html(decoded(MARKUP * 3))
    plain = replay.replay_html(decoded())
    assert text.count("</script>") == plain.count("</script>")
    assert "alert(1)</script>" not in text


def test_a_notebook_shows_the_page_in_a_frame_that_is_shut_off() -> None:
    trace = decoded(MARKUP * 3)
    frame = replay.Replay(trace)._repr_html_()
    [source] = re.findall(r'srcdoc="([^"]*)"', frame)
    assert html.unescape(source) == replay.replay_html(trace)
    assert "allow-same-origin" not in frame
    assert frame.count("<iframe") == frame.count("</iframe>") == 1


def test_a_trace_of_no_forward_pass_has_a_page_too() -> None:
    empty = make_trace(story_model(), "p", (0,), DecodeConfig(), [])
    assert '"type":"run"' in replay.replay_html(empty)


def test_lanes_of_one_strategy_or_none_are_refused() -> None:
    for traces in ((), (decoded(), decoded())):
        with pytest.raises(TraceError, match="each of another strategy"):
            replay.replay_html(*traces)
