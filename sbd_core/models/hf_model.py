"""Wraps any transformers causal LM with full attention as a SetBlockModel."""

import hashlib
import re
import threading
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.convert_slow_tokenizer import bytes_to_unicode

from sbd_core.cost import shape_or_none
from sbd_core.models.block_adapter import BlockAdapter
from sbd_core.models.chat import Render, encode_prompt
from sbd_core.models.logits_processors import rules_of_folder, with_processors
from sbd_core.models.mask_token import usable_mask_token_id
from sbd_core.models.model_folder import (
    BlockSettings,
    end_token_ids,
    own_repetition_penalty,
    reach_of,
)
from sbd_core.models.probes import Exactness, keeps_bits
from sbd_core.models.protocol import Backend, Cache, ForwardRequest, Message
from sbd_core.models.sampler_head import SamplerHead
from sbd_core.sampling import ComputeLogitStats


def token_text(tokenizer: Any, token_id: int) -> str:
    """Return the text to show for one token of a transformers tokenizer, never empty.

    For example, one byte of a character is shown as \\xE2, and an id without a token as [123].
    """
    piece = tokenizer.convert_ids_to_tokens(token_id)
    if piece is None:
        return f"[{token_id}]"
    text = str(tokenizer.decode([token_id], clean_up_tokenization_spaces=False))
    # SentencePiece pieces lose their leading space when decoded alone.
    if piece.startswith("\u2581") and not text.startswith(" "):
        text = " " + text
    if "\ufffd" not in text:
        return text or piece
    if re.fullmatch(r"<0x[0-9A-F]{2}>", piece):  # SentencePiece's
        return f"\\x{piece[3:5]}"
    table = byte_of_character()
    if all(character in table for character in piece):
        every = (table[character] for character in piece)
        return "".join(chr(n) if 32 <= n < 127 else f"\\x{n:02X}" for n in every)
    return str(piece)


@cache
def byte_of_character() -> dict[str, int]:
    """Map each character of the byte-level BPE alphabet (GPT-2) to the byte it stands for."""
    return {character: byte for byte, character in bytes_to_unicode().items()}


class TransformersModel:
    """A transformers model and its backend: all of a SetBlockModel but the tokenizer's part.

    model: the wrapped model. backend: runs the forward passes.
    """

    repetition_penalty = 1.0

    def __init__(
        self,
        model: Any,
        name: str,
        backend: Backend,
        *,
        mask_token_id: int | None,
        end_token_ids: frozenset[int],
        compute_logit_stats: ComputeLogitStats,
        sampler_head: SamplerHead | None = None,
    ) -> None:
        """Wrap a model. name: its name in error messages. Raises ModelError."""
        self.model, self.name, self.backend = model, name, backend
        self.num_parameters = sum(parameter.numel() for parameter in model.parameters())
        self.device = str(model.device)
        self.vocabulary_size = int(model.get_input_embeddings().weight.shape[0])
        self.mask_token_id, self.end_token_ids = mask_token_id, end_token_ids
        self.max_positions = reach_of(model.config)
        settings = BlockSettings.of(model.config, name)
        self.block_range, self.strategy = settings.block_range, settings.strategy
        self.calibration = settings.calibration
        self.is_trained = mask_token_id is not None and settings.is_trained
        self.shape = shape_or_none(
            model.config.get_text_config(), next(model.parameters()).element_size()
        )
        self.sampler_head, self.compute_logit_stats = sampler_head, compute_logit_stats
        self.weights: Mapping[str, str] = {}

    @property
    def has_own_threads(self) -> bool:
        return self.backend.has_own_threads

    def new_caches(self, count: int) -> Sequence[Cache]:
        return self.backend.new_caches(count)

    def forward_batch(self, requests: Sequence[ForwardRequest]) -> list[Tensor]:
        return self.backend.forward(requests)


