"""Requests with words nobody knows, for training: "Tell zorvin a story", "Vabek the gaps".

A reader gets by without the odd word of a request. A model learns it from prompts that lose one
to three words which tell nothing of the answer: a made-up word stands for each, or nothing.
What stands in the answer stays. Of what a well-known function does one word of many may go too,
as the others tell it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from random import Random

from sbd_core.tasks.base import OPEN_SLOT, PART, Example, Pool, made_up_word
from sbd_core.tasks.code import wordings as code
from sbd_core.tasks.code.classics import CLASSICS
from sbd_core.tasks.infill import asking as infill
from sbd_core.tasks.infill import requests as infill_parts
from sbd_core.tasks.infill.patterns import split_words
from sbd_core.tasks.json import asking as json
from sbd_core.tasks.json.rewording import instructing as json_parts
from sbd_core.tasks.story import prompts as story

BLUR_RATE, LEFT_OUT_RATE, MAX_WORDS = 0.4, 0.25, 3
TELLING_RATE, MIN_TELLING = 0.35, 4
WORD = re.compile(r"(?<![\w\"'`{\\])[A-Za-z]{3,}(?![\w\"'`}])")
KEPT = split_words(
    "and are argument arguments but call called each else for from has have her his how input "
    "inputs its json name named not one only otherwise parameter parameters python than that the "
    "them this two unless what when whether which who with without"
)
"""Words that say how the rest of a request belongs together."""


def blurred(random: Random, example: Example) -> Example:
    """`example`, its request now and then with fewer known words. The answer stays."""
    spare = spare_words().get(example.task)
    if not spare or random.random() >= BLUR_RATE:
        return example
    places = _places(example, spare)
    chosen = random.sample(places, min(len(places), random.randint(1, MAX_WORDS)))
    if example.kind == "classic":
        telling = _places(example, telling_words())
        if len(telling) >= MIN_TELLING and random.random() < TELLING_RATE:
            chosen.append(random.choice(telling))
    prompt = example.prompt
    for found in sorted(chosen, key=lambda one: -one.start()):
        word = _instead(random, found[0])
        rest = prompt[found.end() :]
        prompt = prompt[: found.start()] + word + (rest if word else rest.removeprefix(" "))
    return replace(example, prompt=prompt.rstrip(" "))


def _places(example: Example, words: frozenset[str]) -> list[re.Match[str]]:
    """Where the request has one of `words` that the answer has not."""
    told = set(words_of(example.answer))
    found = WORD.finditer(example.prompt)
    return [one for one in found if (word := one[0].lower()) in words and word not in told]


def words_of(text: str) -> Iterator[str]:
    """The words of a text or a template, in small letters, slots and names of parts left out."""
    plain = PART.sub(" ", OPEN_SLOT.sub(" ", text))
    return (word.lower() for word in re.findall(r"[A-Za-z]+", plain))


@cache
def spare_words() -> dict[str, frozenset[str]]:
    """By task, the words of its requests that tell nothing of the answer."""
    hints = {word for pool in code.HINTS_BY_FORM.values() for word in _words(pool.seen)}
    functions = (
        code.LEADS, code.FUNCTIONS, code.NAMED, code.CALLS, code.CLAUSES, code.SHORT,
        code.NAME_AFTER, code.ONE_PARAMETER, code.MORE_PARAMETERS, code.NOUN_VERBS,
        code.CLAUSE_VERBS,
    )  # fmt: skip
    stories = (story.ASKS, story.LEADS, story.ABOUT, story.THERE, story.ALSO, story.AFTER_PET,
               story.KINDS, story.PERSON, *story.PETS.values())  # fmt: skip
    return {
        "code": _spare(functions) - telling_words() - hints,
        "story": _spare(stories) - {"girl"} | {"called", "named"},
        "json": _spare((json.INSTRUCTIONS,), *json_parts.PARTS.values()),
        "infill": _spare((infill.BEFORE, infill.AFTER), *infill_parts.PARTS.values()),
    }


@cache
def telling_words() -> frozenset[str]:
    """The words that say what well-known functions do."""
    return frozenset(_words(text for item in CLASSICS for text in item.wordings)).difference(KEPT)


def _spare(pools: Iterable[Pool[str]], *parts: Iterable[str]) -> frozenset[str]:
    texts = [text for pool in pools for text in pool.seen]
    texts += [text for part in parts for text in part]
    return frozenset(_words(texts)).difference(KEPT)


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in words_of(text)}


def _instead(random: Random, word: str) -> str:
    if random.random() < LEFT_OUT_RATE:
        return ""
    made_up = made_up_word(random, "seen")
    return made_up.capitalize() if word[0].isupper() else made_up
