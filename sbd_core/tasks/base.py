"""What an example and a task of examples are. Knows no task.

A task writes examples for two splits that share no composition: `split_of` maps a
composition key to the one split it belongs to, by a hash that no process or version changes.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Literal

Split = Literal["train", "test"]
SPLITS: tuple[Split, ...] = ("train", "test")

TEST_PERCENT = 8


@dataclass(frozen=True, slots=True)
class Example:
    """One task in plain ASCII; `answer` is the only canonical answer to `prompt`."""

    task: str
    """Key of `TASKS`."""
    prompt: str
    answer: str
    case: str
    """What the task's checker needs beyond the text to score."""


@dataclass(frozen=True, slots=True)
class Task:
    """A kind of task: how to make an example and how to score any text as its answer."""

    name: str
    generate: Callable[[Random, Split], Example]
    """Draws from the given generator only; two splits never share a composition or prompt."""
    check: Callable[[Example, str], bool]
    """True when the text answers the example; never raises, whatever the text."""
    is_suite: bool = True
    """Whether it is measured and shown; else it is only trained on."""


def split_of(composition: str, test_percent: int = TEST_PERCENT) -> Split:
    """The split that owns `composition`: about `test_percent` % of all keys are test."""
    digest = hashlib.blake2b(composition.encode(), digest_size=8).digest()
    return "test" if int.from_bytes(digest, "big") % 100 < test_percent else "train"
