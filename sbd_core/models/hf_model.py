"""Any transformers causal LM with full attention, behind the SetBlockModel protocol."""

import os
import secrets
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging

from sbd_core.config import DecodeConfig
from sbd_core.errors import ModelError, shown
from sbd_core.models.backends.c.forward import NativeForward
from sbd_core.models.backends.c.logit_stats import NativeMeasure
from sbd_core.models.backends.cuda_graph import StaticForward
from sbd_core.models.backends.llama.forward import LeanForward
from sbd_core.models.backends.llama.weights import is_lean
from sbd_core.models.backends.transformers import GeneralForward
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT, block_range_of
from sbd_core.models.devices import chosen_device, chosen_dtype
from sbd_core.models.protocol import Cache, Request
from sbd_core.models.token_text import piece_text
from sbd_core.sampling import Measure, measured

LOADING_ERRORS = (
    OSError,
    ValueError,
    RuntimeError,
    KeyError,
    ImportError,
    TypeError,
    SafetensorError,
    StrictDataclassError,
)


class Passes(Protocol):
    """What makes the forwards of a model."""

    def new_caches(self, count: int) -> Sequence[Any]:
        """See SetBlockModel.new_caches."""
        ...

    def forward(self, requests: Sequence[Request]) -> list[Tensor]:
        """See SetBlockModel.forward_batch."""
        ...


