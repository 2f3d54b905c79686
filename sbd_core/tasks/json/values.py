"""Values that facts may have, and how a text says them. Knows no field and no record.

A kind is called with a generator and a wording, and gives the value as JSON holds it and the
words that tell it; those are to be copied, except numbers in words and yes or no.
"""

from collections.abc import Callable, Sequence
from random import Random

from sbd_core.tasks import words
from sbd_core.tasks.base import Pool, Wording, made_up_name, made_up_word

Value = str | int | float | bool | list[str] | None
Told = tuple[Value, str]
Kind = Callable[[Random, Wording], Told]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


MADE_UP_RATE = 0.25
IN_WORDS_RATE = 0.12
NUMBERS = _words("zero one two three four five six seven eight nine ten eleven twelve")
CENTS = (99, 95, 49, 25, 75, 45, 79, 15, 5, 89)

SURNAMES, CITIES, COUNTRIES = Pool(words.SURNAMES), Pool(words.CITIES), Pool(words.COUNTRIES)
BRANDS, TEAMS, THINGS = Pool(words.BRANDS), Pool(words.TEAMS), Pool(words.THINGS)
NOUNS, SNACKS = Pool(words.NOUNS), Pool(words.SNACKS)
COMPANY_ENDS = _words("Foods Bank Motors Books Studio Labs Group Air Sports Toys Media Travel")
PLACE_STARTS = _words("New North South East West Port Lake Mount Saint Old Fort Upper")
STREETS = _words("Street Road Avenue Lane Square Way")
CLUB_STARTS = _words("United City Rovers Athletic Rangers")
LETTERS = "ABCDEFGHJKLMNPRSTVWXYZ"
DOMAINS = _words("mail.com post.org example.com inbox.net")


def listed(items: Sequence[str], last: str = " and ") -> str:
    """`a`, `a and b` or `a, b and c`, with `last` before the last."""
    return ", ".join(items[:-1]) + last + items[-1] if len(items) > 1 else items[0]


def first_name(random: Random, wording: Wording) -> str:
    """A name from the lists or made up."""
    if random.random() < MADE_UP_RATE:
        return made_up_name(random, wording)
    return words.NAME_POOL.draw(random, wording)


def last_name(random: Random, wording: Wording) -> str:
    """A family name from the list or made up."""
    if random.random() < MADE_UP_RATE:
        return made_up_name(random, wording)
    return SURNAMES.draw(random, wording)


def full_name(random: Random, wording: Wording) -> str:
    """First and family name."""
    return f"{first_name(random, wording)} {last_name(random, wording)}"


def city(random: Random, wording: Wording) -> str:
    """A place of one or two words."""
    chance = random.random()
    if chance < 0.1:
        return f"{random.choice(PLACE_STARTS)} {made_up_name(random, wording)}"
    if chance < MADE_UP_RATE:
        return made_up_name(random, wording)
    return CITIES.draw(random, wording)


def country(random: Random, wording: Wording) -> str:
    """A land, sometimes of no map."""
    if random.random() < 0.1:
        return made_up_name(random, wording)
    return COUNTRIES.draw(random, wording)


def company(random: Random, wording: Wording) -> str:
    """A firm: a brand, a made-up one, often with what it deals in."""
    start = BRANDS.draw(random, wording)
    if random.random() < 0.5:
        start = made_up_name(random, wording)
    return f"{start} {random.choice(COMPANY_ENDS)}" if random.random() < 0.4 else start


def team(random: Random, wording: Wording) -> str:
    """A club, of one word or two."""
    if random.random() < 0.3:
        return f"{city(random, wording)} {random.choice(CLUB_STARTS)}"
    return TEAMS.draw(random, wording)


def street(random: Random, wording: Wording) -> str:
    """A street with a number before its name."""
    name = last_name(random, wording)
    return f"{random.randint(1, 99)} {name} {random.choice(STREETS)}"


def title(random: Random, wording: Wording) -> str:
    """The name of a book, a film or a song."""
    noun = NOUNS.draw(random, wording)
    forms = (
        f"The {random.choice(words.ADJECTIVES)} {noun}",
        f"The {random.choice(words.ADJECTIVES).title()} {noun.title()}",
        f"{noun.title()} of {made_up_name(random, wording)}",
        f"{first_name(random, wording)} and the {noun.title()}",
        f"{'An' if noun[0] in 'aeiou' else 'A'} {noun.title()} for {first_name(random, wording)}",
    )
    return random.choice(forms)


