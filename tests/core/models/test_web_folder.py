"""export web: the files that a browser reads are the model that Python decodes, or are refused."""

import gzip
import json
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import onnx
import pytest
import torch
from transformers import AutoTokenizer

import sbd_core
from sbd_core.__main__ import main
from sbd_core.config import DecodeConfig
from sbd_core.errors import ModelError
from sbd_core.files import cache_folder
from sbd_core.models import web_export as export_module
from sbd_core.models.block_adapter import read_block_adapter, write_block_adapter
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, WEB_MANIFEST
from sbd_core.models.rounding import in_8_bits, rounded_to_4_bits, rounded_to_8_bits
from sbd_core.models.web_export import export_web, read_rounded
from sbd_core.models.web_folder import (
    PART_BYTES,
    Parts,
    digest_of,
    find_export,
    keep_export,
    open_web,
)
from tests.conftest import in_browsers
from tests.core.cli.commands import refusal
from tests.core.models.tiny_models import save_tiny, tiny_tokenizer


@pytest.fixture(scope="module")
def nano_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("web") / "nano"
    export_web(None, folder)
    return folder


@pytest.fixture(scope="module", params=["float32", "int8"])
def adapted_folder(
    request: pytest.FixtureRequest, adapter_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A random Llama with heads that share keys, a random adapter and a sampler head."""
    folder = tmp_path_factory.mktemp("web") / request.param
    export_web(adapter_folder, folder, dtype=request.param)
    return folder


def test_of_several_chat_templates_the_default_is_exported(tmp_path) -> None:
    """transformers writes the others to a folder; browsers read one template."""
    source = shutil.copytree(DEFAULT_CHECKPOINT, tmp_path / "model")
    tokenizer = AutoTokenizer.from_pretrained(source)
    plain = tokenizer.chat_template
    tokenizer.chat_template = {"default": plain, "tool_use": "{{ 1 }}"}
    tokenizer.save_pretrained(source)
    assert (source / "additional_chat_templates").is_dir()
    export_web(source, tmp_path / "web")
    assert (tmp_path / "web" / "chat_template.jinja").read_text(encoding="utf-8") == plain
    assert all(file.is_file() for file in (tmp_path / "web").iterdir())


@pytest.mark.parametrize("is_shared", [False, True])
def test_one_a_of_several_linear_layers_is_multiplied_once(adapter_folder, tmp_path, is_shared):
    adapter = read_block_adapter(adapter_folder)
    for layer in adapter.layers:
        for name in ("k", "v"):
            layer[name][0].copy_(layer["q"][0] * (1 if is_shared else 2))
    shutil.copytree(adapter_folder, tmp_path / "adapter")
    write_block_adapter(adapter, tmp_path / "adapter")
    export_web(tmp_path / "adapter", tmp_path / "web", dtype="int8")
    weight, name = weights_of(tmp_path / "web"), "layer.0.query_key_value.both.weight"
    layer = adapter.layers[0]
    out = sum(len(layer[each][1]) for each in "qkv")
    assert weight[name].shape[1] == out + len(layer["q"][0]) * (1 if is_shared else 3)


def unpacked(folder: Path, graph: dict[str, Any]) -> bytes:
    """The parts of a graph's weights, joined."""
    data = b"".join(gzip.decompress((folder / part).read_bytes()) for part in graph["parts"])
    assert len(data) == graph["bytes"]
    return data


def weights_of(folder: Path, engine: str = "wasm") -> dict[str, np.ndarray]:
    """The weights of an engine's graph, read from its parts."""
    graph = open_web(folder).manifest["graphs"][engine]
    data, weights = unpacked(folder, graph), {}
    for each in onnx.load(folder / graph["file"], load_external_data=False).graph.initializer:
        place = {entry.key: entry.value for entry in each.external_data}
        if place:
            start, stop = int(place["offset"]), int(place["offset"]) + int(place["length"])
            each.data_location = onnx.TensorProto.DEFAULT
            each.raw_data = data[start:stop]
            weights[each.name] = onnx.numpy_helper.to_array(each)
    return weights


@pytest.mark.parametrize("engine", ["wasm", "webgpu"])
def test_nano_loses_nothing(nano_folder: Path, engine: str) -> None:
    weights = weights_of(nano_folder, engine)
    layer = sbd_core.load(dtype="float32").model.model.layers[3]
    linears = [layer.self_attn.q_proj, layer.self_attn.k_proj, layer.self_attn.v_proj]
    expected = torch.cat([each.weight.detach() for each in linears]).numpy()
    assert np.array_equal(weights["layer.3.query_key_value.weight"], expected)
    assert np.array_equal(weights["layer.3.down.weight"], layer.mlp.down_proj.weight.detach())


def test_an_adapter_is_rounded_to_few_bits_and_leaves_causal_rows_alone(adapter_folder) -> None:
    original = sbd_core.load(adapter_folder, dtype="float32")
    model = in_browsers(adapter_folder, "float32")
    assert original.adapter is not None
    assert model.adapter is not None
    for name, tensor in original.adapter.tensors().items():
        off = (model.adapter.tensors()[name] - tensor.float()).abs().max()
        assert (off == 0) == (name == "mask_embedding")
        assert off <= 0.1 * tensor.float().abs().max(), name
    config = DecodeConfig(strategy="verify", max_new_tokens=24)
    words = [sbd_core.generate(each, "A prompt", config) for each in (model, original)]
    assert words[0].token_ids == words[1].token_ids


@pytest.mark.parametrize("engine", ["wasm", "webgpu"])
def test_the_tables_of_a_sampler_head_are_beside_the_weights(
    adapted_folder, adapter_folder, engine
) -> None:
    told = open_web(adapted_folder).manifest
    graph, hidden = told["graphs"][engine], told["config"]["hidden"]
    data = unpacked(adapted_folder, graph)

    def table(place: int, like: np.ndarray) -> np.ndarray:
        return np.frombuffer(data, like.dtype, like.size, place).reshape(like.shape)

    model, _, adapter, dtype = read_rounded(adapter_folder, told["dtype"])
    assert adapter is not None
    assert adapter.sampler is not None
    into, out = (each.numpy() for each in adapter.sampler)
    of_token, tables = np.ascontiguousarray(into[:, hidden:]), graph["sampler"]
    assert np.array_equal(table(tables["of_token"], of_token), of_token)
    assert np.array_equal(table(tables["out"], out), out)
    for name, module in (("embedding", model.model.embed_tokens), ("head", model.lm_head)):
        names = {"float32": ["values"], "int8": ["integers", "scales"]}[dtype]
        weight = module.weight.detach()
        parts = [weight] if dtype == "float32" else in_8_bits(weight)
        for place, part in zip(names, parts, strict=True):
            assert np.array_equal(table(tables[name][place], part.numpy()), part.numpy())


def test_no_part_is_larger_than_any_host_takes(nano_folder: Path) -> None:
    found = open_web(nano_folder)
    graphs = found.manifest["graphs"]
    assert graphs["wasm"]["parts"] == graphs["webgpu"]["parts"], "their weights are the same"
    sizes = [found.manifest["files"][part]["size"] for part in graphs["wasm"]["parts"]]
    assert len(sizes) == 3
    on_disk = {file.name: file.stat().st_size for file in nano_folder.iterdir()}
    assert set(found.names) == set(on_disk)
    for engine, other in (("wasm", "webgpu"), ("webgpu", "wasm")):
        unread = on_disk[WEB_MANIFEST] + on_disk[graphs[other]["file"]]
        assert found.download[engine] == sum(on_disk.values()) - unread < 10_900_000


def test_what_cannot_be_compressed_has_at_most_8_mb_and_equal_parts_are_one(tmp_path) -> None:
    known: dict[bytes, str] = {}
    whole = os.urandom(PART_BYTES)
    files = []
    for rest in (b"1", b"22"):
        parts = Parts(tmp_path, known)
        parts.write(whole)
        parts.write(rest)
        assert [parts.place(whole), parts.place(rest)] == [0, len(whole)]
        parts.close()
        files.append(parts.files)
        data = [gzip.decompress((tmp_path / name).read_bytes()) for name in parts.files]
        assert data == [whole, rest]
    assert files == [["weights-00.bin", "weights-01.bin"], ["weights-00.bin", "weights-02.bin"]]
    assert max(file.stat().st_size for file in tmp_path.iterdir()) <= 8_000_000


def rewritten(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def told(change: Callable[[dict[str, Any]], Any], *, is_signed: bool) -> Callable[[Path], object]:
    """A change of the manifest."""

    def edited(folder: Path) -> None:
        manifest = json.loads((folder / WEB_MANIFEST).read_text())
        change(manifest)
        if is_signed:
            manifest["digest"] = digest_of(manifest)
        (folder / WEB_MANIFEST).write_text(json.dumps(manifest))

    return edited


FILE = {"../x": {"size": 1, "sha256": ""}}


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (rewritten("weights-01.bin", lambda data: data[:-1]), "weights-01.bin is cut off"),
        (
            rewritten("weights-00.bin", lambda data: b"\1" + data[1:]),
            "weights-00.bin is cut off, or of another",
        ),
        (rewritten("model-wasm.onnx", lambda data: data[::-1]), "model-wasm.onnx is cut off"),
        (lambda folder: (folder / "weights-00.bin").unlink(), "lacks 'weights-00.bin'"),
        (rewritten(WEB_MANIFEST, lambda _: b"{"), "has a damaged manifest.json"),
        *(
            (
                told(lambda manifest, n=n: manifest.update(format=n), is_signed=False),
                f"was exported for format {n}, and this version reads 2: export it again, or",
            )
            for n in (1, 3)
        ),
        (
            told(lambda manifest: manifest.update(name="other"), is_signed=False),
            "has a manifest that was altered",
        ),
        (
            told(lambda manifest: manifest["files"].update(FILE), is_signed=True),
            "has a damaged manifest.json (a file's name must be letters, digits, dots",
        ),
    ],
)
def test_a_damaged_folder_is_refused_by_what_is_wrong(nano_folder, tmp_path, damage, words):
    folder = tmp_path / "damaged"
    shutil.copytree(nano_folder, folder)
    damage(folder)
    with pytest.raises(ModelError) as caught:
        open_web(folder)
    assert words in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_python_decodes_no_export(nano_folder: Path, capsys: Any) -> None:
    said = refusal(capsys, ["generate", "hello", "--model", str(nano_folder)])
    assert "is an export for browsers: name its model" in said


