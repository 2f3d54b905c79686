"""An adapter's training: its pass gives what decoding gives, it learns, and a run is exact."""

import json
from pathlib import Path

import pytest
import torch

from sbd_core.__main__ import main
from sbd_core.errors import TrainingError
from sbd_core.models import sampler_head
from sbd_core.models.backends.llama.forward import FusedLlamaBackend
from sbd_core.models.block_adapter import (
    BlockAdapter,
    BlockAdapterInfo,
    read_block_adapter,
    read_info,
    write_block_adapter,
)
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.protocol import ForwardRequest, PredraftBlock
from sbd_core.training.batches import NO_TARGET
from sbd_core.training.data import Pair
from sbd_core.training.train import StopWish
from sbd_core.training.train_adapter import (
    STATE_FILE,
    AdapterRecipe,
    AdapterRun,
    Base,
    GatedBase,
    make_states,
    read_base,
)


def info(model: HuggingFaceModel) -> BlockAdapterInfo:
    assert model.mask_token_id is not None
    return BlockAdapterInfo(
        base="tiny",
        base_digest="0",
        rank=4,
        block_range=(2, 8),
        mask_token="<m>",
        mask_token_id=model.mask_token_id,
        repetition_penalty=1.0,
        trained={},
    )


def gated(model: HuggingFaceModel, seed: int = 0, **options: bool) -> GatedBase:
    """An adapter that has learnt nothing yet, in the linear layers of a model."""
    model.model.requires_grad_(False)
    return GatedBase(model.model, info(model), 8, torch.Generator().manual_seed(seed), **options)


def randomised(model: HuggingFaceModel, **options: bool) -> GatedBase:
    base, generator = gated(model, 3, **options), torch.Generator().manual_seed(4)
    with torch.no_grad():
        for value in base.adapter.tensors().values():
            value.add_(0.1 * torch.randn(value.shape, generator=generator))
    return base


def with_adapter(model: HuggingFaceModel, adapter: BlockAdapter) -> FusedLlamaBackend:
    backend = FusedLlamaBackend(model.model, adapter)
    backend.weights.embedding[adapter.info.mask_token_id] = adapter.mask_embedding
    return backend


def texts(model: HuggingFaceModel) -> list[Pair]:
    generator = torch.Generator().manual_seed(5)
    size = model.vocabulary_size - 2
    ids = [torch.randint(0, size, (n,), generator=generator).tolist() for n in (17, 23)]
    return [(row[:9], row[9:]) for row in ids]


