"""The facts of a record as a text: sentences that share them out, or labels. Knows no task."""

import re
from collections.abc import Mapping, Sequence
from random import Random

from sbd_core.tasks import words
from sbd_core.tasks.base import Wording, is_womanly
from sbd_core.tasks.json.records import Field, Record
from sbd_core.tasks.json.rewording.retelling import other_words
from sbd_core.tasks.json.values import Told, city, first_name

UNKNOWN_RATE = 0.3
LABEL_RATE, ASIDE_RATE, JOIN_RATE, NAME_RATE, BY_NAME_RATE, OPENING_RATE = (
    0.16, 0.22, 0.45, 0.25, 0.18, 0.5
)  # fmt: skip
PRELUDE_RATE, REWORD_RATE = 0.08, 0.45
WOMEN = frozenset(words.WOMEN)
PRONOUNS = {"she": ("She", "Her"), "he": ("He", "His"), "it": ("It", "Its")}
NOT_NOUNS = frozenset((
    "is", "has", "from", "to", "on", "in", "by", "at", "sells", "opens", "closes", "blooms",
    "delivers", "wants", "works", "plays", "about", "for", "made", "born", "when", "where",
    "what", "due", "read", "reads", "owned", "free", "built", "closed", "open", "lived",
    "shown", "published", "played", "serves", "eats", "hosted", "led", "cc", "hot", "must",
    "how", "already", "arrives", "sent", "reports", "speaks", "still", "gives", "ends", "left",
    "starts", "begins", "invited", "needed", "needs", "runs", "leaves", "allows", "copied",
    "also", "reply", "answer", "fits", "hurt", "touring", "outside", "late", "settled",
    "important", "opened", "booked", "found", "apply", "waterproof", "automatic", "electric",
    "urgent", "spicy", "vegetarian", "married", "remote", "toxic", "poisonous", "edible",
    "furnished", "endangered", "issued", "released", "ordered", "founded", "spoken",
))  # fmt: skip
ASIDES = (
    "It was a long day.", "More on this soon.", "That is all we know.", "Thank you for reading.",
    "We will write again next week.", "Please keep this in mind.", "It is good to know.",
    "{person} is a friend and {number} years old.", "By the way, {person} lives in {city}.",
    "My neighbor {person} has {number} cats.", "{person} was there too.",
    "The other one is for {person}.", "I saw {person} in {city} the other day.",
    "{person} told us so.", "{person} took the photo.", "{person} says hello.",
    "This was in the news.", "Nobody was surprised.", "The rest can wait.", "I just heard it.",
    "Ask {person} if you have questions.", "{person} and I know more about it.",
    "We checked it twice.", "So far, so good.", "Not much else happened.", "Have a nice day.",
    "I hope this helps.", "As you may know, things change.", "What a week!", "Sorry for the delay.",
    "{person} wrote this down.", "{person} from {city} called, too.", "It rained all day in {city}.",
    "My cousin {person} is {number} years old.", "{person} and {person} send their best.",
    "There is more to say, but not today.", "Let me know if anything is unclear.", "See you soon.",
    "This is the latest we have.", "Nothing has changed since.", "The weather was fine.",
    "{person} will call you back.", "Page {number} has more.", "Greetings from {city}.",
    "We were told so by {person}.", "Everybody was happy about it.", "No more for today.",
    "{person} waited {number} minutes.", "This may help you.", "The details may follow.",
    "Some people know it already.", "{person} asked for it.", "It was quite a surprise.",
)  # fmt: skip
UNKNOWN = (
    "The {} is not known.", "We do not know the {}.", "No {} is given.", "The {} is still open.",
    "Nobody told me the {}.", "I forgot the {}.", "The {} will be told later.",
    "The {} is missing.", "The {} is unknown.", "We have no {} yet.", "Nobody knows the {}.",
    "The {} was left blank.", "The {} was left out.", "I could not find the {}.",
    "There is no word on the {}.", "We are still waiting for the {}.", "Nothing is said about the {}.",
    "I do not remember the {}.", "The {} has yet to be set.", "I cannot read the {}.",
    "Sadly, we lack the {}.", "The {} follows soon.", "Please ask for the {}.",
)  # fmt: skip
LABEL_FORMS: tuple[tuple[str, str, str], ...] = (
    ("{name}: {value}", ". ", "."), ("{name}: {value}", ", ", ""), ("{name}: {value}", "\n", ""),
    ("- {name}: {value}", "\n", ""), ("{name} = {value}", "; ", ""), ("{name}: {value}", "; ", "."),
    ("{name} is {value}", ", ", "."), ("{name} - {value}", "\n", ""),
    ("{name} | {value}", "\n", ""), ("* {name}: {value}", "\n", ""), ("{name}: {value}", " | ", ""),
    ("{name}: {value}", " / ", ""), ("{name}={value}", ", ", ""), ("{name} -> {value}", "\n", ""),
    ("{name}={value}", "\n", ""), ("{name} = {value}", "\n", ""), ("{name} ({value})", ", ", ""),
    ("{name} {value}", ", ", ""), ("{name}: {value}.", " ", ""), ("{name}: {value}", " - ", ""),
    ("[{name}] {value}", "\n", ""), ("{name}:\n{value}", "\n", ""),
)  # fmt: skip
PRELUDES = (
    "Hi!", "Hello.", "Hello there!", "Good morning.", "Good evening.", "Dear all,", "A short note.", "Some news.",
    "Here is what we know.", "From my notes.", "Just so you know.", "Here are the details.", "Dear friend,", "For your list.",
    "This came in today.", "I wrote this down.", "One more thing.", "The facts are these.", "As promised, the details.",
    "A quick word.", "Please note this.", "Listen to this.", "Here we go.", "Good news!", "A small update.",
)  # fmt: skip
# How a field is told by its name alone, one thing and several.
BY_NAME = (
    "The {name} is {{}}.", "The {name} is {{}}.", "{{Its}} {name} is {{}}.", "{{Its}} {name} is {{}}.",
    "As for the {name}, it is {{}}.", "The {name} given is {{}}.", "The {name}: {{}}.", "About the {name}: {{}}.",
    "{{Its}} {name}: {{}}.", "For the {name}, note {{}}.", "Mind that the {name} is {{}}.", "It says {{}} for the {name}.",
    "The {name} was given as {{}}.", "We have {{}} as the {name}.", "The {name} should be {{}}.", "I put down {{}} as the {name}.",
    "The {name} we know of is {{}}.", "I am told the {name} is {{}}.", "And the {name}? It is {{}}.",
)  # fmt: skip
BY_NAME_OF_SEVERAL = (
    "The {name} are {{}}.", "The {name} are {{}}.", "{{Its}} {name} are {{}}.", "{{Its}} {name} are {{}}.",
    "The {name}: {{}}.", "As for the {name}, we have {{}}.", "About the {name}: {{}}.", "{{Its}} {name}: {{}}.",
    "For the {name}, note {{}}.", "We have {{}} as the {name}.", "I put down {{}} as the {name}.", "It says {{}} for the {name}.",
)  # fmt: skip
ARTICLE = re.compile(r"\b([Aa]) (?=[aeiouAEIO])")
TWO_COMMAS = re.compile(r",(?=[,.])| (?=[.,])")