def model(random: Random, wording: Wording) -> str:
    """A thing of some make: "Nova 7", "Zorvin X2"."""
    brand = BRANDS.draw(random, wording)
    if random.random() < 0.4:
        brand = made_up_name(random, wording)
    return f"{brand} {random.choice(('', '', 'X', 'S', 'Pro '))}{random.randint(1, 12)}"


def label(random: Random, _: Wording) -> str:
    """A code of letters and digits: "KT204", "B-17"."""
    letters = "".join(random.choices(LETTERS, k=random.randint(1, 2)))
    return f"{letters}{random.choice(('', '-'))}{random.randint(10, 999)}"


def phone(random: Random, _: Wording) -> str:
    """A phone number."""
    return f"555-{random.randint(0, 9999):04d}"


def email(random: Random, wording: Wording) -> str:
    """A mail address."""
    return f"{first_name(random, wording).lower()}@{random.choice(DOMAINS)}"


def time(random: Random, _: Wording) -> str:
    """A time of the day, sometimes with am or pm."""
    minute = f"{random.randrange(0, 60, 5):02d}"
    if random.random() < 0.3:
        return f"{random.randint(1, 12)}:{minute} {random.choice(('am', 'pm'))}"
    return f"{random.randint(6, 23)}:{minute}"


def date(random: Random, _: Wording) -> str:
    """A day of a year, in one of three ways."""
    day, month = random.randint(1, 28), random.randrange(12)
    form = random.random()
    if form < 0.45:
        return f"{words.MONTHS[month]} {day}"
    if form < 0.75:
        return f"{day} {words.MONTHS[month]}"
    return f"{random.randint(2001, 2029)}-{month + 1:02d}-{day:02d}"


def thing(random: Random, wording: Wording) -> str:
    """Goods, at times with a color or material before."""
    name = THINGS.draw(random, wording)
    chance = random.random()
    if chance < 0.15:
        return f"{random.choice(words.COLORS)} {name}"
    return f"{random.choice(words.MATERIALS)} {name}" if chance < 0.25 else name


def made_up(random: Random, wording: Wording) -> str:
    """A word of no language, in small letters."""
    return made_up_word(random, wording)


def text(draw: Callable[[Random, Wording], str]) -> Kind:
    """The kind whose values are the texts that `draw` gives."""

    def kind(random: Random, wording: Wording) -> Told:
        value = draw(random, wording)
        return value, value

    return kind


def one_of(choices: str | Sequence[str]) -> Kind:
    """One of some texts, given as a list or apart by commas; plain facts, nothing reserved."""
    listed_choices = _split(choices)
    return text(lambda random, _: random.choice(listed_choices))


def several(choices: str | Sequence[str] | Callable[[Random, Wording], str], most: int = 3) -> Kind:
    """A list of 2 or more different texts, drawn by a function or from a list."""
    draw = choices if callable(choices) else None
    fixed = () if callable(choices) else _split(choices)

    def kind(random: Random, wording: Wording) -> Told:
        count = random.randint(2, most)
        if draw is None:
            items = random.sample(fixed, count)
        else:
            items = list(dict.fromkeys(draw(random, wording) for _ in range(count + 3)))[:count]
        return items, listed(items)

    return kind


def whole(low: int, high: int, step: int = 1) -> Kind:
    """A whole number; a small one is at times told in words."""

    def kind(random: Random, _: Wording) -> Told:
        value = random.randrange(low, high + 1, step)
        if value < len(NUMBERS) and random.random() < IN_WORDS_RATE:
            return value, NUMBERS[value]
        return value, str(value)

    return kind


def decimal(low: int, high: int, whole_rate: float = 0.3) -> Kind:
    """A number with a digit after the point, or a whole one."""

    def kind(random: Random, _: Wording) -> Told:
        value: float = random.randint(low, high)
        if random.random() >= whole_rate:
            value = round(value + random.randint(1, 9) / 10, 1)
        return value, str(value)

    return kind


def price(low: int, high: int, step: int = 1) -> Kind:
    """An amount of money, whole or with cents that do not end in 0."""

    def kind(random: Random, _: Wording) -> Told:
        value = random.randrange(low, high + 1, step)
        if value > 200 or random.random() < 0.6:
            return value, str(value)
        amount = f"{value}.{random.choice(CENTS):02d}"
        return float(amount), amount

    return kind


def yes_no(random: Random, _: Wording) -> Told:
    """True or false; said as a label says it."""
    return (True, "yes") if random.random() < 0.5 else (False, "no")


def _split(choices: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(choices.split(", ")) if isinstance(choices, str) else tuple(choices)
