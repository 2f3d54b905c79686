"""Other orders of the words of a description: "a list's sum", "take a list and sum it"."""

import re
from random import Random

from sbd_core.tasks.code.asks import Phrase

TAKING_RATE, POSSESSIVE_RATE = 0.12, 0.12
OWNERS: dict[str, tuple[str, ...]] = {
    "{L}": ("a list", "the list", "a given list", "an array", "my list"),
    "{T}": ("a text", "a string", "a given string", "a given text", "the text"),
    "{D}": ("a dictionary", "a dict", "a given dictionary"),
    "{X}": ("a number", "an integer", "the number"),
    "{0}": ("{0}",),
}
OWNED = re.compile(r"the ([a-z ]+?) (?:of|in) (\{[LTDX0]\})")
SLOT = re.compile(r"\{[LTXD]\}")
PARTICLE = re.compile(r"\b(?:up|out|away) it\b")


def possessive(random: Random, noun: str) -> str:
    """ "the sum of {L}" as "a list's sum", now and then; else `noun` as it is."""
    if random.random() >= POSSESSIVE_RATE:
        return noun
    found = OWNED.fullmatch(noun)
    if found is None or " of " in found[1] or " in " in found[1]:
        return noun
    return f"{random.choice(OWNERS[found[2]])}'s {found[1]}"


def taking(random: Random, phrase: Phrase, num_parameters: int) -> Phrase:
    """ "sum {L}" as "take {L} and sum it", now and then; else `phrase` as it is."""
    if random.random() >= TAKING_RATE:
        return phrase
    do, does = phrase.do, phrase.does
    if "{0}" in do:
        taken = " and ".join(f"{{{index}}}" for index in range(num_parameters))
    else:
        slots = SLOT.findall(do)
        if len(slots) != 1:
            return phrase
        taken = slots[0]
        do, does = do.replace(taken, "it"), does.replace(taken, "it")
        if PARTICLE.search(do):
            return phrase
    return Phrase(f"take {taken} and {do}", f"takes {taken} and {does}")
