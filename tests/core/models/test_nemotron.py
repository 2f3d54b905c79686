"""A folder of Nemotron-Labs-Diffusion, of random weights: loaded, decoded as its attention is."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from transformers import Ministral3Config, Ministral3ForCausalLM

import sbd_core
from sbd_core import DecodeConfig, generate
from tests.core.models.tiny_models import GROUPED, tiny_tokenizer

BLOCK, MASK = 8, 100
ROPE = {
    "rope_type": "yarn", "factor": 16.0, "rope_theta": 1e6, "beta_fast": 32.0, "beta_slow": 1.0,
    "original_max_position_embeddings": 64, "mscale": 1.0, "mscale_all_dim": 1.0,
    "llama_4_scaling_beta": 0.1,
}  # fmt: skip


@pytest.fixture(scope="module")
def reference():
    torch.manual_seed(0)
    config = Ministral3Config(vocab_size=300, head_dim=8, rope_parameters=ROPE, **GROUPED)
    model = Ministral3ForCausalLM(config).eval()
    with torch.no_grad():
        model.lm_head.weight *= 3
    return model


@pytest.fixture(scope="module")
def folder(reference, tmp_path_factory) -> Path:
    """As the Hub has them: a model_type of its own, code that is not run, and other names."""
    place = tmp_path_factory.mktemp("nemotron")
    told = reference.config.to_dict()
    told |= {"model_type": "nemotron_labs_diffusion", "mask_token_id": MASK, "block_size": BLOCK}
    told |= {"architectures": ["NemotronLabsDiffusionModel"], "dlm_paradigm": "bidirectional"}
    told["auto_map"] = {"AutoModel": "modeling_nemotron_labs_diffusion.NemotronLabsDiffusionModel"}
    (place / "config.json").write_text(json.dumps(told))
    weights = {
        name.replace("model.", "encoder.", 1).replace("lm_head", "diffusion_head"): weight
        for name, weight in reference.state_dict().items()
    }
    save_file(weights, place / "model.safetensors", {"format": "pt"})
    tokenizer = tiny_tokenizer()
    tokenizer.mask_token = None
    tokenizer.save_pretrained(place)
    return place


@torch.no_grad()
def test_it_is_read_with_its_mask_and_its_block(folder, reference) -> None:
    model = sbd_core.load(folder, device="cpu")
    assert (model.mask_token_id, model.block_range) == (MASK, (BLOCK, BLOCK))
    ids = torch.tensor([[10, 20, 30, 40]])
    torch.testing.assert_close(model.model(ids).logits, reference(ids).logits)


@torch.no_grad()
def test_a_block_is_read_as_their_causal_context_reads_it(folder, reference) -> None:
    """The past causally, then a forward pass over the block alone, which sees it and itself."""
    prompt, block = [10, 20, 30, 40, 50], [60, *[MASK] * (BLOCK - 1)]
    past = reference(torch.tensor([prompt]), use_cache=True).past_key_values
    every = torch.ones((1, 1, BLOCK, len(prompt) + BLOCK), dtype=torch.bool)
    expected = reference(
        torch.tensor([block]), past_key_values=past, attention_mask=every,
        position_ids=torch.arange(len(prompt), len(prompt) + BLOCK)[None],
    ).logits[0]  # fmt: skip
    model = sbd_core.load(folder, device="cpu")
    cache = model.new_cache()
    model.forward(cache, prompt, (), 1)
    torch.testing.assert_close(model.forward(cache, (), block, 0), expected, atol=1e-4, rtol=1e-4)


def test_it_decodes_by_every_strategy(folder) -> None:
    model = sbd_core.load(folder, device="cpu")
    config = DecodeConfig(max_new_tokens=20, block_size=BLOCK)
    by_blocks = generate(model, [10, 20, 30], config)
    assert 0 < by_blocks.num_tokens <= 20
    assert MASK not in by_blocks.token_ids
    exact = [
        generate(model, [10, 20, 30], replace(config, strategy=name)).token_ids
        for name in ("verify", "ntp")
    ]
    assert exact[0] == exact[1]
