"""What a record is, and the records about people and animals. Data only.

A wording is text with `{field}` slots. A part in square brackets holds one field and is told
only when the field is; a slot outside brackets is the record's anchor, which is always told.
A sentence tells one field; {S} and {Its} are the pronoun and possessive of what it is about.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sbd_core.tasks import words

Value = str | int | list[str]


@dataclass(frozen=True, slots=True)
class Several:
    """A field whose value is a list of 2 or more of `choices`."""

    choices: Sequence[str]
    most: int = 3


@dataclass(frozen=True, slots=True)
class Record:
    """A kind of record: the values each field may take and the ways to tell it."""

    anchor: str
    """The field that is told in every wording."""
    is_person: bool
    values: Mapping[str, Sequence[str | int] | Several]
    wordings: tuple[str, ...]
    """Beginnings; what they do not tell follows as sentences."""
    sentences: Mapping[str, tuple[str, ...]]
    """For every field but the anchor."""


FULL_NAMES = tuple(f"{name} {words.SURNAMES[i % 36]}" for i, name in enumerate(words.NAMES))
PHONES = tuple(f"555-{number:04d}" for number in range(103, 9990, 37))
EMAILS = tuple(f"{name.lower()}@mail.com" for name in words.NAMES)
TIMES = tuple(f"{hour}:{minute}" for hour in range(6, 23) for minute in ("00", "15", "30", "45"))

PERSON = Record(
    "name",
    True,
    {
        "name": words.NAMES, "age": range(18, 90), "job": words.JOBS, "city": words.CITIES,
        "pet": words.PETS, "hobby": words.TOPICS, "color": words.COLORS,
        "languages": Several(words.LANGUAGES), "children": Several(words.NAMES),
    },
    (
        "{name}[, {age},][ is a {job}][ from {city}][ with a {pet}][ who likes {hobby}].",
        "{name} lives[ in {city}][ with a {pet}].",
        "[Our {job} from work is ]{name}[, age {age}].",
        "[At {age}, ]{name} works[ as a {job}][ in {city}].",
        "Meet {name}[, a {job}][ aged {age}][ living in {city}].",
        "{name} is[ {age} years old and works] in town[ as a {job}].",
        "This is {name}[, a {age} year old][ {job}].",
        "My friend is called {name}.",
    ),
    {
        "age": ("{S} is {age} years old.", "{S} is {age}.", "{Its} age is {age}."),
        "job": ("{S} works as a {job}.", "{S} is a {job}.", "{Its} job is {job}."),
        "city": ("{S} lives in {city}.", "{S} is from {city}.", "{Its} home is in {city}."),
        "pet": ("{S} has a {pet}.", "{S} owns a {pet}.", "{Its} pet is a {pet}."),
        "hobby": ("{S} likes {hobby}.", "{Its} hobby is {hobby}.", "{S} enjoys {hobby}."),
        "color": ("{Its} favorite color is {color}.", "{S} likes the color {color}.", "{S} wears {color}."),
        "languages": ("{S} speaks {languages}.", "{Its} languages are {languages}."),
        "children": ("{Its} children are {children}.", "{S} has the children {children}."),
    },
)  # fmt: skip
CONTACT = Record(
    "name",
    True,
    {
        "name": FULL_NAMES, "phone": PHONES, "email": EMAILS, "city": words.CITIES,
        "company": words.BRANDS, "job": words.JOBS, "age": range(18, 90), "birthday": words.MONTHS,
        "country": words.COUNTRIES,
    },
    (
        "{name} works[ at {company}][ as a {job}][ in {city}].",
        "Contact {name}[ at {phone}][ or {email}].",
        "You can reach {name}[ by phone at {phone}].",
        "Call {name}[ on {phone}].",
        "New customer: {name}[, {age} years old][, from {city}].",
        "Hello, my name is {name}.",
    ),
    {
        "phone": ("The phone number is {phone}.", "Phone {phone}.", "{Its} number is {phone}."),
        "email": ("{Its} email is {email}.", "Write to {email}.", "Mail goes to {email}."),
        "city": ("{S} lives in {city}.", "The city is {city}."),
        "company": ("{S} works for {company}.", "{Its} company is {company}."),
        "job": ("{S} is a {job}.", "{Its} job is {job}."),
        "age": ("{S} is {age} years old.", "{Its} age is {age}."),
        "birthday": ("{Its} birthday is in {birthday}.", "{S} was born in {birthday}."),
        "country": ("{S} comes from {country}.", "{Its} country is {country}."),
    },
)  # fmt: skip
STUDENT = Record(
    "student",
    True,
    {
        "student": words.NAMES, "school": words.TEAMS, "grade": range(1, 13), "age": range(6, 20),
        "subjects": Several(words.SUBJECTS, 4), "teacher": words.SURNAMES, "city": words.CITIES,
        "instrument": words.INSTRUMENTS, "friends": Several(words.NAMES),
    },
    (
        "{student}[ is in grade {grade}][ at the {school} school][ in {city}].",
        "The student {student}[, age {age},] is doing well.",
        "Our student {student}[ learns {subjects}].",
        "{student} goes to school[ in {city}].",
        "Report for {student}[, grade {grade}][, {age} years old].",
    ),
    {
        "school": ("{Its} school is called {school}.", "{S} goes to the {school} school."),
        "grade": ("{S} is in grade {grade}.", "{Its} grade is {grade}."),
        "age": ("{S} is {age} years old.", "{Its} age is {age}."),
        "subjects": ("{S} studies {subjects}.", "{Its} subjects are {subjects}.", "{S} takes {subjects}."),
        "teacher": ("{Its} teacher is {teacher}.", "{teacher} teaches the class."),
        "city": ("{S} lives in {city}.", "The school is in {city}."),
        "instrument": ("{S} plays the {instrument}.", "{Its} instrument is the {instrument}."),
        "friends": ("{Its} friends are {friends}.", "{S} sits with {friends}."),
    },
)  # fmt: skip
PET = Record(
    "name",
    False,
    {
        "name": words.NAMES, "animal": words.PETS, "age": range(1, 16), "color": words.COLORS,
        "owner": words.NAMES, "weight": range(1, 50), "city": words.CITIES,
        "toys": Several(("ball", "rope", "bone", "mouse", "ring", "stick", "duck")),
        "vet": words.SURNAMES,
    },
    (
        "{name}[ is a {color} animal][ of {age} years][, a {animal}][ of {weight} kilos].",
        "[{owner} has ]a pet called {name}[, a {animal}][, in {city}].",
        "Patient {name}[, {animal}][, {color}][, {age} years][, {weight} kilos].",
        "Lost[ in {city}]: {name}[ the {animal}].",
        "{name} is a pet[ of {owner}].",
    ),
    {
        "animal": ("{S} is a {animal}.", "The animal is a {animal}."),
        "age": ("{S} is {age} years old.", "{Its} age is {age}."),
        "color": ("{Its} color is {color}.", "{S} is {color}.", "{Its} coat is {color}."),
        "owner": ("{Its} owner is {owner}.", "{S} belongs to {owner}.", "Call {owner}."),
        "weight": ("{S} weighs {weight} kilos.", "{Its} weight is {weight} kilos."),
        "city": ("{S} lives in {city}.", "Home is {city}."),
        "toys": ("{Its} toys are {toys}.", "{S} plays with {toys}."),
        "vet": ("{Its} vet is {vet}.", "The vet is called {vet}."),
    },
)  # fmt: skip
PLAYER = Record(
    "player",
    True,
    {
        "player": words.NAMES, "team": words.TEAMS, "number": range(1, 100), "goals": range(1, 60),
        "age": range(16, 41), "country": words.COUNTRIES, "coach": words.SURNAMES,
        "position": ("keeper", "defender", "striker", "winger", "captain"), "games": range(1, 200),
    },
    (
        "{player} plays[ for the {team}][ as {position}][ with number {number}].",
        "The {player} card[: team {team}][, number {number}][, age {age}].",
        "The best player is {player}[ of the {team}].",
        "[From {country} comes ]{player}[, who scored {goals} goals][ in {games} games].",
    ),
    {
        "team": ("{S} plays for the {team}.", "{Its} team is the {team}."),
        "number": ("{S} wears number {number}.", "{Its} number is {number}."),
        "goals": ("{S} scored {goals} goals.", "{Its} goals: {goals}."),
        "age": ("{S} is {age} years old.", "{Its} age is {age}."),
        "country": ("{S} comes from {country}.", "{Its} country is {country}."),
        "coach": ("{Its} coach is {coach}.", "The coach is {coach}."),
        "position": ("{S} plays as {position}.", "{Its} position is {position}."),
        "games": ("{S} played {games} games.", "{Its} games: {games}."),
    },
)  # fmt: skip
PEOPLE: tuple[Record, ...] = (PERSON, CONTACT, STUDENT, PET, PLAYER)
