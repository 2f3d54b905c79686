"""Adapters decode as peft computes them, and block adapters in the base's own words."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

import sbd_core
import sbd_core.hf
from sbd_core import ArgumentError, DecodeConfig, ModelError, load
from sbd_core.hf import merge
from sbd_core.solvers import EntropyBound
from sbd_core.vllm.serving import command
from tests.core.decoding.doubles import random_ids
from tests.core.models.tiny_models import save_tiny, tiny_tokenizer

peft = pytest.importorskip("peft", reason="peft is no requirement of the tests")
pytestmark = pytest.mark.filterwarnings("ignore")
PROMPT = [10, 20, 30]
IDS = torch.tensor([[10, 20, 30, 2, 7, 40, 3]])
CONFIG = DecodeConfig(max_new_tokens=12, block_size=4)
ALONE = {"target_modules": ["q_proj"]}
SAVED = {"lm_head": ["lm_head"], "both": ["lm_head", "embed_tokens"], "norm": ["norm"]}
TOKENS = [2, 7]
LORA = {
    "all-linear": {"target_modules": "all-linear"},
    "dora": {"target_modules": "all-linear", "use_dora": True},
    "tied tokens": {**ALONE, "trainable_token_indices": TOKENS, "ensure_weight_tying": True},
    "two tokens": {**ALONE, "trainable_token_indices": {"embed_tokens": [2], "lm_head": [3]}},
    "head": {"target_modules": ["q_proj", "lm_head"]},
    "bias": {**ALONE, "bias": "all"},
    "replicated": {**ALONE, "layer_replication": [[0, 2], [1, 2]]},
    **{f"saved {name}": {**ALONE, "modules_to_save": names} for name, names in SAVED.items()},
}
UNTIES = ("two tokens", "head", "replicated")
"""Kinds whose merge by peft would also change the other use of a shared weight."""


@pytest.fixture
def base(tmp_path) -> Path:
    return save_tiny(tmp_path / "base", "qwen3", tiny_tokenizer(), mask_token_id=2)


def tied_base(folder: Path) -> Path:
    """A base whose output layer is the embedding, as of SmolLM2 and Qwen3-0.6B."""
    model = AutoModelForCausalLM.from_pretrained(save_tiny(folder, "llama", tiny_tokenizer()))
    model.config.tie_word_embeddings = True
    model.tie_weights()
    model.save_pretrained(folder)
    assert "lm_head.weight" not in load_file(folder / "model.safetensors")
    return folder


@torch.no_grad()
def adapter_of(base: Path, folder: Path, config: object, *, resized: int | None = None) -> Path:
    """A new adapter on `base` as peft saves it, its weights moved by chance."""
    model = AutoModelForCausalLM.from_pretrained(base)
    if resized:
        model.resize_token_embeddings(resized, mean_resizing=False)
    adapted = peft.get_peft_model(model, config)
    generator = torch.Generator().manual_seed(1)
    for weight in adapted.parameters():
        if weight.requires_grad:
            weight += 0.1 * torch.randn(weight.shape, generator=generator)
    adapted.save_pretrained(folder)
    return folder


@torch.no_grad()
def logits_of(model: torch.nn.Module) -> torch.Tensor:
    return model.eval()(input_ids=IDS).logits


def by_peft(base: Path, adapter: Path, resized: int | None = None) -> torch.Tensor:
    model = AutoModelForCausalLM.from_pretrained(base)
    if resized:
        model.resize_token_embeddings(resized, mean_resizing=False)
    return logits_of(peft.PeftModel.from_pretrained(model, adapter))


def ours(folder: Path) -> torch.Tensor:
    return logits_of(sbd_core.load(folder, device="cpu", dtype="float32").model)


@pytest.mark.parametrize("kind", LORA)
def test_beside_tied_embeddings_an_adapter_is_what_peft_makes_of_it(kind, tmp_path) -> None:
    base = tied_base(tmp_path / "base")
    config = peft.LoraConfig(task_type="CAUSAL_LM", r=4, **LORA[kind])
    adapter = adapter_of(base, tmp_path / "adapter", config)
    wanted = by_peft(base, adapter)
    assert (wanted - logits_of(AutoModelForCausalLM.from_pretrained(base))).abs().max() > 0.1
    torch.testing.assert_close(ours(adapter), wanted)
    if kind in UNTIES:
        with pytest.raises(ModelError, match="merging changed its logits by"):
            merge(adapter, tmp_path / "merged")
        assert not (tmp_path / "merged").exists()
        return
    merge(adapter, tmp_path / "merged")
    merged = AutoModelForCausalLM.from_pretrained(tmp_path / "merged")
    torch.testing.assert_close(logits_of(merged), wanted, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "config",
    [
        peft.IA3Config(target_modules=["k_proj"], feedforward_modules=[], init_ia3_weights=False),
        peft.VeraConfig(target_modules=["q_proj"], init_weights=False),
        peft.TrainableTokensConfig(token_indices=TOKENS, target_modules=["embed_tokens"]),
    ],
    ids=lambda config: config.peft_type.value,
)
def test_an_adapter_that_is_no_lora_is_what_peft_makes_of_it(config, base, tmp_path) -> None:
    adapter = adapter_of(base, tmp_path / "adapter", config)
    torch.testing.assert_close(ours(adapter), by_peft(base, adapter))


@pytest.mark.parametrize("is_tied", [False, True])
@pytest.mark.parametrize("saved", [None, ["lm_head"], ["lm_head", "embed_tokens"]])
def test_an_adapter_with_a_larger_vocabulary_brings_it(saved, is_tied, base, tmp_path):
    """axolotl 0.19.0, loaders/model.py: a row a token, or with resize_token_embeddings_to_32x a
    multiple of 32; LLaMA-Factory 0.9.5, model/model_utils/embedding.py: a multiple of 64.
    """
    base, size = tied_base(tmp_path / "tied") if is_tied else base, 288
    config = peft.LoraConfig(**ALONE, modules_to_save=saved)
    adapter = adapter_of(base, tmp_path / "adapter", config, resized=size)
    tokenizer = tiny_tokenizer()
    tokenizer.add_tokens(["<new>"])
    tokenizer.save_pretrained(adapter)
    wanted = by_peft(base, adapter, resized=size)
    assert wanted.shape[-1] == size
    torch.testing.assert_close(ours(adapter), wanted)
    merge(adapter, tmp_path / "merged")
    torch.testing.assert_close(ours(tmp_path / "merged"), wanted, atol=1e-4, rtol=1e-4)


def test_a_folder_with_the_config_of_its_base_is_an_adapter_still(base, tmp_path) -> None:
    """axolotl 0.19.0, train.py: model.config.save_pretrained() beside the adapter's files."""
    adapter = adapter_of(base, tmp_path / "adapter", peft.LoraConfig(**ALONE))
    shutil.copy(base / "config.json", adapter)
    torch.testing.assert_close(ours(adapter), by_peft(base, adapter))
    shutil.copy(base / "model.safetensors", adapter)
    with pytest.raises(ModelError, match="holds a whole model and an adapter_config"):
        sbd_core.load(adapter, device="cpu")


