"""What a record of facts is, and the fields that many records share. Data only.

A telling is text with {} for the value. One that begins with a small letter is said of the
subject ("lives in {}"); one that begins with ~ may follow its name ("~from {}"); any other is
a sentence, where {S} and {Its} are the subject's pronouns. A telling of a yes-or-no field holds
both, apart by a bar. A field may be asked for by any of its names; every field can also be told
by its name alone ("The price is 5.").
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sbd_core.tasks import words
from sbd_core.tasks.json import values
from sbd_core.tasks.json.values import Kind, one_of, price, several, text, whole


@dataclass(frozen=True, slots=True)
class Field:
    """One fact of a record."""

    names: tuple[str, ...]
    """What it may be called, in small letters."""
    kind: Kind
    tellings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A sort of thing that has facts."""

    anchor: Field
    """The field told first and always: what the text is about. Its tellings begin the text."""
    fields: tuple[Field, ...]
    subject: str = "{}"
    """How the anchor is named in a sentence."""
    noun: str = ""
    """What else the subject is called: "the {noun}"; a person's name otherwise."""

    @property
    def is_person(self) -> bool:
        """Whether the anchor is a person's name, with pronouns to fit."""
        return not self.noun


def field(names: str, kind: Kind, *tellings: str) -> Field:
    """A field whose names are apart by bars."""
    return Field(tuple(names.split("|")), kind, tellings)


def record(subject: str, noun: str, anchor: Field, *fields: Field | Sequence[Field]) -> Record:
    """A record; groups of fields are taken apart."""
    flat: list[Field] = []
    for item in fields:
        flat.extend([item] if isinstance(item, Field) else item)
    return Record(anchor, tuple(flat), subject, noun)


PERSON_NAME, FULL_NAME = text(values.first_name), text(values.full_name)
CITY, COUNTRY = text(values.city), text(values.country)
COLOR, DAY, MONTH = one_of(words.COLORS), one_of(words.DAYS), one_of(words.MONTHS)
TIME, DATE = text(values.time), text(values.date)
NAMES = several(values.first_name, 4)
AGE = field("age|age in years", whole(18, 90), "is {} years old", "is {}", "~, {} years old,", "turned {} this spring")  # fmt: skip
JOB = field("job|occupation|profession|work", one_of((*words.JOBS, "bus driver", "police officer", "English teacher", "sales manager", "web designer") ), "works as a {}", "is a {}", "~, a {},", "earns a living as a {}")  # fmt: skip
HOME = field("city|home|town|place|location", CITY, "lives in {}", "~from {}", "is from {}", "comes from {}", "moved to {} last year", "{Its} home is in {}.")  # fmt: skip
LAND = field("country|nation|land", COUNTRY, "comes from {}", "was born in {}", "~from {}", "grew up in {}" )  # fmt: skip
PHONE = field("phone|phone number|telephone", text(values.phone), "can be reached at {}", "has the phone number {}", "Call {}.", "The number to call is {}.", "Phone: {}.")  # fmt: skip
EMAIL = field("email|email address|mail", text(values.email), "can be reached by mail at {}", "reads mail at {}", "Write to {}.", "Send a mail to {}.", "uses the address {}")  # fmt: skip
COST = field("price|cost|price in dollars|amount", price(2, 99), "costs {} dollars", "costs ${}", "sells for {} dollars", "~for {} dollars", "~for ${}", "The price is ${}.", "You pay {} dollars.", "is priced at ${}")  # fmt: skip
HUE = field("color|colour", COLOR, "is {}", "comes in {}", "~in {}", "The color is {}.", "has a {} color" )  # fmt: skip
WEEKDAY = field("day|weekday|day of the week", DAY, "~on {}", "takes place on {}", "is on {}", "The day is {}.", "is set for {}")  # fmt: skip
START = field("time|start time|hour", TIME, "starts at {}", "begins at {}", "~at {}", "The time is {}." )  # fmt: skip
WHEN = field("date|calendar date", DATE, "is on {}", "takes place on {}", "~on {}", "The date is {}." )  # fmt: skip
RATING = field("rating|stars|score", values.decimal(1, 9), "has a rating of {}", "is rated {}", "got {} stars", "People give it {} stars.")  # fmt: skip
OWNER = field("owner|owner name|owned by", PERSON_NAME, "belongs to {}", "is owned by {}", "The owner is {}.", "{} owns it.")  # fmt: skip
MAKER = field("maker|brand|company|manufacturer", text(values.company), "is made by {}", "comes from {}", "~from {}", "{} makes it.")  # fmt: skip
STUFF = field("material|made of", one_of(words.MATERIALS), "is made of {}", "~made of {}", "The material is {}.", "consists of {}")  # fmt: skip
WEIGHT = field("weight|mass|weight in kilos", values.decimal(1, 60), "weighs {} kilos", "weighs {} kg", "has a weight of {} kilos")  # fmt: skip
STOCK = field("stock|in stock|quantity|left", whole(2, 300), "We have {} in stock.", "There are {} left.", "Stock: {}.")  # fmt: skip
LANGUAGES = field("languages|spoken languages|tongues", several(words.LANGUAGES), "speaks {}", "is fluent in {}", "knows the languages {}")  # fmt: skip
