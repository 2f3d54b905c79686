"""Short stories about told people, animals and things; what is not told is the writer's choice.

There is no one right answer: plot, wordings and whatever the prompt leaves open are drawn anew.
The composition that decides the split is the told species, thing and plot, or everything told
where those are fewer than two. A prompt tells its composition, so it belongs to one split only.
"""

import re
from dataclasses import dataclass
from random import Random

from sbd_core.tasks.base import Example, Split, Task, split_of
from sbd_core.tasks.story import prompts
from sbd_core.tasks.story.facts import Facts, Owner, is_consistent, read_case
from sbd_core.tasks.story.plots import (
    ENDINGS,
    ENDINGS_OF_TWO,
    GLAD,
    OPENINGS,
    OPENINGS_OF_TWO,
    PLOTS,
    SAD,
    TIMES,
    Plot,
)
from sbd_core.tasks.story.words import (
    ANIMAL_NAMES,
    LISTS,
    OBJECTS,
    PEOPLE,
    PLACES,
    SPECIES,
)
from sbd_core.tasks.words import COLORS, WOMEN

NAME = "story"
PET_WEIGHTS = (72, 14, 8, 6)
TOLD_RATES = {"person": 0.9, "object": 0.8, "color": 0.7, "place": 0.35, "plot": 0.35}
COLOR_RATE, SENTENCE_RATE, SHUFFLE_RATE = 0.5, 0.2, 0.2
INVENTED_RATE = 0.15
STARTS, MIDDLES, TAILS = "BDFGHKLMNPRSTVWZ", "lmnrtvzkd", "nrlxk"
LISTED = frozenset(word for words in LISTS.values() for word in words)
ARTICLE = re.compile(r"\b([Aa]) (?=[aeiou])")


@dataclass(frozen=True, slots=True)
class Draft:
    """A story before it is worded: every slot of the wordings, and which slots are told."""

    plot: Plot
    slots: dict[str, str]
    told: frozenset[str]


def generate(random: Random, split: Split) -> Example:
    """A request for a story, whose composition belongs to `split`, and one such story."""
    while True:
        draft = draft_story(random)
        if draft.told - {"place", "plot"} and split_of(composition(draft)) == split:
            case = _facts(draft).to_case()
            return Example(NAME, _prompt(random, draft), _story(random, draft), case)


def check(example: Example, text: str) -> bool:
    """True when `text` keeps to the facts of the prompt: names, species, thing, color, place."""
    return is_consistent(read_case(example.case), text)


def composition(draft: Draft) -> str:
    """The key that decides the split of a prompt: words that the prompt tells."""
    facts = _facts(draft).told
    plot = [draft.plot.name] if "plot" in draft.told else []
    key = [*facts.get("species", ()), *facts.get("object", ()), *plot]
    if len(key) < 2:
        key = [*(word for words in facts.values() for word in words), *plot]
    return " ".join(sorted(key))


def draft_story(random: Random) -> Draft:
    """What a story is to be about, and which of it the prompt tells."""
    plot = random.choice(PLOTS)
    (first, second), (species, other) = random.sample(PEOPLE, 2), random.sample(list(SPECIES), 2)
    name, other_name = random.sample(ANIMAL_NAMES, 2)
    thing, place = random.choice(OBJECTS), random.choice(list(PLACES))
    color = random.choice(COLORS) if random.random() < COLOR_RATE else ""
    told = _told_slots(random, plot, color)
    is_woman = first in WOMEN
    if "person" in told and random.random() < INVENTED_RATE:
        first = _invent(random)
    if "animal" in told and random.random() < INVENTED_RATE:
        name = _invent(random)
    he, him, his = ("she", "her", "her") if is_woman else ("he", "him", "his")
    slots = {
        "A": first, "B": second, "S": species, "T": other, "N": name, "M": other_name,
        "he": he, "him": him, "his": his, "He": he.title(),
        "girl": "girl" if is_woman else "boy", "her": "her" if second in WOMEN else "his",
        "k": thing, "color": color, "o": f"{color} {thing}".strip(),
        "place": place, "at": f"{PLACES[place]} the {place}", "cry": SPECIES[species],
        "time": random.choice(TIMES), "glad": random.choice(GLAD), "sad": random.choice(SAD),
    }  # fmt: skip
    return Draft(plot, slots, told)


