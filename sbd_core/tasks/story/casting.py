"""Who, what and where a story is about: listed, unusual or made up. Knows no plot, no prompt."""

from dataclasses import dataclass
from random import Random

from sbd_core.tasks.base import Wording, made_up_name, made_up_word
from sbd_core.tasks.story import words
from sbd_core.tasks.story.words import (
    ANIMAL_POOL,
    LISTS,
    OBJECT_POOL,
    ODD_OBJECTS,
    ODD_PLACE_POOL,
    ODD_PLACES,
    PEOPLE_POOL,
    PLACE_POOL,
    PLACES,
    SPECIES,
    SPECIES_POOL,
)
from sbd_core.tasks.words import WOMEN

MADE_UP_PERSON_RATE, ROLE_RATE, MADE_UP_ANIMAL_RATE = 0.35, 0.15, 0.45
ADJECTIVE_RATE, ODD_RATE, MADE_UP_RATE = 0.2, 0.25, 0.12
TAKEN = frozenset(word.lower() for listed in LISTS.values() for word in listed)


@dataclass(frozen=True, slots=True)
class Person:
    """A person of a story. pronoun: "she" or "he"."""

    name: str
    """A name, or a role such as "brave knight"."""
    pronoun: str
    is_role: bool = False

    @property
    def in_story(self) -> str:
        """As the story calls them: "Mia", "the brave knight"."""
        return f"the {self.name}" if self.is_role else self.name

    @property
    def in_prompt(self) -> str:
        """As a prompt brings them up: "Mia", "a brave knight"."""
        return f"a {self.name}" if self.is_role else self.name


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a story. phrase: what a text must hold; preposition: as in "at the zoo"."""

    phrase: str
    preposition: str

    @property
    def full(self) -> str:
        """ "the zoo", or a made-up name as it is."""
        return self.phrase if self.phrase[0].isupper() else f"the {self.phrase}"

    @property
    def at(self) -> str:
        """ "at the zoo"."""
        return f"{self.preposition} {self.full}"


def person(random: Random, wording: Wording) -> Person:
    """Anybody: a listed name, a made-up one or a role."""
    draw = random.random()
    if draw < ROLE_RATE:
        role = words.ROLES.draw(random, wording)
        pronoun = words.ROLE_PRONOUNS.get(role.split(" ")[-1]) or random.choice(("she", "he"))
        return Person(role, pronoun, is_role=True)
    if draw < ROLE_RATE + MADE_UP_PERSON_RATE:
        return Person(_name(random, wording), random.choice(("she", "he")))
    return _listed(PEOPLE_POOL.draw(random, wording))


def writers_person(random: Random, *others: Person) -> Person:
    """Somebody whom the prompt does not name."""
    taken = {other.name for other in others}
    return _listed(random.choice([n for n in words.WRITER_PEOPLE if n not in taken]))


def _listed(name: str) -> Person:
    return Person(name, "she" if name in WOMEN else "he")


def animal_name(random: Random, wording: Wording) -> str:
    """A listed or made-up name."""
    if random.random() < MADE_UP_ANIMAL_RATE:
        return _name(random, wording)
    return ANIMAL_POOL.draw(random, wording)


def species(random: Random, wording: Wording) -> str:
    """An animal, perhaps with an adjective, or one that nobody knows."""
    if random.random() < MADE_UP_RATE:
        return _word(random, wording)
    pool = words.ODD_SPECIES if random.random() < ODD_RATE else SPECIES_POOL
    found = pool.draw(random, wording)
    if random.random() < ADJECTIVE_RATE / 2:
        found = f"{words.SPECIES_ADJECTIVES.draw(random, wording)} {found}"
    return found


def cry_of(kind: str) -> str:
    """What it does with its voice."""
    return SPECIES.get(kind.split(" ")[-1], words.ANY_CRY)


def thing(random: Random, wording: Wording) -> str:
    """Anything: "kite", "bag of apples", "paper boat", "zorvin"."""
    if random.random() < MADE_UP_RATE:
        found = _word(random, wording)
    else:
        pool = ODD_OBJECTS if random.random() < ODD_RATE else OBJECT_POOL
        found = pool.draw(random, wording)
    if " " not in found and random.random() < ADJECTIVE_RATE:
        found = f"{words.OBJECT_ADJECTIVES.draw(random, wording)} {found}"
    return found


def place(random: Random, wording: Wording) -> Place:
    """Anywhere: the park, the haunted house, the quiet lake, Zorvin, the land of Zorvin."""
    draw = random.random()
    if draw < MADE_UP_RATE / 2:
        return Place(_name(random, wording), "in")
    if draw < MADE_UP_RATE:
        return Place(f"{words.REALMS.draw(random, wording)} of {_name(random, wording)}", "in")
    if draw < MADE_UP_RATE + ODD_RATE:
        phrase = ODD_PLACE_POOL.draw(random, wording)
        return Place(phrase, ODD_PLACES[phrase])
    phrase = PLACE_POOL.draw(random, wording)
    preposition = PLACES[phrase]
    if random.random() < ADJECTIVE_RATE:
        phrase = f"{words.PLACE_ADJECTIVES.draw(random, wording)} {phrase}"
    return Place(phrase, preposition)


def _name(random: Random, wording: Wording) -> str:
    while True:
        name = made_up_name(random, wording)
        # A name as close to "She" as "Sheta" reads like a slip of the pen.
        if name.lower() not in TAKEN and not name.startswith("She"):
            return name


def _word(random: Random, wording: Wording) -> str:
    while True:
        word = made_up_word(random, wording)
        if word not in TAKEN:
            return word