@pytest.mark.parametrize("architecture", ["llama", "qwen3"])
def test_a_block_reads_in_training_what_it_reads_in_decoding(
    architecture: str, tiny_folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.conftest import loaded

    monkeypatch.setattr(sampler_head, "NUM_CANDIDATES", 1000)  # all tokens
    model = loaded(tiny_folders[architecture])
    module = randomised(model)
    assert model.mask_token_id is not None
    states = make_states(
        texts(model), 4, 5, model.mask_token_id, 0.5, torch.Generator().manual_seed(1)
    )
    with torch.no_grad():
        hidden = module.hidden(states).flatten(0, 2)
        trained = module.logits(hidden).view(2, 5, 4, -1)
        moved = module.moved(hidden, states.before.flatten())
        behind = module.logits(moved).view(trained.shape)
    assert not torch.allclose(trained, behind, atol=0.1)
    twin = loaded(tiny_folders[architecture])
    adapter = module.adapter
    backend = with_adapter(twin, adapter)
    head = adapter.sampler_head(twin.model)
    assert head is not None
    for index, text in enumerate(texts(model)):
        ids = [*text[0], *text[1]]
        for block in range(5):
            start = int(states.start[index, block])
            [cache] = backend.new_caches(1)
            request = ForwardRequest(cache, ids[:start], states.token_ids[index, block].tolist(), 1)
            [logits] = backend.forward([request])
            torch.testing.assert_close(trained[index, block], logits[1:], atol=2e-4, rtol=1e-3)
            walk = head.begin(logits[1:])
            for row, before in enumerate(states.before[index, block].tolist()):
                walk.add_to(row, before)
            torch.testing.assert_close(behind[index, block], logits[1:], atol=2e-3, rtol=1e-3)


def test_causal_rows_never_read_the_adapter(llama: HuggingFaceModel) -> None:
    module = randomised(llama)
    plain = FusedLlamaBackend(llama.model)
    backend = FusedLlamaBackend(llama.model, module.adapter)
    mask_id, found = llama.mask_token_id, []
    for each in (plain, backend):
        caches = each.new_caches(2)
        requests = [
            ForwardRequest(cache, [3, 4, 5], [mask_id] * 4, 3, [PredraftBlock(1, [mask_id] * 2)])
            for cache in caches
        ]
        one = each.forward(requests[:1])[0]
        caches[0].truncate(0)
        both = each.forward(requests)
        found.append((one, both))
    (one, both), (one_adapted, both_adapted) = found
    assert torch.equal(one[:3], one_adapted[:3])
    assert not torch.allclose(one[3:], one_adapted[3:])
    for rows, adapted in zip(both, both_adapted, strict=True):
        torch.testing.assert_close(rows[:3], adapted[:3], atol=0, rtol=0)
        torch.testing.assert_close(adapted, one_adapted, atol=1e-4, rtol=1e-3)


def test_steps_lower_the_loss_and_leave_the_base(llama: HuggingFaceModel) -> None:
    assert llama.mask_token_id is not None
    module = gated(llama)
    before = llama.backend.weights.layers[0].gate_up.weight.clone()
    optimizer = torch.optim.AdamW(module.adapter.tensors().values(), lr=1e-2)
    losses = []
    for _ in range(30):
        generator = torch.Generator().manual_seed(0)
        states = make_states(texts(llama), 4, 6, llama.mask_token_id, 0.5, generator)
        loss = module.loss(states, 0.5, 0.9)
        loss.total.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.total.item())
    assert losses[-1] < losses[0] / 2
    assert torch.equal(before, llama.backend.weights.layers[0].gate_up.weight)


def test_states_mask_at_least_one_token_and_want_nothing_behind_the_end(llama) -> None:
    states = make_states(texts(llama), 8, 40, 99, 0.0, torch.Generator().manual_seed(2))
    is_target = states.targets != NO_TARGET
    assert bool(is_target.any(-1).all())
    for index, ids in enumerate([*prompt, *answer] for prompt, answer in texts(llama)):
        place = states.start[index][:, None] + torch.arange(8)
        behind = place >= len(ids)
        assert bool((states.targets[index][behind] == NO_TARGET).all())
        assert bool((states.token_ids[index][behind] == 99).all())
        wanted = torch.tensor(ids)[place.clamp(max=len(ids) - 1)]
        right = states.targets[index] == wanted
        assert bool(right[is_target[index]].all())


def test_an_adapter_comes_back_from_its_files(llama: HuggingFaceModel, tmp_path: Path) -> None:
    module = randomised(llama)
    adapter = module.adapter
    write_block_adapter(adapter, tmp_path)
    again = read_block_adapter(tmp_path)
    assert again.info == adapter.info
    ours, stored = adapter.tensors(), again.tensors()
    assert ours.keys() == stored.keys()
    for name, tensor in ours.items():
        assert torch.equal(tensor.to(torch.bfloat16), stored[name])


@pytest.mark.filterwarnings("ignore:The .grad attribute")
def test_compiled_layers_have_the_same_loss_and_gradients(llama: HuggingFaceModel) -> None:
    assert llama.mask_token_id is not None
    found = []
    for is_compiled in (False, True):
        generator = torch.Generator().manual_seed(0)
        module = randomised(llama, is_compiled=is_compiled)
        states = make_states(texts(llama), 4, 6, llama.mask_token_id, 0.5, generator, 32)
        loss = module.loss(states, 0.2, 0.9)
        loss.total.backward()
        found.append((loss, [parameter.grad for parameter in module.adapter.tensors().values()]))
    (plain, gradients), (compiled, others) = found
    assert plain.num_masked == compiled.num_masked
    torch.testing.assert_close(plain.plain, compiled.plain)
    torch.testing.assert_close(plain.with_before, compiled.with_before)
    torch.testing.assert_close(gradients, others, atol=1e-5, rtol=1e-3)


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
    for _, line in zip(range(steps), run.steps(StopWish()), strict=False):
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
