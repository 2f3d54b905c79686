"""Short stories about told people, animals and things; what is not told is the writer's choice.

There is no one right answer: plot, wordings and whatever the prompt leaves open are drawn anew.
The composition that decides the split is the told species, thing and plot, or everything told
where those are fewer than two. A prompt tells its composition, so it belongs to one split only.
A story calls people "she" or "he" only where the prompt tells which: no model need guess.
"""

import re
from dataclasses import dataclass
from random import Random

from sbd_core.tasks.base import Example, Split, Task, Wording, draw_wording, split_of
from sbd_core.tasks.story import asking, casting, plots, prompts
from sbd_core.tasks.story.casting import Person, Place
from sbd_core.tasks.story.facts import Facts, Owner, is_consistent, read_case
from sbd_core.tasks.story.hints import HINTS
from sbd_core.tasks.story.plot import Plot
from sbd_core.tasks.story.words import (
    LISTS,
    PLACES,
    WRITER_ANIMALS,
    WRITER_OBJECTS,
    WRITER_PLACES,
    WRITER_SPECIES,
)
from sbd_core.tasks.words import COLORS

NAME = "story"
PET_WEIGHTS = {("species", "animal"): 72, ("species",): 14, ("animal",): 8, (): 6}
TOLD_RATES = {"person": 0.9, "object": 0.8, "color": 0.7, "place": 0.35, "plot": 0.35}
COLOR_RATE, AFTER_PET_RATE, LEAD_RATE, SHUFFLE_RATE = 0.5, 0.15, 0.2, 0.2
OF_TWO_RATE, FRIEND_RATE = 0.2, 0.15
PRONOUN = re.compile(r"\{(he|him|his|He|girl)\}")
ARTICLE = re.compile(r"\b([Aa]) (?=(?!uni)[aeiou])")
START = re.compile(r"(?:^|(?<=[.!?] ))(\"?)([a-z])")
MAX_ROW_CHARACTERS, NAME_CHARACTERS = 680, 4
LISTED = LISTS["person"] | LISTS["animal"]
SINGLE_PLOTS = tuple(plot for plot in plots.PLOTS if not plot.is_of_two)
PLOTS_OF_TWO = tuple(plot for plot in plots.PLOTS if plot.is_of_two)


@dataclass(frozen=True, slots=True)
class Draft:
    """A story before it is worded: who, what and where, and which of it the prompt tells."""

    plot: Plot
    people: tuple[Person, Person]
    kinds: tuple[str, str]
    """Species of the animals."""
    names: tuple[str, str]
    thing: str
    color: str
    place: Place
    told: frozenset[str]
    wording: Wording


def generate(random: Random, split: Split) -> Example:
    """A request for a story, whose composition belongs to `split`, and one such story."""
    wording = draw_wording(random, split)
    while True:
        draft = draft_story(random, wording)
        if not draft.told - {"place", "plot"} or split_of(composition(draft)) != split:
            continue
        prompt, is_told_as = prompt_of(random, draft)
        story = story_of(random, draft, is_told_as=is_told_as)
        if row_characters(draft, prompt, story) <= MAX_ROW_CHARACTERS:
            case = facts_of(draft, is_told_as=is_told_as).to_case()
            return Example(NAME, prompt, story, case, wording, draft.plot.name)


def row_characters(draft: Draft, prompt: str, story: str) -> int:
    """About what a training row of 256 tokens has to hold; names no list has are many tokens."""
    text = prompt + 2 * story
    names = {*draft.names, *(one.name for one in draft.people)} - LISTED
    return len(text) + NAME_CHARACTERS * sum(text.count(name) for name in names)


def check(example: Example, text: str) -> bool:
    """True when `text` keeps to the facts of the prompt: names, species, thing, color, place."""
    return is_consistent(read_case(example.case), text)


def composition(draft: Draft) -> str:
    """The key that decides the split of a prompt: words that the prompt tells."""
    facts = facts_of(draft, is_told_as=False).told
    plot = [draft.plot.name] if "plot" in draft.told else []
    key = [*facts.get("species", ()), *facts.get("object", ()), *plot]
    if len(key) < 2:
        key = [*(word for words in facts.values() for word in words), *plot]
    return " ".join(sorted(key))


