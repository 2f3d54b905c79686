"""Puzzles that compare people: more, fewer, twice as many, older, younger. Data only."""

from sbd_core.tasks import words
from sbd_core.tasks.math.puzzles.puzzle import Puzzle

THINGS = tuple(dict.fromkeys(words.THINGS + words.SNACKS))
A_HAS = (
    "{A} <have> {m} {thing}", "{A} <collect> {m} {thing}", "{A} <find> {m} {thing}", "{A} <own> {m} {thing}",
    "{A} <make> {m} {thing}", "{A} <buy> {m} {thing}", "{A} <sell> {m} {thing}", "{A} <count> {m} {thing}",
)  # fmt: skip
C_HAS = ("{C} <have:s> {n} {thing}", "{C} <collect:s> {n} {thing}", "{C} <own:s> {n} {thing}", "{C} <have:s> {n} of them",
         "{C} <hold:s> {n} {thing}")  # fmt: skip
TOGETHER = (
    "how many {thing} do they have together?", "how many {thing} is that altogether?", "how many {thing} are there in all?",
    "how many is that in total?", "what is the total?", "how many {thing} do they have in total?", "how many {thing} is that together?",
    "how many do they have together?", "find the total number of {thing}.", "how many {thing} do they have in all?",
)  # fmt: skip
C_ASKED = (
    "how many {thing} <do:s> {C} have?", "how many <do:s> {C} have?", "how many {thing} is that for {C}?", "how many {thing} has {C}?",
    "find how many {thing} {C} has.", "how many of the {thing} are with {C}?",
    "what is the number of {thing} of {C}?",
)  # fmt: skip
MORE = ("{C} <have:s> {n} more {thing} than {A}", "{C} <have:s> {n} more than {A}", "{C} <have:s> {n} {thing} more than {A}",
        "{A} <have> {n} fewer {thing} than {C}", "{A} <have> {n} {thing} less than {C}")  # fmt: skip
FEWER = ("{C} <have:s> {n} fewer {thing} than {A}", "{C} <have:s> {n} fewer than {A}", "{C} <have:s> {n} {thing} less than {A}",
         "{A} <have> {n} more {thing} than {C}", "{A} <have> {n} more than {C}")  # fmt: skip
TWICE = ("{C} <have:s> twice as many {thing} as {A}", "{C} <have:s> twice as many as {A}", "{C} <have:s> double that number",
         "{C} <have:s> double the number {A} <have>", "{A} <have> half as many {thing} as {C}", "{C} <have:s> two times as many as {A}")  # fmt: skip
THRICE = ("{C} <have:s> three times as many {thing} as {A}", "{C} <have:s> three times as many as {A}", "{C} <have:s> triple that number",
          "{C} <have:s> 3 times as many {thing} as {A}", "{A} <have> a third as many {thing} as {C}")  # fmt: skip
TIMES_MANY = ("{C} <have:s> {k} times as many {thing} as {A}", "{C} <have:s> {k} times as many as {A}", "{C} <have:s> {k} times that number",
              "{C} <have:s> {k} times the number {A} <have>")  # fmt: skip
HALF = ("{C} <have:s> half as many {thing} as {A}", "{C} <have:s> half as many", "{C} <have:s> half of that number", "{A} <have> twice as many {thing} as {C}",
        "{C} <have:s> half the number {A} <have>")  # fmt: skip
HAVING = A_HAS[:4]


def _compared(numbers: str, step: str, relations: tuple[str, ...]) -> tuple[Puzzle, ...]:
    """Asked for the second person, and for both together; told in any order where it is clear."""
    clear = tuple(text for text in relations if "{A}" in text)
    puzzles: list[Puzzle] = []
    for facts, is_ordered in (((HAVING, clear), False), ((HAVING, relations), True)):
        for steps, questions in (((step,), C_ASKED), ((step, "m + _"), TOGETHER)):
            puzzles.append(
                Puzzle(
                    things=THINGS,
                    numbers=numbers,
                    steps=steps,
                    facts=facts,
                    questions=questions,
                    is_ordered=is_ordered,
                    weight=0.5,
                )
            )
    return tuple(puzzles)


