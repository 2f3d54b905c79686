"""Requests for a story in words put together anew, for training.

Phrases for people and animals are made of parts of seen ones, and words that tell nothing are put
in between: "Tell us a plin story about a young vabek boy named Leo and Rex, his own good dog."
A text with a reserved one in it is put together again.
"""

import re
from collections.abc import Callable
from functools import cache
from random import Random

from sbd_core.tasks.base import PART
from sbd_core.tasks.story import asking, prompts
from sbd_core.tasks.story import task as story
from sbd_core.tasks.story.task import Draft

COMPOSED_RATE, INSERTED_RATE, MAX_INSERTED = 0.5, 0.4, 2
PLAIN_RATE, ODD_PLACE_RATE = 0.4, 0.25
PERSON = (
    "<one> <size>{girl}<called> {A}", "the <size>{girl} {A}", "{A}, <one> <size>{girl}",
    "{A} the <size>{girl}", "<title>{A}", "<title>{A}, <one> {girl}", "<who><called> {A}",
)  # fmt: skip
_WITH_PET = (
    "{his} <fond>pet {S}<called> {N}", "{his} <fond>pet {S} {N}", "the <nice>pet {S} {N}",
    "<one> <fond>pet {S}<called> {N}",
)  # fmt: skip
PET = {
    ("species", "animal"): (
        "{his} <own><nice>{S}<called> {N}", "{his} <own><nice>{S} {N}", "{N}, {his} <own><nice>{S}",
        "<one> <nice>{S}<called> {N}", "{N}, <one> <nice>{S}", "{N} the <nice>{S}",
        "the <nice>{S} {N}", "{N} who is <one> <nice>{S}", *_WITH_PET,
        "{N}, {his} <fond>pet {S}", "{N} the <nice>pet {S}", "{N}, <one> <fond>pet {S}",
    ),
    ("species",): ("{his} <own><nice>{S}", "<one> <nice>{S}", "{his} <fond>pet {S}",
                   "<one> <fond>pet {S}"),
    ("animal",): ("<one> <nice>pet<called> {N}", "{his} <own><nice>pet<called> {N}",
                  "{N}, {his} <own><nice>pet", "{N} the <nice>pet"),
}  # fmt: skip
PARTS = {
    "one": ("a", "a", "the", "one", "a certain"),
    "size": ("", "little ", "small ", "young ", "nice ", "<odd> ", "little <odd> "),
    "called": (" called", " named", ",", " with the name", " by the name of", " whose name is"),
    "title": (
        "little ",
        "young ",
        "dear ",
        "a certain ",
        "my friend ",
        "our friend ",
        "<odd> ",
        "good ",
        "old ",
        "poor ",
        "brave ",
    ),
    "who": ("somebody", "someone", "a person", "one"),
    "own": ("", "", "own "),
    "nice": ("", "", "nice ", "dear ", "good ", "beloved ", "dear good ", "good beloved "),
    "fond": ("own ", "nice ", "dear ", "good ", "little ", "beloved ", "good little "),
    "there": ("There", "In it there", "Somewhere there", "Then there"),
    "must": ("must", "has to", "should", "ought to", "can", "might", "will", "needs to", "shall"),
    "inside": ("in it", "inside", "there", "in the story", "as well", "with them", "part of it"),
    "comes": ("comes up", "turns up", "appears", "belongs", "is found", "is", "plays a part"),
    "put": ("put", "get", "bring", "have", "use", "work", "keep", "hide", "show", "let me see"),
    "They": ("They", "We", "In it they", "The heroes", "Both of them"),
    "have": ("have", "find", "see", "meet", "get", "carry", "look for", "want", "talk of"),
    "with": (" with ", " and ", " who has ", " who owns ", " plus ", " along with "),
}
ALSO = ("<there> <must> be {thing}.", "{thing} <must> be <inside>.", "{thing} <comes> <inside>.",
        "Please <put> {thing} <inside>.", "<They> <have> {thing}.",
        "<They> <have> {thing} <inside>.")  # fmt: skip
SECOND = {"{A}": "{B}", "{S}": "{T}", "{N}": "{M}", "{his}": "{her}"}


# Before a word of a template, after another or at the beginning of a sentence, not beside a slot.
GAP = re.compile(r"(?:^|(?<=[a-z.:?!] ))(?=[A-Za-z]+[ .,?:!](?!\{))")
CAST_AFTER = ("about", "with", "of", "in", "is", "are", "to")
KIND = re.compile(r"(?:a|an|one|another|some) (?=[a-z' ]*(?:story|tale|adventure)\b)")
AN = re.compile(r"\b([Aa])n (?=[b-df-hj-np-tv-z])")
Drawn = Callable[[], str]


