"""Laws 6 and 7: what a forward pass of any solver reveals, each position once, and the end."""

import math
import random
from dataclasses import replace

import pytest
import torch

from sbd_core import DecodeConfig, Trace, generate
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.sampling import Candidates, forbid
from sbd_core.solvers import SOLVERS, CausalFirst, EntropyBound
from tests.core.decoding.doubles import END, MASK, TEXTS, chance_model, corpus_texts, random_ids
from tests.scripted import ScriptedModel, by_position

LETTERS = range(2, len(TEXTS))


def random_config(draw: random.Random, solver) -> DecodeConfig:
    """Any block size, mostly no divisor of the answer's length."""
    return DecodeConfig(
        solver=solver,
        block_size=draw.randint(1, 11),
        max_new_tokens=draw.randint(1, 24),
        temperature=draw.choice([0.0, 1.0]),
        seed=draw.randrange(1000),
        top_k_recorded=draw.randint(0, 12),
    )


def check_reveals(trace) -> None:
    """The whole of law 7 on one finished trace."""
    answer, pinned = list(trace.token_ids), trace.config.pinned
    revealed = {}
    for event in trace.events:
        for rank, reveal in enumerate(event.reveals):
            assert reveal.rank == rank
            assert reveal.position not in revealed, "revealed twice"
            assert reveal.position not in pinned, "a pinned position was revealed"
            assert event.block.start <= reveal.position < event.block.stop
            revealed[reveal.position] = reveal.token_id
    for position, token_id in enumerate(answer):
        assert token_id != MASK
        assert token_id == pinned.get(position, revealed.get(position))
    check_end(answer, trace.config.max_new_tokens, trace.finish)
    check_masked(trace)


def check_end(answer, max_new_tokens, finish) -> None:
    """The answer stops at its first <eos>, else at exactly the length asked for."""
    assert END not in answer[:-1]
    if answer[-1] == END:
        assert finish == "end_of_sequence"
        assert len(answer) <= max_new_tokens
    else:
        assert finish == "length"
        assert len(answer) == max_new_tokens


def check_masked(trace) -> None:
    """Each event lists what was masked when its forward pass began, and commits known tokens."""
    known, num_committed = dict(trace.config.pinned), 0
    for event in trace.events:
        block = range(event.block.start, event.block.stop)
        end = min((p for p in block if known.get(p) == END), default=event.block.stop)
        expected = [p for p in block if p < end and p not in known]
        assert [item.position for item in event.masked] == expected
        assert all(len(item.top_token_ids) <= 12 for item in event.masked)
        known |= {reveal.position: reveal.token_id for reveal in event.reveals}
        num_committed += len(event.committed)
        assert set(range(num_committed)) <= set(known)
        is_empty = not event.block.size
        assert event.reveals or (is_empty and (event.committed or event.kind == "prefill"))


@pytest.mark.parametrize("name", SOLVERS)
def test_every_position_is_revealed_once_and_the_answer_ends_where_it_must(name) -> None:
    draw = random.Random(name)
    finishes = set()
    for seed in range(25):
        model = chance_model(seed, end_bias=draw.choice([-9.0, -2.0, 2.0]))
        trace = generate(model, "ab", random_config(draw, SOLVERS[name]()))
        check_reveals(trace)
        finishes.add(trace.finish)
    assert finishes == {"end_of_sequence", "length"}


