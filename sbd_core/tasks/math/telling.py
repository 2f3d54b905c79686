"""Tells a story of counts in English: persons, tenses, number words. Knows no arithmetic.

A clause is a wording without capital and full stop. Slots: {A} the owner, {As} the owner's,
{he} {him} {his} the owner's pronouns, {B} somebody else, {Q} a person who joins a chain of
people and {P} the one before, {thing} a plural, {one} its singular, {n} {m} {k} numbers,
{color} {color2}, {box}. A verb in angle brackets is put into the story's tense and person:
<buy> agrees with the owner, <buy:s> with one other, <buy:p> with several.
"""

import re
from dataclasses import dataclass, field
from random import Random

from sbd_core.tasks import words

PRONOUNS = {
    "she": ("she", "her", "her"),
    "he": ("he", "him", "his"),
    "I": ("I", "me", "my"),
    "we": ("we", "us", "our"),
    "they": ("they", "them", "their"),
}
NUMBER_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
IRREGULAR_SINGULARS = {
    "sheep": "sheep", "geese": "goose", "people": "person", "children": "child", "mice": "mouse",
    "leaves": "leaf", "loaves": "loaf", "knives": "knife", "scarves": "scarf", "dice": "die",
    "cookies": "cookie", "pies": "pie", "brownies": "brownie", "ties": "tie", "shelves": "shelf",
    "dishes": "dish", "boxes": "box", "brushes": "brush", "peaches": "peach", "bushes": "bush",
    "matches": "match", "benches": "bench", "glasses": "glass", "dresses": "dress", "fish": "fish",
    "watches": "watch", "radishes": "radish", "tomatoes": "tomato", "potatoes": "potato",
    "movies": "movie", "sandwiches": "sandwich", "buses": "bus", "lunches": "lunch",
    "women": "woman", "men": "man",
}  # fmt: skip
IRREGULAR_PASTS = {
    "be": "was", "have": "had", "do": "did", "go": "went", "get": "got", "give": "gave",
    "take": "took", "buy": "bought", "find": "found", "win": "won", "send": "sent", "make": "made",
    "pay": "paid", "lose": "lost", "eat": "ate", "sell": "sold", "break": "broke", "put": "put",
    "keep": "kept", "bring": "brought", "catch": "caught", "grow": "grew", "fall": "fell",
    "rise": "rose", "drop": "dropped", "come": "came", "leave": "left", "run": "ran",
    "ride": "rode", "drive": "drove", "spend": "spent", "read": "read", "write": "wrote",
    "draw": "drew", "cut": "cut", "hold": "held", "begin": "began", "split": "split",
    "lay": "laid", "fly": "flew", "swim": "swam", "sit": "sat", "stand": "stood", "hit": "hit",
    "throw": "threw", "drink": "drank", "lend": "lent", "steal": "stole", "see": "saw",
    "think": "thought", "let": "let", "step": "stepped", "shut": "shut", "set": "set",
    "pick": "picked", "build": "built", "teach": "taught", "hear": "heard", "sing": "sang",
    "wear": "wore", "bend": "bent", "tear": "tore", "hide": "hid", "plan": "planned",
    "stop": "stopped", "swap": "swapped", "weigh": "weighed", "sink": "sank", "burst": "burst",
    "freeze": "froze", "show": "showed", "feed": "fed", "cost": "cost", "become": "became",
    "meet": "met", "skip": "skipped",
}  # fmt: skip
TIMES = (
    "then", "after that,", "next,", "later", "then", "later that day,", "in the morning,",
    "in the evening,", "in the afternoon,", "the next day,", "on {day}", "on {day},",
    "a bit later,",
    "after lunch,", "before dinner,", "soon,", "one day", "this week,", "a day later,",
)  # fmt: skip
VERB = re.compile(r"<(\w+)(?::([sp]))?>")
TIME_RATE, JOIN_RATE, NAME_RATE = 0.25, 0.25, 0.35


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
    owner: Owner = field(init=False)
    is_past: bool = field(init=False)
    word_rate: float = field(init=False)
    slots: dict[str, str] = field(init=False)
    _people: list[str] = field(init=False)
    _is_named: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        random = self.random
        self._people = random.sample(words.NAMES, 14)
        self.owner = _owner(random, self._people.pop())
        self.is_past = random.random() < 0.4 or self.owner.pronoun in ("we", "they")
        self.word_rate = random.choices((0.0, 1.0, 0.4), (8, 1, 1))[0]
        color, color2 = random.sample(words.COLORS, 2)
        thing = random.choice(self.things)
        box = random.choice(words.CONTAINERS)
        self.slots = {
            "thing": thing, "one": singular(thing), "color": color, "color2": color2,
            "box": box, "one_box": singular(box), "P": "@A",
        }  # fmt: skip

    def clause(self, wording: str, numbers: dict[str, int], is_past: bool | None = None) -> str:
        """`wording` filled in, the owner still written @A and @S."""
        is_past = self.is_past if is_past is None else is_past
        _, him, his = PRONOUNS[self.owner.pronoun]
        if re.search(r"\{n\}(?: more| new)? \{thing\}", wording) and numbers.get("n") == 1:
            wording = wording.replace("{thing}", "{one}")
        if numbers.get("n") == 1:
            wording = re.sub(r"(\{n\}(?: more| new)? [a-z]+)s\b", r"\1", wording)
        text = VERB.sub(lambda verb: self._verb(verb[1], verb[2], is_past), wording)
        if "{Q}" in text:
            self.slots["Q"] = self._somebody()
        self._is_named |= re.search(r"\{(A|As)\}", text) is not None
        text = text.format(
            A="@A", As="@S", he=self._maybe_name(self.owner.pronoun), him=self._maybe_name(him),
            his=his, B=self._somebody() if "{B}" in text else "", **self.slots,
            **{name: self.number(value) for name, value in numbers.items()},
        )  # fmt: skip
        if "{Q}" in wording:
            self.slots["P"] = self.slots["Q"]
        self._is_named |= "@" in text
        return text

    def number(self, value: int) -> str:
        """`value` in digits or, for small ones in some stories, as a word."""
        if value < len(NUMBER_WORDS) and self.random.random() < self.word_rate:
            return NUMBER_WORDS[value]
        return str(value)

    def sentences(self, clauses: list[tuple[str, str]], has_times: bool) -> list[str]:
        """(wording, clause) pairs as sentences: some joined by "and", some with a time."""
        random = self.random
        told: list[str] = []
        for index, (wording, clause) in enumerate(clauses):
            can_join = index > 0 and clauses[index - 1][0].startswith(("{A} ", "{he} "))
            can_join = can_join and "." not in told[-1] and " and " not in told[-1]
            if wording.startswith("{he} ") and can_join and random.random() < JOIN_RATE:
                told[-1] += " and " + clause.split(" ", 1)[1]
                continue
            if index > 0 and has_times and random.random() < TIME_RATE:
                clause = random.choice(TIMES).format(day=random.choice(words.DAYS)) + " " + clause
            told.append(clause)
        return told

    def finish(self, text: str) -> str:
        """`text` with the owner named and every sentence's first letter a capital."""
        owner = self.owner
        text = re.sub("@A|@S", lambda at: _name(at[0], owner.first), text, count=1)
        text = re.sub("@A|@S", lambda at: _name(at[0], owner.later), text)
        return re.sub(r"(^|[.?!] )([a-z])", lambda m: m[1] + m[2].upper(), text)

    def _maybe_name(self, pronoun: str) -> str:
        """The pronoun or, always before the owner has been named, the name."""
        if self.owner.pronoun in ("I", "we"):
            return pronoun
        return "@A" if not self._is_named or self.random.random() < NAME_RATE else pronoun

    def _somebody(self) -> str:
        """Another person: a name not used before or, now and then, a relative."""
        if self._is_named and self.random.random() < 0.2:
            return f"{PRONOUNS[self.owner.pronoun][2]} {self.random.choice(words.RELATIVES)}"
        return self._people.pop()

    def _verb(self, base: str, subject: str | None, is_past: bool) -> str:
        person = {"I": "I", "we": "p", "they": "p"}.get(self.owner.pronoun, "s")
        return conjugate(base, subject or person, is_past)


