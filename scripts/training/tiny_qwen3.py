"""Write a small Qwen3 of random weights, with the bundled tokenizer less its mask token.

python -m scripts.training.tiny_qwen3 FOLDER
"""

import sys
from pathlib import Path

import torch
from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT


def write(folder: Path) -> None:
    """A model folder as somebody else's would be, for `prepare` and `train --init`."""
    tokenizer = AutoTokenizer.from_pretrained(DEFAULT_CHECKPOINT, local_files_only=True)
    tokenizer.mask_token = None
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(0)
    Qwen3ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
