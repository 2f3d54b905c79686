"""Checks that a model reads blocks as decoding needs, by trying a few tokens: no config says so.

Knows a transformers model through its own forward alone.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from sbd_core.errors import ModelError, one_line
from sbd_core.models.backends.llama.weights import has_known_shape
from sbd_core.models.backends.transformers import TransformersBackend
from sbd_core.models.protocol import ForwardRequest, PredraftBlock

PASSED = "reads_blocks"
"""Attribute of a model that was tried and reads blocks."""
ROUNDING, LOW_ROUNDING = 1e-3, 0.2
"""Tolerance in fp32 and in narrower dtypes, relative to the change that another token makes."""
FORWARD_ERRORS = (ValueError, RuntimeError, TypeError, AttributeError, LookupError)


def require_block_attention(model: Any, name: str, argument: str = "model") -> None:
    """Raise ModelError, which says why, for a model called `name` that cannot decode blocks."""
    if getattr(model, PASSED, False):
        return
    others = _other_attention(model)
    if others:
        raise ModelError(
            f"{argument}: must use full attention in every layer; {name} uses {', '.join(others)}"
        )
    if not has_known_shape(model):
        was_training = model.training
        try:
            fault = _fault(_Trial(model.eval()))
        except FORWARD_ERRORS as error:
            fault = f"must read a block of tokens under a mask; {{}} does not: {one_line(error)}"
        finally:
            model.train(was_training)
        if fault:
            raise ModelError(f"{argument}: " + fault.replace("{}", name))
    setattr(model, PASSED, True)


def _other_attention(model: Any) -> list[str]:
    """Name the parts of a model's layers that do not attend to everything allowed."""
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
    return others


class _Trial:
    """Forward passes of a model over a few tokens."""

    def __init__(self, model: Any) -> None:
        self.backend = TransformersBackend(model)
        size = int(model.get_input_embeddings().weight.shape[0])
        self.ids = [index * size // 9 for index in range(1, 9)]
        self.rounding = ROUNDING if model.dtype == torch.float32 else LOW_ROUNDING

    def rows(
        self,
        cached: Sequence[int],
        causal: Sequence[int],
        block: Sequence[int] = (),
        predrafts: Sequence[PredraftBlock] = (),
    ) -> Tensor:
        """Logits (rows, vocab) of tokens that are not cached, causal ones first."""
        [cache] = self.backend.new_caches(1)
        if cached:
            self.backend.forward([ForwardRequest(cache, cached, (), 1)])
        request = ForwardRequest(cache, causal, block, len(causal), predrafts)
        return self.backend.forward([request])[0]

    def differ(self, one: Tensor, other: Tensor, change: Tensor) -> bool:
        """Whether logits differ by more than rounding. change: what another token changes."""
        return not (one - other).abs().max() <= self.rounding * change.abs().max()


def _fault(trial: _Trial) -> str | None:
    """The fault of a model, as a rule with {} for the model's name; None without a fault."""
    a, b, c, d, e, f, g, h = trial.ids
    text, other = trial.rows((), [a, b, c, d]), trial.rows((), [a, b, c, e])
    change = (text - other)[3]
    if trial.differ(text[:3], other[:3], change / 10):
        return "must be causal; in {} a token changes the logits before it"
    block, other = trial.rows([a, b, c], [d, e], [f, g]), trial.rows([a, b, c], [d, e], [f, h])
    if torch.equal(block[2], other[2]):
        return "must read a block both ways; in {} a token does not see the next one"
    if trial.differ(block[:2], other[:2], change):
        return "must keep a block from what is before it; in {} a token of it changes that"
    if trial.differ(block[1:], trial.rows([a], [b, c, d, e], [f, g])[3:], change):
        return "must read a block the same with and without a cache; {} does not"
    early = trial.rows([a, b, c], [d, e], [f, g], [PredraftBlock(1, [f, g])])
    if trial.differ(early[4:], trial.rows([a, b, c], [d], [f, g])[1:], change):
        return "must place tokens by their position in the text; {} does not"
    return None