class HuggingFaceModel(TransformersModel):
    """A transformers model and its tokenizer, wrapped as a SetBlockModel.

    model, tokenizer: the wrapped objects. backend: runs the forward passes.
    adapter: the block adapter, None if the model has none.
    is_trained: whether the model was trained to predict masked tokens.
    folder: where `model` was read from; None for a model from the Hub or with a peft adapter.
    render: renders chats; None is the tokenizer's own way.
    """

    render: Render | None = None

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        name: str,
        *,
        backend: Backend,
        adapter: BlockAdapter | None = None,
        weights: Mapping[str, str] | None = None,
    ) -> None:
        """Wrap a model and its tokenizer. adapter: the block adapter that `backend` applies.

        weights: {name: digest of the weights} of the model and an adapter's base; None if unknown.
        """
        mask_token_id = usable_mask_token_id(model, tokenizer)
        super().__init__(
            model.eval(),
            name,
            backend,
            mask_token_id=mask_token_id,
            end_token_ids=end_token_ids(model, tokenizer),
            compute_logit_stats=with_processors(rules_of_folder(model, mask_token_id, name)),
            sampler_head=None if adapter is None else adapter.sampler_head(model),
        )
        # transformers types it loosely; Any keeps our own code free of casts.
        self.tokenizer: Any = tokenizer
        self.adapter = adapter
        if adapter is not None and adapter.info.calibration is not None:
            self.calibration = adapter.info.calibration
        self.repetition_penalty = own_repetition_penalty(model, name)
        path = model.name_or_path if getattr(model, "peft_config", None) is None else None
        self.folder = Path(path) if path and Path(path).is_dir() else None
        self._encoding = threading.Lock()
        self._texts: dict[int, str] = {}
        self.weights = dict(weights or {})

    @property
    def runs_on(self) -> str:
        """The names of the backend and of the weights' dtype, such as "ONNX Runtime, int8"."""
        return f"{self.backend.name}, {self.dtype}"

    @cached_property
    def exactness(self) -> Exactness:
        """How surely verify gives the tokens of next-token prediction; tested at the first access.

        "probed": keeps_bits() found no difference. "equal up to rounding": a token may differ.
        """
        is_exact = keeps_bits(self.backend.new_caches, self.backend.forward, self.max_positions)
        return "probed" if is_exact else "equal up to rounding"

    @property
    def dtype(self) -> str:
        """The dtype of the weights that forward passes read: float32, bfloat16, float16 or int8."""
        return self.backend.dtype

    def encode(self, prompt: str | Sequence[Message], *, is_raw: bool) -> tuple[int, ...]:
        with self._encoding:  # each call changes the tokenizer's settings
            options: dict[str, Any] = {"is_raw": is_raw, "render": self.render}
            return tuple(encode_prompt(self.tokenizer, prompt, self.name, **options))

    def decode(self, token_ids: Sequence[int]) -> str:
        """Decode token ids to text; special tokens are left out."""
        options = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        return str(self.tokenizer.decode(list(token_ids), **options))

    def token_text(self, token_id: int) -> str:
        """Return the text to show for one token; every id of the vocabulary has one."""
        if token_id not in self._texts:
            self._texts[token_id] = token_text(self.tokenizer, token_id)
        return self._texts[token_id]

    def new_cache(self) -> Cache:
        """Make an empty cache for one text."""
        return self.new_caches(1)[0]

    def forward(self, *request: Any) -> Tensor:
        """Run a forward pass of one text; returns its logits. request: of ForwardRequest."""
        return self.forward_batch([ForwardRequest(*request)])[0]


VALUES_A_WEIGHT = 256
"""Number of values per weight in a digest: enough to tell models apart, and quick."""


def digest_of_weights(model: Any) -> str:
    """Digest of the first values of each weight of a transformers model and of adapters in it.

    The values are rounded to bf16, so a model has one digest in fp32 and in bf16.
    """
    values = hashlib.sha256()
    for _, weight in sorted(model.named_parameters()):
        some = weight.detach().flatten()[:VALUES_A_WEIGHT].to("cpu", torch.bfloat16)
        values.update(some.view(torch.int16).numpy().tobytes())
    return values.hexdigest()
