"""export web: the parts, rules and graph that a browser reads are the model that Python decodes."""

import json
import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

import sbd_core
from sbd_core.__main__ import main
from sbd_core.config import Calibration, DecodeConfig
from sbd_core.errors import ModelError
from sbd_core.models import web_export as export_module
from sbd_core.models.block_adapter import read_block_adapter, write_block_adapter
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, WEB_MANIFEST, read_checkpoint_info
from sbd_core.models.stored_tensors import Stored, exactly, in_4_bits, in_8_bits, rounded_parts
from sbd_core.models.web_export import export_web
from sbd_core.models.web_folder import (
    PART_BYTES,
    digest_of,
    exports_folder,
    find_export,
    keep_export,
    open_web,
    read_web,
    tensors_of,
)
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
    exported = sbd_core.load(tmp_path / "web", device="cpu")
    assert exported.tokenizer.chat_template == plain
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
    weights = open_web(tmp_path / "web").manifest["graphs"]["wasm"]["weights"]
    [read] = [
        each["from"] for each in weights if each["name"] == "layer.0.query_key_value.both.weight"
    ]
    assert len(read) == (4 if is_shared else 6)


@pytest.mark.parametrize("strategy", ["ntp", "sbd", "verify"])
def test_nano_loses_nothing(nano_folder: Path, strategy: Any) -> None:
    model, original = sbd_core.load(nano_folder), sbd_core.load(dtype="float32")
    assert model.name == original.name
    assert model.weights == {model.name: open_web(nano_folder).digest}
    weights = dict(model.model.named_parameters())
    for name, weight in original.model.named_parameters():
        assert torch.equal(weights[name], weight)
    config = DecodeConfig(strategy=strategy, max_new_tokens=48)
    prompt = "Tara has 49 pencils. Hugo takes 12. How many pencils does Tara have now?"
    found, expected = (sbd_core.generate(each, prompt, config) for each in (model, original))
    assert found.token_ids == expected.token_ids
    assert found.num_forwards == expected.num_forwards
    assert "37" in found.text


def test_an_adapter_comes_back_in_few_bits_and_leaves_causal_rows_alone(
    adapted_folder: Path, adapter_folder: Path
) -> None:
    model, original = sbd_core.load(adapted_folder), sbd_core.load(adapter_folder)
    assert model.block_range == original.block_range
    assert model.mask_token_id == original.mask_token_id
    assert model.adapter is not None
    assert original.adapter is not None
    assert model.calibration == original.calibration != Calibration()
    assert open_web(adapted_folder).manifest["config"]["calibration"]["drafted"] == 0.9
    for name, tensor in original.adapter.tensors().items():
        other = model.adapter.tensors()[name].float()
        off = (other - tensor.float()).abs().max()
        assert off <= 0.1 * tensor.float().abs().max(), name
    assert read_checkpoint_info(adapted_folder) == replace_name(
        read_checkpoint_info(adapter_folder), model.name
    )
    if model.dtype == "float32":
        config = DecodeConfig(strategy="verify", max_new_tokens=24)
        words = [sbd_core.generate(each, "A prompt", config) for each in (model, original)]
        assert words[0].token_ids == words[1].token_ids


def replace_name(info: Any, name: str) -> Any:
    assert info.name == name
    return info


def test_no_part_is_larger_than_any_host_takes(nano_folder: Path) -> None:
    found = open_web(nano_folder)
    sizes = [part["size"] for part in found.manifest["parts"]]
    assert len(sizes) == 2
    assert max(sizes) <= PART_BYTES
    on_disk = {file.name: file.stat().st_size for file in nano_folder.iterdir()}
    assert set(found.names) == set(on_disk)
    download = sum(size for name, size in on_disk.items() if name != WEB_MANIFEST)
    assert found.manifest["download"] == download < 10_900_000


def cut(folder: Path) -> None:
    part = folder / "weights-01.bin"
    part.write_bytes(part.read_bytes()[:-1])


def alter(folder: Path) -> None:
    part = folder / "weights-00.bin"
    part.write_bytes(b"\1" + part.read_bytes()[1:])


def lose(folder: Path) -> None:
    (folder / "weights-00.bin").unlink()


def mix(folder: Path) -> None:
    graph = folder / "model.onnx"
    graph.write_bytes(graph.read_bytes()[::-1])


def edit(change: Callable[[dict[str, Any]], Any], *, is_signed: bool) -> Callable[[Path], None]:
    def edited(folder: Path) -> None:
        manifest = json.loads((folder / WEB_MANIFEST).read_text())
        change(manifest)
        if is_signed:
            manifest["digest"] = digest_of(manifest)
        (folder / WEB_MANIFEST).write_text(json.dumps(manifest))

    return edited


