"""Folders of Nemotron-Labs-Diffusion, read as what they are under their own code: Ministral 3.

The weights are those of a Ministral 3 decoder by other names, and the attention in its
causal-context mode is that of Set Block Decoding: the past is read causally, a block of masks sees
it and itself both ways, and a mask's logits are of its own position. Two things are not taken over:
there the first token of a block is always the causal head's; and a prompt read both ways, the other
mode, is not read.
"""

from typing import Any

MODEL_TYPE = "nemotron_labs_diffusion"
KEY_MAPPING = {"^encoder": "model", "^diffusion_head": "lm_head"}
"""Maps a weight's name there to its name in Ministral3ForCausalLM."""


def loading_options(source: str, *, is_folder: bool) -> dict[str, Any]:
    """Arguments by which from_pretrained() reads such a folder or hub id; none for any other."""
    from transformers import Ministral3Config, PretrainedConfig

    found, _ = PretrainedConfig.get_config_dict(source, local_files_only=is_folder)
    if found.get("model_type") != MODEL_TYPE:
        return {}
    known = Ministral3Config().to_dict()
    config = Ministral3Config(
        **{name: found[name] for name in known if name in found and name != "model_type"}
    )
    size = int(found["block_size"])
    config.set_block_decoding = {"min_block_size": size, "max_block_size": size}
    config.mask_token_id = int(found["mask_token_id"])
    return {"config": config, "key_mapping": KEY_MAPPING}


def name_mask_token(tokenizer: Any, config: Any) -> None:
    """Have the tokenizer know the mask that the config names, whose token has a name of its own."""
    if tokenizer.mask_token_id is None:
        tokenizer.mask_token = tokenizer.convert_ids_to_tokens(config.mask_token_id)