def pin_patterns(draw: random.Random, block_size: int, num_new: int) -> list[dict[int, int]]:
    """First, last, a whole block, the whole answer, an <eos>, a handful anywhere."""
    start = block_size * draw.randrange(1 + num_new // block_size)
    some = draw.sample(range(num_new), draw.randint(0, num_new))
    patterns = [
        [0],
        [num_new - 1],
        range(start, min(start + block_size, num_new)),
        range(min(block_size, num_new)),
        range(num_new),
        some,
    ]
    pins = [{p: draw.choice(LETTERS) for p in pattern} for pattern in patterns]
    end = draw.randrange(num_new)
    pins += [{**pin, end: END} for pin in pins] + [{0: END}, {num_new - 1: END}]
    return pins


@pytest.mark.parametrize("name", [n for n, rule in SOLVERS.items() if not rule.reads_causal_row])
def test_pinned_tokens_stay_and_are_never_revealed(name) -> None:
    draw = random.Random(name)
    for seed in range(3):
        config = random_config(draw, SOLVERS[name]())
        for pinned in pin_patterns(draw, config.block_size, config.max_new_tokens):
            model = chance_model(seed, end_bias=-3.0)
            trace = generate(model, "ab", replace(config, pinned=pinned))
            check_reveals(trace)
            assert trace.num_forwards == len(model.calls)


def test_a_wholly_pinned_answer_takes_two_passes_and_one_to_the_end_token_as_well() -> None:
    for length, pinned in ((9, dict.fromkeys(range(9), 3)), (3, {0: 2, 1: 4, 2: END})):
        model = chance_model(1)
        config = DecodeConfig(block_size=4, max_new_tokens=9, pinned=pinned)
        trace = generate(model, "ab", config)
        assert trace.token_ids == tuple(pinned[p] for p in range(length))
        assert trace.num_forwards == 2
        assert len(trace.events[1].hindsight) == length


@pytest.mark.parametrize("strategy", ["sbd", "verify", "ntp"])
def test_the_mask_token_is_never_produced_even_where_it_is_the_argmax(strategy) -> None:
    for seed in range(12):
        for temperature in (0.0, 1.0):
            model = chance_model(seed, mask_bias=100.0, agreement=0.5)
            config = DecodeConfig(
                strategy=strategy, block_size=5, max_new_tokens=13, temperature=temperature
            )
            trace = generate(model, "ab", config)
            assert MASK not in trace.token_ids
            shown = {t for e in trace.events for m in e.masked for t in m.top_token_ids[:1]}
            assert MASK not in {*shown, *(t for e in trace.events for t in e.draft)}


def test_gamma_0_reveals_one_token_a_pass(tiny) -> None:
    config = DecodeConfig(solver=EntropyBound(gamma=0.0), block_size=7, max_new_tokens=17)
    for prompt in random_ids(3, tiny.vocabulary_size):
        trace = generate(tiny, prompt, config)
        assert {len(event.reveals) for event in trace.events[1:]} == {1}
        # What was revealed behind an end is no part of the answer.
        assert trace.finish != "length" or trace.num_forwards == 1 + trace.num_tokens


def certain_model(is_certain: list[bool]) -> ScriptedModel:
    """Entropy exactly 0 where `is_certain`, ln 2 elsewhere; the answer is all "c"."""

    def row(position: int) -> list[float]:
        sure = is_certain[position % len(is_certain)]
        return [-math.inf, -math.inf, -math.inf if sure else 0.0, 0.0]

    return by_position(["<m>", "<eos>", "b", "c"], row)


def test_gamma_0_also_reveals_what_is_exactly_certain_and_one_more() -> None:
    config = DecodeConfig(solver=EntropyBound(gamma=0.0), block_size=6, max_new_tokens=6)
    trace = generate(certain_model([True, False, True, True, False, False]), "b", config)
    revealed = [[reveal.position for reveal in event.reveals] for event in trace.events]
    assert revealed == [[], [0, 2, 3, 1], [4], [5]]
    everything = generate(certain_model([True]), "b", config)
    assert [len(event.reveals) for event in everything.events] == [0, 6]


def test_nothing_masked_stands_before_an_end_token_and_no_pass_is_spent_after_it() -> None:
    """Right to left: the block's <eos> is known first, the rest of the block never looked at."""

    def row(position: int) -> list[float]:
        token = END if position == 3 else 2
        return [8.0 if t == token else (6.0 if t == 3 else 0.0) - position for t in range(4)]

    model = by_position(["<m>", "<eos>", "b", "c"], row)
    config = DecodeConfig(block_size=8, max_new_tokens=16, solver=EntropyBound(gamma=0.0))
    trace = generate(model, "b", config)
    order = [reveal.position for event in trace.events for reveal in event.reveals]
    assert trace.token_ids == (2, 2, 2, END)
    assert set(order) >= {0, 1, 2, 3}
    assert max(order[order.index(3) :]) == 3
    pinned = generate(model, "b", DecodeConfig(block_size=8, max_new_tokens=8, pinned={5: END}))
    assert pinned.token_ids[-1] == END
    assert all(reveal.position < 5 for event in pinned.events for reveal in event.reveals)


def eager_model() -> ScriptedModel:
    """It would end the answer at once, wherever it may."""
    ids = {"mask_token_id": 1, "end_token_ids": frozenset({2})}
    return by_position(["<unknown>", "<m>", "<eos>", "a"], lambda _: [0.0, 0.0, 9.0, 1.0], **ids)


@pytest.mark.parametrize("last", [0, 3, 5])
def test_no_end_is_revealed_before_a_pinned_token(last) -> None:
    config = DecodeConfig(block_size=4, max_new_tokens=12, pinned={last: 3})
    trace = generate(eager_model(), "a", config)
    assert trace.token_ids == (*[3] * (last + 1), 2)
    for event in trace.events:
        for reveal in event.reveals:
            assert (reveal.token_id == 2) == (reveal.position > last)


@pytest.mark.parametrize("strategy", ["ntp", "verify"])
def test_without_listed_tokens_nothing_is_measured_that_decoding_does_without(strategy) -> None:
    settings = {"strategy": strategy, "block_size": 4, "max_new_tokens": 12}
    model, prompt = chance_model(3), [2, 3, 4]
    full = generate(model, prompt, DecodeConfig(**settings))
    bare = generate(model, prompt, DecodeConfig(**settings, top_k_recorded=0))
    assert bare.token_ids == full.token_ids
    assert any(event.masked for event in full.events)
    assert not any(event.masked for event in bare.events)


PENALTIES = (1.0, 1.3)
GREEDY = DecodeConfig(
    strategy="sbd", solver=CausalFirst(gamma=3.0), block_size=5, max_new_tokens=24
)


def first_tokens(trace: Trace) -> dict[int, int]:
    """{position: token} of the first token of each block."""
    return {event.block.start: event.reveals[0].token_id for event in trace.events}


def next_token(model: HuggingFaceModel, ids: tuple[int, ...], penalty: float) -> int:
    config = DecodeConfig(strategy="ntp", max_new_tokens=1, repetition_penalty=penalty)
    return generate(model, ids, config).token_ids[0]


@pytest.mark.parametrize("penalty", PENALTIES)
def test_each_block_starts_with_what_ntp_gives_behind_the_same_text(adapted, penalty) -> None:
    config = replace(GREEDY, repetition_penalty=penalty)
    num_guessed = 0
    for prompt in random_ids(3, adapted.vocabulary_size):
        trace = generate(adapted, prompt, config)
        for start, token_id in first_tokens(trace).items():
            prefix = (*trace.prompt_token_ids, *trace.token_ids[:start])
            assert token_id == next_token(adapted, prefix, penalty)
        num_guessed += trace.num_tokens - trace.num_forwards
    assert num_guessed > 0, "no token was guessed, so none could have been wrong"


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_gamma_0_is_next_token_prediction(adapted, penalty, temperature) -> None:
    shared = {"max_new_tokens": 12, "repetition_penalty": penalty}
    shared |= {"temperature": temperature}
    ntp = DecodeConfig(strategy="ntp", **shared)
    wide = replace(GREEDY, solver=CausalFirst(gamma=0.0), block_size=4, **shared)
    config = replace(wide, block_size=1, allows_untrained_block_size=True)
    for prompt in random_ids(3, adapted.vocabulary_size):
        wanted, found = generate(adapted, prompt, ntp), generate(adapted, prompt, config)
        assert (found.token_ids, found.num_forwards) == (wanted.token_ids, wanted.num_forwards)
        if not temperature:  # above 0 the block's rows draw from the same stream
            assert generate(adapted, prompt, wide).token_ids == wanted.token_ids


def test_each_guess_is_recorded_by_the_row_of_its_own_position(nano: HuggingFaceModel) -> None:
    config = replace(GREEDY, solver=CausalFirst(gamma=1.0), max_new_tokens=20)
    assert nano.mask_token_id is not None
    trace = generate(nano, corpus_texts(1)[0], config)
    for event in trace.events:
        ids = [*trace.prompt_token_ids, *trace.token_ids[: event.block.start]]
        masks = [nano.mask_token_id] * event.block.size
        logits = nano.forward(nano.new_cache(), ids, masks, 1)
        forbid(logits, [nano.mask_token_id])
        said = Candidates.from_logits(torch.cat([logits[:1], logits[2:]]))
        found = [masked.entropy for masked in event.masked]
        assert found == pytest.approx(said.entropy.tolist(), rel=1e-3, abs=1e-5)
        for reveal in event.reveals[1:]:
            place = reveal.position - event.block.start
            assert reveal.probability == pytest.approx(float(said.probability[place]), rel=1e-3)
