"""Settings of word problems: how they start, what may happen, what is asked. Data only.

Slots: {A} the owner, {he} {him} {his} the owner's pronouns, {B} {C} other people, {thing} plural,
{n} the number, {m} a second number of a start, {day}, {color} {color2}, {box}.
"""

from dataclasses import dataclass
from typing import Literal

Operation = Literal["+", "-", "*", "/"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that changes the count by {n}, told in any of `wordings`."""

    operation: Operation
    wordings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """A world: starts that give one number, starts of two numbers, events and questions."""

    starts: tuple[str, ...]
    openings: tuple[Event, ...]
    """Starts of two numbers, {m} operation {n}; the first step of the answer."""
    events: tuple[Event, ...]
    questions: tuple[str, ...]


OWNING = Setting(
    (
        "{A} has {n} {thing}.",
        "{A} starts with {n} {thing}.",
        "There are {n} {thing} in {A}'s bag.",
        "{A} owns {n} {thing}.",
        "{A} had {n} {thing}.",
    ),
    (
        Event(
            "+",
            (
                "{A} has {m} {color} {thing} and {n} {color2} {thing}.",
                "{A} owns {m} {color} and {n} {color2} {thing}.",
            ),
        ),
        Event(
            "+",
            (
                "{B} has {m} {thing}. {A} has {n} more {thing} than {B}.",
                "{B} has {m} {thing} and {A} has {n} more.",
            ),
        ),
        Event(
            "-",
            (
                "{B} has {m} {thing}. {A} has {n} fewer {thing} than {B}.",
                "{B} has {m} {thing} and {A} has {n} less.",
            ),
        ),
        Event(
            "*",
            (
                "{A} has {m} {box} with {n} {thing} in each.",
                "{A} fills {m} {box} with {n} {thing} each.",
            ),
        ),
        Event(
            "*",
            (
                "{B} has {m} {thing}. {A} has {n} times as many.",
                "{A} has {n} times as many {thing} as {B}, who has {m}.",
            ),
        ),
        Event(
            "/",
            (
                (
                    "{B} has {m} {thing} and shares them equally among {n} friends. {A} is one "
                    "of them."
                ),
                "{A} and others, {n} in all, split {m} {thing} evenly.",
            ),
        ),
    ),
    (
        Event("+", ("{B} gives {him} {n} more.", "{A} gets {n} more from {B}.")),
        Event(
            "+",
            (
                "{A} buys {n} more.",
                "Then {he} buys {n} more {thing}.",
                "{He} buys another {n} at a shop.",
            ),
        ),
        Event("+", ("{A} finds {n} more.", "{He} finds {n} {thing} under the bed.")),
        Event("+", ("{He} wins {n} in a game.", "{A} wins {n} more from {B}.")),
        Event("+", ("{B} sends {him} {n} by mail.", "A parcel brings {him} {n} more.")),
        Event("+", ("{B} returns {n} that {he} had lent.", "{B} pays {him} back {n} {thing}.")),
        Event("+", ("{He} makes {n} new ones.", "{A} makes {n} more {thing}.")),
        Event("-", ("{B} takes {n}.", "{B} takes away {n} of them.")),
        Event(
            "-",
            (
                "{A} gives {n} to {B}.",
                "{He} gives {B} {n} {thing}.",
                "{He} hands {n} of them to {B}.",
            ),
        ),
        Event("-", ("{He} loses {n}.", "{A} loses {n} of them on the way.")),
        Event("-", ("{He} sells {n}.", "{A} sells {n} {thing} to {B}.")),
        Event("-", ("{A} lends {n} to {B}.", "{B} borrows {n} from {him}.")),
        Event("-", ("{n} of them break.", "{He} breaks {n} by accident.")),
        Event("-", ("{He} throws {n} away.", "{A} throws out {n} old ones.")),
        Event(
            "*",
            (
                "Then {his} number of {thing} grows to {n} times as many.",
                "Soon {he} has {n} times as many.",
            ),
        ),
        Event(
            "/",
            (
                "{He} puts them evenly in {n} boxes and keeps only one box.",
                "{He} splits them evenly with friends, {n} people in all.",
            ),
        ),
    ),
    (
        "How many {thing} does {A} have now?",
        "How many {thing} does {A} have in the end?",
        "How many {thing} are left for {A}?",
    ),
)
RIDING = Setting(
    ("A bus has {n} people on it.", "There are {n} people on a train.", "{n} people are on a bus."),
    (
        Event("+", ("A bus carries {m} adults and {n} children.",)),
        Event("*", ("A train has {m} cars with {n} people in each.",)),
    ),
    (
        Event("+", ("{n} people get on.", "At the next stop {n} more get on.")),
        Event("+", ("A group of {n} joins them.", "{n} tourists come aboard.")),
        Event("-", ("{n} people get off.", "At the next stop {n} get off.")),
        Event("-", ("{n} of them leave on {day}.", "{n} people leave early.")),
    ),
    ("How many people are on board now?", "How many people are there now?"),
)
STOCK = Setting(
    (
        "A shop has {n} {thing}.",
        "{A}'s shop has {n} {thing} to sell.",
        "There are {n} {thing} on a shelf.",
    ),
    (
        Event("*", ("A shop gets {m} {box} of {n} {thing}.",)),
        Event("+", ("A shop has {m} {thing} in front and {n} in the back.",)),
    ),
    (
        Event("+", ("A truck brings {n} more.", "{n} new ones arrive on {day}.")),
        Event("+", ("{A} orders {n} more.", "The store adds {n} {thing}.")),
        Event("-", ("{n} are sold on {day}.", "On {day} people buy {n}.")),
        Event("-", ("{n} are damaged.", "{n} of the {thing} are sent back.")),
        Event("-", ("{B} buys {n} of them.", "{B} comes and buys {n} {thing}.")),
    ),
    ("How many {thing} are left?", "How many {thing} are in the shop now?"),
)
MONEY = Setting(
    ("{A} has {n} dollars.", "{A} saved {n} dollars.", "{A} got {n} dollars from {B}."),
    (
        Event(
            "*",
            (
                "{A} works {m} hours for {n} dollars an hour.",
                "{A} sells {m} {thing} for {n} dollars each.",
            ),
        ),
        Event("+", ("{A} has {m} dollars at home and {n} dollars in the bank.",)),
    ),
    (
        Event("+", ("{He} earns {n} dollars.", "On {day} {he} earns {n} dollars more.")),
        Event("+", ("{B} gives {him} {n} dollars.", "{His} mother adds {n} dollars.")),
        Event("-", ("{He} spends {n} dollars.", "On {day} {he} spends {n} dollars.")),
        Event("-", ("{He} pays {B} {n} dollars.", "{A} pays {n} dollars for {thing}.")),
        Event("-", ("{He} loses a coin purse with {n} dollars.",)),
    ),
    ("How much money does {A} have now?", "How many dollars does {A} have left?"),
)
SCORE = Setting(
    ("{A} has {n} points in a game.", "{A} begins a game with {n} points."),
    (
        Event("*", ("{A} hits the target {m} times for {n} points each.",)),
        Event("+", ("{A} scores {m} points and then {n} points.",)),
    ),
    (
        Event("+", ("{He} scores {n} more.", "{A} scores {n} points.")),
        Event("+", ("A bonus adds {n} points.", "{He} gets a bonus of {n}.")),
        Event("-", ("A mistake costs {n} points.", "{He} drops {n} points.")),
        Event("-", ("{B} steals {n} points.", "{B} takes {n} points from {him}.")),
        Event("*", ("A lucky card makes the score {n} times as large.",)),
    ),
    ("What is {A}'s score now?", "How many points does {A} have now?"),
)
READING = Setting(
    ("A book has {n} pages.", "{A} starts a book of {n} pages."),
    (
        Event("*", ("{A} has a book with {m} chapters of {n} pages each.",)),
        Event("+", ("{A} must read {m} pages for school and {n} for fun.",)),
    ),
    (
        Event("-", ("{A} reads {n} pages on {day}.", "On {day} {A} reads {n} pages.")),
        Event("-", ("{A} reads {n} pages in the evening.", "{A} skips {n} pages.")),
        Event("+", ("The teacher adds {n} pages.", "{B} asks {A} to read {n} more pages.")),
    ),
    ("How many pages are left to read?", "How many pages must {A} still read?"),
)

SETTINGS: tuple[Setting, ...] = (OWNING, RIDING, STOCK, MONEY, SCORE, READING)
# Owning is the richest setting, so it is drawn more often.
SETTING_WEIGHTS: tuple[int, ...] = (6, 1, 2, 2, 2, 2)