def test_an_answer_also_ends_where_the_adapters_tokenizer_ends_one(base, tmp_path) -> None:
    """A tokenizer beside the adapter, as trl 1.16.0 and axolotl 0.19.0 save it, whose end of turn
    the base does not know.
    """
    adapter = adapter_of(base, tmp_path / "adapter", peft.LoraConfig(**ALONE))
    assert sbd_core.load(adapter, device="cpu").end_token_ids == {1}
    tokenizer = tiny_tokenizer()
    tokenizer.eos_token = "<assistant>"
    tokenizer.save_pretrained(adapter)
    assert sbd_core.load(adapter, device="cpu").end_token_ids == {1, 4}
    merge(adapter, tmp_path / "merged")
    assert sbd_core.load(tmp_path / "merged", device="cpu").end_token_ids == {1, 4}


def test_an_adapter_folder_decodes_as_its_merged_model(base, tmp_path) -> None:
    lora = peft.LoraConfig(**ALONE, trainable_token_indices=TOKENS)
    adapter = adapter_of(base, tmp_path / "adapter", lora)
    adapted = peft.PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), adapter)
    loaded = sbd_core.load(adapter, device="cpu", dtype="float32")
    answer = list(sbd_core.generate(loaded, PROMPT, CONFIG).token_ids)
    ids = torch.tensor([PROMPT])
    options = {"custom_generate": sbd_core.hf.generate, "max_new_tokens": 12, "block_size": 4}
    assert adapted.generate(input_ids=ids, **options)[0, 3:].tolist() == answer
    merged = adapted.merge_and_unload()
    assert merged.generate(input_ids=ids, **options)[0, 3:].tolist() == answer
    plain = sbd_core.load(base, device="cpu", dtype="float32")
    assert list(sbd_core.generate(plain, PROMPT, CONFIG).token_ids) != answer
    assert loaded.weights != {"adapter": plain.weights["base"]}, "a trace tells them apart"