def garble(folder: Path) -> None:
    (folder / WEB_MANIFEST).write_text("{")


newer = edit(lambda told: told.update(format=2), is_signed=False)
renamed = edit(lambda told: told.update(name="other"), is_signed=False)
outside = edit(
    lambda told: told["files"].update({"../x": {"size": 1, "sha256": ""}}), is_signed=True
)
longer = edit(lambda told: told["tensors"]["model.norm.weight"].update(bytes=10**9), is_signed=True)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (cut, "weights-01.bin has 2689023 bytes, not the 2689024 of its manifest: it was cut off"),
        (alter, "weights-00.bin is altered, or of another export"),
        (lose, "lacks 'weights-00.bin'"),
        (mix, "model.onnx is altered, or of another export"),
        (garble, "has a damaged manifest.json"),
        (newer, "was exported for format 2, and this version reads 1: install the version"),
        (renamed, "has a manifest that was altered"),
        (outside, "has a damaged manifest.json (a file's name must be letters, digits, dots"),
        (longer, "has a damaged manifest.json"),
    ],
)
def test_a_damaged_folder_is_refused_by_what_is_wrong(nano_folder, tmp_path, damage, words, capsys):
    folder = tmp_path / "damaged"
    shutil.copytree(nano_folder, folder)
    damage(folder)
    with pytest.raises(ModelError) as caught:
        sbd_core.load(folder)
    assert words in str(caught.value)
    assert str(caught.value).count("\n") == 0
    assert main(["generate", "hello", "--model", str(folder)]) == 2
    assert words.split(":")[0] in capsys.readouterr().err


JUNK: tuple[Any, ...] = (None, "../../x", -1, 10**15, 1.5, True, [], {"a": 1})
READ_BY_BROWSERS = {"version", "dtype", "config", "graphs"}
"""Entries of which Python reads little, which other tests hold to."""


