"""A known base's weights in the blocks of the GGUF file that it was made from."""

import numpy as np

from sbd_core.extras import require
from sbd_core.models.bases import GGUF_FILE, require_base
from sbd_core.models.checkpoint_info import object_in
from sbd_core.models.stored_tensors import Stored

KIND_OF_GGUF = {"F32": "f32", "BF16": "bf16", "Q8_0": "q8_0", "Q4_1": "q4_1"}
NAME_OF_GGUF = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""Names of weights in a GGUF file, and in transformers."""


def stored_weights(name: str) -> dict[str, Stored]:
    """A known base's weights in the blocks of its file, as transformers names them.

    Raises ModelError where it is not here, MissingExtraError.
    """
    folder = require_base(name)
    require("fetch")
    from gguf import GGUFReader

    config = object_in(folder / "config.json")
    heads = {"q": config["num_attention_heads"], "k": config["num_key_value_heads"]}
    found = {}
    for tensor in GGUFReader(folder / GGUF_FILE).tensors:
        kind = KIND_OF_GGUF[tensor.tensor_type.name]
        shape = tuple(int(size) for size in reversed(tensor.shape))
        rows = np.ascontiguousarray(tensor.data)
        place = tensor.name.removesuffix(".weight").split(".")
        if place[0] == "blk":
            part = place[2].removeprefix("attn_")
            if part in heads:  # which the file has in another order of rows
                size = rows.shape[0] // heads[part]
                halves = rows.reshape(heads[part], size // 2, 2, -1)
                rows = np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(rows.shape)
            full = f"model.layers.{place[1]}.{NAME_OF_GGUF[place[2]]}"
        else:
            full = NAME_OF_GGUF[place[0]]
        found[f"{full}.weight"] = Stored(kind, shape, rows.tobytes())
    return found