class HuggingFaceModel:
    """See SetBlockModel. The wrapped model and tokenizer are public: `.model`, `.tokenizer`.

    `.passes` makes the forwards: lean where is_lean() says it can, else through the model.
    `.is_native`: whether short ones run in C.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        name: str,
        *,
        may_be_lean: bool = True,
    ) -> None:
        """Raises ModelError if the model's attention cannot be masked freely."""
        refuse_other_attention(model, name)
        # transformers types these loosely; Any keeps our own code free of casts.
        self.model: Any = model.eval()
        self.tokenizer: Any = tokenizer
        self.name = name
        self.num_parameters = sum(parameter.numel() for parameter in model.parameters())
        self.device = str(model.device)
        self.vocabulary_size = int(self.model.get_input_embeddings().weight.shape[0])
        self.mask_token_id = usable_mask_token_id(tokenizer, self.vocabulary_size)
        self.end_token_ids = end_token_ids(model, tokenizer)
        self.max_positions = getattr(model.config, "max_position_embeddings", None)
        self.block_range = block_range_of(getattr(model.config, "set_block_decoding", None), name)
        self.measure: Measure = measured
        self.is_native = False
        self._encoding = threading.Lock()
        self._texts: dict[int, str] = {}
        self.passes: Passes = (
            LeanForward(model) if may_be_lean and is_lean(model) else GeneralForward(model)
        )

    def encode(self, prompt: str, is_raw: bool) -> tuple[int, ...]:
        """Token ids of a prompt; special-token text in it is plain text. is_raw: no template.

        Threads may call it at once: the tokenizer is set for each call, hence the lock.
        """
        with self._encoding:
            return self._encode(prompt, is_raw)

    def _encode(self, prompt: str, is_raw: bool) -> tuple[int, ...]:
        if is_raw or not self.tokenizer.chat_template:
            return tuple(self.tokenizer.encode(prompt, split_special_tokens=True))
        special = [token.content for token in self.tokenizer.added_tokens_decoder.values()]
        if any(text in prompt for text in special):
            return self._encode_around(prompt)
        turn = [{"role": "user", "content": prompt}]
        text = self.tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True)
        return tuple(self.tokenizer.encode(text, add_special_tokens=False))

    def _encode_around(self, prompt: str) -> tuple[int, ...]:
        """The template's own special tokens as such, the prompt's as plain text."""
        stand_in = secrets.token_hex(16)
        turn = [{"role": "user", "content": stand_in}]
        text = self.tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True)
        parts = text.split(stand_in)
        if len(parts) != 2:
            raise ModelError(f"{self.name}: its chat template does not hold the prompt once")
        before, after = (self.tokenizer.encode(p, add_special_tokens=False) for p in parts)
        plain = self.tokenizer.encode(prompt, add_special_tokens=False, split_special_tokens=True)
        return (*before, *plain, *after)

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of an answer, special tokens left out."""
        return str(
            self.tokenizer.decode(
                list(token_ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def token_text(self, token_id: int) -> str:
        """One token on its own, for showing; never raises for an id of the vocabulary."""
        text = self._texts.get(token_id)
        if text is None:
            text = self._texts[token_id] = piece_text(self.tokenizer, token_id)
        return text

    def new_cache(self) -> Cache:
        """An empty cache."""
        return self.new_caches(1)[0]

    def new_caches(self, count: int) -> Sequence[Cache]:
        """Empty caches whose passes can be made together."""
        return self.passes.new_caches(count)

    def forward(
        self,
        cache: Cache,
        causal_ids: Sequence[int],
        block_ids: Sequence[int],
        num_causal_logits: int,
    ) -> Tensor:
        """One pass; see SetBlockModel.forward. Logits come back on the CPU in fp32."""
        return self.passes.forward([Request(cache, causal_ids, block_ids, num_causal_logits)])[0]

    def forward_batch(self, requests: Sequence[Request]) -> list[Tensor]:
        """The passes of several texts; see SetBlockModel.forward_batch."""
        return self.passes.forward(requests)


def load(
    path_or_hub_id: str | Path | None = None,
    *,
    device: str = "auto",
    dtype: str = "auto",
    native: bool = False,
) -> HuggingFaceModel:
    """Load a model folder or hub id; None is the checkpoint that ships with this package.

    device: "auto" (CUDA if there is one), "cpu", "cuda" or "cuda:1". dtype: "auto" (fp32 on a
    CPU, the checkpoint's own on CUDA), "float32", "bfloat16" or "float16". native: short passes
    of one text in C, compiled now (see sbd_core.models.backends.c.forward). Weights are read from
    safetensors only and no code of the folder is run. Raises ArgumentError, ModelError.
    """
    source = str(path_or_hub_id) if path_or_hub_id is not None else str(DEFAULT_CHECKPOINT)
    place = chosen_device(device)
    precision: Any = chosen_dtype(dtype, place)
    is_folder = os.path.isdir(source)
    # "name" and "owner/name" may be hub ids; anything else can only be a folder.
    if not is_folder and (not source or source[0] in "./~\\" or source.count("/") > 1):
        raise ModelError(f"model: must be a folder or a hub id; there is no folder {shown(source)}")
    model, tokenizer = read(source, precision, is_folder=is_folder)
    name = Path(source).resolve().name if is_folder else source
    wrapped = HuggingFaceModel(model.to(place), tokenizer, name)
    if place.type == "cuda" and isinstance(wrapped.passes, LeanForward):
        _, largest = wrapped.block_range or (1, DecodeConfig().block_size)
        wrapped.passes = StaticForward(wrapped.passes, name, largest)
    if native:
        wrapped.passes, wrapped.measure = NativeForward(wrapped.passes, name), NativeMeasure()
        wrapped.is_native = True
    return wrapped


def read(
    source: str, dtype: Any, *, is_folder: bool, argument: str = "model"
) -> tuple[Any, PreTrainedTokenizerBase]:
    """The transformers model and tokenizer of a folder or hub id, safetensors only, no code run.

    Raises ModelError, which names what was asked for as `argument`.
    """
    options = {"trust_remote_code": False, "local_files_only": is_folder}
    try:
        with bars_only_on_a_terminal():
            tokenizer = AutoTokenizer.from_pretrained(source, **options)
            loaded: Any = AutoModelForCausalLM.from_pretrained(
                source,
                dtype=dtype,
                use_safetensors=True,
                attn_implementation="sdpa",
                output_loading_info=True,
                **options,
            )
    except LOADING_ERRORS as error:
        reason = " ".join(str(error).split())[:300]
        raise ModelError(
            f"{argument}: must be a folder or hub id of a transformers causal LM with "
            f"safetensors; {shown(source)} is not: {reason}"
        ) from error
    model, report = loaded
    # transformers fills weights that are not there with chance.
    if report["missing_keys"]:
        missing = sorted(report["missing_keys"])[0]
        raise ModelError(
            f"{argument}: {shown(source)} lacks weights its config names, such as {missing}"
        )
    return model, tokenizer


@contextmanager
def bars_only_on_a_terminal() -> Iterator[None]:
    """Keep transformers' loading bars out of logs and pipes."""
    was_enabled = logging.is_progress_bar_enabled()
    if not sys.stderr.isatty():
        logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


def refuse_other_attention(model: PreTrainedModel, name: str) -> None:
    """Raise ModelError for a model whose layers do not all attend to everything allowed."""
    config = model.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    has_window = getattr(config, "sliding_window", None) is not None and getattr(
        config, "use_sliding_window", True
    )
    others = sorted(kinds - {"full_attention"})
    if getattr(model, "_is_stateful", False):
        others.append("a recurrent state")
    if has_window and "sliding_attention" not in others:
        others.append("a sliding window")
    if others:
        raise ModelError(
            f"model: must use full attention in every layer; {name} uses {', '.join(others)}"
        )


def usable_mask_token_id(tokenizer: PreTrainedTokenizerBase, vocabulary_size: int) -> int | None:
    """The id of the mask token, None without one or without an embedding for it."""
    token_id = tokenizer.mask_token_id
    return token_id if token_id is not None and token_id < vocabulary_size else None


def end_token_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Every id that ends an answer: of generation_config, else config, else tokenizer."""
    generation = getattr(model, "generation_config", None)
    for source in (generation, model.config, tokenizer):
        ids = getattr(source, "eos_token_id", None)
        if ids is not None:
            return frozenset([ids] if isinstance(ids, int) else ids)
    return frozenset()
