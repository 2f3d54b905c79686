"""Random-weight models of several architectures, as folders that sbd_core.load reads.

The output layer is drawn wide, so that entropies differ from position to position; the rest is
narrow enough for fp32 to stay within 1e-5.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from sbd_core.config import Calibration
from sbd_core.models.block_adapter import write_block_adapter
from sbd_core.training.adapter_step import GatedBase
from sbd_core.training.new_model import EOS_ID, PAD_ID, train_tokenizer
from sbd_core.training.train_adapter import read_base

VOCABULARY = 300
REACH = 128

NARROW: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": REACH,
    "initializer_range": 0.2,
    "bos_token_id": None,
    "eos_token_id": EOS_ID,
    "pad_token_id": PAD_ID,
}
NARROW_GPT2: dict[str, Any] = {
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": REACH,
    "initializer_range": 0.2,
    "bos_token_id": None,
    "eos_token_id": EOS_ID,
    "pad_token_id": PAD_ID,
    "embd_pdrop": 0.0,
    "attn_pdrop": 0.0,
    "resid_pdrop": 0.0,
}
GROUPED: dict[str, Any] = {**NARROW, "num_key_value_heads": 2}
HEADS_OF_8: dict[str, Any] = {**GROUPED, "head_dim": 8}
EXPERTS = {"moe_intermediate_size": 32, "num_experts": 4, "num_experts_per_tok": 2}
WINDOW = {"sliding_window": 8}

MAKERS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", GROUPED),
    "qwen2": ("qwen2", GROUPED),
    "qwen3": ("qwen3", HEADS_OF_8),
    "gpt2": ("gpt2", NARROW_GPT2),
    "gpt_neox": ("gpt_neox", NARROW),
    "sliding": ("mistral", {**GROUPED, **WINDOW}),
    # Those of docs/hugging-face.md that are not among the above.
    "qwen3_moe": ("qwen3_moe", {**HEADS_OF_8, **EXPERTS}),
    "mistral": ("mistral", {**GROUPED, "sliding_window": None}),
    "phi3": ("phi3", {**GROUPED, "original_max_position_embeddings": REACH}),
    "olmo2": ("olmo2", GROUPED),
    "smollm3": ("smollm3", GROUPED),
    "granite": ("granite", GROUPED),
    "gemma2": ("gemma2", {**HEADS_OF_8, **WINDOW}),
    "gemma3": ("gemma3_text", {**HEADS_OF_8, **WINDOW}),
}
"""{architecture: (type of model, its config)}."""
ARCHITECTURES = ("llama", "qwen3", "gpt2", "gpt_neox")


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """Bytes and a few words, with <pad>, <eos>, <m>, <user>, <assistant> and a chat template."""
    return train_tokenizer(["Tara has 49 pencils. The answer is 7.\n"] * 4, VOCABULARY)


def maskless_tokenizer() -> PreTrainedTokenizerFast:
    """Single characters, an end token, neither mask token nor chat template."""
    letters = "abcdefghijklmnopqrstuvwxyz "
    vocabulary = {"<pad>": 0, "<eos>": 1, **{c: i for i, c in enumerate(letters, start=2)}}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<pad>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", pad_token="<pad>")


def tiny_model(architecture: str, vocabulary_size: int, seed: int = 0) -> PreTrainedModel:
    """The architecture with two narrow layers and seeded fp32 weights, in eval mode."""
    kind, sizes = MAKERS[architecture]
    config = AutoConfig.for_model(kind, vocab_size=vocabulary_size, **sizes)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config).eval()
        with torch.no_grad():
            model.get_output_embeddings().weight *= 3
        return model


def save_tiny(
    folder: Path, architecture: str, tokenizer: PreTrainedTokenizerBase, **config: Any
) -> Path:
    """A model folder for sbd_core.load; `config` becomes attributes of the model's config."""
    model = tiny_model(architecture, len(tokenizer))
    for name, value in config.items():
        setattr(model.config, name, value)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_adapter(folder: Path, base_folder: Path) -> Path:
    """A random block adapter of the model in `base_folder`, sampler head included."""
    base = read_base(str(base_folder), 4, (2, 16), device="cpu")
    generator = torch.Generator().manual_seed(7)
    adapter = GatedBase(base.model, base.info, 8, generator).adapter
    with torch.no_grad():
        for value in adapter.tensors().values():
            value.add_(0.1 * torch.randn(value.shape, generator=generator))
    folder.mkdir()
    info = replace(base.info, calibration=Calibration((0.5, 0.2), drafted=0.9, alternatives=1.1))
    write_block_adapter(replace(adapter, info=info), folder)
    return folder
