"""ONNX Runtime makes PyTorch's forward passes; a row's bits do not depend on the rows beside it."""

import copy
import random
import shutil
from types import SimpleNamespace

import onnx
import pytest
import torch
from transformers import Qwen2ForCausalLM

from sbd_core import DecodeConfig, ModelError, generate, stream
from sbd_core.models.backends.choose import choose
from sbd_core.models.backends.onnx import build
from sbd_core.models.backends.onnx.export import Exporter, hadamard
from sbd_core.models.backends.onnx.forward import (
    LONG,
    MOST_ROWS,
    REACH,
    STEP,
    OnnxBackend,
    sessions_of,
)
from sbd_core.models.probes import keeps_bits
from sbd_core.models.protocol import ForwardRequest, PredraftBlock
from sbd_core.models.runtime import one_thread_between_passes
from sbd_core.sampling import compute_logit_stats
from tests.conftest import in_onnx, loaded
from tests.core.decoding.doubles import corpus_texts
from tests.core.decoding.reference import keys_and_values
from tests.core.models.tiny_models import save_adapter

DTYPES = ("float32", "int8")
ROWS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48)
START = 20


def read(model, text, count=1):
    """Caches in which a text stands."""
    caches = model.new_caches(count)
    model.forward_batch([ForwardRequest(cache, text, (), 1) for cache in caches])
    return caches


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "num_threads"), [("nano", 2), ("llama", 1)])
def test_a_row_has_the_same_bits_whatever_stands_beside_it(
    request, name, dtype, num_threads
) -> None:
    """One query head a KV head and two; alone, in drafts, before blocks, beside other texts."""
    model = in_onnx(request.getfixturevalue(name), dtype, num_threads)
    draw = random.Random(3)
    text = [draw.randrange(5, model.vocabulary_size) for _ in range(START + ROWS[-1])]
    [cache] = read(model, text[:START])
    alone = torch.cat([model.forward(cache, [token], (), 1) for token in text[START:]])
    one_by_one = keys_and_values(cache)
    [whole] = read(model, text)
    for ours, theirs in zip(keys_and_values(whole), one_by_one, strict=True):
        assert all(map(torch.equal, ours, theirs)), "the cache depends on how a text was read"
    for count in ROWS:
        ids = text[START : START + count]
        [plain], [with_blocks] = read(model, text[:START]), read(model, text[:START])
        predrafts = [PredraftBlock(0, (2,) * 3), PredraftBlock(1, (2,) * 7)]
        caches = read(model, text[:START], 4)
        batch = [ForwardRequest(c, ids, (2,) * i, count) for i, c in enumerate(caches)]
        for logits in (
            model.forward(plain, ids, (), count),
            model.forward_batch([ForwardRequest(with_blocks, ids, (2,) * 5, count, predrafts)])[0],
            *model.forward_batch(batch),
        ):
            assert torch.equal(logits[:count], alone[:count]), count


def test_int8_is_refused_in_one_line_where_its_products_are_not_exact(
    nano, monkeypatch, caplog
) -> None:
    monkeypatch.setattr(build, "products_are_exact", lambda sums_in_32_bits=False: False)
    assert choose(nano.model, "nano", dtype="int8").name != "ONNX Runtime"
    assert "not in int8: this processor's products of int8 are not exact" in caplog.text
    assert choose(nano.model, "nano").name == "ONNX Runtime"


def test_products_that_are_not_exact_are_seen(monkeypatch) -> None:
    """One product of integers is off by 1, as if the processor had cut a sum off."""
    graph = onnx.load_model_from_string(build.products_graph())
    weight = graph.graph.initializer[0]
    wrong = onnx.numpy_helper.to_array(weight).copy()
    wrong[-1, -1] -= 1
    graph.graph.initializer.append(onnx.numpy_helper.from_array(wrong, "wrong"))
    graph.graph.node[0].input[1] = "wrong"
    assert build.products_are_exact(sums_in_32_bits=True)
    monkeypatch.setattr(build, "products_graph", graph.SerializeToString)
    assert not build.products_are_exact.__wrapped__()


def test_a_graph_for_processors_that_saturate_gives_the_same_bits(nano, tmp_path) -> None:
    exporter, logits = Exporter(nano.model, "int8"), []
    exporter.write(tmp_path)
    for sums_in_32_bits in (False, True):
        sessions = sessions_of(tmp_path, 1, sums_in_32_bits=sums_in_32_bits)
        backend = OnnxBackend(sessions, exporter.shape, nano.model.model.rotary_emb, "int8")
        assert keeps_bits(backend.new_caches, backend.forward)
        request = ForwardRequest(backend.new_caches(1)[0], range(5, 25), (2,) * 6, 20)
        logits += backend.forward([request])
    assert torch.equal(*logits) == build.products_are_exact()


