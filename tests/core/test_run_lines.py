"""A run as lines of JSON and the page that replays them: nothing in a text breaks out of either."""

import html
import json
import random
import re
from collections.abc import Iterable
from dataclasses import replace

import pytest

from sbd_core import replay
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate, make_trace
from sbd_core.errors import TraceError
from sbd_core.events import Hindsight, Predraft, Span, StepEvent
from sbd_core.files import ASSETS
from sbd_core.run_lines import RunLines, replay_lines, wire_json
from sbd_core.solvers import EntropyBound
from sbd_core.trace import Trace
from tests.ui.doubles import story_model
from tests.ui.events import block_pass, two_passes

TEXTS = {7: "Hello", 8: "Bye", 9: " world"}
CONFIG = DecodeConfig(strategy="sbd", solver=EntropyBound(0.1), block_size=2, max_new_tokens=2)


def trace(events: Iterable[StepEvent], config: DecodeConfig = CONFIG, texts=TEXTS) -> Trace:
    done = tuple(events)
    return Trace(
        model="hand-made",
        config=config,
        prompt="Say it",
        prompt_token_ids=(1, 2),
        events=done,
        tokens={key: texts[key] for event in done for key in event.mentioned_token_ids},
        text="Hello world",
        finish="length",
        versions={},
    )


def test_wire_is_exactly_this():
    wire = RunLines("r1", TEXTS.__getitem__)
    lines = [wire.start("Say it", [CONFIG], model="m")]
    lines += [wire.step("sbd", event) for event in two_passes()]
    lines.append(wire.end("sbd", "length", "Hello world"))
    assert lines == [
        '{"run":"r1","seq":0,"type":"run","prompt":"Say it","model":"m","lanes":[{"strategy":"sbd",'
        '"solver":{"name":"entropy-bound","gamma":0.1},"block_size":2,"max_new_tokens":2,'
        '"temperature":0.0,"seed":0,"top_k_recorded":5,"pinned":[],"is_raw_prompt":false,'
        '"allows_untrained_block_size":false,'
        '"repetition_penalty":null,"max_rows":41}],"is_recorded":false}',
        '{"run":"r1","seq":1,"type":"step","lane":"sbd","kind":"prefill","context":[0,5],'
        '"block":[0,0],"seconds":0.25}',
        '{"run":"r1","seq":2,"type":"step","lane":"sbd",'
        '"tokens":{"7":"Hello","8":"Bye","9":" world"},"kind":"decode","context":[5,0],'
        '"block":[0,2],"masked":[[0,1.25,[7,8],[0.5,0.25]],[1,0.0625,[9,8],[0.96,0.0001]]],'
        '"reveals":[[1,9,0,0.96]],"seconds":0.125}',
        '{"run":"r1","seq":3,"type":"step","lane":"sbd","kind":"decode","context":[5,0],'
        '"block":[0,2],"masked":[[0,0.5,[7,8],[0.75,0.25]]],"reveals":[[0,7,0,0.75]],'
        '"committed":[7,9],"seconds":0.125}',
        '{"run":"r1","seq":4,"type":"end","lane":"sbd","finish":"length","text":"Hello world"}',
    ]


def test_an_event_travels_as_a_trace_file_has_it():
    predrafts = (Predraft(3, 4, (8, 9), True), Predraft(5, 2, (), False))
    event = replace(two_passes()[1], predrafts=predrafts, draft=(9,), committed=(8,))
    line = json.loads(RunLines("r1", TEXTS.__getitem__).step("verify", event))
    held = json.loads(trace([event]).to_json())["events"][0]
    assert {name: line.get(name, []) for name in held} == held
    assert set(line) - set(held) == {"run", "seq", "type", "lane", "tokens"}


HOSTILE = [
    "<script>alert(1)</script>", "</script>", "${alert(1)}", "{{value}}", "`", "\\", '"', "'",
    "\u202eevil", "\u2028", "\x00\x1b", "\ud800", "\U0001f600", "<m>", "<eos>", "&lt;", "",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_survives_the_wire_and_cannot_open_a_tag(text):
    line = wire_json({"text": text})
    assert json.loads(line)["text"] == text
    assert not set("<>&\n\u2028\u2029") & set(line)
    line.encode()


def worst_pass(rng: random.Random, index: int, num_tokens: int, size: int = 16) -> StepEvent:
    """Every position masked and flat, five candidates each, hindsight for a whole block."""
    masked = {
        100 + i: (9.87654, dict.fromkeys(rng.sample(range(num_tokens), 5), 0.19876))
        for i in range(size)
    }
    reveals = {position: next(iter(top)) for position, (_, top) in masked.items()}
    hindsight = tuple(
        Hindsight(84 + i, rng.randrange(num_tokens), 0.98765, rng.randrange(num_tokens), 0.98765)
        for i in range(size)
    )
    return block_pass(index, Span(100, size), masked, reveals, hindsight=hindsight)


def test_worst_pass_stays_within_2400_bytes_once_its_token_texts_are_known():
    rng = random.Random(1)
    wire = RunLines("0123abcd", lambda token_id: f" token{token_id}")
    sizes = [len(wire.step("sbd", worst_pass(rng, i, 300)).encode()) for i in range(100)]
    assert max(sizes[50:]) <= 2400


def test_replay_interleaves_lanes_and_ends_each():
    main = trace(two_passes())
    ntp = replace(main, config=replace(CONFIG, strategy="ntp"), events=main.events[:2])
    lines = [json.loads(row) for row in replay_lines("r", {"sbd": main, "ntp": ntp}).split("\n")]
    assert [(line["type"], line.get("lane")) for line in lines] == [
        ("run", None), ("step", "sbd"), ("step", "ntp"), ("step", "sbd"), ("step", "ntp"),
        ("end", "ntp"), ("step", "sbd"), ("end", "sbd"),
    ]  # fmt: skip
    assert [line["seq"] for line in lines] == list(range(8))
    assert lines[0]["is_recorded"] is True


def test_a_recorded_run_says_what_ends_an_answer_in_any_of_its_lanes():
    cut = trace(two_passes())
    ntp = replace(cut, config=replace(CONFIG, strategy="ntp"), end_token_ids=(8, 7))
    lanes = {"sbd": replace(cut, end_token_ids=(8,)), "ntp": ntp}
    assert json.loads(replay_lines("r", lanes).split("\n")[0])["end_token_ids"] == [7, 8]


def test_pinned_tokens_travel_with_the_start():
    config = replace(CONFIG, pinned={1: 9, 0: 7})
    line = json.loads(RunLines("r", TEXTS.__getitem__).start("p", [config]))
    assert line["tokens"] == {"7": "Hello", "9": " world"}
    assert line["lanes"][0]["pinned"] == [[0, 7], [1, 9]]


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
