"""The wire and the numbers, from hand-made events."""

import json
import random
from collections.abc import Iterable
from dataclasses import replace

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.cost.model_shape import ModelShape, Shape
from sbd_core.events import Hindsight, Predraft, Span, StepEvent
from sbd_core.replay import wire_format
from sbd_core.replay.wire_format import RunWire
from sbd_core.rules import EntropyBound
from sbd_core.trace import Trace, mentioned_token_ids
from tests.ui.events import block_pass, two_passes

TEXTS = {7: "Hello", 8: "Bye", 9: " world"}
CONFIG = DecodeConfig(solver=EntropyBound(0.1), block_size=2, max_new_tokens=2)


def trace(events: Iterable[StepEvent], config: DecodeConfig = CONFIG, texts=TEXTS) -> Trace:
    done = tuple(events)
    return Trace(
        model="hand-made",
        config=config,
        prompt="Say it",
        prompt_token_ids=(1, 2),
        events=done,
        tokens={key: texts[key] for key in mentioned_token_ids(done)},
        text="Hello world",
        finish="length",
        versions={},
    )


def test_wire_is_exactly_this():
    wire = RunWire("r1", TEXTS.__getitem__)
    lines = [wire.start("Say it", CONFIG, ["sbd"], model="m")]
    lines += [wire.step("sbd", event) for event in two_passes()]
    lines.append(wire.end("sbd", "length", "Hello world"))
    assert lines == [
        '{"run":"r1","seq":0,"type":"run","prompt":"Say it","model":"m","lanes":["sbd"],'
        '"strategy":"sbd","solver":{"name":"entropy-bound","gamma":0.1},"block_size":2,'
        '"max_new_tokens":2,"is_recorded":false}',
        '{"run":"r1","seq":1,"type":"step","lane":"sbd","kind":"prefill","context":[0,5],'
        '"block":[0,0],"time":250000}',
        '{"run":"r1","seq":2,"type":"step","lane":"sbd",'
        '"tokens":[[7,"Hello"],[8,"Bye"],[9," world"]],"context":[5,0],'
        '"block":[0,2],"masked":[[0,12500,0,5000,1,2500],[1,625,2,9600]],'
        '"reveals":[[1,2]],"time":125000}',
        '{"run":"r1","seq":3,"type":"step","lane":"sbd","context":[5,0],'
        '"block":[0,2],"masked":[[0,5000,0,7500,1,2500]],"reveals":[[0,0]],'
        '"committed":[0,2],"time":125000}',
        '{"run":"r1","seq":4,"type":"end","lane":"sbd","finish":"length","text":"Hello world"}',
    ]


def test_no_entropy_reads_as_none_and_each_keeps_four_digits():
    # A bound of 0 reveals the surest position alone, however sure the next one is.
    for nats in (1.1584e-05, 3.3e-07, 0.012344, 0.5, 2.75):
        [_, event, *_] = two_passes()
        sure = replace(event.masked[0], entropy=nats)
        line = json.loads(
            RunWire("r", TEXTS.__getitem__).step("sbd", replace(event, masked=(sure,)))
        )
        assert line["masked"][0][1] / 10_000 == pytest.approx(nats, rel=5e-4)


def test_a_run_says_what_its_costs_are_made_of():
    layer = Shape(hidden_size=8, feed_forward_size=16, num_heads=4, num_kv_heads=2, head_size=2)
    shape = ModelShape(layer=layer, num_layers=3, vocabulary_size=10, bytes_per_value=2)
    line = json.loads(RunWire("r", str, shape).start("p", CONFIG, ["sbd"]))
    found = [line[name] for name in ("value_bytes", "output_weights", "pair_flops")]
    assert found == [2, 8 * 10, 2 * 2 * 3 * 8]


