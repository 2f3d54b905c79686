"""Law 9: verify at a temperature has exactly NTP's distribution, though most tokens are drafts.

Chi-squared over whole answers of up to three tokens, against the products of NTP's own
probabilities. Every decode has its own fixed seed, so the outcome is the same each time.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from sbd_core import DecodeConfig, Trace, generate
from tests.scripted import ScriptedModel

MASK, END, A, B = range(4)
LENGTH = 3
NUM_DECODES = 2500
TEMPERATURE = 0.5
PROMPT = (A,)

Tokens = tuple[int, ...]


def row_after(key: object, spread: float) -> list[float]:
    draw = random.Random(repr(key))
    return [draw.uniform(-spread, spread) for _ in range(4)]


def next_logits(tokens: Tokens) -> list[float]:
    return row_after(("causal", tokens), 0.3)


def block_logits(tokens: Tokens, block: Tokens) -> list[list[float]]:
    """Drafts that are often right and clearly biased."""
    return [masked_row(tokens, offset) for offset in range(len(block))]


def masked_row(tokens: Tokens, offset: int) -> list[float]:
    return row_after(("masked", tokens, offset), 0.6)


def tiny_vocabulary() -> ScriptedModel:
    return ScriptedModel(
        texts=["<m>", "<eos>", "a", "b"],
        next_logits=next_logits,
        block_logits=block_logits,
        mask_token_id=MASK,
        end_token_ids=frozenset({END}),
    )


def shares(logits: Sequence[float]) -> dict[int, float]:
    """Softmax at TEMPERATURE without the mask token."""
    powers = {t: math.exp(value / TEMPERATURE) for t, value in enumerate(logits) if t != MASK}
    return {t: power / sum(powers.values()) for t, power in powers.items()}


def exact(chances: Callable[[Tokens], dict[int, float]]) -> dict[Tokens, float]:
    """Probability of every answer when each token is drawn from chances(answer so far)."""
    found: dict[Tokens, float] = {}
    growing: dict[Tokens, float] = {(): 1.0}
    while growing:
        answer, probability = growing.popitem()
        for token, share in chances(answer).items():
            longer = (*answer, token)
            is_whole = token == END or len(longer) == LENGTH
            (found if is_whole else growing)[longer] = probability * share
    return found


def of_ntp(answer: Tokens) -> dict[int, float]:
    return shares(next_logits((*PROMPT, *answer)))


def of_accepted_drafts(answer: Tokens) -> dict[int, float]:
    """The wrong rule: the first token is exact, every draft after it is taken as it is."""
    if not answer:
        return of_ntp(answer)
    return shares(masked_row(PROMPT, len(answer)))


def chi_squared(counts: Counter[Tokens], expected: dict[Tokens, float]) -> tuple[float, float]:
    """(statistic, value that chance alone exceeds once in 10,000 times)."""
    total = sum(counts.values())
    statistic = sum(
        (counts[answer] - total * share) ** 2 / (total * share)
        for answer, share in expected.items()
    )
    degrees = len(expected) - 1
    spread = 2 / (9 * degrees)
    return statistic, degrees * (1 - spread + 3.719 * math.sqrt(spread)) ** 3


def decoded(strategy: str, block_size: int, max_rows: int = 41) -> list[Trace]:
    """NUM_DECODES decodes, each with a seed of its own."""
    model, traces = tiny_vocabulary(), []
    for seed in range(NUM_DECODES):
        config = DecodeConfig(
            strategy=strategy,
            block_size=block_size,
            max_rows=max_rows,
            max_new_tokens=LENGTH,
            temperature=TEMPERATURE,
            seed=seed,
            top_k_recorded=0,
        )
        traces.append(generate(model, PROMPT, config))
    return traces


def check_distribution(traces: list[Trace]) -> None:
    """The answers are distributed as NTP's."""
    expected = exact(of_ntp)
    assert sum(expected.values()) == pytest.approx(1)
    assert min(expected.values()) * NUM_DECODES > 5
    counts = Counter(trace.token_ids for trace in traces)
    assert set(counts) <= set(expected)
    statistic, limit = chi_squared(counts, expected)
    assert statistic < limit


def test_answers_have_the_distribution_of_next_token_prediction() -> None:
    traces = decoded("verify", 3)
    check_distribution(traces)
    used = [p for t in traces for e in t.events for p in e.predrafts if p.is_used]
    assert sum(bool(predraft.token_ids) for predraft in used) > NUM_DECODES / 20
    num_tokens = sum(trace.num_tokens for trace in traces)
    num_forwards = sum(trace.num_forwards for trace in traces)
    assert num_forwards < 0.9 * num_tokens, "drafts were hardly ever accepted"


def test_the_statistic_catches_plain_acceptance_of_drafts() -> None:
    wrong = exact(of_accepted_drafts)
    draw = random.Random(0)
    counts = Counter(draw.choices(list(wrong), list(wrong.values()), k=NUM_DECODES))
    statistic, limit = chi_squared(counts, exact(of_ntp))
    assert statistic > 3 * limit


def test_the_statistic_catches_a_rejection_drawn_from_the_wrong_distribution() -> None:
    """The classic slip: a refused draft is replaced from NTP itself, not from the remainder."""

    def slipped(answer: Tokens) -> dict[int, float]:
        if len(answer) != 1:
            return of_ntp(answer)
        wanted, drafted = of_ntp(answer), shares(masked_row(PROMPT, 1))
        taken = {t: min(wanted[t], drafted[t]) for t in wanted}
        return {t: taken[t] + (1 - sum(taken.values())) * wanted[t] for t in wanted}

    wrong = exact(slipped)
    draw = random.Random(0)
    counts = Counter(draw.choices(list(wrong), list(wrong.values()), k=NUM_DECODES))
    statistic, limit = chi_squared(counts, exact(of_ntp))
    assert statistic > limit