MORE_THAN = _compared("m=2..400 n=2..300", "m + n", MORE)
FEWER_THAN = _compared("n=2..300 m=n+1..300", "m - n", FEWER)
TWICE_THAN = _compared("m=2..300", "m * 2", TWICE)
THRICE_THAN = _compared("m=2..200", "m * 3", THRICE)
TIMES_THAN = _compared("k=4..9 m=2..60", "m * k", TIMES_MANY)
HALF_THAN = _compared("h=2..300 m=h*2..2", "m / 2", HALF)

DIFFERENCE = Puzzle(
    things=THINGS,
    numbers="n=2..500 m=n+1..400",
    steps=("m - n",),
    facts=(A_HAS[:4], C_HAS),
    questions=(
        "how many more {thing} <do> {A} have than {C}?", "how many fewer {thing} <do:s> {C} have than {A}?", "how many more <do> {A} have?",
        "what is the difference?", "how many more is that?", "by how many {thing} <be:s> {C} behind?", "how many {thing} more <do> {A} have than {C}?",
        "how many fewer <do:s> {C} have?", "find the difference.", "how many must {C} get to have as many as {A}?",
    ),
    weight=2,
)  # fmt: skip
SUM_OF_THREE = Puzzle(
    things=THINGS,
    numbers="m=2..300 n=2..300 k=2..200",
    steps=("m + n", "_ + k"),
    facts=(A_HAS[:4], C_HAS, ("{D} <have:s> {k} {thing}", "{D} <collect:s> {k} {thing}", "{D} <own:s> {k}", "{D} <have:s> {k}")),
    questions=TOGETHER,
    whole=(
        "{A}, {C} and {D} <have:p> {m}, {n} and {k} {thing}. how many {thing} do they have together?",
        "{A} <have> {m} {thing}, {C} <have:s> {n} and {D} <have:s> {k}. what is the total?",
    ),
    is_ordered=True,
    weight=1.5,
)  # fmt: skip
BOTH_OF_THEM = Puzzle(
    things=THINGS,
    numbers="m=2..450 n=2..450",
    steps=("m + n",),
    facts=(A_HAS[:4], C_HAS),
    questions=TOGETHER,
    weight=1.5,
    is_ordered=True,
)  # fmt: skip
TWICE_THEN_LESS = Puzzle(
    things=THINGS,
    numbers="m=3..150 n=2..60",
    steps=("m * 2", "_ - n"),
    facts=(HAVING, ("{C} <have:s> twice as many {thing} as {A}", "{C} <have:s> double what {A} <have>", "{C} <have:s> twice as many"),
           ("{D} <have:s> {n} fewer than {C}", "{D} <have:s> {n} {thing} less than {C}", "{C} <give:s> {n} of them away and {D} <get:s> the rest",
            "{D} <have:s> {n} fewer {thing} than {C}")),
    questions=("how many {thing} <do:s> {D} have?", "how many <do:s> {D} have?", "how many {thing} is that for {D}?", "find how many {thing} {D} has.",
               "how many {thing} has {D}?"),
    is_ordered=True,
)  # fmt: skip
UNKNOWN_START = Puzzle(
    things=THINGS,
    numbers="m=2..400 n=2..400",
    steps=("m + n",),
    facts=(
        ("{A} <give> {n} {thing} to {B}", "{A} <lose> {n} {thing}", "{A} <sell> {n} {thing}", "{A} <eat> {n} {thing}", "{B} <take:s> {n} {thing} from {him}",
         "{A} <use> {n} {thing}"),
        ("now {he} <have> {m} left", "{m} {thing} <be:p> left", "after that {he} <have> {m} {thing}", "{m} <be:p> left over", "now there <be:p> {m}"),
    ),
    questions=("how many {thing} were there at first?", "how many {thing} did {A} have before?", "how many did {A} have at the start?",
               "what was the number of {thing} at first?", "how many {thing} were there in the beginning?", "how many {thing} did {A} start with?"),
    is_ordered=True,
)  # fmt: skip
UNKNOWN_CHANGE = Puzzle(
    things=THINGS,
    numbers="n=2..400 m=n+1..400",
    steps=("m - n",),
    facts=(
        ("{A} <have> {m} {thing}", "there <be:p> {m} {thing} in the box", "{A} <start> with {m} {thing}", "{m} {thing} <be:p> on the shelf"),
        ("some <be:p> sold and {n} <be:p> left", "some of them <get:p> lost. now there <be:p> {n}", "after giving some away, {he} <have> {n}",
         "in the evening only {n} <be:p> left", "{B} <take:s> some, and {n} <be:p> left"),
    ),
    questions=("how many {thing} are gone?", "how many are gone?", "how many is that fewer?", "how many {thing} are missing?", "how many went away?",
               "how many {thing} does that make fewer?"),
    is_ordered=True,
)  # fmt: skip
YOUNGER_SOMEBODY = (
    "{C}",
    "{his} {sib} {C}",
    "{his} {sib}, {C},",
    "{his} cousin {C}",
    "{his} friend {C}",
)
AGE = (
    "{A} <be> {m}",
    "{A} <be> {m} years old",
    "{As} age <be:s> {m}",
    "{A} just <turn> {m}",
    "{A} <be> {m} years of age",
)
AGE_ASKED = ("how old is {C}?", "what is the age of {C}?", "how old is {C} now?", "find the age of {C}.", "how many years old is {C}?", "and how old is {C}?",
             "tell me the age of {C}.")  # fmt: skip


