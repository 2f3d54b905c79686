"""Stories of things nobody knows, for training: "her plin skunkard Lantern", "a small vabek".

In words that it has met a model may tell a story of what it has met most, not of what the prompt
says. So half of the stories are told of other words: made-up ones, two words blended into one, or
words of another kind, such as a thing for an animal. Only the prompt tells them. Their requests
hold odd words that tell nothing, or name the cast in phrases put together anew.
No word, name or phrase that is kept for the test split is drawn.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random

from sbd_core.tasks import task
from sbd_core.tasks.base import Example, is_reserved, made_up_word, split_of
from sbd_core.tasks.story import casting
from sbd_core.tasks.story import task as story
from sbd_core.tasks.story import words as listed
from sbd_core.tasks.story.casting import Person, Place
from sbd_core.tasks.story.task import Draft
from sbd_core.tasks.words import (
    ADJECTIVES,
    CITIES,
    INSTRUMENTS,
    JOBS,
    NAME_POOL,
    NOUNS,
    SNACKS,
    SURNAMES,
    THINGS,
    VENUES,
)
from sbd_core.training.data import phrases

RECAST_RATE, SWAP_RATE, ADJECTIVE_RATE, ROLE_RATE = 0.5, 0.6, 0.3, 0.2
MADE_UP, BLENDED, MADE_UP_ODD = 0.35, 0.65, 0.6
"""Up to where a draw gives a made-up word, and a blended one, beyond that a known one; how often
a word that tells nothing is made up, not blended."""
PREPOSITIONS = ("in", "at", "near", "by", "on")
LENGTHS = range(4, 12)
# "potatoes" loses more than an "s"; "dice" has none to lose.
PLURAL = re.compile(r"[a-z]{3,}(?<![sxzivo])(?<!sh|ch)(?<!shes|ches)(?<!oe|ie|se|ve|xe|he)s")
# What no reader could say: three consonants in a row, but at the beginning.
HARD = re.compile(r"[a-z][^aeiouy]{3}|[^aeiouy]{4}|^[^aeiouy]*$")


def generate(random: Random, name: str) -> Example:
    """A training example of a task; of stories a share are recast."""
    if name == story.NAME and random.random() < RECAST_RATE:
        return recast_story(random)
    return task(name).generate(random, "train")


def recast_story(random: Random) -> Example:
    """A request for a story of unusual words, and one such story."""
    while True:
        draft = _recast(random, story.draft_story(random, "seen"))
        if not draft.told - {"place", "plot"} or not _is_clear(draft):
            continue
        prompt, is_told_as = story.worded_prompt(random, draft, _request(random, draft))
        answer = story.story_of(random, draft, is_told_as=is_told_as)
        if story.row_characters(draft, prompt, answer) > story.MAX_ROW_CHARACTERS:
            continue
        case = story.facts_of(draft, is_told_as=is_told_as).to_case()
        example = Example(story.NAME, prompt, answer, case, draft.wording, draft.plot.name)
        if story.check(example, answer):
            return example


def _request(random: Random, draft: Draft) -> str:
    def odd_word() -> str:
        is_made_up = random.random() < MADE_UP_ODD
        return made_up_word(random, "seen") if is_made_up else _blend(random, things())

    return phrases.request(random, draft, odd_word, lambda: _word(random, adjectives()))


def _is_clear(draft: Draft) -> bool:
    """Whether it is one of training, with no word in two places."""
    told = story.facts_of(draft, is_told_as=False).told.values()
    words = " ".join(phrase for phrases in told for phrase in phrases).lower().split()
    is_distinct = len(set(words)) == len(words) - words.count("of") + ("of" in words)
    return is_distinct and split_of(story.composition(draft)) == "train"


def _recast(random: Random, draft: Draft) -> Draft:
    """The draft with other words for some of what the prompt tells."""

    def swapped(slot: str) -> bool:
        return slot in draft.told and random.random() < SWAP_RATE

    if swapped("person"):
        draft = replace(draft, people=_people(random, draft))
    if swapped("animal"):
        draft = replace(draft, names=(_pet_name(random), _pet_name(random)))
    if swapped("species"):
        draft = replace(draft, kinds=(_thing(random), _thing(random)))
    if swapped("object"):
        draft = replace(draft, thing=_thing(random))
    if swapped("place"):
        phrase = _thing(random, places())
        draft = replace(draft, place=Place(phrase, random.choice(PREPOSITIONS)))
    return draft


def _people(random: Random, draft: Draft) -> tuple[Person, Person]:
    first, second = (replace(one, name=_person_name(random)) for one in draft.people)
    if "friend" not in draft.told and random.random() < ROLE_RATE:
        return Person(_word(random, roles()), first.pronoun, is_role=True), second
    return replace(first, is_role=False), replace(second, is_role=False)


def _person_name(random: Random) -> str:
    return _unless_taken(lambda: _word(random, family_names(), NAME_POOL.seen).capitalize())


def _pet_name(random: Random) -> str:
    return _unless_taken(lambda: _word(random, things()).capitalize())


def _unless_taken(draw: Callable[[], str]) -> str:
    while True:
        name = draw()
        if not name.startswith("She") and name not in listed.PEOPLE:
            return name


def _thing(random: Random, known: tuple[str, ...] = ()) -> str:
    """A noun, perhaps with an adjective."""
    while True:
        noun = phrase = _word(random, known or things())
        if random.random() < ADJECTIVE_RATE:
            phrase = f"{_word(random, adjectives())} {noun}"
        if not is_reserved(phrase):
            return phrase


def _word(random: Random, known: tuple[str, ...], blended: tuple[str, ...] = ()) -> str:
    """A made-up word, two words of `blended` or else of `known` in one, or one of `known`."""
    draw = random.random()
    if draw < MADE_UP:
        return made_up_word(random, "seen")
    if draw < BLENDED:
        return _blend(random, blended or known)
    return random.choice(known)


def _blend(random: Random, known: tuple[str, ...]) -> str:
    """The first half of a word with the second of another: "skunk", "mustard": "skutard"."""
    while True:
        first, second = random.choice(known).lower(), random.choice(known).lower()
        word = first[: (len(first) + 1) // 2] + second[len(second) // 2 :]
        is_plain = len(word) in LENGTHS and not HARD.search(word)
        if is_plain and word not in _known() and not is_reserved(word):
            return word


@cache
def things() -> tuple[str, ...]:
    """Nouns of training for animals and things."""
    pools = (listed.SPECIES_POOL, listed.ODD_SPECIES, listed.OBJECT_POOL, listed.ODD_OBJECTS)
    seen = (word for pool in pools for word in pool.seen)
    more = (word[:-1] for word in THINGS + SNACKS if PLURAL.fullmatch(word))
    return _single((*seen, *INSTRUMENTS, *more))


@cache
def _known() -> frozenset[str]:
    return casting.TAKEN.union(things(), places(), roles(), adjectives())


@cache
def places() -> tuple[str, ...]:
    """Nouns of training for places."""
    return _single((*listed.PLACE_POOL.seen, *listed.ODD_PLACE_POOL.seen, *VENUES, *NOUNS))


@cache
def roles() -> tuple[str, ...]:
    """Nouns of training for what people are."""
    return _single((*listed.ROLES.seen, *JOBS))


@cache
def adjectives() -> tuple[str, ...]:
    """Adjectives of training."""
    pools = (listed.SPECIES_ADJECTIVES, listed.OBJECT_ADJECTIVES, listed.PLACE_ADJECTIVES)
    return _single((*ADJECTIVES, *(word for pool in pools for word in pool.seen)))


@cache
def family_names() -> tuple[str, ...]:
    """Names of families and cities, for people."""
    names = (name.lower() for name in (*SURNAMES, *CITIES))
    return tuple(name for name in _single(tuple(names)) if name not in casting.TAKEN)


def _single(words: tuple[str, ...]) -> tuple[str, ...]:
    """Those of one word that training may draw, each once."""
    return tuple(word for word in dict.fromkeys(words) if word.isalpha() and not is_reserved(word))
