"""Laws 8 and 10: traces come back exactly from JSON, and damaged ones are refused by name."""

import copy
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from itertools import islice, zip_longest
from operator import getitem
from typing import Any

import pytest
import torch

from sbd_core import DecodeConfig, Trace, TraceError, generate, stream
from sbd_core.cost import LayerShape, ModelShape
from sbd_core.events import Hindsight, MaskedPosition, Predraft, Reveal, Span, StepEvent
from sbd_core.solvers import SOLVERS, EntropyBound, Random, TopK
from sbd_core.trace import VERSION
from tests.conftest import unfused
from tests.core.decoding.doubles import chance_model, random_ids
from tests.core.decoding.reference import full_forward


def many_configs(count: int) -> Iterator[tuple[int, DecodeConfig]]:
    """Every strategy and solver, with odd but allowed settings."""
    draw = random.Random(4)
    rules = list(SOLVERS.values())
    for seed in range(count):
        strategy = ("sbd", "sbd", "verify", "ntp")[seed % 4]
        num_new = draw.randint(1, 20)
        pins = draw.sample(range(num_new), draw.randint(0, num_new // 2))
        rule = rules[seed % len(rules)]
        can_pin = strategy == "sbd" and not rule.reads_causal_row
        config = DecodeConfig(
            strategy=strategy,
            solver=rule(),
            block_size=draw.randint(1, 9),
            max_new_tokens=num_new,
            temperature=draw.choice([0.0, 1.0, 0.25, 1e-3, 40.0]),
            seed=draw.choice([0, 7, 2**63 - 1]),
            top_k_recorded=draw.choice([0, 1, 5, 50]),
            pinned={p: draw.randrange(1, 10) for p in pins} if can_pin else {},
            is_raw_prompt=draw.random() < 0.5,
            allows_untrained_block_size=draw.random() < 0.5,
            repetition_penalty=draw.choice([None, 1.0, 1.3]),
        )
        yield seed, config


def without_seconds(trace: Trace) -> Trace:
    return replace(trace, events=tuple(replace(event, seconds=0.0) for event in trace.events))


def test_a_trace_comes_back_equal_from_its_json() -> None:
    for seed, config in many_configs(120):
        model = chance_model(seed, agreement=0.5)
        prompt = "ab" if seed % 2 else [2, 3, 4]
        trace = generate(model, prompt, config)
        text = trace.to_json()
        back = Trace.from_json(text)
        assert back == trace
        assert back.to_json() == text
        assert "\n" not in text
        json.loads(text, parse_constant=pytest.fail)


def test_a_token_is_of_the_forward_pass_that_revealed_it_or_committed_it_unrevealed() -> None:
    out_of_order = 0
    for seed, config in many_configs(60):
        trace = generate(chance_model(seed, agreement=0.5), "ab", config)
        assert len(trace.token_passes) == trace.num_tokens
        out_of_order += [*trace.token_passes] != sorted(trace.token_passes)
        before = 0
        for index, event in enumerate(trace.events):
            revealed = {reveal.position for reveal in event.reveals}
            fixed = {at for at, found in enumerate(trace.token_passes) if found == index}
            assert revealed & {*range(trace.num_tokens)} <= fixed
            assert fixed - revealed <= {*range(before, before + len(event.committed))} & {
                *config.pinned
            }
            before += len(event.committed)
    assert out_of_order


@pytest.mark.parametrize(
    "settings",
    [
        {"strategy": "ntp", "temperature": 1},
        {"strategy": "ntp", "temperature": 1e30},
        {"strategy": "ntp", "block_size": 1024},
        {"solver": EntropyBound(gamma=1e300)},
        {"solver": EntropyBound(gamma=2**60)},
        {"solver": TopK(k=2**60)},
        {"max_new_tokens": 2**60},
    ],
)
def test_whatever_a_config_allows_comes_back(settings) -> None:
    trace = generate(chance_model(0, end_bias=9.0), "ab", DecodeConfig(**settings))
    assert Trace.from_json(trace.to_json()) == trace


def test_a_trace_left_early_comes_back_and_says_so() -> None:
    model = chance_model(1, end_bias=-99.0)
    config = DecodeConfig(block_size=4, max_new_tokens=12)
    for num_taken in (0, 1, 3):
        events = stream(model, "ab", config)
        taken = tuple(islice(events, num_taken))
        trace = events.trace()
        assert trace.events == taken
        assert trace.finish == "stopped"
        assert trace.num_forwards == num_taken
        assert Trace.from_json(trace.to_json()) == trace
    assert stream(model, "ab", config).trace().tokens_per_forward == 0.0


def test_counts_are_the_models_own_forward_calls() -> None:
    for seed, config in many_configs(60):
        model = chance_model(seed, agreement=0.5)
        trace = generate(model, "ab", config)
        assert trace.num_forwards == len(trace.events) == len(model.calls)
        contexts = [(event.num_cached, event.num_causal) for event in trace.events]
        assert contexts == [(cached, causal) for cached, causal, _ in model.calls]
        committed = [token for event in trace.events for token in event.committed]
        assert list(trace.token_ids) == committed
        assert trace.num_tokens == len(committed)
        assert trace.tokens_per_forward == trace.num_tokens / trace.num_forwards
        assert trace.seconds == sum(event.seconds for event in trace.events)
        assert [event.index for event in trace.events] == list(range(trace.num_forwards))
        kinds = [event.kind for event in trace.events]
        assert kinds == ["prefill"] + ["decode"] * (len(kinds) - 1)


@pytest.mark.parametrize("strategy", ["sbd", "verify", "ntp"])
def test_num_forwards_counts_the_networks_calls_prefill_included(llama, strategy) -> None:
    llama, num_calls = unfused(llama), []
    assert llama.exactness  # tried out before the calls are counted
    hook = llama.model.register_forward_hook(lambda *_: num_calls.append(1))
    config = DecodeConfig(strategy=strategy, block_size=4, max_new_tokens=11)
    try:
        trace = generate(llama, random_ids(1, llama.vocabulary_size)[0], config)
    finally:
        hook.remove()
    assert trace.num_forwards == len(num_calls)


def test_hindsight_is_what_next_token_prediction_gives_the_answer(llama) -> None:
    """One number for every token but the last block's, and the numbers are NTP's own."""
    prompt = random_ids(1, llama.vocabulary_size)[0]
    for strategy in ("sbd", "verify", "ntp"):
        config = DecodeConfig(
            strategy=strategy, block_size=5, max_new_tokens=17, pinned={}, temperature=1.0
        )
        trace = generate(llama, prompt, config)
        text = [*prompt, *trace.token_ids]
        logits = full_forward(llama, text, [])
        logits[:, llama.mask_token_id] = -torch.inf
        chances = logits.softmax(dim=-1)
        given = [item for event in trace.events for item in event.hindsight]
        num_given = 15 if strategy == "sbd" else trace.num_tokens
        assert [item.position for item in given] == list(range(min(num_given, trace.num_tokens)))
        for item in given:
            row = chances[len(prompt) + item.position - 1]
            assert item.token_id == trace.token_ids[item.position]
            assert item.probability == pytest.approx(row[item.token_id].item(), abs=1e-5)
            assert item.argmax_probability == pytest.approx(row.max().item(), abs=1e-5)


def test_the_same_seed_gives_the_same_trace_and_another_seed_another() -> None:
    num_different = 0
    for seed, config in many_configs(60):
        model = chance_model(seed, agreement=0.5, end_bias=-99.0)
        first, again = (generate(model, "ab", config) for _ in range(2))
        assert without_seconds(first) == without_seconds(again)
        if config.temperature == 1:
            other = generate(model, "ab", replace(config, seed=12345))
            num_different += other.token_ids != first.token_ids
    assert num_different > 5


@pytest.mark.parametrize("strategy", ["sbd", "verify", "ntp"])
def test_decodes_that_run_pass_by_pass_in_turn_are_those_run_alone(llama, strategy) -> None:
    """One model, many visitors: nothing of a decode lives in the model."""
    config = DecodeConfig(strategy=strategy, block_size=4, max_new_tokens=9, temperature=1.0)
    prompts = random_ids(3, llama.vocabulary_size)
    alone = [without_seconds(generate(llama, prompt, config)) for prompt in prompts]
    streams = [stream(llama, prompt, config) for prompt in prompts]
    for _ in zip_longest(*streams):
        pass
    assert [without_seconds(events.trace()) for events in streams] == alone


def test_a_decode_leaves_the_global_random_state_alone() -> None:
    state = torch.random.get_rng_state()
    for strategy in ("sbd", "verify", "ntp"):
        config = DecodeConfig(
            strategy=strategy, solver=Random(k=2), temperature=1.0, max_new_tokens=9
        )
        generate(chance_model(0), "ab", config)
    assert torch.equal(state, torch.random.get_rng_state())


Data = dict[str, Any]


def sound() -> Data:
    """The data of a good trace with every kind of entry in it."""
    config = DecodeConfig(
        solver=EntropyBound(gamma=2.0), block_size=4, max_new_tokens=10, pinned={2: 5}
    )
    model = chance_model(3, end_bias=-99.0)
    model.shape = SHAPE
    trace = generate(model, "ab", config)
    said = {"weights": {"adapter": "12ab"}, "messages": (("user", "ab"),)}
    return json.loads(replace(trace, **said).to_json())


LAYER = LayerShape(hidden_size=8, feed_forward_size=16, num_heads=2, num_kv_heads=1, head_size=4)
SHAPE = ModelShape(layer=LAYER, num_layers=3, vocabulary_size=9, bytes_per_value=2)
SOUND = sound()
PLACES = [
    "trace.version", "trace.model", "trace.prompt", "trace.prompt_token_ids",
    "trace.prompt_token_ids[1]", "trace.end_token_ids", "trace.end_token_ids[0]", "trace.weights",
    "trace.weights.adapter", "trace.messages", "trace.messages[0]", "trace.messages[0][1]",
    "trace.text", "trace.finish", "trace.versions", "trace.versions.torch", "trace.tokens",
    "trace.tokens.5", "trace.config", "trace.config.solver", "trace.config.solver.name",
    "trace.config.block_size", "trace.config.max_new_tokens", "trace.config.temperature",
    "trace.config.top_k_recorded", "trace.config.pinned", "trace.config.pinned[0]",
    "trace.config.pinned[0][1]", "trace.config.is_raw_prompt", "trace.events", "trace.events[1]",
    "trace.events[1].kind", "trace.events[1].context[0]", "trace.events[1].block",
    "trace.events[1].masked[0]", "trace.events[1].masked[0][1]", "trace.events[1].masked[0][2][1]",
    "trace.events[1].masked[0][3][0]", "trace.events[1].reveals", "trace.events[1].reveals[0][0]",
    "trace.events[1].reveals[0][3]", "trace.events[1].committed", "trace.events[1].draft",
    "trace.events[1].hindsight", "trace.events[1].predrafts", "trace.events[1].seconds",
]  # fmt: skip
WRONG: dict[type, tuple[Any, ...]] = {
    bool: (None, 1, "true", []),
    str: (None, True, 1, {}, ["x"]),
    int: (None, True, -1, 1.5, "1", {}, [1]),
    float: (None, True, -1, "1", {}, [1.0], 10**400),
    list: (None, True, 1, "x", {}, [None]),
    dict: (None, True, 1, "x", []),
}
STRINGS = {"model", "prompt", "text", "torch", "5"}


def refused(text: Any) -> str:
    """The message with which a text is refused."""
    with pytest.raises(TraceError) as caught:
        Trace.from_json(text)
    message = str(caught.value)
    assert message.isascii()
    assert message.isprintable(), "one line, and nothing that steers a terminal"
    return message


def at(place: str, data: Data) -> tuple[Any, Any]:
    """The list or object that holds a place of a trace, and its index or key there."""
    *path, last = (int(i) if i else key for i, key in re.findall(r"\[(\d+)\]|\.(\w+)", place))
    return reduce(getitem, path, data), last


def damaged(damage: Callable[[Data], object]) -> str:
    data = copy.deepcopy(SOUND)
    damage(data)
    return json.dumps(data)


def replaced(place: str, value: object) -> str:
    def damage(data: Data) -> None:
        holder, key = at(place, data)
        holder[key] = value

    return damaged(damage)


def test_the_sound_trace_is_read_and_has_all_there_is_to_damage() -> None:
    Trace.from_json(json.dumps(SOUND))
    event = SOUND["events"][1]
    assert event["masked"]
    assert event["reveals"]
    assert len(event["masked"][0][2]) > 1


@pytest.mark.parametrize("place", PLACES)
def test_a_value_of_another_type_is_refused_at_its_place(place) -> None:
    holder, key = at(place, SOUND)
    for value in WRONG[type(holder[key])]:
        assert place in refused(replaced(place, value))


FREE_KEYS = ("trace.versions.", "trace.tokens.", "trace.weights.")


@pytest.mark.parametrize(
    "place", [p for p in PLACES if not p.endswith("]") and not p.startswith(FREE_KEYS)]
)
def test_a_missing_field_is_named(place) -> None:
    def damage(data: Data) -> None:
        holder, key = at(place, data)
        del holder[key]

    assert f"{place}: is missing" in refused(damaged(damage))


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000])
@pytest.mark.parametrize(
    "place", ["trace.events[1].seconds", "trace.config.temperature", "trace.config.solver.gamma"]
)
def test_a_number_that_is_not_finite_is_refused(place, text) -> None:
    refused(replaced(place, "HERE").replace('"HERE"', text))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_not_written_either(value) -> None:
    trace = Trace.from_json(json.dumps(SOUND))
    first, *rest = trace.events
    for event in (
        replace(first, seconds=value),
        replace(first, reveals=(Reveal(0, 5, 0, value),)),
        replace(first, masked=(MaskedPosition(0, value, (5,), (1.0,)),)),
    ):
        with pytest.raises(ValueError, match="not JSON compliant"):
            replace(trace, events=(event, *rest)).to_json()