def request(random: Random, draft: Draft, odd_word: Drawn, adjective: Drawn) -> str:
    """A request for the draft, its slots open; the others draw a word that tells nothing."""
    while True:
        is_composed = random.random() < COMPOSED_RATE
        text = (
            _composed(random, draft, odd_word) if is_composed else story.template_of(random, draft)
        )
        if random.random() < INSERTED_RATE:
            text = _with_odd_words(random, text, odd_word, adjective)
        if not asking.is_held_out(text):
            return text


def _composed(random: Random, draft: Draft, odd_word: Drawn) -> str:
    items, others = cast(random, draft, odd_word), story.others_of(random, draft)
    if items and random.random() < story.LEAD_RATE:
        return _in_sentences(random, draft, items, others)
    items += others
    if "friend" not in draft.told and "{his}" not in "".join(items):
        random.shuffle(items)
    at = ""
    if "place" in draft.told:
        is_odd = random.random() < ODD_PLACE_RATE
        at = f", {odd_word()} {{at}}" if is_odd else prompts.AT.draw(random, "seen")
    text = asking.draw(random, "seen", prompts.ASKS)
    return text.replace("{cast}", story.join(items)).replace("{at}", at)


def _in_sentences(random: Random, draft: Draft, items: list[str], others: list[str]) -> str:
    """The request with a sentence for each part, in any order."""
    parts = [prompts.ABOUT.draw(random, "seen").replace("{cast}", story.join(items))]
    parts += [_also(random).replace("{thing}", thing) for thing in others]
    if "place" in draft.told:
        parts.append(prompts.THERE.draw(random, "seen"))
    random.shuffle(parts)
    return " ".join([asking.draw(random, "seen", prompts.LEADS), *parts])


def _also(random: Random) -> str:
    while True:
        text = _filled(random, random.choice(ALSO), str)
        if text not in prompts.ALSO.reserved:
            return text


def _with_odd_words(random: Random, text: str, odd_word: Drawn, adjective: Drawn) -> str:
    """The request with one or two more words before its cast; that of a story may be known."""
    if random.random() < 0.5 and (kind := KIND.search(text)):
        return AN.sub(r"\1 ", f"{text[: kind.end()]}{adjective()} {text[kind.end() :]}")
    before = text[: text.index("{")]
    end = max(before.rfind(f" {word} ") for word in CAST_AFTER)
    gaps = [found.start() for found in GAP.finditer(text) if found.start() <= end]
    for gap in sorted(random.sample(gaps, min(len(gaps), random.randint(1, MAX_INSERTED))))[::-1]:
        word, rest = odd_word(), text[gap:]
        if rest[0].isupper():
            word = word.capitalize()
            rest = rest if rest.startswith("I ") else rest[0].lower() + rest[1:]
        text = f"{text[:gap]}{word} {rest}"
    return AN.sub(r"\1 ", text)


def cast(random: Random, draft: Draft, odd_word: Drawn) -> list[str]:
    """Phrases for the people and animals that the prompt is to tell; odd_word: draws one."""
    if draft.plot.is_of_two:
        return [_of_two(random, odd_word)]
    items = []
    if "person" in draft.told:
        is_plain = draft.people[0].is_role or random.random() < PLAIN_RATE
        items = ["{A}" if is_plain else _phrase(random, PERSON, odd_word)]
    slots = tuple(slot for slot in ("species", "animal") if slot in draft.told)
    if slots:
        pet = _phrase(random, PET[slots], odd_word)
        while not items and "{his}" in pet:
            pet = _phrase(random, PET[slots], odd_word)
        items.append(pet)
    return items


def _of_two(random: Random, odd_word: Drawn) -> str:
    """Both people, each with an animal, in one manner."""
    shapes = PET["species", "animal"]
    while True:
        pet = _phrase(random, shapes, odd_word)
        first = "{A}" + random.choice(PARTS["with"]) + pet
        second = first
        for slot, other in SECOND.items():
            second = second.replace(slot, other)
        if not _is_held_out(text := f"{first}, {second}"):
            return text


def _phrase(random: Random, shapes: tuple[str, ...], odd_word: Drawn) -> str:
    while True:
        text = _filled(random, random.choice(shapes), odd_word)
        if not _is_held_out(text):
            return text


def _filled(random: Random, text: str, odd_word: Drawn) -> str:
    """A shape, each <part> of it drawn."""

    def drawn(part: re.Match[str]) -> str:
        return odd_word() if part[1] == "odd" else random.choice(PARTS[part[1]])

    while PART.search(text):
        text = PART.sub(drawn, text)
    return text


def _is_held_out(text: str) -> bool:
    return any(phrase in text for phrase in _held_out())


@cache
def _held_out() -> tuple[str, ...]:
    """The reserved phrases that are not part of a seen one."""
    pools = (prompts.PERSON, prompts.PAIRS, *prompts.PETS.values())
    seen = " | ".join(text for pool in pools for text in pool.seen)
    return tuple(text for pool in pools for text in pool.reserved if text not in seen)
