"""A transformers model without its tokenizer, behind the SetBlockModel protocol.

model.generate() is given token ids, so nothing here turns ids into text.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor

from sbd_core.cost import shape_or_none
from sbd_core.errors import ArgumentError
from sbd_core.models.backends.transformers import TransformersBackend
from sbd_core.models.block_attention import require_block_attention
from sbd_core.models.model_config import BlockSettings, reach_of
from sbd_core.models.protocol import Cache, ForwardRequest, Message
from sbd_core.sampling import ComputeLogitStats

if TYPE_CHECKING:
    from sbd_core.models.block_adapter import SamplerHead

ATTENTION = ("sdpa", "eager")
"""The implementations that read any mask; flash kernels know causal ones alone."""


class TokenModel:
    """See SetBlockModel. Every forward pass goes through the model's own modules."""

    def __init__(
        self,
        model: Any,
        mask_token_id: int | None,
        end_token_ids: frozenset[int],
        compute_logit_stats: ComputeLogitStats,
    ) -> None:
        """Raises ModelError, ArgumentError for attention that cannot read a block."""
        self.name = model.config._name_or_path or type(model).__name__
        attention = model.config._attn_implementation
        if attention not in ATTENTION:
            raise ArgumentError("attn_implementation", "must be sdpa or eager", attention)
        require_block_attention(model, self.name)
        self.num_parameters = model.num_parameters()
        self.device = str(model.device)
        self.vocabulary_size = int(model.get_input_embeddings().weight.shape[0])
        self.mask_token_id = mask_token_id
        self.end_token_ids = end_token_ids
        self.max_positions = reach_of(model.config)
        settings = BlockSettings.of(model.config, self.name)
        self.block_range, self.strategy = settings.block_range, settings.strategy
        self.calibration = settings.calibration
        self.shape = shape_or_none(
            model.config.get_text_config(), next(model.parameters()).element_size()
        )
        self.repetition_penalty = 1.0  # transformers hands over the one to use
        gate = getattr(model, "block_adapter", None)  # of sbd_core.hf.read_adapted
        self.sampler_head: SamplerHead | None = gate.sampler_head if gate else None
        self.has_own_threads = False
        self.weights: Mapping[str, str] = {}  # no text, so no trace is kept
        self.compute_logit_stats = compute_logit_stats
        self._backend = TransformersBackend(model, gate)

    def encode(self, prompt: str | Sequence[Message], *, is_raw: bool) -> tuple[int, ...]:
        """Refused: prompts are token ids here."""
        raise ArgumentError("prompt", "must be token ids", prompt)

    def decode(self, token_ids: Sequence[int]) -> str:
        """An empty text: there is no tokenizer."""
        return ""

    def token_text(self, token_id: int) -> str:
        """An id by its number."""
        return f"[{token_id}]"

    def new_caches(self, count: int) -> Sequence[Cache]:
        """Empty caches whose forward passes can be made together."""
        return self._backend.new_caches(count)

    def forward_batch(self, requests: Sequence[ForwardRequest]) -> list[Tensor]:
        """The forward passes of several texts; see SetBlockModel.forward_batch."""
        return self._backend.forward(requests)
