"""Trace files that would be too much for a screen are refused in one sentence, others play."""

import json

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.errors import ArgumentError, TraceError
from sbd_core.run_lines import MAX_SHOWN_BLOCK
from tests.ui.doubles import story_model
from ui.examples import TRACES
from ui.trace_files import MAX_FILE_BYTES, MAX_POSITIONS, read_trace

PLAIN = json.loads(generate(story_model(), "p", DecodeConfig(max_new_tokens=32)).to_json())
UNSEEN = "\x01"
MARK = "\u0301"


def changed(**parts) -> str:
    """The plain trace with parts of it replaced: config_... of its config, else of itself."""
    data = json.loads(json.dumps(PLAIN))
    for name, value in parts.items():
        head, _, rest = name.partition("_")
        (data["config"] if head == "config" else data)[rest if head == "config" else name] = value
    return json.dumps(data)


def with_block(size: int, start: int = 0) -> str:
    data = json.loads(changed(config_max_new_tokens=2**19))
    data["events"][1]["block"] = [start, size]
    return json.dumps(data)


def committing(count: int) -> str:
    data = json.loads(changed(config_max_new_tokens=2**19))
    data["events"][-1]["committed"] = [3] * count
    return json.dumps(data)


def of_texts(text: str) -> str:
    return changed(tokens=dict.fromkeys(PLAIN["tokens"], text), text="")


def with_other_token() -> str:
    data = json.loads(json.dumps(PLAIN))
    event = next(event for event in data["events"] if event["committed"])
    event["committed"][0] = next(int(i) for i in data["tokens"] if int(i) != event["committed"][0])
    return json.dumps(data)


REFUSED = {
    "block of the config": (changed(config_block_size=65), "config.block_size must be at most 64"),
    "block beyond all": (changed(config_block_size=10**9), "config.block_size: must be a whole"),
    "longest answer": (changed(config_max_new_tokens=10**9), "max_new_tokens must be at most"),
    "longest of many digits": (changed(config_max_new_tokens=10**18), "must be at most 1,048,576"),
    "a far pin": (
        changed(config_max_new_tokens=10**5, config_pinned=[[99_999, 3]]),
        "config.pinned must be at most 1,999",
    ),
    "a block that is drawn": (with_block(65), "its size must be at most 64"),
    "a block far away": (with_block(16, MAX_POSITIONS), "its end must be at most 2,000"),
    "many tokens": (committing(100_000), "tokens of the answer must be at most 2,000"),
    "unseen characters": (of_texts(UNSEEN * 100), "unseen characters"),
    "spaces": (of_texts(" " * 1000), "unseen characters"),
    "lone bytes": (of_texts("\\xE2" * 400), "unseen characters"),
    "a long prompt": (changed(prompt="x" * 20_001), "prompt: its characters must be at"),
    "a long name": (changed(model="x" * 20_001), "trace.model: its characters must be at most"),
    "a prompt of marks": (changed(prompt="a" + MARK * 19_999), "prompt: its piled-up marks must"),
    "a text of marks": (changed(text="a" + MARK * 19_999), "text: its piled-up marks must be"),
    "tokens of marks": (of_texts("a" + MARK * 500), "unseen characters"),
    "another text": (changed(text=PLAIN["text"] + "7"), "trace.text: must be the text of the tok"),
    "another token": (with_other_token(), "committed at position 0 must be the one revealed there"),
    "an end that is none": (changed(finish="end_of_sequence"), "must not be end_of_sequence"),
    "a length that is none": (changed(config_max_new_tokens=40), "must not be length where the"),
    "no step": (changed(events=[]), "must hold at least one forward pass"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_trace_that_is_too_much_is_refused_in_one_line(name):
    text, sentence = REFUSED[name]
    with pytest.raises(TraceError) as error:
        read_trace(text)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) <= 300


@pytest.mark.parametrize("text", [None, 3, ["x"], "x" * (MAX_FILE_BYTES + 1)])
def test_what_is_no_text_or_too_long_is_refused(text):
    with pytest.raises(ArgumentError, match="trace file"):
        read_trace(text)


@pytest.mark.parametrize(
    "text",
    [
        changed(),
        changed(config_block_size=MAX_SHOWN_BLOCK),
        of_texts("\n"),
        of_texts("    "),
        *(line for path in sorted(TRACES.rglob("*.jsonl")) for line in path.open(encoding="utf-8")),
    ],
)
def test_an_ordinary_trace_plays(text):
    assert read_trace(text).num_forwards > 0