def test_a_probability_above_1_is_refused() -> None:
    for place in ("reveals[0][3]", "hindsight[0][2]", "hindsight[0][4]", "masked[0][3][0]"):
        event = next(e for e in SOUND["events"] if e[place.split("[")[0]])
        path = f"trace.events[{SOUND['events'].index(event)}].{place}"
        assert path in refused(replaced(path, 1.5))


@pytest.mark.parametrize("value", [float("1e300"), 2**53 + 2, 10**30])
def test_a_huge_number_is_refused_where_a_count_stands(value) -> None:
    places = ("context[0]", "reveals[0][0]", "masked[0][2][1]")
    for place in ("trace.prompt_token_ids[1]", *(f"trace.events[1].{name}" for name in places)):
        assert place in refused(replaced(place, value))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "1", "null", '"sbd-trace"', "true", "nope", "\x00", None, 5, b"{}", ["{}"], {}],
)
def test_what_is_no_text_of_an_object_is_refused(text) -> None:
    assert refused(text).startswith("trace")


def test_a_trace_cut_off_anywhere_is_refused() -> None:
    text = json.dumps(SOUND)
    draw = random.Random(0)
    for stop in [*range(60), *draw.sample(range(60, len(text)), 100), len(text) - 1]:
        refused(text[:stop])
    refused(text + "}")