def _told_slots(random: Random, plot: Plot, color: str) -> frozenset[str]:
    told = {slot for slot, rate in TOLD_RATES.items() if random.random() < rate}
    if plot.is_of_two:
        told |= {"person", "animal", "species"}
    else:
        told |= set(random.choices(list(prompts.PET_FORMS), PET_WEIGHTS)[0])
    if not color or "object" not in told:
        told.discard("color")
    return frozenset(told)


def _invent(random: Random) -> str:
    """A name of no list, so that names are copied and not only known."""
    while True:
        name = random.choice(STARTS) + random.choice("aeiou") + random.choice(MIDDLES)
        name += random.choice("aeio") + random.choice(("", random.choice(TAILS)))
        if not LISTED & {name, name.lower()}:
            return name


def _facts(draft: Draft) -> Facts:
    words = {"person": "AB", "animal": "NM", "species": "ST"}
    told: dict[str, list[str]] = {}
    num_pairs = 2 if draft.plot.is_of_two else 1
    for slot, keys in words.items():
        if slot in draft.told:
            told[slot] = [draft.slots[key] for key in keys[:num_pairs]]
    for slot, key in (("object", "k"), ("color", "color"), ("place", "place")):
        if slot in draft.told:
            told[slot] = [draft.slots[key]]
    columns = [told.get(slot, [None] * num_pairs) for slot in ("person", "species", "animal")]
    owns: list[Owner] = list(zip(*columns, strict=True))
    return Facts(told, owns)


def _prompt(random: Random, draft: Draft) -> str:
    slots, told = draft.slots, draft.told
    at = random.choice(prompts.AT_FORMS) if "place" in told else ""
    others = _things(random, draft)
    is_pair_told = {"person", "animal", "species"} <= told and not draft.plot.is_of_two
    if is_pair_told and random.random() < SENTENCE_RATE:
        rest = f" with {_join(others)}" if others else ""
        wording = random.choice(prompts.ASKS_AFTER_PET)
        return _told(wording.replace("{at}", at).replace("{rest}", rest), slots)
    items = [*_people_and_pets(random, draft), *others]
    if random.random() < SHUFFLE_RATE and "{his}" not in "".join(items):
        random.shuffle(items)
    ask = random.choice(prompts.ASKS).replace("{cast}", _join(items)).replace("{at}", at)
    return _told(ask, slots)


def _people_and_pets(random: Random, draft: Draft) -> list[str]:
    told = draft.told
    if draft.plot.is_of_two:
        return [random.choice(prompts.PAIRS_FORMS)]
    people = [random.choice(prompts.PEOPLE_FORMS)] if "person" in told else []
    forms = prompts.PET_FORMS[tuple(slot for slot in ("species", "animal") if slot in told)]
    if not people:
        forms = tuple(form for form in forms if "{his}" not in form)
    return [*people, random.choice(forms)] if forms else people


def _things(random: Random, draft: Draft) -> list[str]:
    """The thing and the plot as parts of the cast: "a lost kite", or "a kite" and "a race"."""
    plot, told = draft.plot, draft.told
    thing = "{o}" if "color" in told else "{k}"
    is_adjective = bool(plot.adjective) and {"plot", "object"} <= told and random.random() < 0.7
    things = [f"a {plot.adjective} {thing}" if is_adjective else f"a {thing}"]
    hints = [random.choice(plot.hints)] if "plot" in told and not is_adjective else []
    return (things if "object" in told else []) + hints


def _story(random: Random, draft: Draft) -> str:
    plot = draft.plot
    openings, endings = (OPENINGS_OF_TWO, ENDINGS_OF_TWO) if plot.is_of_two else (OPENINGS, ENDINGS)
    beats = (openings, *plot.beats, endings)
    return _told(" ".join(random.choice(beat) for beat in beats), draft.slots)


def _join(items: list[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _told(wording: str, slots: dict[str, str]) -> str:
    return ARTICLE.sub(r"\1n ", wording.format(**slots))


TASK = Task(NAME, generate, check)
"""Write a short story."""
