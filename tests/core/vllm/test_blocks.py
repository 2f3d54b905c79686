"""The state machine of vLLM's blocks, without vLLM: an engine of a few lines steps many requests.

Which requests a step holds, how much of a prompt it reads, how many rows of a block it has room
for, and which request is interrupted and begun anew are all drawn at random.
"""

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

import sbd_core
from sbd_core.config import DecodeConfig
from sbd_core.solvers import SOLVERS, EntropyBound, LeftToRight, Solver, TopK
from sbd_core.vllm import blocks as blocks_module
from sbd_core.vllm.blocks import Blocks
from sbd_core.vllm.rule import RULES
from tests.core.decoding.doubles import END, MASK, TEXTS, chance_model
from tests.scripted import ScriptedModel

NUM_SLOTS, BLOCK, REACH = 5, 4, 64


@dataclass
class Request:
    """A request as the engine sees it. text: the prompt and the final tokens. num_cached: of it."""

    prompt: tuple[int, ...]
    solver: Solver
    max_tokens: int
    penalty: float = 1.0
    slot: int = -1
    num_cached: int = 0
    text: list[int] = field(default_factory=list)
    num_passes: int = 0
    was_interrupted: bool = False

    @property
    def answer(self) -> list[int]:
        return self.text[len(self.prompt) :]

    @property
    def is_done(self) -> bool:
        return len(self.answer) >= self.max_tokens or END in self.answer


class Engine:
    """Steps requests as vLLM does: prompts in chunks, blocks as rows that are rejected or final."""

    def __init__(self, model: ScriptedModel, seed: int = 0, max_rows: int = 10**6) -> None:
        self.model, self.draw, self.max_rows = model, random.Random(seed), max_rows
        self.free = list(range(NUM_SLOTS))
        self.blocks = Blocks(
            num_slots=NUM_SLOTS,
            block_size=BLOCK,
            vocabulary_size=len(TEXTS),
            mask_token_id=MASK,
            max_length=REACH,
            device=torch.device("cpu"),
        )

    def admit(self, request: Request) -> None:
        request.slot = self.free.pop(self.draw.randrange(len(self.free)))
        request.text, request.num_cached = request.text or list(request.prompt), 0
        self.blocks.add(
            request.slot,
            solver=request.solver,
            num_left=request.max_tokens - len(request.answer),
            end_token_ids={END},
            penalty=request.penalty,
            token_ids=request.text,
        )

    def drop(self, request: Request) -> None:
        self.free.append(request.slot)

    def step(self, batch: list[Request]) -> None:
        """One forward pass for some running requests."""
        slots, starts, num_rows, is_read, rows = [], [], [], [], []
        for request in batch:
            slots.append(request.slot)
            starts.append(request.num_cached)
            left = len(request.text) - request.num_cached
            if left:
                chunk = self.draw.randint(1, left)
                request.num_cached += chunk
                num_rows.append(0)
                is_read.append(chunk == left)
                request.num_passes += chunk == left
                continue
            is_read.append(False)
            num = min(BLOCK, self.max_rows, REACH - request.num_cached)
            block = self.blocks.token_ids[request.slot, :num].tolist()
            size = int(
                self.blocks.sizes(torch.tensor([request.slot]), torch.tensor(starts[-1:]))[0]
            )
            if self.blocks.is_causal[request.slot]:
                own = [[0.0] * len(TEXTS)] * num
            else:  # rows beyond the block's size see what they like: they are not used
                own = self.model.block_logits(tuple(request.text), tuple(block[:size]))
                own = [list(row) for row in own][:num] + [[9.0] * len(TEXTS)] * (num - size)
            rows += own
            num_rows.append(num)
            request.num_passes += 1
        counts = torch.tensor(num_rows)
        token_ids, num_final = self.blocks.update(
            torch.tensor(rows).view(-1, len(TEXTS)),
            slots=torch.tensor(slots),
            host_slots=np.array(slots),
            starts=torch.tensor(starts),
            first_rows=counts.cumsum(0) - counts,
            num_rows=counts,
            is_prompt_read=torch.tensor(is_read),
        )
        for request, ids, count in zip(batch, token_ids.tolist(), num_final.tolist(), strict=True):
            request.text += ids[:count]
            request.num_cached += count

    def run(self, requests: list[Request], *, interrupts: bool = False) -> None:
        waiting, running = list(requests), []
        for _ in range(10_000):
            while waiting and self.free:
                self.admit(waiting[0])
                running.append(waiting.pop(0))
            if not running:
                return
            self.step(self.draw.sample(running, self.draw.randint(1, len(running))))
            for request in [each for each in running if each.is_done]:
                running.remove(request)
                self.drop(request)
            if interrupts and running and self.draw.random() < 0.2:
                lost = running.pop(self.draw.randrange(len(running)))
                lost.was_interrupted = True
                self.drop(lost)
                waiting.insert(0, lost)
        raise AssertionError("it does not end")


def some_requests(seed: int, count: int, **settings) -> list[Request]:
    draw = random.Random(seed)
    return [
        Request(
            prompt=tuple(draw.randrange(2, len(TEXTS)) for _ in range(draw.randint(1, 9))),
            solver=SOLVERS[draw.choice(list(RULES))](),
            max_tokens=draw.randint(1, 14),
            **settings,
        )
        for _ in range(count)
    ]


