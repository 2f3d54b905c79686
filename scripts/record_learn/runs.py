"""Decodes of the bundled checkpoint, as the scenes want them."""

import sbd_core
from sbd_core.config import DecodeConfig, EntropyBound, Strategy
from sbd_core.errors import SetBlockDecodingError
from sbd_core.models.protocol import SetBlockModel
from sbd_core.tasks import TASKS
from sbd_core.tasks.base import Example
from sbd_core.trace import Trace
from ui.decode.form import DEFAULT_GAMMA

MAX_NEW_TOKENS = 128
NUM_TOKENS = 64
"""Of the answers that the scenes show."""


class NothingSuitable(SetBlockDecodingError):
    """No held-out prompt gives a scene what it shows."""


def is_right(example: Example, text: str) -> bool:
    """Whether a text answers the example."""
    return TASKS[example.task].check(example, text)


def generated(
    model: SetBlockModel,
    prompt: str,
    gamma: float = DEFAULT_GAMMA,
    max_new_tokens: int = MAX_NEW_TOKENS,
) -> Trace:
    """The prompt decoded by Set Block Decoding."""
    config = DecodeConfig(solver=EntropyBound(gamma), max_new_tokens=max_new_tokens)
    return sbd_core.generate(model, prompt, config)


def by_strategy(model: SetBlockModel, prompt: str, strategy: Strategy, tokens: int) -> Trace:
    """The prompt decoded by another strategy."""
    return sbd_core.generate(model, prompt, DecodeConfig(strategy=strategy, max_new_tokens=tokens))
