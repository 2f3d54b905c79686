"""Passes of fixed shape give the fused tokens, and nothing but buffer contents ever changes."""

import copy
import gc
import weakref

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import sbd_core
from sbd_core import DecodeConfig, generate
from sbd_core.decoding.api import generate_batch
from sbd_core.models.backends.choose import prepare_for_many_texts
from sbd_core.models.backends.llama import cuda_graph, forward
from sbd_core.models.backends.llama.cuda_graph import CudaGraphBackend, CudaGraphStep
from sbd_core.solvers import EntropyBound
from tests.conftest import loaded, unfused
from tests.core.decoding.doubles import corpus_texts, random_ids
from tests.core.models.tiny_models import save_tiny, tiny_tokenizer
from tests.core.training.test_adapter_step import randomised, with_adapter

STRATEGIES = ("ntp", "sbd", "verify")


def still(model, block_size: int):
    """The same model with static forward passes."""
    twin = copy.copy(model)
    twin.backend = CudaGraphBackend(model.backend, block_size)
    return twin


def config(strategy: str, block_size: int = 5, num_new: int = 17) -> DecodeConfig:
    return DecodeConfig(
        strategy=strategy,
        block_size=block_size,
        max_new_tokens=num_new,
        solver=EntropyBound(gamma=4.0),
    )


@pytest.mark.parametrize(
    ("name", "strategy"), list(zip(("llama", "qwen2", "qwen3"), STRATEGIES, strict=True))
)
def test_tokens_are_those_of_the_general_path(tmp_path, name, strategy) -> None:
    model = loaded(save_tiny(tmp_path / name, name, tiny_tokenizer()))
    plain, twin = unfused(model), still(model, 5)
    size = model.vocabulary_size
    for prompt in (*random_ids(3, size), *random_ids(1, size, 40)):
        ours, theirs = (generate(one, prompt, config(strategy)) for one in (twin, plain))
        assert ours.token_ids == theirs.token_ids
        assert ours.num_forwards == theirs.num_forwards


@pytest.mark.parametrize("strategy", ["ntp", "sbd"])
def test_rows_of_blocks_alone_read_an_adapter(tmp_path, strategy) -> None:
    model = loaded(save_tiny(tmp_path, "llama", tiny_tokenizer()))
    adapted = copy.copy(model)
    adapted.backend = with_adapter(model, randomised(model).adapter)
    twin, asked, is_plain = still(adapted, 5), config(strategy), []
    for prompt in random_ids(3, model.vocabulary_size):
        ours, theirs, plain = (generate(one, prompt, asked) for one in (twin, adapted, model))
        assert ours.token_ids == theirs.token_ids
        assert ours.num_forwards == theirs.num_forwards
        is_plain.append(ours.token_ids == plain.token_ids)
    assert all(is_plain) == (strategy == "ntp")


def test_a_text_that_outgrows_its_room_goes_on(llama, monkeypatch) -> None:
    monkeypatch.setattr(cuda_graph, "INITIAL_CAPACITY", 16)
    monkeypatch.setattr(forward, "STEP", 16)
    twin = still(llama, 4)
    [prompt] = random_ids(1, llama.vocabulary_size, 10)
    for strategy in STRATEGIES:
        asked = config(strategy, 4, 90)
        assert generate(twin, prompt, asked).token_ids == generate(llama, prompt, asked).token_ids


def test_a_prompt_that_moves_the_cache_moves_the_buffers_too(llama, monkeypatch) -> None:
    """A step knows the addresses of a capacity that is gone; it must not be used again."""
    monkeypatch.setattr(cuda_graph, "INITIAL_CAPACITY", 16)
    monkeypatch.setattr(forward, "STEP", 16)
    seen = []
    monkeypatch.setattr(
        cuda_graph, "captured", lambda run, output: seen.append(run.__self__) or run
    )
    twin = still(llama, 4)
    for length in (3, 100):
        [prompt] = random_ids(1, llama.vocabulary_size, length)
        asked = config("ntp", 4, 5)
        assert generate(twin, prompt, asked).token_ids == generate(llama, prompt, asked).token_ids
        gc.collect()
    first, last = seen[0].keys, seen[-1].keys
    assert first.shape[-1] < last.shape[-1], "it was given up with the memory that it knew"