def test_merging_in_bf16_turns_no_other_angles(base, tmp_path) -> None:
    """A base in bf16 has its rotary angles in fp32, as whoever reads the merged folder has them."""
    AutoModelForCausalLM.from_pretrained(base, dtype=torch.bfloat16).save_pretrained(base)
    adapter = adapter_of(base, tmp_path / "adapter", peft.LoraConfig(target_modules=["q_proj"]))
    done = merge(adapter, tmp_path / "merged")
    assert done.dtype == "bfloat16"
    read = AutoModelForCausalLM.from_pretrained(tmp_path / "merged")
    assert read.dtype == torch.bfloat16


def changed(adapter: Path, **settings: object) -> None:
    file = adapter / "adapter_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **settings}))


def with_first_weight(adapter: Path, *value: torch.Tensor) -> None:
    """Replace the adapter's first weight by another, or leave it out."""
    weights = load_file(adapter / "adapter_model.safetensors")
    first = min(weights)
    del weights[first]
    weights.update((first, each) for each in value)
    save_file(weights, adapter / "adapter_model.safetensors")


def pickled(adapter: Path) -> None:
    torch.save(load_file(adapter / "adapter_model.safetensors"), adapter / "adapter_model.bin")
    (adapter / "adapter_model.safetensors").unlink()


