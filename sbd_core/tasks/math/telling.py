"""Tells a story of counts in English: persons, tenses, number words. Knows no arithmetic.

A clause is a wording without capital and full stop. Slots: {A} the owner (as an object {him}),
{As} the owner's, {he} {him} {his} the owner's pronouns, {B} somebody else, {C} {D} two others who
stay the same, {Q} a person who joins a chain of people and {P} the one before, {thing} a plural,
{one} its singular, {n} {m} {k} numbers, {color} {color2}, {box}, {cur} {far} {mass} and other
units. A verb in angle brackets is put into the story's tense and person: <buy> agrees with the
owner, <buy:s> with one other, <buy:p> with several.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from sbd_core.tasks import words
from sbd_core.tasks.base import (
    Pool,
    Wording,
    is_womanly,
    made_up_name,
    made_up_word,
)
from sbd_core.tasks.math.english import conjugate, singular
from sbd_core.tasks.math.everyday import EVERYDAY, is_reserved
from sbd_core.tasks.words import NUMBER_WORDS

PRONOUNS = {
    "she": ("she", "her", "her"),
    "he": ("he", "him", "his"),
    "I": ("I", "me", "my"),
    "we": ("we", "us", "our"),
    "you": ("you", "you", "your"),
    "they": ("they", "them", "their"),
}
TIMES = (
    "then", "after that,", "next,", "later", "then", "later that day,", "in the morning,",
    "in the evening,", "in the afternoon,", "the next day,", "on {day}", "on {day},",
    "a bit later,",
    "after lunch,", "before dinner,", "soon,", "one day", "this week,", "a day later,",
    "by ten o'clock", "at noon,", "by the end of the day,", "last week,", "in the end,",
    "just before closing time,", "around three o'clock", "after school,", "over the weekend,",
    "on the way home,", "an hour later,", "afterwards,", "in {month},", "during the break,",
)  # fmt: skip
SLOT = re.compile(r"\{(\w+)\}")
TRAILS = (
    "on the way home", "at the market", "before lunch", "in the garden", "at school",
    "during the day",
    "yesterday", "last week", "by ten o'clock", "at noon", "in the rain", "without a word",
    "the other day", "after work", "in a hurry", "at the weekend", "that morning", "in the evening",
    "on {day}", "after dinner", "before noon", "in the end", "by five o'clock", "a little later",
    "just in time", "all at once", "for a good reason", "as well", "with a smile", "by mistake",
)  # fmt: skip
VERB = re.compile(r"<(\w+)(?::([sp]))?>")
TIME_RATE, JOIN_RATE, NAME_RATE, TRAIL_RATE = 0.2, 0.3, 0.35, 0.08
MADE_UP_NAME_RATE, MADE_UP_THING_RATE, SIGN_RATE = 0.3, 0.08, 0.3
TIMES_POOL, TRAILS_POOL = Pool(TIMES, everyday=EVERYDAY), Pool(TRAILS)
UNITS_OF = {
    "cur": ("euros", "euros", "dollars", "dollars", "pounds", "coins", "francs", "crowns",
                 "pesos", "rupees", "cents"),
    "len": ("meters", "metres", "centimeters", "cm", "inches", "feet", "yards"),
    "far": ("km", "kilometers", "miles", "kilometres", "blocks", "stops"),
    "mass": ("kg", "kilos", "grams", "pounds", "tons", "kilograms", "ounces"),
    "volume": ("liters", "litres", "cups", "spoons", "gallons", "glasses", "jugs"),
    "day": words.DAYS,
    "time": ("minutes", "hours", "days", "seconds", "weeks"),
    "ware": (
        "comics", "books", "tickets", "pens", "cakes", "toys", "shirts", "sandwiches", "balls",
        "hats", "posters", "mugs", "candles", "notebooks", "coffees", "cards", "plants", "socks",
        "games", "pizzas", "rulers", "lamps", "kites", "scarves", "ice creams", "burgers",
        "bus tickets", "bags", "puzzles", "stickers", "brushes", "juices", "melons", "cups",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Owner:
    """Whom the story is about: how to name them first, later, and their pronoun."""

    first: str
    later: str
    pronoun: str


@dataclass(slots=True)
class Teller:
    """The choices one story is told by; every clause goes through `clause`."""

    random: Random
    things: tuple[str, ...]
    wording: Wording = "seen"
    is_unseen: bool = field(init=False, default=False)
    """Whether something reserved for test has been told so far."""
    owner: Owner = field(init=False)
    is_past: bool = field(init=False)
    word_rate: float = field(init=False)
    slots: dict[str, str] = field(init=False)
    _met: set[str] = field(init=False)
    _is_named: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        random = self.random
        self._met = set()
        self.owner = self._owner()
        self.is_past = random.random() < 0.5 or self.owner.pronoun in ("we", "they")
        self.word_rate = random.choices((0.0, 1.0, 0.4), (7, 0.6, 2))[0]
        color, color2 = random.sample(words.COLORS, 2)
        thing = self._thing()
        self._met.add(thing)
        box = random.choice(words.CONTAINERS)
        self.slots = {
            "thing": thing, "one": singular(thing), "color": color, "color2": color2,
            "box": box, "one_box": singular(box), "P": "@A",
        }  # fmt: skip

    def clause(self, wording: str, numbers: dict[str, int], *, is_past: bool | None = None) -> str:
        """`wording` filled in, the owner still written @A and @S."""
        is_past = self.is_past if is_past is None else is_past
        self._note(wording)
        self._fill(wording)
        _, him, his = PRONOUNS[self.owner.pronoun]
        if re.search(r"\{n\}(?: more| new)? \{thing\}", wording) and numbers.get("n") == 1:
            wording = wording.replace("{thing}", "{one}")
        if numbers.get("n") == 1:
            wording = re.sub(r"(\{n\}(?: more| new)? [a-z]+)s\b", r"\1", wording)
        text = VERB.sub(lambda verb: self._verb(verb[1], verb[2], is_past=is_past), wording)
        if "{Q}" in text:
            self.slots["Q"], self.slots["next P"] = self._relation()
        self._is_named |= re.search(r"\{(A|As)\}", text) is not None
        text = text.format(
            A="@A", As="@S", he=self._maybe_name(self.owner.pronoun), him=self._maybe_name(him),
            his=his, B=self._somebody() if "{B}" in text else "", **self.slots,
            **{name: self.number(value) for name, value in numbers.items()},
        )  # fmt: skip
        if "{Q}" in wording:
            self.slots["P"] = self.slots["next P"]
        self._is_named |= "@" in text
        return text

    def number(self, value: int) -> str:
        """`value` in digits or, for small ones in some stories, as a word."""
        if value < len(NUMBER_WORDS) and self.random.random() < self.word_rate:
            return NUMBER_WORDS[value]
        return str(value)

    def sentences(self, clauses: list[tuple[str, str]], *, has_times: bool) -> list[str]:
        """(wording, clause) pairs as sentences: some joined by "and", some with a time."""
        random = self.random
        told: list[str] = []
        for index, (wording, clause) in enumerate(clauses):
            can_join = index > 0 and clauses[index - 1][0].startswith(("{A} ", "{he} "))
            can_join = can_join and "." not in told[-1] and " and " not in told[-1]
            if wording.startswith("{he} ") and can_join and random.random() < JOIN_RATE:
                told[-1] += " and " + clause.split(" ", 1)[1]
                continue
            if has_times and random.random() < TRAIL_RATE:
                trail = self._note(TRAILS_POOL.draw(random, self.wording))
                clause = f"{clause} {trail.format(day=random.choice(words.DAYS))}"
            elif index > 0 and has_times and random.random() < TIME_RATE:
                time = self._note(TIMES_POOL.draw(random, self.wording))
                day, month = random.choice(words.DAYS), random.choice(words.MONTHS)
                clause = f"{time.format(day=day, month=month)} {clause}"
            told.append(clause)
        return told

    def finish(self, text: str) -> str:
        """`text` with the owner named and every sentence's first letter a capital."""
        owner = self.owner
        text = re.sub("@A|@S", lambda at: _name(at[0], owner.first), text, count=1)
        text = re.sub("@A|@S", lambda at: _name(at[0], owner.later), text)
        if self.random.random() < SIGN_RATE:
            text = re.sub(r"(\d+) dollars\b", r"$\1", text)
            text = re.sub(r"(\d+) (kg|km|cm)\b", r"\1\2", text)
        return re.sub(r"(^|[.?!] )([a-z])", lambda m: m[1] + m[2].upper(), text)

    def _maybe_name(self, pronoun: str) -> str:
        """The pronoun or, always before the owner has been named, the name."""
        if self.owner.pronoun in ("I", "we", "you"):
            return pronoun
        return "@A" if not self._is_named or self.random.random() < NAME_RATE else pronoun

    def _somebody(self) -> str:
        """Another person: a name not used before or, now and then, a relative."""
        if self._is_named and self.random.random() < 0.2:
            return f"{PRONOUNS[self.owner.pronoun][2]} {self._relative()}"
        return self._name()

    def _relation(self) -> tuple[str, str]:
        """Who joins a chain of people, and how that person is named from then on."""
        if self._is_named and self.random.random() < 0.25:
            pronoun, relative = self.random.choice(words.OWN_RELATIVES)
            while pronoun_of(name := self._name()) != pronoun:
                pass
            his = PRONOUNS[self.owner.pronoun][2]
            return f"{his} {relative} {name}", name
        somebody = self._somebody()
        return somebody, somebody

    def _relative(self) -> str:
        return self._new(lambda: self.random.choice(words.RELATIVES), is_plain=True)

    def _name(self) -> str:
        """A name not used before, from the list or made up."""
        return self._new(self._any_name)

    def _any_name(self) -> str:
        if self.random.random() < MADE_UP_NAME_RATE:
            return made_up_name(self.random, self.wording)
        return words.NAME_POOL.draw(self.random, self.wording)

    def _new(self, draw: Callable[[], str], *, is_plain: bool = False) -> str:
        for _ in range(20):
            text = draw()
            if text not in self._met:
                self._met.add(text)
                return text if is_plain else self._note(text)
        return self._new(self._any_name)

    def _unit(self, units: tuple[str, ...]) -> str:
        return self._new(lambda: self.random.choice(units), is_plain=True)

    def _thing(self) -> str:
        is_open = len(self.things) > 20
        if is_open and self.random.random() < MADE_UP_THING_RATE:
            while (word := made_up_word(self.random, self.wording)).endswith("s"):
                pass
            return self._note(word) + "s"
        return self.random.choice(self.things)

    def _note(self, text: str) -> str:
        """`text`, having noted whether it is reserved."""
        if self.wording == "unseen" and not self.is_unseen:
            self.is_unseen = is_reserved(text)
        return text

    def _fill(self, wording: str) -> None:
        """Draws what else `wording` names: units, wares, people who stay the same."""
        for slot in SLOT.findall(wording):
            if slot in self.slots:
                continue
            kind = slot.rstrip("23")
            if kind == "thing":
                self.slots[slot] = self._unit(self.things)
            elif kind in UNITS_OF:
                unit = self._unit(UNITS_OF[kind])
                self.slots[slot] = unit
                self.slots[f"one_{slot}"] = singular(unit)
            elif slot.startswith("one_"):
                self._fill("{" + slot.removeprefix("one_") + "}")
            elif slot == "sib":
                self._fill("{C}")
                is_man = pronoun_of(self.slots["C"]) == "he"
                self.slots["sib"] = "brother" if is_man else "sister"
            elif slot in ("C", "D"):
                self.slots[slot] = self._name()

    def _owner(self) -> Owner:
        draw, random = self.random.random(), self.random
        if draw < 0.6:
            name = self._name()
            return Owner(name, name, pronoun_of(name))
        if draw < 0.77:
            return Owner("I", "I", "I")
        if draw < 0.81:
            pronoun = random.choice(("we", "we", "you", "you", "you"))
            return Owner(pronoun, pronoun, pronoun)
        if draw < 0.86:
            return Owner(f"{self._name()} and {self._name()}", "they", "they")
        if draw < 0.94:
            pronoun, relative = random.choice(words.OWN_RELATIVES)
            self._met.add(relative)
            return Owner(f"my {relative}", f"my {relative}", pronoun)
        job = random.choice(words.JOBS)
        article = "an" if job[0] in "aeiou" else "a"
        return Owner(f"{article} {job}", f"the {job}", random.choice(("she", "he")))

    def _verb(self, base: str, subject: str | None, *, is_past: bool) -> str:
        person = {"I": "I", "we": "p", "they": "p", "you": "p"}.get(self.owner.pronoun, "s")
        return conjugate(base, subject or person, is_past=is_past)


def _name(mark: str, name: str) -> str:
    if mark == "@A":
        return name
    return {"I": "my", "we": "our", "they": "their", "you": "your"}.get(name, f"{name}'s")


def pronoun_of(name: str) -> str:
    """The pronoun of a person of that name, from the list or made up."""
    if name in words.MEN:
        return "he"
    return "she" if name in words.WOMEN or is_womanly(name) else "he"
