"""The kinds of records facts are told about, and their wordings. Data only.

A wording is text with `{field}` slots. A part in square brackets holds one field and is told
only when the field is; a slot outside brackets is the record's anchor, which is always told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sbd_core.training.corpus import words


@dataclass(frozen=True, slots=True)
class Record:
    """A kind of record: the values each field may take and the ways to tell it."""

    anchor: str
    """The field that is told in every wording."""
    values: Mapping[str, Sequence[str | int]]
    wordings: tuple[str, ...]


TITLES = tuple(f"The {a} {n}" for a in words.ADJECTIVES for n in words.NOUNS)
TIMES = tuple(f"{hour}:{minute}" for hour in range(6, 23) for minute in ("00", "15", "30", "45"))
FLIGHTS = tuple(f"{letter}{number}" for letter in "ABCDEFGH" for number in range(100, 1000, 7))

PERSON = Record(
    "name",
    {
        "name": words.NAMES,
        "age": range(18, 90),
        "job": words.JOBS,
        "city": words.CITIES,
        "pet": words.PETS,
        "hobby": words.TOPICS,
        "color": words.COLORS,
    },
    (
        (
            "{name}[, {age},][ is a {job}][ from {city}][ with a {pet}][ who likes {hobby}]"
            "[ and the color {color}]."
        ),
        (
            "{name} lives[ in {city}][ with a {pet}].[ Age: {age}.][ Job: {job}.][ Hobby: {hobby}.]"
            "[ Favorite color: {color}.]"
        ),
        (
            "[Our {job} from work is ]{name}[, age {age}].[ Home is {city}.][ The pet is a {pet}.]"
            "[ The hobby is {hobby}.][ The best color is {color}.]"
        ),
        (
            "[At {age}, ]{name} works[ as a {job}][ in {city}].[ {hobby} is fun.][ A {pet} is at home.]"
            "[ The door is {color}.]"
        ),
        (
            "Meet {name}[, a {job}][ aged {age}][ living in {city}].[ Owns a {pet}.][ Loves {hobby}.]"
            "[ Wears {color}.]"
        ),
    ),
)
ORDER = Record(
    "item",
    {
        "item": words.THINGS,
        "quantity": range(2, 60),
        "price": range(3, 99),
        "customer": words.NAMES,
        "city": words.CITIES,
        "day": words.DAYS,
        "color": words.COLORS,
    },
    (
        (
            "[{customer} ordered ][{quantity} ][{color} ]{item}[ for {price} dollars]"
            "[, to be sent to {city}][ on {day}]."
        ),
        (
            "New order:[ {quantity}][ {color}] {item}[ at {price} dollars][ for {customer}][ in {city}]"
            "[, due {day}]."
        ),
        (
            "[On {day} ]we ship[ {quantity}] {item}[ in {color}][ to {customer}][ in {city}]."
            "[ The bill is {price} dollars.]"
        ),
        (
            "The {item}[ in {color}][ go to {city}].[ Buyer: {customer}.][ Count: {quantity}.]"
            "[ Cost: {price} dollars.][ Arrives {day}.]"
        ),
    ),
)
BOOK = Record(
    "title",
    {
        "title": TITLES,
        "author": words.NAMES,
        "year": range(1900, 2024),
        "pages": range(60, 600, 10),
        "topic": words.TOPICS,
        "price": range(5, 60),
        "city": words.CITIES,
    },
    (
        (
            '"{title}"[ by {author}][ from {year}][ has {pages} pages][ about {topic}]'
            "[ and costs {price} dollars].[ It was printed in {city}.]"
        ),
        (
            '[{author} wrote ]"{title}"[ in {year}][ in {city}].[ It covers {topic}.][ Pages: {pages}.]'
            "[ Price: {price} dollars.]"
        ),
        (
            '[In {year} ]came "{title}"[, a {topic} book][ of {pages} pages][ by {author}]'
            "[ for {price} dollars][, printed in {city}]."
        ),
        (
            'On sale: "{title}"[ ({year})][, {price} dollars].[ Author: {author}.][ Topic: {topic}.]'
            "[ Length: {pages} pages.][ Printed: {city}.]"
        ),
    ),
)
EVENT = Record(
    "event",
    {
        "event": words.EVENTS,
        "day": words.DAYS,
        "time": TIMES,
        "place": words.VENUES,
        "city": words.CITIES,
        "guests": range(10, 300, 5),
        "host": words.NAMES,
    },
    (
        (
            "The {event}[ at the {place}][ in {city}] starts[ on {day}][ at {time}].[ Host: {host}.]"
            "[ Guests: {guests}.]"
        ),
        (
            "[{host} asks you to come ]to a {event}[ for {guests} guests][ in {city}][ this {day}]"
            "[ from {time}][ at the {place}]."
        ),
        (
            "[On {day} ][at {time} ]there is a {event}[ in the {place}][ in {city}]"
            "[ for {guests} guests][ led by {host}]."
        ),
        (
            "Join our {event}[ hosted by {host}].[ Where: {place}.][ City: {city}.][ Day: {day}.]"
            "[ Time: {time}.][ Seats: {guests}.]"
        ),
    ),
)
FLIGHT = Record(
    "flight",
    {
        "flight": FLIGHTS,
        "origin": words.CITIES,
        "destination": words.CITIES,
        "day": words.DAYS,
        "time": TIMES,
        "gate": range(1, 60),
        "airline": words.AIRLINES,
    },
    (
        (
            "[{airline} ]flight {flight} leaves[ {origin}][ for {destination}][ on {day}]"
            "[ at {time}][ from gate {gate}]."
        ),
        (
            "{flight}[ to {destination}][ from {origin}] departs[ {day}][ {time}][, gate {gate}]."
            "[ Airline: {airline}.]"
        ),
        (
            "[On {day} ]board {flight}[ of {airline}][ at gate {gate}][ by {time}][, from {origin}]"
            "[ to {destination}]."
        ),
        (
            "Flight {flight}:[ {origin} is the start.][ It lands in {destination}.][ Gate {gate}.]"
            "[ Takeoff at {time}.][ Day: {day}.][ Run by {airline}.]"
        ),
    ),
)
RECIPE = Record(
    "dish",
    {
        "dish": words.FOODS,
        "minutes": range(5, 120, 5),
        "servings": range(1, 13),
        "main": words.INGREDIENTS,
        "extra": words.INGREDIENTS,
        "cook": words.NAMES,
        "day": words.DAYS,
    },
    (
        (
            "[{cook} makes ]{dish}[ with {main}][ and a little {extra}][ in {minutes} minutes]"
            "[ for {servings} people][ every {day}]."
        ),
        (
            "Cook the {dish}[ for {minutes} minutes].[ Main: {main}.][ Extra: {extra}.]"
            "[ Serves {servings}.][ Chef: {cook}.][ Best on {day}.]"
        ),
        (
            "[On {day}, ]our {dish}[ of {main}][ topped with {extra}] is ready[ in {minutes} minutes]."
            "[ Serves {servings}.][ Recipe by {cook}.]"
        ),
        (
            "This {dish}[ feeds {servings}][ and takes {minutes} minutes].[ It is mostly {main}.]"
            "[ Add some {extra}.][ Thanks to {cook}.][ Made on {day}.]"
        ),
    ),
)
HOUSE = Record(
    "city",
    {
        "city": words.CITIES,
        "rooms": range(1, 12),
        "rent": range(300, 3000, 50),
        "floor": range(1, 21),
        "color": words.COLORS,
        "owner": words.NAMES,
        "month": words.MONTHS,
    },
    (
        (
            "[A {color} ]home in {city}[ with {rooms} rooms][ on floor {floor}]"
            "[ for {rent} dollars a month][ from {month}].[ Owner: {owner}.]"
        ),
        (
            "[{owner} rents out ]a flat in {city}[, floor {floor}][, {rooms} rooms][, {rent} dollars]"
            "[, free in {month}].[ The walls are {color}.]"
        ),
        (
            "To let in {city}:[ {rooms} rooms.][ Rent {rent} dollars.][ Floor {floor}.][ Call {owner}.]"
            "[ Ready in {month}.][ Painted {color}.]"
        ),
        (
            "[From {month}, ]{city} has a flat[ owned by {owner}][ with {color} doors]"
            "[ and {rooms} rooms][ at {rent} dollars][ on level {floor}]."
        ),
    ),
)
PET = Record(
    "name",
    {
        "name": words.NAMES,
        "animal": words.PETS,
        "age": range(1, 16),
        "color": words.COLORS,
        "owner": words.NAMES,
        "weight": range(1, 50),
        "city": words.CITIES,
    },
    (
        (
            "{name}[ is a {color} animal][ of {age} years][, a {animal}][ of {weight} kilos]"
            "[ owned by {owner}][ in {city}]."
        ),
        (
            "[{owner} has ]a pet called {name}[, a {animal}][, in {city}].[ Its coat is {color}.][ Age {age}.]"
            "[ Weight {weight} kilos.]"
        ),
        (
            "Patient {name}[, {animal}][, {color}][, {age} years][, {weight} kilos]"
            "[, brought by {owner}][ from {city}]."
        ),
        (
            "Lost[ in {city}]: {name}[ the {animal}].[ Color: {color}.][ Years: {age}.]"
            "[ Kilos: {weight}.][ Call {owner}.]"
        ),
    ),
)

RECORDS: tuple[Record, ...] = (PERSON, ORDER, BOOK, EVENT, FLIGHT, RECIPE, HOUSE, PET)
