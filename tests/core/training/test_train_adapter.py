"""The run that trains an adapter is exact, resumes, and measures what it begins from."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from sbd_core.__main__ import main
from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.models.block_adapter import read_block_adapter, read_info
from sbd_core.training import train_adapter
from sbd_core.training.adapter_step import BlockBatch, make_batch
from sbd_core.training.data import Pair
from sbd_core.training.recipe import Recipe, read_recipe
from sbd_core.training.train_adapter import AdapterRun, Base, read_base
from tests.core.cli.commands import refusal

RECIPE = read_recipe(
    "sbd",
    Path("adapter"),
    {
        "data": ("file:own.jsonl",),
        "adapter_rank": 4,
        "sampler_width": 4,
        "batch_size": 2,
        "rows_per_text": 16,
        "block_sizes": (4, 8),
        "warmup_steps": 2,
    },
)


@pytest.fixture(scope="module")
def base(tiny_folders: dict[str, Path]) -> Base:
    return read_base(str(tiny_folders["llama"]), RECIPE.adapter_rank, (2, 8), device="cpu")


def three_texts() -> list[Pair]:
    generator = torch.Generator().manual_seed(5)
    ids = [torch.randint(0, 40, (n,), generator=generator).tolist() for n in (31, 33, 37)]
    return [(row[:9], row[9:]) for row in ids]


def test_answers_shorter_than_the_measured_block_are_measured_where_none_is_longer(base, tmp_path):
    long = three_texts()
    short = [(prompt, answer[:5]) for prompt, answer in long]

    def measured(held_out: list[Pair]) -> dict[str, float]:
        run = AdapterRun(base, RECIPE, long, held_out, tmp_path / "out")
        return run.measure()

    assert measured([*long, *short]) == measured(long)
    found = measured(short)
    assert 0 < found["nats"] < 20
    assert 0 <= found["drafted"] <= 4


def trained(
    base: Base, out: Path, steps: int, init: Path | None = None, recipe: Recipe = RECIPE
) -> AdapterRun:
    """A run that made so many steps, measured, and saved."""
    run = AdapterRun(base, recipe, three_texts(), three_texts(), out, init)
    for _, line in zip(range(steps), run.steps(threading.Event()), strict=False):
        last = line
    last["measured"] = run.measure()
    run.save()
    return run


def test_a_run_in_two_parts_is_one_run_to_the_bit(base: Base, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    trained(base, whole, 4)
    trained(base, parts, 2)
    trained(base, parts, 2)
    one, other = read_block_adapter(whole), read_block_adapter(parts)
    assert all(torch.equal(one.tensors()[name], other.tensors()[name]) for name in one.tensors())
    facts = other.info.trained
    assert (facts["steps"], facts["masked_tokens"]) == (4, one.info.trained["masked_tokens"])
    assert [point["steps"] for point in facts["curve"]] == [2, 4]


def test_each_text_is_read_once_before_any_is_read_again(base: Base, tmp_path, monkeypatch) -> None:
    read: list[Pair] = []

    def made(texts: list[Pair], *rest: object) -> BlockBatch:
        read.extend(texts)
        return make_batch(texts, *rest)

    monkeypatch.setattr(train_adapter, "make_batch", made)
    run = AdapterRun(base, RECIPE, three_texts(), three_texts(), tmp_path / "out")
    for _ in zip(range(6), run.steps(threading.Event()), strict=False):
        pass
    epochs = [sorted(read[first : first + 3]) for first in range(0, 12, 3)]
    assert epochs == [sorted(three_texts())] * 4
    assert read[:3] != read[3:6] or read[3:6] != read[6:9]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"recipe": replace(RECIPE, learning_rate=0.1)}, "another recipe"),
        ({"texts": three_texts()[:2]}, r"other texts \(--data\)"),
        ({"base": "other"}, r"other base \(--base\)"),
    ],
)
def test_another_recipe_data_or_base_does_not_go_on(base, tmp_path, change, reason) -> None:
    out = tmp_path / "out"
    trained(base, out, 1)
    other = replace(base, info=replace(base.info, base_digest="0"))
    run = {"base": base, "recipe": RECIPE, "texts": three_texts(), **change}
    model = other if run["base"] == "other" else base
    with pytest.raises(TrainingError, match=reason):
        AdapterRun(model, run["recipe"], run["texts"], three_texts(), out)


def test_an_adapter_of_another_base_is_none_to_begin_from(base: Base, tmp_path: Path) -> None:
    trained(base, tmp_path / "first", 1)
    other = replace(base, info=replace(base.info, base_digest="0"))
    with pytest.raises(ArgumentError, match="init: must be an adapter of llama"):
        trained(other, tmp_path / "second", 1, init=tmp_path / "first")


def test_an_adapter_tells_the_training_it_began_from(base: Base, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    before = trained(base, first, 2)
    for _ in range(2):  # the second time it resumes, and counts nothing twice
        after = trained(base, second, 1, init=first)
    facts = read_info(second)[0].trained
    assert facts["steps"] == 4
    assert facts["masked_tokens"] == before.masked_tokens + after.masked_tokens
    # Measured again before the first step, on texts that may be others.
    assert [point["steps"] for point in facts["curve"]] == [2, 2, 3, 4]
    assert all(point["nats"] > 0 for point in facts["curve"])


def test_what_training_begins_from_is_its_first_average(base: Base, tmp_path: Path) -> None:
    """Else the first steps of a new optimizer would be all that ships."""
    first, second = tmp_path / "first", tmp_path / "second"
    trained(base, first, 4)
    before, after = read_block_adapter(first), trained(base, second, 1, init=first)
    kept = read_block_adapter(second)
    for name, value in before.layers[0].items():
        own = after.base.adapter.layers[0][name][0].detach()
        assert (kept.layers[0][name][0] - value[0]).norm() < 0.1 * (own - value[0]).norm()


def test_an_adapter_that_training_begins_from_is_measured_first(
    tiny_folders, tmp_path, capsys
) -> None:
    data = tmp_path / "own.jsonl"
    rows = [{"prompt": f"ask {n}", "answer": "and so it goes on " * 4} for n in range(8)]
    data.write_text("\n".join(map(json.dumps, rows)))
    words = ["train-adapter", "--base", str(tiny_folders["llama"]), "--data", str(data)]
    words += ["--minutes", "0.01", "--rows", "16"]
    words += ["--device", "cpu", "--averaging", "0.5", "--cooldown", "0.5"]
    first, second = tmp_path / "first", tmp_path / "second"
    shape = ["--rank", "2", "--sampler-width", "0"]
    assert main([*words, *shape, "--out", str(first)]) == 0
    begun = [*words, "--out", str(second), "--init", str(first)]
    said = refusal(capsys, [*begun, "--rank", "3"])
    assert said.startswith("rank: must be 2, that of --init, or left out; got 3")
    assert main(begun) == 0
    before, after = (read_info(folder)[0].trained for folder in (first, second))
    [end], [kept, start, last] = before["curve"], after["curve"]
    assert kept == end
    # Stored in bf16 between; how many drafts are right is a whole number, which may change by it.
    for name in ("steps", "nats", "nats_with_before"):
        assert start[name] == pytest.approx(end[name], rel=0.01)
    assert last["steps"] == after["steps"] > before["steps"] == end["steps"]
    assert (after["texts"], after["recipe"]["average_decay"]) == (7, 0.5)
    recipe = after["recipe"]
    assert recipe["decay_steps"] / recipe["steps"] == pytest.approx(0.5, rel=0.01)
    assert (recipe["adapter_rank"], recipe["sampler_width"]) == (2, 0)