def test_a_batch_is_static_while_every_slot_is_at_work(llama, monkeypatch) -> None:
    runs = []
    run = CudaGraphStep.run
    monkeypatch.setattr(CudaGraphStep, "run", lambda *given: runs.append(1) or run(*given))
    prompts = random_ids(5, llama.vocabulary_size)
    for strategy in STRATEGIES:
        asked = config(strategy)
        together = generate_batch(still(llama, 5), prompts, asked, batch_size=2)
        assert [t.token_ids for t in together] == [
            generate(llama, prompt, asked).token_ids for prompt in prompts
        ]
    assert len(runs) > 20


class Tape(TorchDispatchMode):
    """Every operation with the shapes it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[tuple[str, tuple[torch.Size, ...]]] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        shapes = tuple(
            leaf.shape for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)
        )
        self.operations.append((str(func), shapes))
        return func(*args, **(kwargs or {}))


def test_every_pass_of_a_shape_is_the_same_operations_on_the_same_buffers(nano, monkeypatch):
    """Stand in for a graph's replay: had anything else changed, it would not follow."""
    tapes: dict[CudaGraphStep, list[tuple]] = {}

    def taped(run, output):
        step = run.__self__

        def replay() -> None:
            with Tape() as tape:
                run()
            kept = (step.inputs, output, step.keys, step.values)
            tapes.setdefault(step, []).append(
                (tape.operations, [tensor.data_ptr() for tensor in kept])
            )

        return replay

    monkeypatch.setattr(cuda_graph, "captured", taped)
    twin = still(nano, 16)
    for prompt in corpus_texts(2):
        for strategy in STRATEGIES:
            generate(twin, prompt, config(strategy, 16, 40))
        gc.collect()
    assert len({step.keys.data_ptr() for step in tapes}) == 1, "a pool is used again"
    widths = sorted(step.inputs.shape[2] for step in tapes)
    assert widths == [1, 16, 32, 64], "of a causal row, a block, two, and a tree of drafts"
    for passes in tapes.values():
        assert len(passes) > 2
        assert all(one == passes[0] for one in passes)
        names = {name for name, _ in passes[0][0]}
        assert not any("local_scalar" in name or "nonzero" in name for name in names), "a wait"


def test_the_caches_of_a_batch_are_freed_with_their_graphs(llama, monkeypatch) -> None:
    twin, pools = still(llama, 5), []
    new_caches = llama.backend.new_caches

    def watched(count: int):
        caches = new_caches(count)
        pools.append(weakref.ref(caches[0].pool))
        return caches

    monkeypatch.setattr(llama.backend, "new_caches", watched)
    for _ in range(3):
        generate_batch(twin, random_ids(3, llama.vocabulary_size), config("verify", num_new=6))
    gc.collect()
    assert [pool() for pool in pools] == [None] * 3


def test_the_weights_behind_graphs_are_fused_once(llama) -> None:
    twin = still(llama, 5)
    prepare_for_many_texts(twin)
    assert twin.backend is llama.backend


def test_a_capture_that_fails_falls_back_with_one_line() -> None:
    class Claims:
        """A tensor's stand-in that says it lies on a GPU."""

        device = torch.device("cuda")

    def run() -> None:
        raise AssertionError("not to be run without a GPU")

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.warns(
        UserWarning, match=r"^CUDA graph not used, forward passes run one by one: .+"
    ):
        assert cuda_graph.captured(run, Claims()) is run


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_graph_gives_the_lean_tokens_on_a_gpu(tiny_folders, recwarn) -> None:
    model = sbd_core.load(tiny_folders["llama"], device="cuda", dtype="float32")
    fused = copy.copy(model)
    fused.backend = model.backend.fused
    for prompt in random_ids(3, model.vocabulary_size):
        for strategy in STRATEGIES:
            ours = generate(model, prompt, config(strategy)).token_ids
            assert ours == generate(fused, prompt, config(strategy)).token_ids
    assert not [w for w in recwarn if "CUDA graph" in str(w.message)]
