"""A step of an adapter: its pass gives what decoding gives, it learns, and files keep it."""

from pathlib import Path

import pytest
import torch

from sbd_core.models import sampler_head
from sbd_core.models.backends.llama.forward import FusedLlamaBackend
from sbd_core.models.block_adapter import BlockAdapter, BlockAdapterInfo
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.protocol import ForwardRequest, PredraftBlock
from sbd_core.training.adapter_step import GatedBase, make_batch
from sbd_core.training.batches import NO_TARGET
from sbd_core.training.data import Pair
from tests.conftest import loaded


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
    monkeypatch.setattr(sampler_head, "NUM_CANDIDATES", 1000)  # all tokens
    model = loaded(tiny_folders[architecture])
    module = randomised(model)
    assert model.mask_token_id is not None
    states = make_batch(
        texts(model), 4, 5, model.mask_token_id, 0.5, torch.Generator().manual_seed(1)
    )
    with torch.no_grad():
        hidden = module.hidden(states).flatten(0, 2)
        trained = module.logits(hidden).view(2, 5, 4, -1)
        moved = module.apply_sampler(hidden, states.before.flatten())
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
        states = make_batch(texts(llama), 4, 6, llama.mask_token_id, 0.5, generator)
        loss = module.loss(states, 0.5, 0.9)
        loss.total.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.total.item())
    assert losses[-1] < losses[0] / 2
    assert torch.equal(before, llama.backend.weights.layers[0].gate_up.weight)


def test_states_mask_at_least_one_token_and_want_nothing_behind_the_end(llama) -> None:
    states = make_batch(texts(llama), 8, 40, 99, 0.0, torch.Generator().manual_seed(2))
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


@pytest.mark.filterwarnings("ignore:The .grad attribute")
def test_compiled_layers_have_the_same_loss_and_gradients(llama: HuggingFaceModel) -> None:
    assert llama.mask_token_id is not None
    found = []
    for is_compiled in (False, True):
        generator = torch.Generator().manual_seed(0)
        module = randomised(llama, is_compiled=is_compiled)
        states = make_batch(texts(llama), 4, 6, llama.mask_token_id, 0.5, generator, 32)
        loss = module.loss(states, 0.2, 0.9)
        loss.total.backward()
        found.append((loss, [parameter.grad for parameter in module.adapter.tensors().values()]))
    (plain, gradients), (compiled, others) = found
    assert plain.num_masked == compiled.num_masked
    torch.testing.assert_close(plain.plain, compiled.plain)
    torch.testing.assert_close(plain.with_before, compiled.with_before)
    torch.testing.assert_close(gradients, others, atol=1e-5, rtol=1e-3)