def test_deep_nesting_is_refused_at_every_depth() -> None:
    limit = sys.getrecursionlimit()
    for depth in [1, 10, 100, *range(limit - 200, limit + 20, 3), 100_000]:
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            nested = opening * depth + "1" + closing * depth
            refused(replaced("trace.finish", "HERE").replace('"HERE"', nested))
            refused(nested)


def configured(**changes: object) -> Callable[[Data], object]:
    return lambda data: data["config"].update(changes)


BOUND = {"name": "entropy-bound"}
SETTINGS: list[tuple[str, dict[str, object]]] = [
    ("seed", {"seed": 2**63}),
    *(("repetition_penalty", {"repetition_penalty": value}) for value in (0, "1.3", [1], True)),
    ("solver", {"solver": {"name": "guess"}}),
    ("solver.name", {"solver": {"name": ["top-k"]}}),
    ("solver.name", {"solver": {}}),
    ("tau", {"solver": {**BOUND, "tau": 0.5}}),
    *(("gamma", {"solver": {**BOUND, "gamma": value}}) for value in (-1, True, "0.1", -(10**400))),
    *(("k", {"solver": {"name": "top-k", "k": value}}) for value in (0, 1.0)),
    *(("by", {"solver": {"name": "top-k", "by": value}}) for value in ("luck", ["margin"])),
]
RULES: dict[str, tuple[Callable[[Data], object], str]] = {
    "a likely token without its probability": (
        lambda d: d["events"][1]["masked"][0][3].pop(),
        "trace.events[1].masked[0]: must have a probability for every token id",
    ),
    "a position revealed twice in a pass": (
        lambda d: d["events"][1]["reveals"].append(d["events"][1]["reveals"][0]),
        "trace.events[1].reveals",
    ),
    "a position revealed in two passes": (
        lambda d: d["events"][2]["reveals"].append(d["events"][1]["reveals"][0]),
        "trace.events[2].reveals",
    ),
    "a pin revealed as another token": (
        lambda d: d["events"][1]["reveals"].append([2, 6, 0, 0.5]),
        "pinned",
    ),
    "too many tokens": (configured(max_new_tokens=8), "max_new_tokens"),
    "a token without text": (
        lambda d: d["tokens"].pop(str(d["events"][1]["reveals"][0][1])),
        "trace.tokens",
    ),
    **{
        f"the token id {key!a}": (lambda d, k=key: d["tokens"].update({k: "x"}), "trace.tokens")
        for key in ("x", "", "-1", "1.0", "\u0661", "9" * 16)
    },
    "another format": (lambda d: d.update(format="sbd"), "trace.format"),
    **{
        f"version {n}": (
            lambda d, n=n: d.update(version=n),
            f"trace.version: must be {VERSION}, the one that this program reads; got {n}",
        )
        for n in (VERSION - 1, VERSION + 1)
    },
    "half a surrogate pair": (lambda d: d["versions"].update({"a\ud800": "1"}), ""),
    "nothing of a trace": (lambda d: d.clear(), "trace.format: is missing"),
    **{
        f"{changes!a:.70}": (configured(**changes), f"trace.config.{at}")
        for at, changes in SETTINGS
    },
    "no penalty": (
        lambda d: d["config"].pop("repetition_penalty"),
        "trace.config.repetition_penalty: is missing",
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_a_trace_that_contradicts_itself_or_a_rule_is_refused_by_name(name) -> None:
    damage, words = RULES[name]
    assert words in refused(damaged(damage))


@pytest.mark.parametrize("place", [p for p in PLACES if p.split(".")[-1] in STRINGS])
def test_half_a_surrogate_pair_is_refused(place) -> None:
    """JSON can spell it, UTF-8 cannot: such a trace could be read and never written again."""
    text = replaced(place, "a\ud800")
    byte = int(re.search(r"malformed.*\(byte (\d+)\)$", refused(text))[1])
    assert "a\\ud800" in text[byte - 10 : byte + 2]


@pytest.mark.parametrize("key", ["a\ud800", "a\nb", "\u0661", "\x1b[31m", "x" * 5000])
def test_a_hostile_key_is_refused_or_harmless_and_never_printed_raw(key) -> None:
    """refused() checks that the message is one plain line."""
    for place in (["versions"], ["config", "solver"], ["tokens"]):

        def damage(data: Data, place: list[str] = place) -> None:
            for name in place:
                data = data[name]
            data[key] = 1  # a value wrong everywhere, so that the key gets into the message

        assert len(refused(damaged(damage))) < 1000


AHEAD = generate(
    chance_model(1, agreement=0.7, end_bias=-9.0),
    "ab",
    DecodeConfig(strategy="verify", max_new_tokens=20),
)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("", 3),
        ("", [[1, 2]]),
        ("[0]", [1, 2, [5], 0]),
        ("[0]", [-1, 2, [5], False]),
        ("[0]", [1, 2.5, [5], False]),
        ("[0]", [1, 2, ["a"], False]),
        ("[0]", [1, 2, [5], False, "a"]),
        ("[0]", [1, 2, [5], False, 1, 1]),
    ],
)
def test_a_damaged_predraft_is_named(place, value) -> None:
    data = json.loads(AHEAD.to_json())
    index = next(i for i, event in enumerate(data["events"]) if event["predrafts"])
    event = data["events"][index]
    if place:
        event["predrafts"][0] = value
    else:
        event["predrafts"] = value
    with pytest.raises(TraceError, match=rf"^trace\.events\[{index}\]\.predrafts"):
        Trace.from_json(json.dumps(data))


