"""The run that trains an adapter is exact, resumes, and measures what it begins from."""

import json
from pathlib import Path

import pytest
import torch

from sbd_core.__main__ import main
from sbd_core.errors import TrainingError
from sbd_core.models.block_adapter import read_block_adapter, read_info
from sbd_core.training.data import Pair
from sbd_core.training.train import StopRequest
from sbd_core.training.train_adapter import STATE_FILE, AdapterRecipe, AdapterRun, Base, read_base

RECIPE = AdapterRecipe(
    rank=4, sampler_width=4, num_texts=2, rows_per_text=16, block_sizes=(4, 8), warmup_steps=2
)


@pytest.fixture(scope="module")
def base(tiny_folders: dict[str, Path]) -> Base:
    return read_base(str(tiny_folders["llama"]), RECIPE.rank, (2, 8), device="cpu")


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


def trained(base: Base, out: Path, steps: int, init: Path | None = None) -> AdapterRun:
    """A run that made so many steps, measured, and saved."""
    run = AdapterRun(base, RECIPE, three_texts(), three_texts(), out, init)
    for _, line in zip(range(steps), run.steps(StopRequest()), strict=False):
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


def test_the_rate_warms_up_and_falls_to_zero_with_the_minutes() -> None:
    recipe = AdapterRecipe(learning_rate=8.0, warmup_steps=4, cooldown_ratio=0.5)
    assert [recipe.rate(step, 0.0) for step in (0, 1, 3, 9)] == [2.0, 4.0, 8.0, 8.0]
    assert [recipe.rate(9, share) for share in (0.5, 0.75, 1.0, 1.1)] == [8.0, 4.0, 0.0, 0.0]
    assert AdapterRecipe(learning_rate=8.0).rate(99, 1.0) == 8.0


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


def test_a_damaged_state_is_one_line(base: Base, tmp_path: Path) -> None:
    out = tmp_path / "out"
    trained(base, out, 1)
    state = tmp_path / "out.state" / STATE_FILE
    state.write_bytes(state.read_bytes()[:1000])
    with pytest.raises(TrainingError, match="cannot be read"):
        trained(base, out, 1)


def test_an_adapter_that_training_begins_from_is_measured_first(tiny_folders, tmp_path) -> None:
    data = tmp_path / "own.jsonl"
    rows = [{"prompt": f"ask {n}", "answer": "and so it goes on " * 4} for n in range(8)]
    data.write_text("\n".join(map(json.dumps, rows)))
    words = ["train-adapter", "--base", str(tiny_folders["llama"]), "--data", str(data)]
    words += ["--minutes", "0.01", "--rank", "2", "--sampler-width", "4", "--rows", "16"]
    words += ["--device", "cpu", "--averaging", "0.5", "--cooldown", "0.5"]
    first, second = tmp_path / "first", tmp_path / "second"
    assert main([*words, "--out", str(first)]) == 0
    assert main([*words, "--out", str(second), "--init", str(first)]) == 0
    before, after = (read_info(folder)[0].trained for folder in (first, second))
    [end], [kept, start, last] = before["curve"], after["curve"]
    assert kept == end
    assert start == pytest.approx(end, rel=0.01)  # stored in bf16 between
    assert last["steps"] == after["steps"] > before["steps"] == end["steps"]
    assert (after["texts"], after["recipe"]["average_decay"]) == (7, 0.5)
    assert after["recipe"]["cooldown_ratio"] == 0.5