def tell(
    random: Random,
    wording: Wording,
    record: Record,
    told: Mapping[Field, Told],
    untold: Sequence[Field] = (),
) -> str:
    """The facts `told`, the record's anchor among them, in words; of `untold` no value.

    Every value stands in the text as its words, but for yes and no, which a telling may put
    another way.
    """
    if random.random() < LABEL_RATE:
        return _labels(random, told)
    rest = [field for field in told if field is not record.anchor]
    random.shuffle(rest)
    subject = record.subject.format(told[record.anchor][1])
    sentences, opened = _opening(random, record, told, subject, rest)
    rest = rest[opened:]
    while rest:
        sentence, used = _sentence(random, _again(random, record, told, subject), rest, told)
        sentences.append(sentence)
        rest = rest[used:]
    for field in untold:
        name = _noun(random, field)
        if name and random.random() < UNKNOWN_RATE:
            sentences.append(random.choice(UNKNOWN).format(name))
    while random.random() < ASIDE_RATE:
        # At the end, so that what follows is not said of somebody else.
        sentences.append(_aside(random, wording))
    if random.random() < PRELUDE_RATE:
        sentences.insert(0, random.choice(PRELUDES))
    return ARTICLE.sub(r"\1n ", " ".join(sentences))


def _aside(random: Random, wording: Wording) -> str:
    """A sentence on something else."""
    person, city_name = first_name(random, wording), city(random, wording)
    return random.choice(ASIDES).format(person=person, city=city_name, number=random.randint(5, 90))


