"""A recorded story in which many tokens at once mix up the names of two animals.

The rule: of the first held-out stories about two people with an animal each, those in which Set
Block Decoding with some gamma gives an animal the other one's species, while next-token prediction
and Set Block Decoding one token a forward pass (gamma 0) both keep to every fact of the
prompt; of these, the one of the smallest such gamma that next-token prediction agrees with most. So
what mixes the names up is not the model, nor its masked head, but revealing in parallel.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import sbd_core
from sbd_core.config import DecodeConfig, EntropyBound
from sbd_core.models.protocol import SetBlockModel
from sbd_core.tasks.base import Example
from sbd_core.tasks.story import task as stories
from sbd_core.tasks.story.facts import read_case
from sbd_core.trace import Trace

SEED = 20
NUM_STORIES = 120
HIGH_GAMMAS = (0.35, 0.5, 1.0, 2.0)
MAX_NEW_TOKENS = 128


@dataclass(frozen=True, slots=True)
class MixUp:
    """A story gone wrong. words: what the text says; name and species: what the prompt told.

    slow: the same prompt with gamma 0, not wrong.
    """

    example: Example
    traces: dict[str, Trace]
    slow: Trace
    gamma: float
    words: str
    name: str
    species: str

    @property
    def sentence(self) -> str:
        """What happened."""
        main, ntp = self.traces["sbd"], self.traces["ntp"]
        return (
            f"One fault with γ = {self.gamma:g} nats, maybe not the only one: two names are mixed "
            f"up, the prompt has {self.name} the {self.species}, the text “{self.words}”; "
            f"{main.num_forwards} forward passes for {main.num_tokens} tokens. It comes of "
            f"revealing in parallel: with γ = 0, in {self.slow.num_forwards} forward passes for "
            f"{self.slow.num_tokens} tokens, every fact that is checked is kept, and so it is by "
            f"next-token prediction, in {ntp.num_forwards}."
        )


def stories_of_two() -> list[Example]:
    """The first held-out stories whose prompt tells two people, animals and species."""
    random = Random(SEED)
    found: list[Example] = []
    while len(found) < NUM_STORIES:
        example = stories.generate(random, "test")
        owns = read_case(example.case).owns
        if len(owns) == 2 and all(all(owner) for owner in owns):
            found.append(example)
    return found


def mixed_up(example: Example, text: str) -> tuple[str, str, str] | None:
    """(words of the text, name, its species) where an animal has the other one's species."""
    owns = read_case(example.case).owns
    for (_, species, name), (_, other, _) in (owns, owns[::-1]):
        wrong = rf"\b{name} the {other}\b|\b{other} (?:called |named )?{name}\b"
        if name and species and other and (found := re.search(wrong, text)):
            return found[0], name, species
    return None


def worst_mix_up(model: SetBlockModel, doubt: Callable[[Trace], float]) -> MixUp | None:
    """The run to show by the rule above, None if nothing is mixed up. doubt: less is shown."""
    found: list[MixUp] = []
    for example in stories_of_two():
        plain = DecodeConfig(strategy="ntp", max_new_tokens=MAX_NEW_TOKENS)
        ntp = sbd_core.generate(model, example.prompt, plain)
        if not stories.check(example, ntp.text):
            continue
        for gamma in HIGH_GAMMAS:
            main = by_blocks(model, example, gamma)
            wrong = mixed_up(example, main.text)
            if wrong is not None and not stories.check(example, main.text):
                slow = by_blocks(model, example, 0)
                if stories.check(example, slow.text):
                    found.append(MixUp(example, {"sbd": main, "ntp": ntp}, slow, gamma, *wrong))
                break
    worth = [(item.gamma, doubt(item.traces["sbd"]), item) for item in found]
    return min(worth, key=lambda row: row[:2])[2] if worth else None


def by_blocks(model: SetBlockModel, example: Example, gamma: float) -> Trace:
    """The prompt decoded by Set Block Decoding."""
    config = DecodeConfig(solver=EntropyBound(gamma), max_new_tokens=MAX_NEW_TOKENS)
    return sbd_core.generate(model, example.prompt, config)