def test_what_no_browser_runs_is_refused_in_one_sentence(
    tmp_path: Path, nano_folder: Path, tiny_folders: dict[str, Path], monkeypatch: Any, capsys: Any
) -> None:
    untrained = tmp_path / "untrained"
    save_tiny(untrained, "llama", tiny_tokenizer())
    (tmp_path / "full" / "something").mkdir(parents=True)
    monkeypatch.setattr(export_module, "MOST_BYTES", 1_000_000)
    cases = [
        (untrained, "out", "is not trained for Set Block Decoding: sbd prepare untrained"),
        (tiny_folders["gpt2"], "out", "is of type gpt2, which cannot be exported as a graph"),
        (DEFAULT_CHECKPOINT, "out", "has weights of 0.0 GB in fp32, and a browser has room for"),
        (nano_folder, "out", "is an export for browsers: name its model"),
        (tmp_path / "none", "out", "must be a folder or a hub id"),
        (nano_folder, "full", "out: must be a new folder or an empty one"),
    ]
    for model, out, words in cases:
        export = ["export", "web", "--model", str(model), "--out", str(tmp_path / out)]
        assert words in refusal(capsys, export)
    assert not (tmp_path / "out").exists()


def test_the_command_says_what_it_wrote(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    assert main(["export", "web", "--out", str(out), "--json"]) == 0
    lines: Iterable[str] = capsys.readouterr().out.splitlines()
    told, last = list(lines)
    assert told.startswith(f"wrote {out}: sbd-nano, float32, 1")
    assert told.endswith(" MB for a GPU")
    data = json.loads(last)
    assert data["digest"] == open_web(out).digest
    assert data["download"] == open_web(out).download


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SBD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that may be changed."""
    sizes = {"min_block_size": 2, "max_block_size": 8}
    return save_tiny(tmp_path / "mine", "llama", tiny_tokenizer(), set_block_decoding=sizes)


def kept() -> list[str]:
    return [path.name for path in (cache_folder() / "web").iterdir()]


def test_an_export_is_made_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_export(folder) is None
    made = keep_export(folder)
    monkeypatch.delattr(export_module, "export_web")
    assert keep_export(folder) == made == find_export(folder)
    assert open_web(made.folder).name == "mine"
    assert kept() == [made.folder.name]


def test_another_state_of_the_model_takes_its_place(folder: Path) -> None:
    first, other = keep_export(folder), keep_export(DEFAULT_CHECKPOINT)
    os.utime(folder / "config.json", ns=(1, 1))
    assert find_export(folder) is None
    second = keep_export(folder)
    assert second.folder != first.folder
    assert sorted(kept()) == sorted([second.folder.name, other.folder.name])


def test_a_damaged_export_is_made_anew(folder: Path) -> None:
    made = keep_export(folder)
    (made.folder / "weights-00.bin").write_bytes(b"cut off")
    assert find_export(folder) is None
    assert keep_export(folder).digest == made.digest
    open_web(made.folder)
    assert kept() == [made.folder.name]


def test_an_exported_folder_is_its_own_export(folder: Path, tmp_path: Path) -> None:
    export_module.export_web(folder, tmp_path / "web")
    found = find_export(tmp_path / "web")
    assert found is not None
    assert found.folder == tmp_path / "web"


def test_deleting_a_base_deletes_what_was_exported(folder: Path, capsys: Any) -> None:
    keep_export(folder)
    assert main(["fetch", "--remove"]) == 0
    assert not (cache_folder() / "web").exists()


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize(("store", "loss"), [(rounded_to_8_bits, 0.02), (rounded_to_4_bits, 0.2)])
def test_rounded_values_are_near_and_are_rounded_to_themselves(store, loss) -> None:
    tensor = drawn(5, 96)
    tensor[0] = 0
    tensor[1] = 0.25
    rounded = store(tensor)
    assert 0 < (rounded - tensor).abs().max() < loss
    assert torch.equal(rounded[0], tensor[0])
    assert torch.equal(store(rounded), rounded)


def test_what_a_gguf_file_has_in_8_bits_keeps_its_integers_and_scales() -> None:
    kind = gguf.GGMLQuantizationType.Q8_0
    stored = gguf.quants.quantize(drawn(7, 64).numpy(), kind)
    values = torch.from_numpy(gguf.quants.dequantize(stored, kind))
    blocks = stored.reshape(-1, 34)  # the scale in fp16, then 32 integers
    integers, scales = in_8_bits(values)
    assert np.array_equal(integers.numpy().reshape(-1, 32), blocks[:, 2:].view("i1"))
    assert np.array_equal(scales.numpy().reshape(-1, 1), blocks[:, :2].copy().view("<f2"))
    assert torch.equal(rounded_to_8_bits(values), values)
