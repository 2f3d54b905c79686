"""LoRA adapters of peft decode as what they are, by every way in."""

import pytest
import torch
from transformers import AutoModelForCausalLM

import sbd_core
from sbd_core import DecodeConfig
from sbd_core.hf import generate
from tests.core.models.tiny_models import save_tiny, tiny_tokenizer

PROMPT = [10, 20, 30]
CONFIG = DecodeConfig(max_new_tokens=12, block_size=4)


@pytest.mark.filterwarnings("ignore")
def test_an_adapter_folder_decodes_as_its_merged_model(tmp_path) -> None:
    peft = pytest.importorskip("peft", reason="peft is no requirement of the tests")
    base = save_tiny(tmp_path / "base", "qwen3", tiny_tokenizer(), mask_token_id=2)
    lora = peft.LoraConfig(
        target_modules=["q_proj", "v_proj"], init_lora_weights=False, trainable_token_indices=[2]
    )
    torch.manual_seed(0)
    adapted = peft.get_peft_model(AutoModelForCausalLM.from_pretrained(base), lora)
    adapted.save_pretrained(tmp_path / "adapter")
    tiny_tokenizer().save_pretrained(tmp_path / "adapter")
    loaded = sbd_core.load(tmp_path / "adapter", device="cpu", dtype="float32")
    answer = list(sbd_core.generate(loaded, PROMPT, CONFIG).token_ids)
    ids = torch.tensor([PROMPT])
    options = {"custom_generate": generate, "max_new_tokens": 12, "block_size": 4}
    assert adapted.generate(input_ids=ids, **options)[0, 3:].tolist() == answer
    merged = adapted.merge_and_unload()
    assert merged.generate(input_ids=ids, **options)[0, 3:].tolist() == answer
    plain = sbd_core.load(base, device="cpu", dtype="float32")
    assert list(sbd_core.generate(plain, PROMPT, CONFIG).token_ids) != answer
