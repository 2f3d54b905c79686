"""Base types of tasks and examples; keeps training and test examples apart. Knows no task.

Two rules keep test examples out of training. First, each example has a composition, such as the
numbers of a problem or the solution of a puzzle, and `split_of` assigns it to one split, by a hash
that never changes. Second, some phrasings of prompts are held out: no training example uses them.
About half of the test examples use held-out phrasings, and have the wording "unseen".
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal, Protocol

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
    """Data that the task's `check` needs to score a text, in a format of the task's own."""
    wording: Wording = "seen"
    """Whether the prompt's phrasings occur in training ("seen") or are held out ("unseen")."""


class Task(Protocol):
    """What a module has that is a kind of exercise: a name, a maker of examples and a checker."""

    NAME: str

    def generate(self, random: Random, split: Split) -> Example:
        """Make an example of `split`, with the given generator as the only randomness."""

    def check(self, example: Example, text: str) -> bool:
        """Whether the text answers the example; never raises because of the text."""


@dataclass(frozen=True, slots=True)
class Phrasings:
    """Ways to say the same thing. `seen` is for both splits, `held_out` for test examples only."""

    seen: tuple[str, ...]
    held_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: Mapping[str, Sequence[str]]) -> "Phrasings":
        """Read phrasings from their JSON data: {"seen": [..], "held_out": [..]}."""
        return cls(tuple(data["seen"]), tuple(data.get("held_out", ())))

    @property
    def every(self) -> tuple[str, ...]:
        """All phrasings."""
        return self.seen + self.held_out

    def draw(self, random: Random, wording: Wording) -> str:
        """Draw a held-out phrasing if `wording` is "unseen" and there is any, else a seen one."""
        return random.choice(self.held_out if wording == "unseen" and self.held_out else self.seen)


def read_phrasings(task: str) -> Any:
    """Read phrasings/TASK.json, which has the phrasings and other words of the task."""
    file = Path(__file__).parent / "phrasings" / f"{task}.json"
    return json.loads(file.read_text(encoding="utf-8"))


def split_of(composition: str, test_percent: int = TEST_PERCENT) -> Split:
    """The split of a composition: "test" for about `test_percent` % of all compositions."""
    digest = hashlib.blake2b(composition.encode(), digest_size=8).digest()
    return "test" if int.from_bytes(digest, "big") % 100 < test_percent else "train"


def draw_wording(random: Random, split: Split) -> Wording:
    """Draw "seen" or "unseen" for the test split; always "seen" for training."""
    return "unseen" if split == "test" and random.random() < 0.5 else "seen"


def listed(items: Sequence[str]) -> str:
    """Join the items as in "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def sentences(text: str) -> str:
    """Replace "a" by "an" before vowels, and begin every sentence with a capital."""
    text = ARTICLE.sub(r"\1n ", text)
    return SENTENCE.sub(lambda match: match[1] + match[2].upper(), text)