@pytest.mark.parametrize("strategy", ["ntp", "sbd", "verify"])
def test_torch_keeps_to_one_thread_between_forward_passes_that_have_their_own(
    nano, strategy
) -> None:
    """Else its second thread waits busily on a core that the next forward pass wants."""
    text, found = corpus_texts(1)[0], {}
    try:
        torch.set_num_threads(2)
        for model in (nano, in_onnx(nano)):
            own, twin = found.setdefault(model.backend.name, set()), copy.copy(model)

            def counted(*arguments, own=own):
                own.add(torch.get_num_threads())
                return compute_logit_stats(*arguments)

            twin.compute_logit_stats = counted
            for _ in stream(twin, text, DecodeConfig(strategy=strategy, max_new_tokens=12)):
                assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)
    assert found == {"PyTorch": {2}, "ONNX Runtime": {1}}


def test_blocks_that_overlap_leave_as_many_threads_as_there_were() -> None:
    model, before = SimpleNamespace(has_own_threads=True), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        first, second = one_thread_between_passes(model), one_thread_between_passes(model)
        first.__enter__()
        second.__enter__()
        assert torch.get_num_threads() == 1
        first.__exit__(None, None, None)
        assert torch.get_num_threads() == 1
        second.__exit__(None, None, None)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_int8_is_near_and_its_answers_are_mostly_those_of_fp32(nano) -> None:
    twin, config = in_onnx(nano, "int8"), DecodeConfig(strategy="ntp", max_new_tokens=24)
    same = [
        generate(twin, text, config).token_ids == generate(nano, text, config).token_ids
        for text in corpus_texts(20)
    ]
    assert sum(same) >= 15


@pytest.mark.parametrize("size", [1, 2, 16, 64])
def test_a_basis_is_orthogonal_and_all_its_entries_are_of_one_size(size) -> None:
    matrix = hadamard(size)
    torch.testing.assert_close(matrix @ matrix.t(), torch.eye(size))
    torch.testing.assert_close(matrix.abs(), torch.full((size, size), size**-0.5))


@pytest.mark.parametrize("name", ["llama", "qwen2", "qwen3", "mistral"])
def test_the_turned_basis_changes_logits_by_rounding_alone(tiny_folders, monkeypatch, name) -> None:
    """Biases, norms of queries and keys, heads of their own: with products in fp32."""
    model = loaded(tiny_folders[name])
    with torch.no_grad():
        for parameter in model.model.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn(parameter.shape) / 3)
    plain = in_onnx(model)

    def multiplied(self, name, x, weight, shared=None):
        return self.writer.node(
            "Gemm", [x, self.writer.weight(f"{name}.weight", weight)], name, transB=1
        )

    monkeypatch.setattr(Exporter, "_multiplied", multiplied)
    ours, theirs = (
        each.forward(each.new_cache(), (5, 6, 7), (2,) * 3, 3)
        for each in (in_onnx(model, "int8"), plain)
    )
    torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-3)


def test_a_row_of_zeros_gives_zeros(tiny_folders) -> None:
    model = loaded(tiny_folders["llama"])
    with torch.no_grad():
        model.model.model.embed_tokens.weight[5] = 0
    twin = in_onnx(model, "int8")
    assert twin.forward(twin.new_cache(), (5,), (), 1).abs().max() == 0


def test_a_long_prompt_read_in_parts_has_the_logits_of_the_whole(tiny_folders) -> None:
    model = loaded(tiny_folders["llama"])
    twin = in_onnx(model)
    size = 2 * MOST_ROWS + 37
    ids = [5 + i % 200 for i in range(size)]
    ours, theirs = twin.new_cache(), model.new_cache()
    found, expected = (m.forward(c, ids, (2,) * 4, 3) for m, c in ((twin, ours), (model, theirs)))
    assert ours.length == theirs.length == size
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-4)


