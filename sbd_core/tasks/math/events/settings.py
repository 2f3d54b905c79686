"""What a setting of word problems is, and the settings about who has how many. Data only.

Wordings are clauses in the template language of math.telling. {n} is the number that acts on
the running value; an opening also tells its {m}; a group event tells {k} groups of {n}.
"""

from dataclasses import dataclass, replace

from sbd_core.tasks import words
from sbd_core.tasks.base import Wording
from sbd_core.tasks.math.arithmetic import MAX_RESULT, Operation
from sbd_core.tasks.math.everyday import is_reserved


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Something that changes the count by {n}, told in any of `wordings`."""

    operation: Operation
    wordings: tuple[str, ...]
    number: int = 0
    """The number itself when the wordings say it in words of their own, such as "half"."""
    is_group: bool = False
    """{k} groups of {n}: multiplied first, then added or taken away."""


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """A world: starts that give one number, starts of two numbers, events and questions."""

    weight: int
    things: tuple[str, ...]
    starts: tuple[str, ...]
    openings: tuple[Event, ...]
    """Starts of two numbers, {m} operation {n}; the first step of the answer."""
    events: tuple[Event, ...]
    questions: tuple[str, ...]
    """None where the clauses themselves make the question."""
    has_times: bool = True
    """Whether "on Monday" and sentences that do not matter may stand between."""
    most: int = MAX_RESULT
    """No number of the story is greater."""

    def told_in(self, wording: Wording) -> "Setting":
        """The setting in the wordings that `wording` draws from; a thing drawn by Teller."""
        told = replace(
            self,
            starts=told_in(self.starts, wording),
            openings=_events_in(self.openings, wording),
            events=_events_in(self.events, wording),
            questions=told_in(self.questions, wording),
        )
        assert told.events, self
        assert told.starts or told.openings, self
        assert told.questions or not self.questions, self
        return told


def _events_in(events: tuple[Event, ...], wording: Wording) -> tuple[Event, ...]:
    """The events that have a wording, each with those of its wordings."""
    told = ((event, told_in(event.wordings, wording)) for event in events)
    return tuple(replace(event, wordings=wordings) for event, wordings in told if wordings)


def told_in(wordings: tuple[str, ...], wording: Wording) -> tuple[str, ...]:
    """The seen wordings; for an unseen wording the reserved ones, or all if there are none."""
    seen = tuple(text for text in wordings if not is_reserved(text))
    reserved = tuple(text for text in wordings if is_reserved(text))
    return reserved or seen if wording == "unseen" else seen


def plus(*wordings: str) -> Event:
    """An event that adds {n}."""
    return Event("+", wordings)


def minus(*wordings: str) -> Event:
    """An event that takes {n} away."""
    return Event("-", wordings)


def times(*wordings: str, number: int = 0) -> Event:
    """An event that multiplies by {n}, or by `number`."""
    return Event("*", wordings, number)


def over(*wordings: str, number: int = 0) -> Event:
    """An event that divides by {n}, or by `number`."""
    return Event("/", wordings, number)


def group(operation: Operation, *wordings: str) -> Event:
    """An event of {k} groups of {n}."""
    return Event(operation, wordings, is_group=True)


HAVE = (
    "how many {thing} <do> {A} have now?",
    "how many {thing} <do> {A} have in the end?",
    "how many {thing} <do> {A} have left?",
    "how many {thing} <do> {A} have?",
    "how many {thing} are there now?",
    "now how many {thing} <do> {A} have?",
    "what is the number of {thing} that {A} <have> now?",
    "find how many {thing} {A} <have> now.",
    "so how many {thing} <do> {A} have?",
    "how many <do> {A} have now?",
    "tell me how many {thing} {A} <have> in the end.",
    "work out how many {thing} {A} <have>.",
    "how many {thing} are now in {As} hands?",
    "with how many {thing} <do> {A} end up?",
    "how many {thing} <do> {A} end up with?",
    "what number of {thing} <do> {A} have after that?",
    "how many {thing} <do> {A} have at the end of it?",
    "how many {thing} are {As} now?",
    "how many {thing} <do> {A} own after all this?",
)
NOW = (
    "how many {thing} is that now?", "how many {thing} is that in the end?", "find the number of {thing} now.",
    "what is the number of {thing} then?", "so how many {thing} are there?", "count the {thing}. how many are there now?",
    "how many {thing} does that make?", "how many {thing} are there after all this?", "tell me how many {thing} there are.",
    "can you say how many {thing} there are now?", "how many {thing} are there by then?", "give the number of {thing}.",
    "what number of {thing} is that?", "work out how many {thing} there are now.", "how many {thing} would that be?",
)  # fmt: skip
OWNING = Setting(
    12,
    words.THINGS,
    (
        "{A} <have> {n} {thing}", "{A} <start> with {n} {thing}", "{A} <own> {n} {thing}",
        "there <be:p> {n} {thing} in {As} bag", "{A} <begin> with {n} {thing}",
        "{A} <find> {n} {thing}", "{A} <get> {n} {thing} from {B}", "{A} <buy> {n} {thing}",
        "{A} <collect> {n} {thing}", "{B} <give:s> {him} {n} {thing}", "{A} <hold> {n} {thing}",
        "in {As} room there <be:p> {n} {thing}", "{A} <keep> {n} {color} {thing} at home",
        "at first {A} <have> {n} {thing}", "{A} <make> {n} {thing}", "{A} <see> {n} {thing}",
    ),
    (
        plus(
            "{A} <have> {m} {color} {thing} and {n} {color2} {thing}",
            "{A} <own> {m} {color} and {n} {color2} {thing}",
            "there <be:p> {m} {color} {thing} and {n} {color2} ones in {As} bag",
            "{A} <have> {m} {thing} in one hand and {n} in the other",
            "{A} <have> {m} {thing} at home and {n} {thing} at school",
        ),
        plus(
            "{B} <have:s> {m} {thing}. {A} <have> {n} more {thing} than that",
            "{B} <have:s> {m} {thing} and {A} <have> {n} more",
        ),
        minus(
            "{B} <have:s> {m} {thing}. {A} <have> {n} fewer {thing} than that",
            "{B} <have:s> {m} {thing} and {A} <have> {n} less",
        ),
        minus(
            "{A} <have> {m} {thing} and {n} of them <be:p> broken and thrown away",
            "of {As} {m} {thing}, {n} <get:p> lost",
        ),
        times(
            "{A} <have> {m} {box} with {n} {thing} in each",
            "{A} <fill> {m} {box} with {n} {thing} each",
            "{A} <buy> {m} {box} of {n} {thing} each",
            "there <be:p> {m} {box}, and each one <hold:s> {n} {thing}. {A} <take> them all",
            "{A} <get> {m} {box}. every {one_box} <have:s> {n} {thing} in it",
            "{A} <get> {m} {thing} a day for {n} days",
            "{m} friends <give:p> {him} {n} {thing} each",
        ),
        times(
            "{B} <have:s> {m} {thing}. {A} <have> {n} times as many",
            "{A} <have> {n} times as many {thing} as {B}, who <have:s> {m}",
        ),
        times(
            "{B} <have:s> {m} {thing}. {A} <have> twice as many",
            "{B} <have:s> {m} {thing}. {A} <have> double that number",
            number=2,
        ),
        over(
            "{B} <have:s> {m} {thing}. {A} <have> half as many",
            "{A} <have> half of the {m} {thing}",
            number=2,
        ),
        over(
            "{m} {thing} <be:p> shared equally among {n} friends. {A} <be> one of them",
            "{A} and others, {n} in all, <split:p> {m} {thing} evenly",
        ),
    ),
    (
        plus("{B} <give:s> {him} {n} more", "{he} <get> {n} more from {B}"),
        plus("{B} <give:s> {him} {n} {thing}", "{he} <receive> {n} {thing} from {B}"),
        plus("{he} <buy> {n} more", "{he} <buy> {n} more {thing}", "{he} <buy> another {n} at a shop"),
        plus("{he} <find> {n} more", "{he} <find> {n} {thing} under the bed", "{he} <find> {n} {thing}"),
        plus("{he} <win> {n} in a game", "{he} <win> {n} more {thing}", "{he} <pick> up {n} more"),
        plus("{B} <send:s> {him} {n} by mail", "a parcel <bring:s> {him} {n} more"),
        plus("{B} <return:s> {n} that {he} had lent", "{B} <pay:s> {him} back {n} {thing}"),
        plus("{he} <make> {n} new ones", "{he} <make> {n} more {thing}", "{he} <add> {n} more"),
        plus("{he} <collect> {n} more {thing}", "{he} <get> {n} more", "{he} <get> {n} new {thing}"),
        group("+", "{he} <buy> {k} packs of {n} {thing}", "{he} <get> {k} bags of {n} {thing} each"),
        group("+", "{k} friends <give:p> {him} {n} {thing} each", "{he} <find> {k} boxes with {n} {thing} in each"),
        minus("{B} <take:s> {n}", "{B} <take:s> away {n} of them", "{B} <take:s> {n} {thing} from {him}"),
        minus("{he} <give> {n} to {B}", "{he} <give> {B} {n} {thing}", "{he} <hand> {n} of them to {B}"),
        minus("{he} <give> away {n} {thing}", "{he} <give> away {n}", "{he} <donate> {n}"),
        minus("{he} <lose> {n}", "{he} <lose> {n} {thing}", "{n} of the {thing} <get:p> lost"),
        minus("{he} <sell> {n}", "{he} <sell> {n} {thing} to {B}", "{B} <buy:s> {n} of them from {him}"),
        minus("{n} of them <break:p>", "{he} <break> {n} of them", "{he} <throw> away {n}"),
        minus("{he} <use> {n} of them", "{he} <use> up {n} {thing}", "{he} <lend> {B} {n} of them"),
        minus("{B} <borrow:s> {n} {thing}", "{he} <leave> {n} {thing} at the house of {B}"),
        group("-", "{he} <give> {n} {thing} to each of {k} friends", "{he} <give> {k} friends {n} {thing} each"),
        times("{he} <double> the number of {thing}", "the number of {thing} <be:s> doubled", number=2),
        times("{he} <triple> the number of {thing}", number=3),
        times("the number of {thing} <grow:s> to {n} times as many"),
        over("{he} <give> half of them to {B}", "{he} <lose> half of the {thing}",
             "{B} <take:s> half of them", "half of the {thing} <get:p> lost", number=2),
        over("{he} <split> them evenly into {n} boxes and <keep> only one box",
             "{he} <share> them equally with friends, {n} people in all",
             "{he} <divide> the {thing} equally among {n} people, {him} included"),
    ),
    HAVE + NOW,
)  # fmt: skip
SNACKS = Setting(
    5,
    words.SNACKS,
    (
        "{A} <have> {n} {thing}", "{A} <bake> {n} {thing}", "there <be:p> {n} {thing} on a plate",
        "{A} <make> {n} {thing}", "a bowl <hold:s> {n} {thing}", "{A} <put> {n} {thing} on the table",
        "{A} <buy> {n} {thing} at the market", "{A} <bring> {n} {thing} to school",
    ),
    (
        plus("{A} <bake> {m} {thing}, then {n} more", "{A} <make> {m} {thing} for home and {n} for school"),
        times("{A} <bake> {m} trays of {n} {thing}", "{A} <bake> {m} batches with {n} {thing} in each",
              "{A} <put> {n} {thing} on each of {m} plates"),
        minus("{A} <bake> {m} {thing} but <burn> {n}", "of {m} {thing} on a plate, {n} <be:p> gone"),
    ),
    (
        plus("{he} <bake> {n} more", "{he} <bake> {n} more {thing}", "{he} <make> {n} more"),
        plus("{B} <bring:s> {n} more", "{B} <bring:s> {n} {thing}", "{B} <put:s> {n} more {thing} there"),
        plus("{he} <buy> {n} more", "{he} <add> {n} {thing}", "{he} <find> {n} more in the kitchen"),
        group("+", "{he} <bake> {k} more trays of {n}", "{B} <bring:s> {k} boxes of {n} {thing}"),
        minus("{he} <eat> {n}", "{he} <eat> {n} of them", "{he} <eat> {n} {thing}"),
        minus("{B} <eat:s> {n}", "{B} <eat:s> {n} of the {thing}", "{B} <eat:s> {n} {thing}"),
        minus("a dog <eat:s> {n} of them", "birds <eat:p> {n} {thing}", "{he} <drop> {n} on the floor"),
        minus("{he} <give> {n} to {B}", "{he} <give> {B} {n}", "{he} <sell> {n} {thing}"),
        minus("guests <eat:p> {n} of the {thing}", "{n} of them <go:p> bad", "{he} <burn> {n} of them"),
        group("-", "{k} friends <eat:p> {n} {thing} each", "{he} <give> {k} children {n} {thing} each"),
        over("{he} <eat> half of them", "half of the {thing} <be:p> eaten", number=2),
        over("the {thing} <be:p> shared equally by {n} people and {he} <get> one share",
             "{he} <put> them evenly on {n} plates and <take> one plate"),
    ),
    (*HAVE, *NOW, "how many {thing} are left?", "how many {thing} are there in the end?"),
)  # fmt: skip
PEOPLE_CHAIN = Setting(
    5,
    words.THINGS,
    ("{A} <have> {n} {thing}", "{A} <own> {n} {thing}", "{A} <find> {n} {thing}",
     "{A} <collect> {n} {thing}"),
    (),
    (
        plus("{Q} <have:s> {n} more {thing} than {P}", "{Q} <have:s> {n} more than {P}"),
        minus("{Q} <have:s> {n} fewer {thing} than {P}", "{Q} <have:s> {n} less than {P}"),
        times("{Q} <have:s> {n} times as many {thing} as {P}", "{Q} <have:s> {n} times as many as {P}"),
        times("{Q} <have:s> twice as many {thing} as {P}", "{Q} <have:s> double what {P} <have:s>", number=2),
        times("{Q} <have:s> three times as many as {P}", number=3),
        over("{Q} <have:s> half as many {thing} as {P}", "{Q} <have:s> half of what {P} <have:s>", number=2),
    ),
    ("how many {thing} <do:s> {P} have?", "how many {thing} <do:s> {P} have in the end?",
     "find the number of {thing} of {P}."),
    has_times=False,
)  # fmt: skip
AGES = Setting(
    3,
    ("years",),
    ("{A} <be> {n} years old", "{A} <be> {n}", "{As} age <be:s> {n}"),
    (),
    (
        plus("{Q} <be:s> {n} years older than {P}", "{Q} <be:s> {n} years older"),
        minus("{Q} <be:s> {n} years younger than {P}", "{Q} <be:s> {n} years younger"),
        times("{Q} <be:s> {n} times as old as {P}", "{Q} <be:s> {n} times as old"),
        times("{Q} <be:s> twice as old as {P}", "{Q} <be:s> twice the age of {P}", number=2),
        over("{Q} <be:s> half as old as {P}", "{Q} <be:s> half the age of {P}", number=2),
    ),
    ("how old <be:s> {P}?", "what <be:s> the age of {P}?", "how many years old <be:s> {P}?"),
    has_times=False,
    most=99,
)  # fmt: skip