def run(model: ScriptedModel, requests: list[Request], seed: int = 0, **how) -> None:
    """Run requests together; each must get the engine's tokens."""
    Engine(model, seed).run(requests, **how)
    for request in requests:
        assert request.answer == list(by_the_engine(model, request).token_ids)


def by_the_engine(model: ScriptedModel, request: Request):
    config = DecodeConfig(
        strategy="sbd",
        solver=request.solver,
        block_size=BLOCK,
        max_new_tokens=request.max_tokens,
        repetition_penalty=request.penalty,
    )
    return sbd_core.generate(model, request.prompt, config)


@pytest.mark.parametrize("penalty", [1.0, 1.7])
@pytest.mark.parametrize("end_bias", [-3.0, 1.0])
def test_requests_side_by_side_get_the_engines_tokens_for_a_pass_a_block_more(penalty, end_bias):
    model = chance_model(3, end_bias=end_bias)
    requests = some_requests(5, 60, penalty=penalty)
    run(model, requests, seed=7)
    for request in requests:
        num_blocks = -(-len(request.answer) // BLOCK)
        assert request.num_passes == by_the_engine(model, request).num_forwards + num_blocks


def test_an_interrupted_request_is_read_anew_and_goes_on_with_the_same_tokens() -> None:
    model, requests = chance_model(4, end_bias=-4.0), some_requests(6, 40, penalty=1.3)
    run(model, requests, seed=8, interrupts=True)
    assert sum(request.was_interrupted and len(request.answer) > BLOCK for request in requests) > 5


def test_requests_with_a_penalty_and_without_share_a_step() -> None:
    model, requests = chance_model(5, end_bias=-4.0), some_requests(7, 30)
    for request in requests[::2]:
        request.penalty = 2.0
    run(model, requests, seed=9)


def test_a_step_without_room_for_a_whole_block_leaves_the_block_as_it_is() -> None:
    model = chance_model(6, end_bias=-4.0)
    request = Request(prompt=(2, 3), solver=EntropyBound(0.5), max_tokens=8)
    engine = Engine(model, max_rows=BLOCK - 1)
    engine.admit(request)
    while request.num_cached < 2:
        engine.step([request])
    for _ in range(3):
        engine.step([request])
        assert engine.blocks.token_ids[request.slot].tolist() == [MASK] * BLOCK
    engine.max_rows = BLOCK
    while not request.is_done:
        engine.max_rows = BLOCK - 1 if engine.max_rows == BLOCK else BLOCK  # also its causal pass
        engine.step([request])
    assert request.answer == list(by_the_engine(model, request).token_ids)


def test_the_models_reach_cuts_the_last_block() -> None:
    model = chance_model(8, end_bias=-9.0)
    prompt = tuple(random.Random(0).choices(range(2, len(TEXTS)), k=REACH - 6))
    request = Request(prompt=prompt, solver=LeftToRight(1), max_tokens=50)
    engine = Engine(model)
    engine.admit(request)
    while len(request.text) < REACH:
        engine.step([request])
    request.max_tokens = 6
    assert request.answer == list(by_the_engine(model, request).token_ids)


def test_the_work_of_a_step_does_not_grow_with_its_requests_and_waits_for_nothing() -> None:
    counts = []
    for num in (1, NUM_SLOTS):
        engine = Engine(chance_model(9, end_bias=-9.0))
        requests = some_requests(10, num, penalty=1.5)
        for request in requests:
            engine.admit(request)
            while request.num_cached < len(request.prompt):
                engine.step([request])
        update, profile = engine.blocks.update, torch.profiler.profile()

        def profiled(logits, *, _update=update, _profile=profile, **arguments):
            with _profile:
                return _update(logits, **arguments)

        engine.blocks.update = profiled  # type: ignore[method-assign]
        engine.step(requests)
        names = [event.name for event in profile.events() if event.name.startswith("aten::")]
        assert not {"aten::item", "aten::nonzero"} & set(names)  # both wait for a GPU
        counts.append(len(names))
    assert counts[1] <= counts[0]
    assert counts[1] > 100


def test_logits_beyond_the_most_are_measured_in_parts(monkeypatch) -> None:
    model, requests = chance_model(11), some_requests(12, 20)
    monkeypatch.setattr(blocks_module, "MOST_LOGITS", 3 * len(TEXTS))
    run(model, requests)


def test_a_slot_forgets_the_request_before() -> None:
    model = chance_model(13, end_bias=-9.0)
    engine = Engine(model)
    engine.free = [2]
    first = Request(prompt=(2, 3, 4), solver=TopK(k=4, by="margin"), max_tokens=40, penalty=1.9)
    engine.admit(first)
    for _ in range(9):
        engine.step([first])
    engine.drop(first)  # the client has gone, amid a block
    second = Request(prompt=(5, 4), solver=EntropyBound(0.2), max_tokens=9)
    engine.run([second])
    assert second.slot == 2
    assert second.answer == list(by_the_engine(model, second).token_ids)
