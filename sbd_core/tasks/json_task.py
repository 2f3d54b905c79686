"""Extraction of facts from a short text as one line of JSON.

The answer copies values from the text, but has true or false for a yes-or-no fact, and null for a
fact that is not in the text. The set of requested fields decides the split, whatever the topic, the
order of the fields and their values. phrasings/json.json has the topics.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from sbd_core.tasks import words
from sbd_core.tasks.base import (
    Example,
    Phrasings,
    Split,
    draw_wording,
    listed,
    read_phrasings,
    sentences,
    split_of,
)

NAME = "json"
MAX_ANSWER_CHARACTERS = 4000
NUM_FIELDS, NUM_FIELDS_WEIGHTS = (1, 2, 3, 4, 5), (1, 4, 6, 4, 2)
MISSING_RATE, EXTRA_RATE, SNAKE_RATE, AFTER_RATE, JOIN_RATE = 0.03, 0.5, 0.4, 0.25, 0.5

Fact = tuple[object, str]
"""(value in the JSON, words for it in the text)"""
DRAWS: dict[str, Callable[[Random], object]] = {
    "yes_no": lambda random: random.random() < 0.5,
    "full_name": lambda random: f"{random.choice(words.NAMES)} {random.choice(words.SURNAMES)}",
    "time": lambda random: f"{random.randint(6, 23)}:{random.randrange(0, 60, 5):02d}",
    "date": lambda random: f"{random.choice(words.MONTHS)} {random.randint(1, 28)}",
    "phone": lambda random: f"555-{random.randint(0, 9999):04d}",
    "email": lambda random: f"{random.choice(words.NAMES).lower()}@example.com",
}


def draw(random: Random, values: Any) -> Fact:
    """Draw a value and its words. values: those of the field in the JSON data:

    a list to draw from, the name of a list in words.py or of a function in DRAWS, {"several": list
    or name} for a list of two or three, or {"whole": [low, high, step]} for a whole number.
    """
    if isinstance(values, Mapping):
        [(kind, given)] = values.items()
        if kind == "several":
            chosen = random.sample(_items(given), random.choice((2, 2, 3)))
            return chosen, listed(chosen)
        low, high, *step = given
        value: object = random.randrange(low, high + 1, *step)
    elif isinstance(values, str) and values in DRAWS:
        value = DRAWS[values](random)
    else:
        value = random.choice(_items(values))
    return value, str(value)


def _items(values: str | Sequence[str]) -> Sequence[str]:
    return getattr(words, values.upper()) if isinstance(values, str) else values


DATA = read_phrasings(NAME)
# A topic is a kind of thing. Of it, "subject" is what the thing is called after its first mention,
# "" for a person; "name" is the key of its name in the JSON, with "values" to draw it from, see
# draw(); "opening" has sentences that introduce it. Of each of its "fields", "predicates" state the
# fact, such as "costs {} dollars"; a yes-or-no field has "is free|is not free".
TOPICS = DATA["topics"]
ASKS = Phrasings.of(DATA["asks"])
BEFORE, AFTER = DATA["before"], DATA["after"]


def generate(random: Random, split: Split) -> Example:
    """Make an example whose set of requested fields belongs to `split`."""
    wording = draw_wording(random, split)
    while True:
        topic = random.choice(TOPICS)
        anchor = {"name": topic["name"], "values": topic["values"]}
        count = random.choices(NUM_FIELDS, NUM_FIELDS_WEIGHTS)[0]
        asked = random.sample((anchor, *topic["fields"]), count)
        if split_of(", ".join(sorted(field["name"] for field in asked))) == split:
            break
    untold = [field for field in asked if field is not anchor and random.random() < MISSING_RATE]
    others = [field for field in topic["fields"] if field not in asked]
    extra = random.sample(others, 1) if others and random.random() < EXTRA_RATE else []
    rest = [field for field in asked if field is not anchor and field not in untold] + extra
    random.shuffle(rest)
    facts = {id(field): draw(random, field["values"]) for field in (anchor, *rest)}
    is_snake = random.random() < SNAKE_RATE
    keys = [field["name"].replace(" ", "_") if is_snake else field["name"] for field in asked]
    values = [facts[id(field)][0] if id(field) in facts else None for field in asked]
    answer = json.dumps(dict(zip(keys, values, strict=True)))
    around = random.choice(AFTER if random.random() < AFTER_RATE else BEFORE)
    asking = ASKS.draw(random, wording).format(fields=listed(keys))
    told = [(field, facts[id(field)]) for field in rest]
    prompt = around.format(ask=asking, text=write_text(random, topic, facts[id(anchor)][1], told))
    return Example(NAME, prompt, answer, answer, wording)


def write_text(random: Random, topic: Any, name: str, told: Sequence[tuple[Any, Fact]]) -> str:
    """Write a text: a sentence that introduces the thing by `name`, then the facts in `told`."""
    parts = [random.choice(topic["opening"]).format(name)]
    later = topic["subject"] or ("she" if name.split()[0] in words.WOMEN else "he")
    pronoun = "it" if topic["subject"] else later
    said: list[str] = []
    for field, (value, word) in told:
        predicate = random.choice(field["predicates"])
        if isinstance(value, bool):
            predicate = predicate.split("|")[not value]
        said.append(predicate.format(word))
    while said:
        count = 2 if len(said) > 1 and random.random() < JOIN_RATE else 1
        subject = later if len(parts) == 1 else pronoun
        parts.append(f"{subject} {' and '.join(said[:count])}.")
        said = said[count:]
    return sentences(" ".join(parts))


def check(example: Example, text: str) -> bool:
    """Whether `text` is the expected JSON object; types count, the order of keys does not."""
    if len(text) > MAX_ANSWER_CHARACTERS:
        return False
    try:
        answer = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
        # Compared as text because True == 1 and 1 == 1.0 in Python.
        return _canonical(answer) == _canonical(json.loads(example.case))
    except (ValueError, RecursionError):
        return False


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key occurs twice")
    return members


def _refuse(literal: str) -> object:
    raise ValueError(f"{literal} is not a value any answer holds")