def places(told: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of a manifest's entries; of long lists those of the first and the last."""
    items = [*(told.items() if isinstance(told, dict) else enumerate(told))]
    for key, value in items if len(items) < 14 else (items[0], items[-1]):
        yield (*place, key)
        if isinstance(value, dict | list):
            yield from places(value, (*place, key))


def test_a_wrong_manifest_is_one_sentence_or_reads_as_the_right_one(adapted_folder, tmp_path):
    folder = Path(shutil.copytree(adapted_folder, tmp_path / "web"))
    right = open_web(folder)
    told = json.loads(json.dumps(right.manifest))
    weights = {name: each.data for name, each in tensors_of(right).items()}
    refusals = []
    for *way, last in [*places(told)]:
        if way and way[0] in READ_BY_BROWSERS:
            continue
        entry = reduce(lambda value, key: value[key], way, told)
        before = entry[last]
        for wrong in JUNK:
            entry[last] = wrong
            told["digest"] = digest_of(told)
            (folder / WEB_MANIFEST).write_text(json.dumps(told))
            try:
                web = open_web(folder, reads_all=False)
            except ModelError as error:
                refusals.append(str(error))
                continue
            assert web.names == right.names
            assert {name: each.data for name, each in tensors_of(web).items()} == weights
        entry[last] = before
    assert len(refusals) > 250
    assert not [words for words in refusals if "\n" in words]


def test_every_tensor_is_there_and_of_its_shape(adapted_folder, tmp_path) -> None:
    folder = Path(shutil.copytree(adapted_folder, tmp_path / "web"))
    right = open_web(folder).manifest
    for name, entry in right["tensors"].items():
        tensors = {key: each for key, each in right["tensors"].items() if key != name}
        if right["dtype"] == "int8":  # else it is missing
            row = [1, math.prod(entry["shape"])]
            tensors[name] = {**entry, "shape": row if row != entry["shape"] else row[::-1]}
        told = {**right, "tensors": tensors}
        (folder / WEB_MANIFEST).write_text(json.dumps({**told, "digest": digest_of(told)}))
        with pytest.raises(ModelError) as caught:
            read_web(open_web(folder, reads_all=False))
        assert str(caught.value).count("\n") == 0


def test_a_wrong_adapter_is_one_sentence(adapted_folder, tmp_path) -> None:
    folder = Path(shutil.copytree(adapted_folder, tmp_path / "web"))
    right = open_web(folder).manifest
    for name in ("rank", "block_range", "base", "mask_token_id"):
        told = {**right, "adapter": {k: v for k, v in right["adapter"].items() if k != name}}
        (folder / WEB_MANIFEST).write_text(json.dumps({**told, "digest": digest_of(told)}))
        with pytest.raises(ModelError, match=r"adapter|mask_token_id"):
            sbd_core.load(folder)


def test_what_no_browser_runs_is_refused_in_one_sentence(
    tmp_path: Path, nano_folder: Path, tiny_folders: dict[str, Path], monkeypatch: Any, capsys: Any
) -> None:
    untrained = tmp_path / "untrained"
    save_tiny(untrained, "llama", tiny_tokenizer())
    (tmp_path / "full" / "something").mkdir(parents=True)
    monkeypatch.setattr(export_module, "MOST_BYTES", 1_000_000)
    capsys.readouterr()
    cases = [
        (untrained, "out", "is not trained for Set Block Decoding: sbd prepare untrained"),
        (tiny_folders["gpt2"], "out", "is of type gpt2, which cannot be exported as a graph"),
        (DEFAULT_CHECKPOINT, "out", "has weights of 0.0 GB in fp32, and a browser has room for"),
        (nano_folder, "out", "is an export for browsers already"),
        (tmp_path / "none", "out", "must be a folder or a hub id"),
        (nano_folder, "full", "out: must be a new folder or an empty one"),
    ]
    for model, out, words in cases:
        assert main(["export", "web", "--model", str(model), "--out", str(tmp_path / out)]) == 2
        said = capsys.readouterr().err
        assert words in said
        assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_command_says_what_it_wrote(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    assert main(["export", "web", "--out", str(out), "--json"]) == 0
    lines: Iterable[str] = capsys.readouterr().out.splitlines()
    told, last = list(lines)
    assert told == f"wrote {out}: sbd-nano, float32, 10.8 MB to download"
    data = json.loads(last)
    assert data["digest"] == open_web(out).digest
    assert data["download"] == open_web(out).manifest["download"]
    assert read_web(open_web(out))[2] is None


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SBD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that may be changed."""
    return Path(shutil.copytree(DEFAULT_CHECKPOINT, tmp_path / "mine"))


def kept() -> list[str]:
    return [path.name for path in exports_folder().iterdir()]


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
    assert (made.folder / "weights-00.bin").stat().st_size == PART_BYTES
    assert kept() == [made.folder.name]


def test_nothing_is_kept_of_an_export_that_fails(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(ModelError):
        keep_export(folder)
    assert kept() == []


def test_an_exported_folder_is_its_own_export(folder: Path, tmp_path: Path) -> None:
    export_module.export_web(folder, tmp_path / "web")
    found = find_export(tmp_path / "web")
    assert found is not None
    assert found.folder == tmp_path / "web"


def test_deleting_a_base_deletes_what_was_exported(folder: Path, capsys: Any) -> None:
    keep_export(folder)
    assert main(["fetch", "--remove"]) == 0
    assert not exports_folder().exists()


KIND = {"q8_0": gguf.GGMLQuantizationType.Q8_0, "q4_1": gguf.GGMLQuantizationType.Q4_1}


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize(("store", "loss"), [(in_8_bits, 0.02), (in_4_bits, 0.2)])
def test_blocks_hold_the_values_up_to_their_steps(store, loss) -> None:
    tensor = drawn(5, 96)
    tensor[0] = 0
    tensor[1] = 0.25
    stored = store(tensor)
    assert (stored.tensor() - tensor).abs().max() < loss
    assert torch.equal(stored.tensor()[0], tensor[0])


@pytest.mark.parametrize("store", [in_8_bits, in_4_bits])
def test_blocks_are_widened_to_the_bit_as_ggufs_library_does(store) -> None:
    stored = store(drawn(7, 64))
    rows = np.frombuffer(stored.data, np.uint8).reshape(7, -1)
    expected = gguf.quants.dequantize(rows, KIND[stored.kind])
    assert np.array_equal(stored.tensor().numpy(), expected)


def test_integers_and_scales_are_the_values() -> None:
    stored = in_8_bits(drawn(3, 64))
    integers, scales = rounded_parts(stored)
    assert (integers.shape, scales.shape) == ((3, 64), (3, 2))
    made = integers.reshape(3, 2, 32) * scales[:, :, None]
    assert np.array_equal(made.reshape(3, 64), stored.tensor().numpy())


def test_bf16_is_taken_where_it_loses_nothing() -> None:
    wide = drawn(4, 8)
    short = wide.to(torch.bfloat16).float()
    assert (exactly(wide).kind, exactly(short).kind) == ("f32", "bf16")
    for tensor in (wide, short):
        assert torch.equal(exactly(tensor).tensor(), tensor)


def test_rows_are_put_below_others() -> None:
    first, second = drawn(2, 32), drawn(1, 32)
    joined: Stored = exactly(first) + exactly(second)
    assert torch.equal(joined.tensor(), torch.cat([first, second]))