def _aged(*relations: str) -> tuple[str, ...]:
    return tuple(text.replace("{C}", name, 1) for text in relations for name in YOUNGER_SOMEBODY)


OLDER = Puzzle(numbers="m=2..60 n=2..35", steps=("m + n",), facts=(AGE, _aged("{C} <be:s> {n} years older", "{C} <be:s> {n} years older than {A}")),
               questions=AGE_ASKED, is_ordered=True)  # fmt: skip
YOUNGER = Puzzle(numbers="n=2..35 m=n+1..50", steps=("m - n",), facts=(AGE, _aged("{C} <be:s> {n} years younger", "{C} <be:s> {n} years younger than {A}")),
                 questions=AGE_ASKED, is_ordered=True)  # fmt: skip
OLDER_TWICE = Puzzle(
    numbers="m=2..30 n=2..15",
    steps=("m + n", "_ * 2"),
    facts=(AGE, _aged("{C} <be:s> {n} years older", "{C} <be:s> {n} years older than {A}"),
           ("{D} <be:s> twice as old as {C}", "their cousin {D} <be:s> twice as old as {C}", "{D} <be:s> twice the age of {C}",
            "{D}, the oldest, <be:s> double the age of {C}", "the teacher {D} <be:s> two times as old as {C}")),
    questions=("how old is {D}?", "what is the age of {D}?", "find the age of {D}.", "how many years old is {D}?", "how old is {D} now?"),
    is_ordered=True,
)  # fmt: skip
IN_YEARS = Puzzle(
    numbers="m=3..80 n=2..30",
    steps=("m + n",),
    facts=(AGE,),
    questions=("how old will {A} be in {n} years?", "find {As} age in {n} years.", "how old will {A} be {n} years from now?", "what will be {As} age in {n} years?",
               "in {n} years, how old will {A} be?", "how old will {A} be after {n} years?",
               "what age will {A} be in {n} years?", "how old will {A} be when {n} years have passed?", "{n} years from now, how old will {A} be?",
               "tell me {As} age in {n} years.", "how many years old will {A} be in {n} years?", "after {n} years, what will {As} age be?",
               "what age will {A} have {n} years from now?", "work out {As} age in {n} years."),
)  # fmt: skip
YEARS_AGO = Puzzle(
    numbers="n=2..30 m=n+1..60",
    steps=("m - n",),
    facts=(AGE,),
    questions=("how old was {A} {n} years ago?", "what age did {A} have {n} years ago?", "{n} years ago, what was {As} age?", "how many years old then, {n} years ago?",
               "what was {As} age {n} years ago?",
               "how old was {A} back then, {n} years ago?", "tell me {As} age {n} years ago.", "{n} years ago, how old was {A}?",
               "how many years old was {A} {n} years ago?", "what age was {A} {n} years ago?", "how old was {A} {n} years before now?",
               "work out {As} age {n} years ago.", "find {As} age {n} years ago."),
)  # fmt: skip
AGE_GAP = Puzzle(
    numbers="n=2..50 m=n+1..40",
    steps=("m - n",),
    facts=(AGE[:3], ("{C} <be:s> {n}", "{C} <be:s> {n} years old", "the age of {C} <be:s> {n}")),
    questions=("how many years older <be> {A}?", "what is the difference of their ages?", "how many years younger <be:s> {C}?", "by how many years <be:s> {C} younger?",
               "how many years lie between them?"),
)  # fmt: skip