def test_a_shape_that_is_null_or_whole_is_read_and_any_other_refused() -> None:
    assert Trace.from_json(json.dumps(SOUND)).shape == SHAPE
    assert Trace.from_json(json.dumps({**SOUND, "shape": None})).costs is None
    for name in SOUND["shape"]:
        for wrong in (0, -1, 1.5, "8", True, None, 10**30):
            message = refused(json.dumps({**SOUND, "shape": {**SOUND["shape"], name: wrong}}))
            assert message.startswith(f"trace.shape.{name}: ")
        rest = {key: value for key, value in SOUND["shape"].items() if key != name}
        message = refused(json.dumps({**SOUND, "shape": rest}))
        assert message.startswith(f"trace.shape.{name}: must be given")
    assert refused(json.dumps({**SOUND, "shape": [1]})).startswith("trace.shape: ")


def test_an_event_mentions_every_token_id_that_its_data_holds() -> None:
    event = StepEvent(
        index=0,
        kind="decode",
        num_cached=5,
        num_causal=2,
        block=Span(2, 3),
        masked=(MaskedPosition(2, 0.5, (11, 12), (0.6, 0.3)),),
        reveals=(Reveal(2, 13, 0, 0.6),),
        committed=(14,),
        draft=(15,),
        hindsight=(Hindsight(1, 16, 0.2, 17, 0.7),),
        seconds=0.1,
        predrafts=(
            Predraft(3, 2, (18,), is_used=True),
            Predraft(3, 2, (), is_used=False, alternative=19),
        ),
    )
    assert event.mentioned_token_ids == set(range(11, 20))