def is_noun(name: str) -> bool:
    """Whether a field's name can follow "the"."""
    return NOT_NOUNS.isdisjoint(name.split())


def _noun(random: Random, field: Field) -> str | None:
    names = [name for name in field.names if is_noun(name)]
    return random.choice(names) if names else None


def _labels(random: Random, told: Mapping[Field, Told]) -> str:
    form, between, end = random.choice(LABEL_FORMS)
    fields = list(told)
    random.shuffle(fields)
    is_small = random.random() < 0.2
    lines = []
    for field in fields:
        name = random.choice(field.names)
        lines.append(form.format(name=name if is_small else _capital(name), value=told[field][1]))
    return between.join(lines) + end


def _opening(
    random: Random, record: Record, told: Mapping[Field, Told], subject: str, rest: list[Field]
) -> tuple[list[str], int]:
    """The first sentence or two, and how many of `rest` they tell."""
    start = random.choice(record.anchor.tellings).format(told[record.anchor][1])
    # A subject without the anchor's value leaves it to a beginning to tell it.
    if not rest or "{}" not in record.subject or random.random() < OPENING_RATE:
        return [start], 0
    after, used = "", 0
    if random.random() < 0.4:
        for field in rest[:2]:
            modifiers = [item for item in field.tellings if item[0] == "~"]
            if not modifiers:
                break
            modifier = random.choice(modifiers)[1:]
            after += ("" if modifier[0] == "," else " ") + modifier.format(told[field][1])
            used += 1
            if modifier[0] == ",":
                break
    if used == len(rest):
        return [start], 0
    sentence, more = _sentence(random, (subject + after, ""), rest[used:], told, must_say=True)
    return ([sentence], used + more) if sentence.startswith(subject) else ([start], 0)


def _sentence(
    random: Random,
    subject: tuple[str, str],
    fields: list[Field],
    told: Mapping[Field, Told],
    *,
    must_say: bool = False,
) -> tuple[str, int]:
    """A sentence on the first of `fields`, maybe joined by more, and how many it tells."""
    name, its = subject
    parts: list[str] = []
    for field in fields[:3]:
        telling = _telling(random, field, told[field], must_say=bool(parts) or must_say)
        if not telling[0].islower():
            if parts:
                break
            return _whole(telling, told[field], name, its), 1
        parts.append(telling.format(told[field][1]))
        if random.random() > JOIN_RATE:
            break
    said = parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
    return _tidy(f"{name} {said}."), len(parts)


def _telling(random: Random, field: Field, fact: Told, *, must_say: bool) -> str:
    """A way to tell the field; with `must_say` one said of the subject, if there is one."""
    value = fact[0]
    tellings = [item for item in field.tellings if item[0] != "~"]
    if isinstance(value, bool):
        chosen = random.choice(tellings).split("|")
        return chosen[0] if value else chosen[1]
    if must_say:
        tellings = [item for item in tellings if item[0].islower()] or tellings
    elif random.random() < BY_NAME_RATE or not tellings:
        name = _noun(random, field)
        if name is not None:
            forms = BY_NAME_OF_SEVERAL if isinstance(value, list) else BY_NAME
            return random.choice(forms).format(name=name)
    telling = random.choice(tellings)
    others = other_words(telling)
    return random.choice(others) if others and random.random() < REWORD_RATE else telling


def _whole(telling: str, fact: Told, name: str, its: str) -> str:
    text = telling.replace("{Its}", its or "The").replace("{S}", name)
    return _tidy(text.format(fact[1]))


def _again(
    random: Random, record: Record, told: Mapping[Field, Told], subject: str
) -> tuple[str, str]:
    """How the subject is named after the first sentence, and its possessive."""
    pronoun, its = PRONOUNS[_pronoun(record, told)]
    if random.random() < NAME_RATE:
        if record.noun and random.random() < 0.6:
            return f"The {record.noun}", its
        return subject, its
    return pronoun, its


def _pronoun(record: Record, told: Mapping[Field, Told]) -> str:
    if not record.is_person:
        return "it"
    first = told[record.anchor][1].split()[0]
    if first in words.NAMES:
        return "she" if first in WOMEN else "he"
    return "she" if is_womanly(first) else "he"


def _tidy(text: str) -> str:
    return TWO_COMMAS.sub("", text)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
