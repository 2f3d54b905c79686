"""A training run small enough for a test, its data, what it left behind; masked copies."""

import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from sbd_core.training import step as step_module
from sbd_core.training.batches import (
    NO_TARGET,
    TrainingSequence,
    clean_sequence,
    draw_masks,
    noisy_sequence,
    pack,
)
from sbd_core.training.checkpoint import state_folder
from sbd_core.training.recipe import Recipe, RunSettings
from sbd_core.training.step import Loss, LossModule, training_loss
from sbd_core.training.train import Run
from sbd_core.training.train import train as train_as_set

TINY = Recipe(
    stage="sbd",
    tasks={"math": 1.0},
    steps=6,
    batch_size=2,
    learning_rate=0.01,
    warmup_steps=2,
    decay_steps=2,
    optimizer="muon",
    vocabulary_size=300,
    tokenizer_examples=20,
    hidden_size=32,
    num_layers=1,
    num_heads=2,
    feed_forward_size=48,
    max_positions=256,
)


def train(recipe: Recipe, init: Path | None, out: Path, **settings: Any) -> None:
    """train() in fp32: the same numbers on every machine, whatever is quick there."""
    train_as_set(recipe, init, out, RunSettings(**{"precision": "fp32", **settings}))


def weights(out: Path) -> dict[str, torch.Tensor]:
    """The fp32 weights of the state beside `out`."""
    return load_file(state_folder(out) / "model" / "model.safetensors")


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    assert set(first) == set(second)
    return all(torch.equal(first[name], second[name]) for name in first)


def all_losses(out: Path, name: str = "loss") -> list[float]:
    lines = (state_folder(out) / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == list(range(1, len(lines) + 1))
    return [json.loads(line)[name] for line in lines]


def assert_close(found: Path, expected: Path, rel: float = 1e-5, atol: float = 1e-4) -> None:
    """The losses and the weights of two runs are the same but for rounding."""
    assert all_losses(found) == pytest.approx(all_losses(expected), rel=rel)
    wanted = weights(expected)
    for name, weight in weights(found).items():
        torch.testing.assert_close(weight, wanted[name], atol=atol, rtol=1e-3)


SUM = [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "It is 4."}]


def written(folder: Path, name: str, data: str | bytes) -> str:
    """A file of that content, as a source."""
    file = folder / name
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return f"file:{file}"


def json_lines(folder: Path, rows: Sequence[object]) -> str:
    """A file of these records as JSON Lines, as a source."""
    return written(folder, "a.jsonl", "\n".join(json.dumps(row) for row in rows))


def command(recipe: Recipe, folder: Path) -> list[str]:
    """The command line that trains `recipe` into folder/model."""
    file = folder / "recipe.json"
    file.write_text(json.dumps(asdict(recipe)))
    options = {"--stage": recipe.stage, "--recipe": file, "--out": folder / "model"}
    words = [str(word) for pair in options.items() for word in pair]
    return ["-m", "sbd_core", "train", *words, "--precision", "fp32", "--save-every", "1"]


@contextmanager
def interrupted_at(
    step: int, monkeypatch: pytest.MonkeyPatch, before_each: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Stop what trains in here, as by Ctrl-C, before it updates after so many steps."""
    update = Run.update

    def stopped(run: Run, *rest: Any) -> Any:
        before_each()
        if run.step == step:
            raise KeyboardInterrupt
        return update(run, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "update", stopped)
        with pytest.raises(KeyboardInterrupt):
            yield


@contextmanager
def signalled_at(
    call: int, monkeypatch: pytest.MonkeyPatch, *signals: signal.Signals
) -> Iterator[list[int]]:
    """Send signals to what trains in here amid a call of training_loss(), counted from 1.

    Without signals, SIGTERM. Gives the numbers of the calls.
    """
    calls, compute_loss = list[int](), step_module.training_loss

    def signalled(*arguments: Any, **named: Any) -> Loss:
        calls.append(len(calls) + 1)
        if len(calls) == call:
            for number in signals or [signal.SIGTERM]:  # Python handles each before the next
                os.kill(os.getpid(), number)
            assert len(signals) < 2, "the second one was not heard"
        return compute_loss(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(step_module, "training_loss", signalled)
        yield calls


PAD, EOS, MASK = 0, 1, 2
VOCABULARY = 60
CPU = torch.device("cpu")

Pair = tuple[list[int], list[int]]


def pairs(seed: int, lengths: list[tuple[int, int]]) -> list[Pair]:
    """(prompt ids, answer ids ending in <eos>) of these lengths."""
    generator = torch.Generator().manual_seed(seed)

    def ids(count: int) -> list[int]:
        return torch.randint(3, VOCABULARY, (count,), generator=generator).tolist()

    return [(ids(prompt), [*ids(answer - 1), EOS]) for prompt, answer in lengths]


def noisy(pair: Pair, block_size: int, phase: int = 0, seed: int = 0) -> TrainingSequence:
    draws = torch.Generator().manual_seed(seed)
    clean = clean_sequence(*pair, prompt_weight=0.0)
    is_masked = draw_masks(len(pair[1]), draws).numpy()
    return noisy_sequence(clean, len(pair[0]), is_masked, block_size, phase, MASK)


def loss_of(model, texts: list[TrainingSequence], row_tokens: int = 80) -> Loss:
    return training_loss(LossModule(model), pack(texts, row_tokens, PAD), CPU)


def copy_of(text: TrainingSequence) -> tuple[list[int], list[bool]]:
    """(x_hat, where it has a target)."""
    copied = text[text["copy"] > 0]
    return copied["token_ids"].tolist(), (copied["targets"] != NO_TARGET).tolist()