def test_many_texts_of_few_rows_may_have_more_rows_than_the_model_has_positions(nano) -> None:
    model = in_onnx(nano, "float32")
    texts = [[5 + number] * LONG for number in range(REACH // LONG + 2)]
    caches = model.new_caches(len(texts))
    requests = [ForwardRequest(*each, (), 1) for each in zip(caches, texts, strict=True)]
    found = model.forward_batch(requests)
    for text, logits in zip(texts[::8], found[::8], strict=True):
        assert torch.equal(logits, model.forward(model.new_cache(), text, (), 1))


def test_the_cache_is_written_in_place_and_grows_by_a_quarter(nano) -> None:
    model = in_onnx(nano)
    cache = model.new_cache()
    model.forward(cache, range(5, 30), (), 1)
    places = [part.data_ptr() for part in cache.pool.parts]
    capacities = set()
    for token_id in range(5, 5 + 20 * STEP):
        model.backend.forward([ForwardRequest(cache, [token_id % 2000], (), 1)])
        capacities.add(cache.pool.capacity)
        if cache.pool.capacity == STEP:
            assert [part.data_ptr() for part in cache.pool.parts] == places
        assert cache.pool.capacity < 1.25 * cache.length + 2 * STEP
        if cache.length > 6 * STEP:
            break
    assert capacities == {STEP * count for count in (1, 2, 3, 4, 5, 7)}


def test_nan_weights_are_refused_and_never_a_wrong_token(tiny_folders, caplog) -> None:
    broken, config = loaded(tiny_folders["llama"]), DecodeConfig(strategy="ntp", max_new_tokens=2)
    with torch.no_grad():
        broken.model.model.layers[0].mlp.down_proj.weight[3, 4] = torch.nan
    with pytest.raises(ModelError, match="NaN"):
        generate(in_onnx(broken), (5, 6), config)
    broken.backend = choose(broken.model, "broken", dtype="int8")
    assert "not in int8: weights that are NaN or infinite cannot be int8" in caplog.text
    with pytest.raises(ModelError, match="NaN"):
        generate(broken, (5, 6), config)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_int8_gives_nan_where_a_row_is_not_finite(tiny_folders, value) -> None:
    """An embedding is no weight of a product; integers could not say so themselves."""
    model = loaded(tiny_folders["llama"])
    with torch.no_grad():
        model.model.lm_head.weight = torch.nn.Parameter(model.model.lm_head.weight.clone())
        model.model.model.embed_tokens.weight[5, 3] = value
    with pytest.raises(ModelError, match="NaN"):
        generate(in_onnx(model, "int8"), (6, 5), DecodeConfig(strategy="ntp", max_new_tokens=2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_adapter_is_for_the_rows_of_blocks_and_causal_rows_keep_their_bits(
    adapter_folder, llama, dtype
) -> None:
    plain = loaded(adapter_folder)
    adapted, base = in_onnx(plain, dtype), in_onnx(llama, dtype)
    draw = random.Random(1)
    texts = [[draw.randrange(5, 250) for _ in range(count)] for count in (3, 20, 60)]
    predrafts = [PredraftBlock(1, (2,) * 3), PredraftBlock(2, (7, 2))]

    shares = [
        ((5, 6, 7), (2,) * 4, 3, predrafts),
        ((8, 9), (), 2, predrafts[:1]),
        ((4,), (), 1, ()),
    ]

    def run(model):
        caches = model.new_caches(3)
        for asked in ([(text, (), 1) for text in texts], shares):
            requests = [ForwardRequest(c, *one) for c, one in zip(caches, asked, strict=True)]
            found = model.forward_batch(requests)
        return found

    found, without = run(adapted), run(base)
    for ours, theirs, count in zip(found, without, (3, 2, 1), strict=True):
        assert torch.equal(ours[:count, : theirs.shape[1]], theirs[:count])
    assert not torch.allclose(found[0][3:, :300], without[0][3:, :300], atol=0.1)
    if dtype == "float32":
        for ours, theirs in zip(found, run(plain), strict=True):
            torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-4)


def test_a_pass_without_blocks_runs_no_node_of_the_adapter(adapter_folder) -> None:
    model = in_onnx(loaded(adapter_folder))
    model.backend.sessions = (model.backend.sessions[0], None)
    cache = model.new_cache()
    model.forward(cache, (5, 6, 7), (), 1)
    with pytest.raises(AttributeError):
        model.forward(cache, (8,), (2,), 1)


def test_an_adapter_stands_beside_biases_too(tiny_folders, tmp_path) -> None:
    base = shutil.copytree(tiny_folders["qwen2"], tmp_path / "base")
    model = Qwen2ForCausalLM.from_pretrained(base)
    for layer in model.model.layers:
        for name in ("q_proj", "k_proj", "v_proj"):
            torch.nn.init.normal_(getattr(layer.self_attn, name).bias)
    model.save_pretrained(base)
    plain = loaded(save_adapter(tmp_path / "adapted", base))
    ours, theirs = (
        model.forward(model.new_cache(), (5, 6, 7), (2,) * 3, 3)
        for model in (in_onnx(plain), plain)
    )
    torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-4)