def test_drafts_made_ahead_travel_with_their_place_and_whether_they_were_used():
    wire = RunWire("r1", TEXTS.__getitem__)
    config = DecodeConfig(strategy="verify", num_predrafts=2, draft_threshold=0.3)
    opening = json.loads(wire.start("Say it", config, ["verify"]))
    assert (opening["num_predrafts"], opening["draft_threshold"]) == (2, 0.3)
    assert not {"repetition_penalty", "row_policy"} & set(opening)
    config = DecodeConfig(strategy="verify", row_policy="fewest-passes", repetition_penalty=1.1)
    opening = json.loads(wire.start("Say it", config, ["verify"]))
    assert (opening["row_policy"], opening["repetition_penalty"]) == ("fewest-passes", 1.1)
    assert "draft_threshold" not in json.loads(wire.start("Say it", CONFIG, ["sbd"]))
    predrafts = (Predraft(Span(3, 4), (8, 9), True), Predraft(Span(5, 2), (), False))
    event = replace(two_passes()[0], predrafts=predrafts)
    line = json.loads(wire.step("verify", event))
    place = [token_id for token_id, _ in line["tokens"]].index
    assert line["predrafts"] == [[3, 4, 1, place(8), place(9)], [5, 2, 0]]


def test_each_token_text_travels_once_per_run():
    wire = RunWire("r1", TEXTS.__getitem__)
    sent = [
        pair
        for event in [*two_passes(), *two_passes()]
        for pair in json.loads(wire.step("sbd", event)).get("tokens", [])
    ]
    assert sent == [[7, "Hello"], [8, "Bye"], [9, " world"]]


HOSTILE = [
    "<script>alert(1)</script>", "</script>", "${alert(1)}", "{{value}}", "`", "\\", '"', "'",
    "\u202eevil", "\u2028", "\x00\x1b", "\ud800", "\U0001f600", "<m>", "<eos>", "&lt;", "",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_survives_the_wire_and_cannot_open_a_tag(text):
    line = wire_format.wire_json({"text": text})
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


def test_worst_pass_stays_within_1500_bytes_once_its_token_texts_are_known():
    rng = random.Random(1)
    wire = RunWire("0123abcd", lambda token_id: f" token{token_id}")
    sizes = [len(wire.step("sbd", worst_pass(rng, i, 300)).encode()) for i in range(100)]
    assert max(sizes[50:]) <= 1500


def test_replay_interleaves_lanes_and_ends_each():
    main = trace(two_passes())
    ntp = replace(main, config=replace(CONFIG, strategy="ntp"), events=main.events[:2])
    lines = [
        json.loads(row) for row in wire_format.replay("r", {"sbd": main, "ntp": ntp}).split("\n")
    ]
    assert [(line["type"], line.get("lane")) for line in lines] == [
        ("run", None), ("step", "sbd"), ("step", "ntp"), ("step", "sbd"), ("step", "ntp"),
        ("end", "ntp"), ("step", "sbd"), ("end", "sbd"),
    ]  # fmt: skip
    assert [line["seq"] for line in lines] == list(range(8))
    assert lines[0]["is_recorded"] is True


def test_a_recorded_run_says_what_ends_an_answer_and_an_older_one_what_ended_its_own():
    def ends(recorded: Trace) -> list[int] | None:
        lines = wire_format.replay("r", {"sbd": recorded})
        return json.loads(lines.split("\n")[0]).get("ends")

    cut = trace(two_passes())
    assert ends(cut) is None
    assert ends(replace(cut, finish="end_of_sequence")) == [9]
    ntp = replace(cut, config=replace(CONFIG, strategy="ntp"), end_token_ids=(8, 7))
    lanes = {"sbd": replace(cut, end_token_ids=(8,)), "ntp": ntp}
    assert json.loads(wire_format.replay("r", lanes).split("\n")[0])["ends"] == [7, 8]


def test_pinned_tokens_travel_with_the_start():
    config = replace(CONFIG, pinned={1: 9, 0: 7})
    line = json.loads(RunWire("r", TEXTS.__getitem__).start("p", config, ["sbd"]))
    assert line["tokens"] == [[7, "Hello"], [9, " world"]]
    assert line["pinned"] == [[0, 0], [1, 1]]


def test_a_replay_says_the_first_digits_of_its_weights_and_an_older_trace_says_none() -> None:
    plain = trace(two_passes())
    weights = {"adapter": "0123456789abcdef", "base": "fedcba9876543210"}
    first = wire_format.replay("r", {"sbd": replace(plain, weights=weights)}).partition("\n")[0]
    assert json.loads(first)["weights"] == [["adapter", "01234567"], ["base", "fedcba98"]]
    assert "weights" not in json.loads(wire_format.replay("r", {"sbd": plain}).partition("\n")[0])
