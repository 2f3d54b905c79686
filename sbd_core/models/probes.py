"""Tests, with a few tokens, how a model attends and how its logits round.

Attention must be causal, except within a block, whose tokens must see each other. For verify to be
exact, the logits of a row (an input position) must also be the same to the last bit whatever other
rows the forward pass has: only then does checking many drafts in one pass give the tokens of
next-token prediction. A kernel may sum in another order when the number of rows changes, so this
depends on model, dtype and backend.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from sbd_core.errors import ModelError, one_line
from sbd_core.models.backends.llama.forward import has_known_shape
from sbd_core.models.backends.transformers import TransformersBackend
from sbd_core.models.model_folder import reach_of
from sbd_core.models.protocol import ForwardRequest, PredraftBlock

PASSED = "reads_blocks"
"""Attribute that is set on a model once it has passed require_block_attention()."""
ROUNDING, LOW_ROUNDING = 1e-3, 0.2
"""Tolerances in fp32 and in narrower dtypes, as a share of the change that another token makes."""


def require_block_attention(model: Any, name: str, argument: str = "model") -> None:
    """Raise ModelError if the model called `name` cannot decode blocks; the message says why."""
    if getattr(model, PASSED, False):
        return
    config = model.config.get_text_config()
    others = {*(getattr(config, "layer_types", None) or ())} - {"full_attention"}
    window, reach = getattr(config, "sliding_window", None), reach_of(model.config)
    if window is not None and reach is not None and window >= reach:
        others.discard("sliding_attention")  # no text is long enough for it
    elif window is not None and getattr(config, "use_sliding_window", True):
        others.add("a sliding window")
    if getattr(model, "_is_stateful", False):
        others.add("a recurrent state")
    if others:
        raise ModelError(
            f"{argument}: must use full attention in every layer; {name} uses "
            + ", ".join(sorted(others))
        )
    if not has_known_shape(model):
        was_training = model.training
        try:
            fault = _fault(model.eval())
        except Exception as error:
            fault = f"must read a block of tokens under a mask; {{}} does not: {one_line(error)}"
        finally:
            model.train(was_training)
        if fault:
            raise ModelError(f"{argument}: " + fault.replace("{}", name))
    setattr(model, PASSED, True)


def _fault(model: Any) -> str | None:
    """Return why a model cannot decode blocks, with {} in place of its name; None if it can."""
    backend, vocabulary = TransformersBackend(model), model.get_input_embeddings().weight.shape[0]
    a, b, c, d, e, f, g, h = (index * int(vocabulary) // 9 for index in range(1, 9))
    rounding = ROUNDING if model.dtype == torch.float32 else LOW_ROUNDING

    def rows(
        cached: Sequence[int],
        causal: Sequence[int],
        block: Sequence[int] = (),
        predrafts: Sequence[PredraftBlock] = (),
    ) -> Tensor:
        """Run a forward pass after the `cached` tokens; returns logits (input positions, vocab)."""
        [cache] = backend.new_caches(1)
        if cached:
            backend.forward([ForwardRequest(cache, cached, (), 1)])
        return backend.forward([ForwardRequest(cache, causal, block, len(causal), predrafts)])[0]

    def differ(one: Tensor, other: Tensor, change: Tensor) -> bool:
        """Whether logits differ by more than rounding. change: what another token makes of them."""
        return not (one - other).abs().max() <= rounding * change.abs().max()

    text, other = rows((), [a, b, c, d]), rows((), [a, b, c, e])
    change = (text - other)[3]
    if differ(text[:3], other[:3], change / 10):
        return "must be causal; in {} a token changes the logits before it"
    block, other = rows([a, b, c], [d, e], [f, g]), rows([a, b, c], [d, e], [f, h])
    if torch.equal(block[2], other[2]):
        return "must read a block both ways; in {} a token does not see the next one"
    if differ(block[:2], other[:2], change):
        return "must keep a block from what is before it; in {} a token of it changes that"
    if differ(block[1:], rows([a], [b, c, d, e], [f, g])[3:], change):
        return "must read a block the same with and without a cache; {} does not"
    early = rows([a, b, c], [d, e], [f, g], [PredraftBlock(1, [f, g])])
    if differ(early[4:], rows([a, b, c], [d], [f, g])[1:], change):
        return "must place tokens by their position in the text; {} does not"
    return None


Exactness = Literal["probed", "equal up to rounding"]
NUM_ROWS = (1, 2, 5, 17, 48)
NUM_PROMPT = 33
NUM_CAUSAL = 17
"""Largest number of causal rows in a tested forward pass; the other rows are a block."""

Forward = Callable[[Sequence[ForwardRequest]], list[Tensor]]


def keeps_bits(
    new_caches: Callable[[int], Sequence[Any]], forward: Forward, reach: int | None = None
) -> bool:
    """Whether a causal token has the same logits, to the bit, whatever else is in the forward pass.

    Compares passes of one token with passes of up to 48 tokens: causal tokens, a block and a
    predraft. The logits and the keys left in the KV cache must be equal.
    new_caches, forward: methods of a Backend. reach: longest text in tokens, None if unknown.
    """
    reach = reach or NUM_PROMPT + NUM_ROWS[-1]
    prompt = [3 + i % 8 for i in range(min(NUM_PROMPT, max(reach // 4, 1)))]
    ids = [3 + i % 7 for i in range(min(NUM_CAUSAL, max(reach // 4, 1)))]
    sizes = [size for size in NUM_ROWS if size <= reach - len(prompt) - 1]
    [cache] = new_caches(1)

    def read(causal: Sequence[int], num_block: int = 0, num_predraft: int = 0) -> Tensor:
        predrafts = [PredraftBlock(1, [0] * num_predraft)] if num_predraft else ()
        block = [0] * num_block
        [logits] = forward([ForwardRequest(cache, causal, block, len(causal), predrafts)])
        return logits[: len(causal)].clone()

    whole = read(prompt)
    alone = torch.cat([read([token_id]) for token_id in ids])
    after = read([3])
    for size in sizes:
        one, many, half = ids[:1], ids[:size], (size - 1) // 2
        for causal, num_block, num_predraft in (
            (one, size - 1, 0),
            (one, half, size - 1 - half),
            (many, size - len(many), 0),
        ):
            cache.truncate(len(prompt))
            if not torch.equal(read(causal, num_block, num_predraft), alone[: len(causal)]):
                return False
    if not torch.equal(read([3]), after):  # the last pass has left keys of all ids in the cache
        return False
    cache.truncate(0)
    return torch.equal(read(prompt, sizes[-1]), whole)
