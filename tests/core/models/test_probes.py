"""The probe of verify's exactness: what it sees, and that what it promises holds."""

import pytest
import torch

import sbd_core
from sbd_core import DecodeConfig, generate
from sbd_core.models.backends.llama.forward import FusedLlamaBackend
from sbd_core.models.backends.transformers import TransformersBackend
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.probes import keeps_bits
from tests.conftest import in_onnx
from tests.core.decoding.doubles import corpus_texts


@pytest.mark.parametrize("make", [TransformersBackend, FusedLlamaBackend], ids=lambda m: m.__name__)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_where_it_is_probed_verify_is_ntp_token_for_token(make, dtype) -> None:
    loaded = sbd_core.load(device="cpu", dtype=dtype)
    model = HuggingFaceModel(loaded.model, loaded.tokenizer, "nano", backend=make(loaded.model))
    for text in corpus_texts(3):
        ntp, verify = (
            generate(model, text, DecodeConfig(strategy=strategy, max_new_tokens=40))
            for strategy in ("ntp", "verify")
        )
        assert verify.versions["exactness"] == model.exactness
        assert "exactness" not in ntp.versions
        assert model.exactness == "equal up to rounding" or verify.token_ids == ntp.token_ids


def test_onnx_runtime_is_probed(nano) -> None:
    for dtype in ("float32", "int8"):
        assert in_onnx(nano, dtype).exactness == "probed"


@pytest.fixture(scope="module")
def in_runtime(nano) -> HuggingFaceModel:
    return in_onnx(nano)


class Rounding:
    """An exact backend whose logits are another where `is_off` says so of a request."""

    def __init__(self, model, is_off) -> None:
        self.new_caches, self._model, self._is_off = model.new_caches, model, is_off

    def forward(self, requests):
        [request] = requests
        is_off = self._is_off(request)
        found = self._model.forward_batch(requests)
        if is_off:
            found[0][0, 0] = torch.nextafter(found[0][0, 0], torch.tensor(torch.inf))
        return found


@pytest.mark.parametrize(
    "is_off",
    [
        lambda request: request.num_rows == 2,
        lambda request: request.num_rows > 40,
        lambda request: len(request.causal_ids) == 17,
        lambda request: bool(request.block_ids) and len(request.causal_ids) == 1,
        lambda request: bool(request.predrafts),
        lambda request: bool(request.block_ids) and not request.cache.length,
    ],
)
def test_one_bit_in_one_kind_of_forward_pass_is_seen(in_runtime, is_off) -> None:
    backend = Rounding(in_runtime, is_off)
    assert not keeps_bits(backend.new_caches, backend.forward, in_runtime.max_positions)


def test_it_is_tried_out_once_and_only_for_verify(nano, monkeypatch) -> None:
    model, asked = in_onnx(nano), []
    monkeypatch.setattr("sbd_core.models.hf_model.keeps_bits", lambda *_: asked.append(1) or True)
    for strategy in ("ntp", "sbd", "verify", "verify"):
        generate(model, "x", DecodeConfig(strategy=strategy, max_new_tokens=4))
        assert len(asked) == (strategy == "verify")


@pytest.mark.parametrize("reach", [None, 8, 24, 64])
def test_a_model_of_few_positions_is_probed_within_them(in_runtime, reach) -> None:
    read = []

    def forward(requests):
        read.extend(max(request.positions()) for request in requests)
        return in_runtime.forward_batch(requests)

    assert keeps_bits(in_runtime.new_caches, forward, reach)
    assert max(read) < (reach or 81)
