"""A recorded story in which many tokens at once mix up the names of two animals.

The rule: of the first held-out stories about two people with an animal each, decoded with each
high gamma, those where next-token prediction keeps to the prompt and Set Block Decoding gives an
animal the other one's species; of these, the one that next-token prediction agrees with most.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import sbd_core
from sbd_core.config import DecodeConfig, EntropyBound
from sbd_core.models.base import SetBlockModel
from sbd_core.trace import Trace
from sbd_core.training.corpus import stories
from sbd_core.training.corpus.base import Example
from sbd_core.training.corpus.story_facts import read_case

SEED = 20
NUM_STORIES = 40
HIGH_GAMMAS = (0.5, 1.0, 2.0)
MAX_NEW_TOKENS = 128


@dataclass(frozen=True, slots=True)
class MixUp:
    """A story gone wrong. words: what the text says; name and species: what the prompt told."""

    traces: dict[str, Trace]
    gamma: float
    words: str
    name: str
    species: str

    @property
    def sentence(self) -> str:
        """What happened."""
        main, ntp = self.traces["sbd"], self.traces["ntp"]
        return (
            f"With γ = {self.gamma:g} nats two names are mixed up: the prompt has {self.name} the "
            f"{self.species}, the text “{self.words}”; {main.num_forwards} passes for "
            f"{main.num_tokens} tokens, where next-token prediction never swaps the species, in "
            f"{ntp.num_forwards}."
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
    found = []
    for example in stories_of_two():
        for gamma in HIGH_GAMMAS:
            config = DecodeConfig(solver=EntropyBound(gamma), max_new_tokens=MAX_NEW_TOKENS)
            main = sbd_core.generate(model, example.prompt, config)
            wrong = mixed_up(example, main.text)
            if wrong is None:
                continue
            plain = DecodeConfig(strategy="ntp", max_new_tokens=MAX_NEW_TOKENS)
            ntp = sbd_core.generate(model, example.prompt, plain)
            if stories.check(example, ntp.text):
                found.append(MixUp({"sbd": main, "ntp": ntp}, gamma, *wrong))
    return min(found, key=lambda item: doubt(item.traces["sbd"]), default=None)
