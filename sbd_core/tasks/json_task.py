"""Extraction of facts from a short text as one line of JSON.

The answer copies values from the text, but has true or false for a yes-or-no fact, and null for a
fact that is not in the text. The set of requested fields decides the split, whatever the topic, the
order of the fields and their values.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from sbd_core.tasks import words
from sbd_core.tasks.base import (
    Example,
    Phrasings,
    Split,
    Task,
    draw_wording,
    listed,
    sentences,
    split_of,
)

NAME = "json"
MAX_ANSWER_CHARACTERS = 4000
NUM_FIELDS, NUM_FIELDS_WEIGHTS = (1, 2, 3, 4, 5), (1, 4, 6, 4, 2)
MISSING_RATE, EXTRA_RATE, SNAKE_RATE, AFTER_RATE, JOIN_RATE = 0.03, 0.5, 0.4, 0.25, 0.5

Fact = tuple[object, str]
"""(value in the JSON, words for it in the text)"""
Draw = Callable[[Random], Fact]


def whole(low: int, high: int, step: int = 1) -> Draw:
    """Make a Draw that gives whole numbers from `low` to `high`, in steps of `step`."""

    def draw(random: Random) -> Fact:
        value = random.randrange(low, high + 1, step)
        return value, str(value)

    return draw


def text(draw: Callable[[Random], str]) -> Draw:
    """Make a Draw that puts the same text, drawn by `draw`, in the JSON and in the prompt."""

    def drawn(random: Random) -> Fact:
        value = draw(random)
        return value, value

    return drawn


def one_of(choices: str | Sequence[str]) -> Draw:
    """Make a Draw that gives one of several texts (a list, or texts separated by ", ")."""
    items = choices.split(", ") if isinstance(choices, str) else choices
    return text(lambda random: random.choice(items))


def several(choices: str | Sequence[str]) -> Draw:
    """Make a Draw that gives a list of two or three different texts."""
    items = choices.split(", ") if isinstance(choices, str) else choices

    def draw(random: Random) -> Fact:
        chosen = random.sample(items, random.choice((2, 2, 3)))
        return chosen, listed(chosen)

    return draw


def yes_no(random: Random) -> Fact:
    """Draw true or false, without words: Field.predicates has the words for both."""
    return (True, "") if random.random() < 0.5 else (False, "")


FIRST_NAME, FULL_NAME = one_of(words.NAMES), text(lambda random: f"{random.choice(words.NAMES)} {random.choice(words.SURNAMES)}")  # fmt: skip
TIME = text(lambda random: f"{random.randint(6, 23)}:{random.randrange(0, 60, 5):02d}")
DATE = text(lambda random: f"{random.choice(words.MONTHS)} {random.randint(1, 28)}")
PHONE = text(lambda random: f"555-{random.randint(0, 9999):04d}")
EMAIL = text(lambda random: f"{random.choice(words.NAMES).lower()}@example.com")
CITY, COUNTRY, COLOR, DAY = map(one_of, (words.CITIES, words.COUNTRIES, words.COLORS, words.DAYS))
TITLE = one_of(
    "The Silent River, The Golden Island, The Hidden Garden, The Secret Letter, The Broken Mirror, The Lonely Castle, The Little Window"
)


@dataclass(frozen=True, slots=True)
class Field:
    """One kind of fact about a thing, such as its price.

    name: key in the JSON.
    draw: draws the value and its words.
    predicates: predicates that state the fact, such as "costs {} dollars", with {} for the words. A
        yes-or-no field has "is free|is not free", with the predicate for true first.
    """

    name: str
    draw: Draw
    predicates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """A kind of thing to tell facts about, such as a book.

    subject: words for the thing after its first mention, such as "the book"; "" for a person.
    name: key of the thing's name in the JSON.
    draw: draws the thing's name.
    """

    subject: str
    name: str
    draw: Draw
    opening: tuple[str, ...]
    """Sentences that introduce the thing, with {} for its name."""
    fields: tuple[Field, ...]
    """Kinds of facts about the thing, besides its name."""


AGE = Field("age", whole(18, 90), ("is {} years old",))
JOB = Field("job", one_of(words.JOBS), ("works as a {}", "is a {}"))
HOME = Field("city", CITY, ("lives in {}", "comes from {}"))
TOPICS = (
    Topic("", "name", FIRST_NAME, ("Meet {}.", "This is {}.", "I met {} today.", "My friend is called {}."), (
        AGE, JOB, HOME,
        Field("pet", one_of("cat, dog, parrot, hamster, turtle, horse"), ("has a {}", "owns a {}")),
        Field("hobby", one_of("music, cooking, chess, painting, sailing, gardening"), ("likes {}", "enjoys {}")),
        Field("favorite color", COLOR, ("likes the color {}", "always wears {}")),
        Field("languages", several("English, French, German, Spanish, Italian, Polish"), ("speaks {}", "is fluent in {}")),
        Field("children", several(words.NAMES), ("has the children {}",)),
        Field("married", yes_no, ("is married|is not married",)),
        Field("height", whole(120, 205), ("is {} cm tall",)),
    )),
    Topic("", "name", FULL_NAME, ("We have a new contact, {}.", "My name is {}.", "Here is the card of {}."), (
        AGE, HOME, JOB,
        Field("phone", PHONE, ("can be reached at {}", "has the phone number {}")),
        Field("email", EMAIL, ("reads mail at {}", "uses the address {}")),
        Field("country", COUNTRY, ("comes from {}", "was born in {}")),
        Field("newsletter", yes_no, ("wants the newsletter|does not want the newsletter",)),
    )),
    Topic("the animal", "name", FIRST_NAME, ("A pet called {} is here.", "Our patient is {}.", "We have found {}."), (
        Field("animal", one_of("cat, dog, parrot, hamster, turtle, horse, pony, snake"), ("is a {}",)),
        Field("age", whole(1, 25), ("is {} years old",)),
        Field("color", COLOR, ("has {} fur",)),
        Field("owner", FIRST_NAME, ("belongs to {}", "lives with {}")),
        Field("city", CITY, ("lives in {}", "was last seen in {}")),
        Field("toys", several("ball, rope, bone, mouse, ring, stick"), ("plays with {}",)),
        Field("vaccinated", yes_no, ("is vaccinated|is not vaccinated",)),
    )),
    Topic("the event", "event", one_of("concert, workshop, lecture, market, festival, meeting, race, party"),
           ("There will be a {}.", "Come to our {}.", "You are invited to a {}.", "We plan a {}."), (
        Field("day", DAY, ("takes place on {}", "is on {}")),
        Field("time", TIME, ("starts at {}", "begins at {}")),
        Field("date", DATE, ("is on {}",)),
        Field("place", one_of("library, museum, park, theater, gallery, stadium, hotel, cafe"), ("takes place at the {}", "is held in the {}")),
        Field("city", CITY, ("is in {}", "takes place in {}")),
        Field("seats", whole(10, 900, 5), ("has {} seats", "offers room for {} people")),
        Field("host", FIRST_NAME, ("is hosted by {}", "is led by {}")),
        Field("guests", several(words.NAMES), ("has the guests {}", "welcomes {}")),
        Field("price", whole(2, 90), ("costs {} dollars",)),
        Field("free", yes_no, ("is free|is not free",)),
    )),
    Topic("the book", "title", TITLE, ('I read "{}".', 'The book is called "{}".', 'The library has "{}".'), (
        Field("author", FULL_NAME, ("was written by {}", "is by {}")),
        Field("year", whole(1890, 2025), ("came out in {}", "was published in {}")),
        Field("pages", whole(40, 900), ("has {} pages", "is {} pages long")),
        Field("price", whole(3, 60), ("costs {} dollars", "sells for ${}")),
        Field("languages", several("English, French, German, Spanish, Italian, Polish"), ("can be read in {}",)),
        Field("bestseller", yes_no, ("is a bestseller|is not a bestseller",)),
    )),
    Topic("the film", "title", TITLE, ('We saw "{}".', 'The film is called "{}".', 'Last night I watched "{}".'), (
        Field("director", FULL_NAME, ("was directed by {}",)),
        Field("year", whole(1925, 2026), ("is from {}", "came out in {}")),
        Field("minutes", whole(60, 220), ("lasts {} minutes", "is {} minutes long")),
        Field("genre", one_of("comedy, drama, thriller, romance, western, musical, mystery"), ("is a {}",)),
        Field("actors", several(words.NAMES), ("stars {}",)),
        Field("country", COUNTRY, ("was filmed in {}", "comes from {}")),
        Field("day", DAY, ("is shown on {}",)),
        Field("time", TIME, ("begins at {}", "starts at {}")),
    )),
    Topic("the dish", "dish", one_of(words.FOODS), ("Tonight we cook {}.", "Here is my recipe for {}.", "Our dish of the day is {}."), (
        Field("minutes", whole(5, 180, 5), ("takes {} minutes", "is ready in {} minutes")),
        Field("servings", whole(2, 12), ("serves {}", "is enough for {} people")),
        Field("ingredients", several("butter, cheese, garlic, pepper, chicken, beef, mushroom, spinach, honey, cream"), ("needs {}", "is made with {}")),
        Field("cook", FIRST_NAME, ("is made by {}",)),
        Field("calories", whole(80, 1200, 5), ("has {} calories",)),
        Field("vegetarian", yes_no, ("is vegetarian|is not vegetarian",)),
        Field("price", whole(2, 40), ("costs {} dollars",)),
    )),
    Topic("the order", "item", one_of(words.THINGS), ("New order: {}.", "Somebody ordered {}.", "There is an order for {}."), (
        Field("quantity", whole(2, 90), ("holds {} pieces", "is for {} pieces")),
        Field("price", whole(3, 199), ("costs {} dollars", "comes to ${}")),
        Field("customer", FULL_NAME, ("is for {}", "was placed by {}")),
        Field("city", CITY, ("goes to an address in {}", "is sent to {}")),
        Field("day", DAY, ("arrives on {}", "is due on {}")),
        Field("paid", yes_no, ("is paid|is not paid",)),
        Field("date", DATE, ("was placed on {}", "came in on {}")),
    )),
)  # fmt: skip
ASKS = Phrasings(
    (
        "Extract {fields} as JSON", "Extract the following fields as JSON: {fields}", "Please extract {fields} as JSON",
        "Give {fields} as JSON", "Give me {fields} as JSON", "Return {fields} as JSON", "Return a JSON object with {fields}",
        "Write {fields} as JSON", "Write a JSON object with {fields}", "Turn this into JSON with {fields}",
        "Convert to JSON with {fields}", "Find {fields} and answer in JSON", "Make a JSON object with {fields}",
        "Output JSON with {fields}", "I need {fields} as JSON",
    ),
    (
        "Extract the fields {fields} as JSON", "Return only JSON with the fields {fields}",
        "Fields: {fields}. Answer as JSON",
    ),
)  # fmt: skip
BEFORE = (
    "{ask}: {text}",
    "{ask}.\n{text}",
    "{ask}:\n{text}",
    "{ask}. Text: {text}",
    "{ask}.\n\nText: {text}",
)
AFTER = ("{text} {ask}.", "{text}\n{ask}.", "Text: {text}\n{ask}.")


def generate(random: Random, split: Split) -> Example:
    """Make an example whose set of requested fields belongs to `split`."""
    wording = draw_wording(random, split)
    while True:
        topic = random.choice(TOPICS)
        anchor = Field(topic.name, topic.draw, topic.opening)
        count = random.choices(NUM_FIELDS, NUM_FIELDS_WEIGHTS)[0]
        asked = random.sample((anchor, *topic.fields), count)
        if split_of(", ".join(sorted(field.name for field in asked))) == split:
            break
    untold = [field for field in asked if field is not anchor and random.random() < MISSING_RATE]
    others = [field for field in topic.fields if field not in asked]
    extra = random.sample(others, 1) if others and random.random() < EXTRA_RATE else []
    rest = [field for field in asked if field is not anchor and field not in untold] + extra
    random.shuffle(rest)
    facts = {id(field): field.draw(random) for field in (anchor, *rest)}
    is_snake = random.random() < SNAKE_RATE
    keys = [field.name.replace(" ", "_") if is_snake else field.name for field in asked]
    values = [facts[id(field)][0] if id(field) in facts else None for field in asked]
    answer = json.dumps(dict(zip(keys, values, strict=True)))
    around = random.choice(AFTER if random.random() < AFTER_RATE else BEFORE)
    asking = ASKS.draw(random, wording).format(fields=listed(keys))
    told = [(field, facts[id(field)]) for field in rest]
    prompt = around.format(ask=asking, text=write_text(random, topic, facts[id(anchor)][1], told))
    return Example(NAME, prompt, answer, answer, wording)


def write_text(random: Random, topic: Topic, name: str, told: Sequence[tuple[Field, Fact]]) -> str:
    """Write a text: a sentence that introduces the thing by `name`, then the facts in `told`."""
    parts = [random.choice(topic.opening).format(name)]
    later = topic.subject or ("she" if name.split()[0] in words.WOMEN else "he")
    pronoun = "it" if topic.subject else later
    said: list[str] = []
    for field, (value, word) in told:
        predicate = random.choice(field.predicates)
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


TASK = Task(NAME, generate, check)
"""Extract facts from a text as one line of JSON."""
