"""The repetition penalty: transformers' rule on every row, whatever the strategy and the batch."""

import random
from dataclasses import replace
from typing import Any

import pytest
import torch
from transformers import RepetitionPenaltyLogitsProcessor

from sbd_core import DecodeConfig, ModelError, Trace, generate
from sbd_core.decoding.repetition import SeenTokens
from tests.conftest import in_pytorch
from tests.core.decoding.doubles import END, MASK, chance_model, penalised

PENALTY = 1.3


def config(strategy: str, **settings: Any) -> DecodeConfig:
    more = {"block_size": 6, "max_new_tokens": 24, "repetition_penalty": PENALTY, **settings}
    return DecodeConfig(strategy=strategy, **more)


def test_each_row_is_penalised_once_as_transformers_does_it() -> None:
    draw = random.Random(5)
    for _ in range(50):
        size = draw.randint(1, 6)
        before = [draw.randrange(40) for _ in range(draw.randint(0, 30))]
        later = [[draw.randrange(40) for _ in range(draw.randint(0, 5))] for _ in range(size)]
        rows = torch.randn(size, 40)
        rows[:, 7] = -torch.inf
        rule = RepetitionPenaltyLogitsProcessor(PENALTY)
        wanted = [
            rule(torch.tensor([[*before, *own]], dtype=torch.long), row[None])
            for own, row in zip(later, rows, strict=True)
        ]
        seen = SeenTokens(PENALTY)
        seen.add(before[:3])
        seen.add(before)
        seen.penalise(rows, later)
        assert torch.equal(rows, torch.cat(wanted))


@pytest.mark.parametrize("seed", range(4))
def test_a_masked_row_counts_what_is_known_at_its_left(seed) -> None:
    """Every row that sbd recorded is the model's own under the rule; pins at its right are not."""
    model = chance_model(seed, end_bias=-9.0)
    pinned = {3: 4, 11: 5} if seed % 2 else {}
    chosen = config("sbd", block_size=5, max_new_tokens=14, pinned=pinned, top_k_recorded=3)
    trace = generate(model, "ab", chosen)
    known: dict[int, int] = {}
    for event in trace.events:
        size, start = event.block.size, event.block.start
        block = [known.get(p, pinned.get(p, MASK)) for p in range(start, start + size)]
        text = [*trace.prompt_token_ids, *(trace.token_ids[:start])]
        rows = model.block_logits(tuple(text), tuple(block)) if size else []
        for item in event.masked:
            offset = item.position - start
            before = [*text, *(t for t in block[:offset] if t != MASK)]
            row = penalised([-9e9, *rows[offset][1:]], before, PENALTY)
            if max(pinned, default=0) > item.position:
                row[END] = -9e9  # it would cut the pin off
            order = sorted(range(len(row)), key=lambda token: -row[token])
            assert list(item.top_token_ids) == order[:3]
            wanted = torch.tensor(row).softmax(0)[order[:3]].tolist()
            assert item.top_probabilities == pytest.approx(wanted, rel=1e-4)
        for found in event.hindsight:
            ids = [*trace.prompt_token_ids, *trace.token_ids[: found.position]]
            row = penalised([-9e9, *list(model.next_logits(tuple(ids)))[1:]], ids, PENALTY)
            assert found.argmax_id == max(range(len(row)), key=row.__getitem__)
            share = torch.tensor(row).softmax(0)[found.token_id].item()
            assert found.probability == pytest.approx(share, rel=1e-4)
        known.update({reveal.position: reveal.token_id for reveal in event.reveals})


def test_drafts_count_the_exact_token_and_the_drafts_before_them() -> None:
    """A masked head that says one token everywhere drafts it once; then the next best."""
    model = chance_model(0, end_bias=-9.0)
    best_first = [-9.0, -9.0, 1.0, 0.99, 0.98, 0.97, 0.96, 0.95, 0.94, 0.93]
    model.block_logits = lambda tokens, block: [best_first] * len(block)
    model.next_logits = lambda tokens: [-9.0, -9.0, 0, 0, 0, 0, 0, 0, 0, 0.5 * (len(tokens) < 2)]
    chosen = config("verify", block_size=5, max_new_tokens=8, max_rows=20_000)
    event = generate(model, [2], chosen).events[0]
    assert event.committed == (9,)
    assert event.draft == (3, 4, 5, 6), "neither 2, the prompt, nor 9, the exact token"


@pytest.mark.parametrize("strategy", ["ntp", "sbd", "verify"])
def test_a_penalty_of_1_changes_nothing_and_none_is_the_models_own(strategy, monkeypatch) -> None:
    model = chance_model(3, agreement=0.6, end_bias=-9.0)

    def events(trace: Trace):
        return [replace(event, seconds=0) for event in trace.events]

    default = generate(model, "abc", config(strategy, repetition_penalty=None))
    assert default.config.repetition_penalty == 1.0
    penalty = generate(model, "abc", config(strategy))
    model.repetition_penalty = PENALTY
    own = generate(model, "abc", config(strategy, repetition_penalty=None))
    assert own.config.repetition_penalty == PENALTY
    assert events(own) == events(penalty) != events(default)
    monkeypatch.setattr(SeenTokens, "penalise", None)
    explicit = generate(model, "abc", config(strategy, repetition_penalty=1.0))
    assert events(explicit) == events(default)


def test_the_models_own_is_that_of_its_generation_config(llama) -> None:
    assert llama.repetition_penalty == 1.0
    settings = llama.model.generation_config
    try:
        for value in (1.1, 2):
            settings.repetition_penalty = value
            model = in_pytorch(llama.model, llama.tokenizer, "own")
            assert model.repetition_penalty == value
        for wrong in ("1.1", -1, 0.0, float("nan"), [1.1]):
            settings.repetition_penalty = wrong
            with pytest.raises(ModelError, match=r"^own: generation_config.repetition_penalty: "):
                in_pytorch(llama.model, llama.tokenizer, "own")
    finally:
        settings.repetition_penalty = None