def draft_story(random: Random, wording: Wording) -> Draft:
    """What a story is to be about, and which of it the prompt tells."""
    plot = random.choice(PLOTS_OF_TWO if random.random() < OF_TWO_RATE else SINGLE_PLOTS)
    color = random.choice(COLORS) if random.random() < COLOR_RATE else ""
    told = _told_slots(random, plot, color)
    people = _people(random, wording, told)
    kind = casting.species(random, wording) if "species" in told else random.choice(WRITER_SPECIES)
    name = (
        casting.animal_name(random, wording) if "animal" in told else random.choice(WRITER_ANIMALS)
    )
    thing = casting.thing(random, wording) if "object" in told else random.choice(WRITER_OBJECTS)
    if "place" in told:
        place = casting.place(random, wording)
    else:
        where = random.choice(WRITER_PLACES)
        place = Place(where, PLACES[where])
    other, other_name = kind, name
    while plot.is_of_two and (other.split(" ")[-1] == kind.split(" ")[-1] or other_name == name):
        other, other_name = (
            casting.species(random, wording),
            casting.animal_name(random, wording),
        )
    return Draft(
        plot, people, (kind, other), (name, other_name), thing, color, place, told, wording
    )


def _people(random: Random, wording: Wording, told: frozenset[str]) -> tuple[Person, Person]:
    """The person and, where one is told, the friend; both by name then."""
    if "person" not in told:
        first = casting.writers_person(random)
        return first, first
    first = second = casting.person(random, wording)
    while "friend" in told and (first.is_role or second.is_role or first.name == second.name):
        first, second = casting.person(random, wording), casting.person(random, wording)
    return first, second


def _told_slots(random: Random, plot: Plot, color: str) -> frozenset[str]:
    told = {slot for slot, rate in TOLD_RATES.items() if random.random() < rate}
    if plot.is_of_two:
        told |= {"person", "friend", "animal", "species"}
    else:
        told |= set(random.choices(list(PET_WEIGHTS), list(PET_WEIGHTS.values()))[0])
        if "person" in told and random.random() < FRIEND_RATE:
            told.add("friend")
    if not color or "object" not in told:
        told.discard("color")
    return frozenset(told)


def facts_of(draft: Draft, *, is_told_as: bool) -> Facts:
    """What a story of the draft has to keep to; is_told_as: the prompt says "he" or "she"."""
    num_pairs = 2 if draft.plot.is_of_two else 1
    num_people = 2 if "friend" in draft.told else 1
    every: dict[str, tuple[str, ...]] = {
        "person": tuple(person.name for person in draft.people[:num_people]),
        "animal": draft.names[:num_pairs],
        "species": draft.kinds[:num_pairs],
        "object": (draft.thing,),
        "color": (draft.color,),
        "place": (draft.place.phrase,),
    }
    told = {slot: list(words) for slot, words in every.items() if slot in draft.told}
    columns = [told.get(slot, [None] * num_pairs) for slot in ("person", "species", "animal")]
    owns: list[Owner] = list(zip(*columns, strict=False))
    people = draft.people[:num_pairs] if is_told_as else ()
    return Facts(told, owns, {person.name: person.pronoun for person in people})


def prompt_of(random: Random, draft: Draft) -> tuple[str, bool]:
    """The request, and whether it tells who is a woman and who a man."""
    return worded_prompt(random, draft, template_of(random, draft))


def worded_prompt(random: Random, draft: Draft, template: str) -> tuple[str, bool]:
    """The same of a request whose slots are open."""
    is_told_as = PRONOUN.search(template) is not None
    return _worded(template, slots_of(random, draft, "in_prompt")), is_told_as


def template_of(random: Random, draft: Draft) -> str:
    """The request, its slots open."""
    told, wording = draft.told, draft.wording
    at = prompts.AT.draw(random, wording) if "place" in told else ""
    others = others_of(random, draft)
    is_pair_told = {"person", "animal", "species"} <= told and not draft.plot.is_of_two
    if is_pair_told and random.random() < AFTER_PET_RATE:
        rest = f" with {join(others)}" if others else ""
        text = asking.draw(random, wording, prompts.AFTER_PET)
        return text.replace("{at}", at).replace("{rest}", rest)
    items = _people_and_pets(random, draft)
    if items and random.random() < LEAD_RATE:
        return _in_sentences(random, draft, items, others)
    items += others
    if random.random() < SHUFFLE_RATE and "{his}" not in "".join(items):
        random.shuffle(items)
    text = asking.draw(random, wording, prompts.ASKS)
    return text.replace("{cast}", join(items)).replace("{at}", at)


