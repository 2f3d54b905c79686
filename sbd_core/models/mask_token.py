"""Chooses a model's mask token and gives it a row of the embedding matrix.

Works on a transformers model and its tokenizer in memory; writes no file.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

import torch

from sbd_core.errors import ModelError, shown
from sbd_core.models.model_folder import end_token_ids

RESERVED = re.compile(
    r"reserved|unused|placeholder|extra_id_|<\|?extra_\d+|\[control_\d+\]|<SPECIAL_\d+>"
)
"""Matches tokens that tokenizers keep free: of Llama 3, Gemma, Phi-3, OLMo, Mistral, Nemotron."""
ORDINARY = re.compile(r"[\w\s▁]*|.")
"""Matches tokens that are ordinary text: words, or a single character."""
NEW_NAMES = ("<m>", "<|mask|>", "<|sbd_mask|>")

Origin = Literal["existing", "reserved", "spare", "added"]


@dataclass(frozen=True, slots=True)
class MaskToken:
    """The mask token chosen for a model.

    text, token_id: the token's text and id.
    origin: "existing" for the tokenizer's own mask token, "reserved" for a token that the tokenizer
        keeps free, "spare" for a new token in an unused row of the embedding, "added" for a new
        token in a new row.
    """

    text: str
    token_id: int
    origin: Origin


@torch.no_grad()
def give_mask_token(model: Any, tokenizer: Any, chosen: MaskToken) -> None:
    """Add the mask token to the tokenizer and its row to the model's embedding, both in place.

    The row becomes the mean of the other tokens' rows, so that an untrained mask is a plausible
    input. An existing mask token keeps its row. Raises ModelError.
    """
    if chosen.origin == "existing":
        return
    num_rows = num_embedding_rows(model)
    tokenizer.add_special_tokens({"mask_token": chosen.text})
    if tokenizer.mask_token_id != chosen.token_id:
        raise ModelError(
            f"model: its tokenizer gives {chosen.text} the id {tokenizer.mask_token_id}, not "
            f"{chosen.token_id}: give the tokenizer a mask token by hand"
        )
    if chosen.origin == "added":
        model.resize_token_embeddings(num_rows + 1, mean_resizing=False)
    others = [i for i in range(min(len(tokenizer), num_rows)) if i != chosen.token_id]
    for layer in (model.get_input_embeddings(), model.get_output_embeddings()):
        for rows in (getattr(layer, "weight", None), getattr(layer, "bias", None)):
            if rows is not None:
                rows[chosen.token_id] = rows[others].mean(0, dtype=torch.float32).to(rows.dtype)


def num_embedding_rows(model: Any) -> int:
    """Number of rows of a model's embedding, including rows that no token uses."""
    return int(model.get_input_embeddings().weight.shape[0])


def require_special_rows(model: Any, tokenizer: Any, subject: str) -> None:
    """Raise ModelError if a tokenizer's pad, end or other special token has no embedding.

    The mask token may lack one, as give_mask_token() can add it, and so may an unknown token that
    the tokenizer never writes, as one of bytes knows every text. subject: begins the message.
    """
    num_rows = num_embedding_rows(model)
    backend = getattr(tokenizer, "backend_tokenizer", None)
    writes_unknown = backend is None or getattr(backend.model, "unk_token", None) is not None
    for name in ("pad_token", "eos_token", "bos_token", *(["unk_token"] if writes_unknown else [])):
        token_id = getattr(tokenizer, f"{name}_id")
        if token_id is not None and token_id >= num_rows:
            text = shown(getattr(tokenizer, name))
            raise ModelError(
                f"{subject} has no embedding for its tokenizer's {name} {text} ({token_id}), only "
                f"{num_rows} rows: call its resize_token_embeddings(), or name another {name}"
            )


def usable_mask_token_id(model: Any, tokenizer: Any) -> int | None:
    """The tokenizer's mask token id; None if there is none or the model cannot use it as a mask."""
    token_id: int | None = tokenizer.mask_token_id
    if token_id is None or token_id >= num_embedding_rows(model):
        return None
    return None if token_id in _other_uses(model, tokenizer) else token_id


def choose_mask_token(model: Any, tokenizer: Any) -> MaskToken:
    """Choose the mask token: the tokenizer's own, else a reserved, spare or added one.

    Changes nothing. Raises ModelError if no token can be chosen, or if the tokenizer's own mask
    token also has another meaning.
    """
    token_id, num_rows = tokenizer.mask_token_id, num_embedding_rows(model)
    others = _other_uses(model, tokenizer)
    if token_id is not None and token_id < num_rows:
        use = others.get(token_id)
        if use is None and ORDINARY.fullmatch(tokenizer.mask_token):
            use = "a token of ordinary text"
        if use is not None:
            raise ModelError(
                f"model: its tokenizer's mask_token {shown(tokenizer.mask_token)} is {use}: a mask "
                "must be a token of its own; set another, or null, in tokenizer_config.json"
            )
        return MaskToken(tokenizer.mask_token, token_id, "existing")
    names = tokenizer.special_tokens_map.values()  # a list names further special tokens
    in_use = {str(name) for name in names if not isinstance(name, (list, tuple))}
    in_use.add(str(tokenizer.chat_template or ""))
    for reserved, token in sorted(tokenizer.added_tokens_decoder.items(), reverse=True):
        text = token.content
        is_free = RESERVED.search(text) and not any(text in used for used in in_use)
        if is_free and token.special and reserved < num_rows and reserved not in others:
            return MaskToken(text, reserved, "reserved")
    vocabulary = tokenizer.get_vocab()
    names = (tokenizer.mask_token,) if tokenizer.mask_token else NEW_NAMES
    name = next((name for name in names if vocabulary.get(name, num_rows) >= num_rows), None)
    if name is None:
        raise ModelError(f"model: its tokenizer uses {', '.join(NEW_NAMES)} for something else")
    # A tokenizer numbers a new token after its last one.
    free = vocabulary.get(name, max(vocabulary.values()) + 1)
    if free > num_rows:
        raise ModelError(
            f"model: its tokenizer has {free} tokens for {num_rows} rows of the embedding"
        )
    return MaskToken(name, free, "spare" if free < num_rows else "added")


def _other_uses(model: Any, tokenizer: Any) -> dict[int, str]:
    """Find tokens that mean something else and so cannot be the mask: {token id: meaning}."""
    uses = dict.fromkeys(end_token_ids(model, tokenizer), "a token that ends answers")
    for name in ("eos_token", "bos_token", "pad_token", "unk_token"):
        token_id = getattr(tokenizer, f"{name}_id")
        if token_id is not None:
            uses[token_id] = f"its {name}"
    return uses
