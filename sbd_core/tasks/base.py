"""Base types of tasks and examples; keeps training and test examples apart. Knows no task.

Two rules keep test examples out of training. First, `split_of` assigns each composition (the
numbers of a problem, the solution of a puzzle) to one split, by a hash that depends on no process
or version. Second, some phrasings are held out: only an example of "unseen" wording draws them,
and about half of the test examples are of this wording, but no training example.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

Split = Literal["train", "test"]
SPLITS: tuple[Split, ...] = ("train", "test")
Wording = Literal["seen", "unseen"]

TEST_PERCENT = 8
ARTICLE = re.compile(r"\b([Aa]) (?=(?!uni)«?[aeiou])")
SENTENCE = re.compile(r"(^|[.!?] \"?|^\")([a-z])")


@dataclass(frozen=True, slots=True)
class Example:
    """One exercise in plain ASCII; `answer` is one right answer to `prompt`."""

    task: str
    """Key of `TASKS`."""
    prompt: str
    answer: str
    case: str
    """Data that the task's checker needs beyond the text to score."""
    wording: Wording = "seen"
    """Whether the prompt is phrased in a way that training draws from too."""


@dataclass(frozen=True, slots=True)
class Task:
    """A kind of exercise: how to make an example and how to score any text as its answer."""

    name: str
    generate: Callable[[Random, Split], Example]
    """Draws from the given generator only; no prompt occurs in both splits."""
    check: Callable[[Example, str], bool]
    """True when the text answers the example; never raises, whatever the text."""


@dataclass(frozen=True, slots=True)
class Phrasings:
    """Ways to say the same thing: `seen` for both splits, `held_out` for test examples alone."""

    seen: tuple[str, ...]
    held_out: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[str, ...]:
        """All phrasings."""
        return self.seen + self.held_out

    def draw(self, random: Random, wording: Wording) -> str:
        """Draw a phrasing: a held-out one for an unseen wording, if there is any."""
        return random.choice(self.held_out if wording == "unseen" and self.held_out else self.seen)


def split_of(composition: str, test_percent: int = TEST_PERCENT) -> Split:
    """The split of `composition`; about `test_percent` % of all compositions are in "test"."""
    digest = hashlib.blake2b(composition.encode(), digest_size=8).digest()
    return "test" if int.from_bytes(digest, "big") % 100 < test_percent else "train"


def draw_wording(random: Random, split: Split) -> Wording:
    """Draw "seen" or "unseen" for the test split; always "seen" for training."""
    return "unseen" if split == "test" and random.random() < 0.5 else "seen"


def listed(items: Sequence[str]) -> str:
    """ "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def sentences(text: str) -> str:
    """Write "an" for "a" before vowels, and a capital at the start of every sentence."""
    text = ARTICLE.sub(r"\1n ", text)
    return SENTENCE.sub(lambda match: match[1] + match[2].upper(), text)