@pytest.mark.parametrize(
    ("damage", "rule"),
    [
        (lambda a: changed(a, use_new=True), "use_new set in its adapter_config.json, which peft"),
        (lambda a: changed(a, new_config={"r": 1}), "new_config set in its adapter_config.json"),
        (lambda a: changed(a, peft_type="NEWLORA"), "KeyError: 'NEWLORA'"),
        (lambda a: changed(a, alora_invocation_tokens=[5]), "is an activated LoRA of peft"),
        (lambda a: changed(a, base_model_name_or_path=None), "names no base"),
        (lambda a: changed(a, base_model_name_or_path="./gone"), "no folder './gone'"),
        (lambda a: changed(a, base_model_name_or_path=str(a)), "is an adapter of an adapter"),
        (lambda a: changed(a, r=9), r"size mismatch for \S*q_proj.lora_A"),
        (lambda a: changed(a, target_modules=["qkv"]), "Target modules"),
        (lambda a: changed(a, target_modules=["q_proj", "v_proj"]), r"it lacks \S*v_proj"),
        (lambda a: changed(a, modules_to_save=["norm"]), "norm"),
        (lambda a: with_first_weight(a, torch.empty(0)), "size mismatch for"),
        (with_first_weight, r"it lacks \S*q_proj.lora_A"),
        (pickled, "lacks adapter_model.safetensors"),
    ],
)
def test_an_adapter_that_cannot_be_read_says_which_part_and_why(damage, rule, base, tmp_path):
    adapter = adapter_of(base, tmp_path / "adapter", peft.LoraConfig(**ALONE))
    damage(adapter)
    with pytest.raises(ModelError, match=rule) as caught:
        sbd_core.load(adapter, device="cpu")
    assert "\n" not in str(caught.value)
    with pytest.raises(ModelError, match=rule):
        merge(adapter, tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_what_a_newer_peft_left_switched_off_is_no_hindrance(base, tmp_path) -> None:
    adapter = adapter_of(base, tmp_path / "adapter", peft.LoraConfig(**ALONE))
    changed(adapter, use_new=False, new_config=None, new_size=16, new_core="a.name")
    torch.testing.assert_close(ours(adapter), by_peft(base, adapter))


@pytest.mark.parametrize("kind", [peft.PromptTuningConfig, peft.PrefixTuningConfig])
def test_an_adapter_of_whole_texts_is_refused_by_its_kind(kind, base, tmp_path) -> None:
    config = kind(task_type="CAUSAL_LM", num_virtual_tokens=4)
    adapter = adapter_of(base, tmp_path / "adapter", config)
    with pytest.raises(ModelError, match=f"is {config.peft_type.value} of peft"):
        sbd_core.load(adapter, device="cpu")


def test_what_peft_cannot_merge_says_so(base, tmp_path) -> None:
    config = peft.LoraConfig(**ALONE, lora_bias=True)
    adapter = adapter_of(base, tmp_path / "adapter", config)
    torch.testing.assert_close(ours(adapter), by_peft(base, adapter))
    with pytest.raises(ModelError, match="cannot be merged: Impossible to merge LoRA"):
        merge(adapter, tmp_path / "merged")


SETTINGS = {"strategy": "verify", "block_size": 4}


def test_generate_decodes_as_the_engine_does_and_keeps_the_base_s_words(adapter_folder, llama):
    model, tokenizer = sbd_core.hf.read_adapted(adapter_folder)
    engine = load(adapter_folder, device="cpu", dtype="float32")
    ours = {"custom_generate": sbd_core.hf.generate, "return_dict_in_generate": True, **SETTINGS}
    for prompt in random_ids(3, llama.vocabulary_size):
        asked = {"inputs": torch.tensor([prompt]), "max_new_tokens": 20, "do_sample": False}
        words, output = model.generate(**asked), model.generate(**asked, **ours)
        assert output.sequences.tolist() == words.tolist()
        trace = sbd_core.generate(engine, prompt, DecodeConfig(max_new_tokens=20, **SETTINGS))
        assert [*prompt, *trace.token_ids] == output.sequences[0].tolist()
        assert output.num_forwards == (trace.num_forwards,)
    assert tokenizer.mask_token_id == engine.mask_token_id


def test_a_folder_without_a_block_adapter_is_refused(tiny_folders: dict[str, Path]) -> None:
    with pytest.raises(ArgumentError, match="path: must be the folder of a block adapter"):
        sbd_core.hf.read_adapted(tiny_folders["llama"])


def test_in_bfloat16_on_a_cpu_an_adapter_runs_through_the_model_s_own_modules(adapter_folder):
    model = load(adapter_folder, device="cpu", dtype="bfloat16")
    assert model.runs_on == "transformers, bfloat16"
    [prompt] = random_ids(1, model.vocabulary_size)
    assert sbd_core.generate(model, prompt, DecodeConfig(max_new_tokens=8, **SETTINGS)).num_tokens


def test_an_adapter_is_served_by_vllm_as_the_model_that_it_makes(base, tmp_path, monkeypatch):
    monkeypatch.setenv("SBD_CACHE", str(tmp_path / "cache"))
    adapter = adapter_of(base, tmp_path / "adapter", peft.LoraConfig(**ALONE))
    words = partial(command, solver=EntropyBound(), block_size=4)
    [folder, *_] = words(str(adapter))
    merge(adapter, tmp_path / "merged")
    own, expected = (
        load_file(Path(each) / "model.safetensors") for each in (folder, tmp_path / "merged")
    )
    assert own.keys() == expected.keys()
    assert all(torch.equal(own[name], expected[name]) for name in own)
    assert words(str(adapter))[0] == folder  # merged once