def others_of(random: Random, draft: Draft) -> list[str]:
    """What the cast has beside the person and the animal: a friend, a thing, a plot."""
    is_with_friend = "friend" in draft.told and not draft.plot.is_of_two
    return (["{B}"] if is_with_friend else []) + _things(random, draft)


def _in_sentences(random: Random, draft: Draft, items: list[str], others: list[str]) -> str:
    """The request with a sentence for each part, in any order."""
    wording = draft.wording
    parts = [prompts.ABOUT.draw(random, wording).replace("{cast}", join(items))]
    parts += [prompts.ALSO.draw(random, wording).replace("{thing}", thing) for thing in others]
    if "place" in draft.told:
        parts.append(prompts.THERE.draw(random, wording))
    random.shuffle(parts)
    return " ".join([asking.draw(random, wording, prompts.LEADS), *parts])


def _people_and_pets(random: Random, draft: Draft) -> list[str]:
    told, wording = draft.told, draft.wording
    if draft.plot.is_of_two:
        return [prompts.PAIRS.draw(random, wording)]
    people = []
    if "person" in told:
        is_plain = draft.people[0].is_role or random.random() < 0.6
        people = ["{A}" if is_plain else prompts.PERSON.draw(random, wording)]
    slots = tuple(slot for slot in ("species", "animal") if slot in told)
    if not slots:
        return people
    pet = prompts.PETS[slots].draw(random, wording)
    while not people and "{his}" in pet:
        pet = prompts.PETS[slots].draw(random, random.choice(("seen", wording)))
    return [*people, pet]


def _things(random: Random, draft: Draft) -> list[str]:
    """The thing and the plot as parts of the cast: "a lost kite", or "a kite" and "a race"."""
    plot, told = draft.plot, draft.told
    thing = "{o}" if "color" in told else "{k}"
    is_adjective = bool(plot.adjective) and {"plot", "object"} <= told and random.random() < 0.7
    things = [f"a {plot.adjective} {thing}" if is_adjective else f"a {thing}"]
    is_hinted = "plot" in told and not is_adjective
    hints = [HINTS[plot.name].draw(random, draft.wording)] if is_hinted else []
    return (things if "object" in told else []) + hints


def story_of(random: Random, draft: Draft, *, is_told_as: bool) -> str:
    """A story of the draft; without "she" and "he" where the prompt leaves them open."""
    plot = draft.plot
    openings, endings = plots.OPENINGS, plots.ENDINGS
    if plot.is_of_two:
        openings, endings = plots.OPENINGS_OF_TWO, plots.ENDINGS_OF_TWO
    elif "friend" in draft.told:
        openings, endings = plots.OPENINGS_WITH_FRIEND, plots.ENDINGS_WITH_FRIEND
    may_say = is_told_as or "person" not in draft.told
    beats = (openings, *plot.beats, endings)
    chosen = (
        random.choice([one for one in beat if may_say or not PRONOUN.search(one)]) for beat in beats
    )
    return _worded(" ".join(chosen), slots_of(random, draft, "in_story"))


def slots_of(random: Random, draft: Draft, where: str) -> dict[str, str]:
    """Every slot of the wordings; where: "in_prompt" or "in_story"."""
    (first, second), (kind, other), (name, other_name) = draft.people, draft.kinds, draft.names
    he, him, his = ("she", "her", "her") if first.pronoun == "she" else ("he", "him", "his")
    return {
        "A": getattr(first, where), "B": getattr(second, where), "S": kind, "T": other,
        "N": name, "M": other_name, "he": he, "him": him, "his": his, "He": he.title(),
        "girl": "girl" if first.pronoun == "she" else "boy",
        "her": "her" if second.pronoun == "she" else "his",
        "k": draft.thing, "o": f"{draft.color} {draft.thing}".strip(),
        "place": draft.place.full, "at": draft.place.at, "cry": casting.cry_of(kind),
        "time": random.choice(plots.TIMES), "glad": random.choice(plots.GLAD),
        "sad": random.choice(plots.SAD),
    }  # fmt: skip


def join(items: list[str]) -> str:
    """A cast as a request lists it: "Mia, her dog Rex and a kite"."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _worded(wording: str, slots: dict[str, str]) -> str:
    text = ARTICLE.sub(r"\1n ", wording.format(**slots))
    return START.sub(lambda found: found[1] + found[2].upper(), text)


TASK = Task(NAME, generate, check)
"""Write a short story."""
