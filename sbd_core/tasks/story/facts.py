"""The facts of a story, and whether a text keeps to them. Knows word lists, no plots.

A fact is a word of a slot (person, animal, species, object, color, place). The case of an
example is JSON: for each slot that the prompt tells, its words; for animals told with it, "owns":
lists of person, species and name that belong together (null where not told). For instance
{"person": ["Mia"], "species": ["dog"], "animal": ["Rex"], "owns": [["Mia", "dog", "Rex"]]}.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sbd_core.tasks.story.words import LISTS
from sbd_core.tasks.words import MEN, WOMEN

MIN_WORDS, MAX_WORDS, MAX_CHARACTERS = 15, 150, 2000
NAMES = ("person", "animal")
FEMALE, MALE = frozenset(("she", "her", "hers")), frozenset(("he", "him", "his"))
WORD = re.compile(r"[A-Za-z]+|[.!?,]")
SENTENCE_END = re.compile(r"[.!?]+[\"' ]*")

Owner = tuple[str | None, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a story has to keep to."""

    told: Mapping[str, Sequence[str]]
    """For each slot told, its words; a slot that is not here is the writer's choice."""
    owns: Sequence[Owner]
    """(person, species, animal name) that belong together; None where not told."""

    def to_case(self) -> str:
        """The `case` of an example."""
        return json.dumps({**self.told, "owns": self.owns})


def read_case(case: str) -> Facts:
    """The facts that to_case wrote."""
    told = json.loads(case)
    owns = [tuple(owner) for owner in told.pop("owns", [])]
    return Facts(told, owns)


def is_consistent(facts: Facts, text: str) -> bool:
    """True when `text` is a story, ended and without repeats, that keeps to `facts`.

    Each told word occurs and no other word of its list does; of a slot not told at most one
    word occurs. Animals keep their species and owner, people their pronouns.
    """
    words = WORD.findall(text[:MAX_CHARACTERS])
    return (
        len(text) <= MAX_CHARACTERS
        and _is_whole(text, words)
        and all(_keeps_slot(facts, slot, words) for slot in LISTS)
        and _keeps_owners(facts, words)
        and _keeps_pronouns(facts, words)
    )


def _is_whole(text: str, words: Sequence[str]) -> bool:
    """Long enough, ended, no sentence twice, no word twice in a row."""
    sentences = [part for part in SENTENCE_END.split(text) if part]
    return (
        MIN_WORDS <= sum(word.isalpha() for word in words) <= MAX_WORDS
        and re.search(r"[.!?][\"']?$", text) is not None
        and len(set(sentences)) == len(sentences)
        and re.search(r"\b(\w+) \1\b", text) is None
    )


def _found(facts: Facts, slot: str, words: Sequence[str]) -> set[str]:
    """The words of the slot's list in the text, plurals folded, and the told ones there."""
    told = facts.told.get(slot, ())
    elsewhere = {word for other, words in facts.told.items() if other != slot for word in words}
    if slot in NAMES:
        return {word for word in words if word in LISTS[slot] or word in told} - elsewhere
    forms = {word.lower() for word in words}
    forms |= {form[:-1] for form in forms if form.endswith("s")}
    return {form for form in forms if form in LISTS[slot] or form in told} - elsewhere


def _keeps_slot(facts: Facts, slot: str, words: Sequence[str]) -> bool:
    found = _found(facts, slot, words)
    return found == set(facts.told[slot]) if slot in facts.told else len(found) <= 1


def _keeps_owners(facts: Facts, words: Sequence[str]) -> bool:
    """No "cat Rex" or "Rex the cat" or "Tom s cat" against the facts."""
    names, people, kinds = (_found(facts, slot, words) for slot in ("animal", "person", "species"))
    species_of = {name: species for _, species, name in facts.owns if name and species}
    owner_of = {species: person for person, species, _ in facts.owns if person and species}
    is_right = True
    for first, second, third in zip(words, words[1:], words[2:], strict=False):
        if first in kinds and second in names:
            is_right &= species_of.setdefault(second, first) == first
        elif first in names and second in ("the", "a") and third in kinds:
            is_right &= species_of.setdefault(first, third) == third
        elif first in people and second == "s" and third in kinds:
            is_right &= owner_of.setdefault(third, first) == first
    return is_right


def _keeps_pronouns(facts: Facts, words: Sequence[str]) -> bool:
    """No "he" when all people are women, no "she" when all are men."""
    people = _found(facts, "person", words)
    said = {word.lower() for word in words}
    if people and people <= set(WOMEN):
        return not said & MALE
    if people and people <= set(MEN):
        return not said & FEMALE
    return True
