"""Short stories about given people, animals and things, checked for consistency with the prompt.

The prompt has phrases for some of the slots person, species, animal (its name), object, color and
place, and may hint at a plot. A slot or plot is "told" if the prompt has it, else free. The told
species, object and plot decide the split; if fewer than two are told, everything told decides it.

Example.case is a JSON object with the phrases of each told slot. Its "owns" has a list [person,
species, animal] per animal, and its "pronouns" has "she" or "he" for each told person. For instance
{"person": ["Mia"], "species": ["dog"], "animal": ["Rex"], "owns": [["Mia", "dog", "Rex"]],
"object": ["boat"], "pronouns": {"Mia": "she"}}.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

from sbd_core.tasks.base import (
    Example,
    Phrasings,
    Split,
    Wording,
    draw_wording,
    listed,
    read_phrasings,
    sentences,
    split_of,
)
from sbd_core.tasks.words import (
    COLORS,
    DAYS,
    MEN,
    NAMES,
    OBJECTS,
    PET_NAMES,
    PLACES,
    SPECIES,
    WOMEN,
)

NAME = "story"
OF_TWO_RATE, COLOR_RATE = 0.06, 0.5
TOLD_RATES = {
    "person": 0.9,
    "species": 0.9,
    "animal": 0.85,
    "object": 0.8,
    "place": 0.35,
    "plot": 0.3,
}
DATA = read_phrasings(NAME)
# {cast} is what the story is about, as in "Mia, her dog Rex and a kite"; {at} is empty or a place.
ASKS = Phrasings.of(DATA["asks"])
PETS = {tuple(slots.split()): Phrasings.of(data) for slots, data in DATA["pets"].items()}
"""Ways to mention a pet, by the slots that are told of it."""
PAIRS = Phrasings.of(DATA["pairs"])

# Slots of a sentence: {A} the person, {he} {him} {his} {He} to match, {S} {N} species and name of the
# animal, {o} the thing with its color and {k} without, {place} as "the park" and {at} as "in the park",
# {time} {glad} free choices, {cry} what the animal does with its voice; in a plot of two, {B} is the
# other person, {T} {M} that one's animal. No sentence holds a listed word, so that such a word in a
# story is always a fact. "more_words" are others that stories may use, as the bundled model learnt
# more plots than are there.


# A plot has a "name", a "hint", with which a prompt asks for it, and "beats", the parts of the story
# in order, each with the sentences to choose from. In one that "is_of_two" two people have an animal
# each.
PLOTS = [{"is_of_two": False, **plot} for plot in DATA["plots"]]
ENDS = ("openings", "endings", "openings_of_two", "endings_of_two")
MIN_WORDS, MAX_WORDS, MAX_CHARACTERS = 15, 150, 2000
NAME_SLOTS = ("person", "animal")
LISTS: dict[str, frozenset[str]] = {
    "person": frozenset(NAMES), "animal": frozenset(PET_NAMES), "species": frozenset(SPECIES),
    "object": frozenset(OBJECTS), "color": frozenset(COLORS), "place": frozenset(PLACES),
}  # fmt: skip
"""{slot: its known words}, by which check() recognises what a story chose for a slot."""
FEMALE, MALE = frozenset(("she", "her", "hers")), frozenset(("he", "him", "his"))
OTHER_NAMES = (*DAYS, "I", "Grandma", "Grandpa", "Mom", "Dad", "Christmas")
TOKEN = re.compile(r"[A-Za-z]+|[.!?,]")
# Letters behind an apostrophe are no word.
WORD = re.compile(r"(?<![\w'])\w+")
SENTENCE_END = re.compile(r"[.!?]+[\"' ]*")


class Facts:
    """The requirements that a story has to meet, from Example.case; see the top of this file."""

    def __init__(self, case: str) -> None:
        self.told: dict[str, list[str]] = json.loads(case)
        self.owns: Any = self.told.pop("owns", [])
        self.pronouns: Any = self.told.pop("pronouns", {})


def check(example: Example, text: str) -> bool:
    """Whether `text` is a whole story that keeps to the facts of the prompt; see fault_of()."""
    return not fault_of(example.case, text)


def fault_of(case: str, text: str) -> str:
    """The first fault of a story, as a clause; "" if the story is consistent with the case.

    The rules are:
    1. The story is whole, and has no sentence twice and no word twice in a row.
    2. Every told phrase occurs. Of a told slot no other word in LISTS occurs, of a free slot one.
    3. Every word is told or in vocabulary(), but for one new name for each free slot of person and
       animal.
    4. An animal keeps its name, species and owner.
    5. "he" and "she" fit the people.
    The plot that a prompt hints at is not checked.
    """
    if len(text) > MAX_CHARACTERS:
        return f"it has more than {MAX_CHARACTERS} characters"
    return next(_faults(Facts(case), text, TOKEN.findall(text)), "")


@cache
def vocabulary() -> frozenset[str]:
    """Return the words, in lowercase, that a story may use although its prompt does not give them."""
    texts = [text for name in (*ENDS, "times", "glad", "more_words") for text in DATA[name]]
    texts += [sentence for plot in PLOTS for beat in plot["beats"] for sentence in beat]
    texts += [word for words in LISTS.values() for word in words]
    texts += [*SPECIES.values(), *PLACES.values(), *OTHER_NAMES]
    return frozenset(WORD.findall(re.sub(r"\{\w+\}", " ", " ".join(texts)).lower()))


def _faults(facts: Facts, text: str, words: Sequence[str]) -> Iterator[str]:
    if not MIN_WORDS <= sum(word.isalpha() for word in words) <= MAX_WORDS:
        yield f"it does not have {MIN_WORDS} to {MAX_WORDS} words"
    if re.search(r"[.!?][\"']?$", text) is None:
        yield "its last sentence does not end"
    parts = [part for part in SENTENCE_END.split(text) if part]
    if len(set(parts)) < len(parts):
        yield "it has a sentence twice"
    if (twice := re.search(r"\b(\w+) \1\b", text)) is not None:
        yield f"it has a word twice in a row, “{twice[0]}”"
    for slot in LISTS:
        yield from _slot_faults(facts, slot, text, words)
    yield from (f"“{word}” is a word of no prompt or story" for word in _unknown_words(facts, text))
    if not _keeps_owners(facts, words):
        yield "an animal has another name, kind or owner than in the prompt"
    if not _keeps_pronouns(facts, words):
        yield "“he” and “she” are mixed up"


def _unknown_words(facts: Facts, text: str) -> list[str]:
    """Words that are neither told nor in vocabulary(), without the new names that are allowed."""
    known = vocabulary() | _told_words(facts)
    unknown = [
        word
        for word in dict.fromkeys(WORD.findall(text))
        if known.isdisjoint((low := word.lower(), low.removesuffix("s"), low.removesuffix("es")))
    ]
    names = [word for word in unknown if word.istitle()]
    num_free = sum(slot not in facts.told for slot in NAME_SLOTS)
    return [word for word in unknown if word not in names[:num_free]]


def _told_words(facts: Facts) -> set[str]:
    phrases = (phrase for told in facts.told.values() for phrase in told)
    words = {word for phrase in phrases for word in re.findall(r"\w+", phrase)}
    return words | {word.lower() for word in words}


def _listed(slot: str, words: Sequence[str]) -> frozenset[str]:
    """The known words of a slot that occur in `words`; a plural counts as its singular."""
    if slot in NAME_SLOTS:
        return LISTS[slot] & set(words)
    forms = {word.lower() for word in words}
    return LISTS[slot] & (forms | {form[:-1] for form in forms if form.endswith("s")})


def _slot_faults(facts: Facts, slot: str, text: str, words: Sequence[str]) -> Iterator[str]:
    others = sorted(_listed(slot, words) - _told_words(facts))
    if slot in facts.told and others:
        yield f"“{others[0]}” is not in the prompt"
    if slot not in facts.told and len(others) > 1:
        yield f"“{others[0]}” and “{others[1]}” are not in the prompt"
    for phrase in facts.told.get(slot, ()):
        # A name counts only with its capital, another phrase also in the plural.
        flags = re.IGNORECASE if phrase[:1].islower() else re.RegexFlag(0)
        if not re.search(rf"\b{re.escape(phrase)}(?:e?s)?\b", text, flags):
            yield f"“{phrase}” of the prompt is missing"


def _keeps_owners(facts: Facts, words: Sequence[str]) -> bool:
    """Whether each mention such as "cat Rex", "Rex the cat" or "Tom's cat" fits the facts."""
    names, people, kinds = (_heads(facts, slot, words) for slot in ("animal", "person", "species"))
    owns = [[_head(part) if part else None for part in owner] for owner in facts.owns]
    species_of = {name: species for _, species, name in owns if name and species}
    owner_of = {species: person for person, species, _ in owns if person and species}
    is_right = True
    for first, second, third in zip(words, words[1:], words[2:], strict=False):
        if first in kinds and second in names:
            is_right &= species_of.setdefault(second, first) == first
        elif first in names and second in ("the", "a") and third in kinds:
            is_right &= species_of.setdefault(first, third) == third
        elif first in people and second == "s" and third in kinds:
            is_right &= owner_of.setdefault(third, first) == first
    return is_right


def _heads(facts: Facts, slot: str, words: Sequence[str]) -> frozenset[str]:
    """Known words of a slot that `words` contain, and the last word of each phrase told for the slot."""
    return _listed(slot, words) | {_head(phrase) for phrase in facts.told.get(slot, ())}


def _head(phrase: str) -> str:
    return phrase.split(" ")[-1]


def _keeps_pronouns(facts: Facts, words: Sequence[str]) -> bool:
    """Whether "he" and "she" fit: one of them is used only if somebody may be meant by it."""
    people = _heads(facts, "person", words)
    said = {word.lower() for word in words}
    known = {_head(person): pronoun for person, pronoun in facts.pronouns.items()}
    known = dict.fromkeys(WOMEN, "she") | dict.fromkeys(MEN, "he") | known
    kinds = {known.get(name) for name in people}
    if kinds == {"she"}:
        return not said & MALE
    if kinds == {"he"}:
        return not said & FEMALE
    return len(people) > 1 or not (said & MALE and said & FEMALE)


def generate(random: Random, split: Split) -> Example:
    """Make an example that asks for a story, answers with one, and belongs to `split`."""
    wording = draw_wording(random, split)
    while True:
        is_of_two = random.random() < OF_TWO_RATE
        plot = random.choice([plot for plot in PLOTS if plot["is_of_two"] == is_of_two])
        told = {slot for slot, rate in TOLD_RATES.items() if random.random() < rate}
        told |= {"person", "species", "animal"} if plot["is_of_two"] else set()
        people = random.sample(NAMES if "person" in told else DATA["writer_people"], 2)
        kinds, names = random.sample(tuple(SPECIES), 2), random.sample(PET_NAMES, 2)
        thing = random.choice(OBJECTS if "object" in told else DATA["writer_objects"])
        color = random.choice(COLORS) if "object" in told and random.random() < COLOR_RATE else ""
        place = random.choice(tuple(PLACES) if "place" in told else DATA["writer_places"])
        count = 2 if plot["is_of_two"] else 1
        every = {"person": people[:count], "animal": names[:count], "species": kinds[:count],
                 "object": [thing], "color": [color] * bool(color), "place": [place]}  # fmt: skip
        facts = {slot: every[slot] for slot in every if slot in told or slot == "color"}
        facts = {slot: phrases for slot, phrases in facts.items() if phrases}
        hint = [plot["hint"]] if "plot" in told else []
        if {"person", "species", "animal", "object"} & told and split_of(
            composition(facts, plot["name"] if hint else "")
        ) == split:
            break
    he, him, his = ("she", "her", "her") if people[0] in WOMEN else ("he", "him", "his")
    slots = {
        "A": people[0], "B": people[1], "S": kinds[0], "T": kinds[1], "N": names[0], "M": names[1],
        "he": he, "him": him, "his": his, "He": he.title(), "her": "her" if people[1] in WOMEN else "his",
        "k": thing, "o": f"{color} {thing}".strip(), "place": f"the {place}", "at": f"{PLACES[place]} the {place}",
        "cry": SPECIES[kinds[0]], "time": random.choice(DATA["times"]), "glad": random.choice(DATA["glad"]),
    }  # fmt: skip
    cast = _cast(random, wording, told, is_of_two=is_of_two)
    cast += ["a {o}"] * ("object" in told) + hint
    asked = ASKS.draw(random, wording).replace("{cast}", listed(cast))
    asked = asked.replace("{at}", " {at}" if "place" in told else "")
    opening, ending = ENDS[2:] if plot["is_of_two"] else ENDS[:2]
    story = " ".join(random.choice(beat) for beat in (DATA[opening], *plot["beats"], DATA[ending]))
    columns = [facts.get(slot, [None] * count) for slot in ("person", "species", "animal")]
    pronouns = {person: "she" if person in WOMEN else "he" for person in facts.get("person", ())}
    owns = list(zip(*columns, strict=True))
    case = json.dumps({**facts, "owns": owns, "pronouns": pronouns})
    return Example(
        NAME, sentences(asked.format(**slots)), sentences(story.format(**slots)), case, wording
    )


def _cast(random: Random, wording: Wording, told: set[str], *, is_of_two: bool) -> list[str]:
    """Phrases that mention the people and animals in a prompt. told: the told slots."""
    if is_of_two:
        return [PAIRS.draw(random, wording)]
    people = ["{A}"] if "person" in told else []
    slots = tuple(slot for slot in ("species", "animal") if slot in told)
    while slots:
        pet = PETS[slots].draw(random, wording)
        if people or "{his}" not in pet:
            return [*people, pet]
    return people


def composition(facts: Mapping[str, Sequence[str]], plot: str) -> str:
    """The text that decides a prompt's split, made of the species, object and plot that are told.

    If fewer than two of these are told, the text is made of everything told.
    """
    key = [*facts.get("species", ()), *facts.get("object", ()), *filter(None, [plot])]
    if len(key) < 2:
        key = [*(word for phrases in facts.values() for word in phrases), *filter(None, [plot])]
    return " ".join(sorted(key))