def _name(mark: str, name: str) -> str:
    if mark == "@A":
        return name
    return {"I": "my", "we": "our", "they": "their"}.get(name, f"{name}'s")


def singular(plural: str) -> str:
    """One of `plural`."""
    if plural in IRREGULAR_SINGULARS:
        return IRREGULAR_SINGULARS[plural]
    if plural.endswith("ies"):
        return plural[:-3] + "y"
    return plural.removesuffix("s")


def conjugate(base: str, person: str, is_past: bool) -> str:
    """`base` for person "I", "s" (he, she, it) or "p" (several)."""
    if base == "be":
        present, past = {"I": ("am", "was"), "s": ("is", "was"), "p": ("are", "were")}[person]
        return past if is_past else present
    ends_in_consonant_y = base[-1] == "y" and base[-2] not in "aeou"
    if is_past:
        regular = base[:-1] + "ied" if ends_in_consonant_y else base.removesuffix("e") + "ed"
        return IRREGULAR_PASTS.get(base, regular)
    if person != "s":
        return base
    if base in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[base]
    if ends_in_consonant_y:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x")) else "s")


def _owner(random: Random, name: str) -> Owner:
    draw = random.random()
    pronoun = "she" if name in words.WOMEN else "he"
    if draw < 0.7:
        return Owner(name, name, pronoun)
    if draw < 0.8:
        return Owner("I", "I", "I")
    if draw < 0.83:
        return Owner("we", "we", "we")
    if draw < 0.86:
        other = random.choice([n for n in words.WOMEN[:40] if n != name])
        return Owner(f"{name} and {other}", "they", "they")
    if draw < 0.93:
        pronoun, relative = random.choice(words.OWN_RELATIVES)
        return Owner(f"my {relative}", f"my {relative}", pronoun)
    job = random.choice(words.JOBS)
    article = "an" if job[0] in "aeiou" else "a"
    return Owner(f"{article} {job}", f"the {job}", random.choice(("she", "he")))
