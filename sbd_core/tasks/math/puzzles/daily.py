"""Puzzles of several days, of growing and shrinking, of things with parts and of two kinds. Data only."""

from sbd_core.tasks import words
from sbd_core.tasks.math.puzzles.puzzle import Puzzle

THINGS = tuple(dict.fromkeys(words.THINGS + words.SNACKS))
COUNTABLE = THINGS + words.FARM_ANIMALS + words.PLANTS
LEFT = ("how many {thing} are left?", "how many are left?", "how many {thing} remain?", "how many {thing} are not sold?", "how many {thing} are left over?",
        "how many {thing} are still there?", "find how many are left.", "what is left?", "how many does that leave?", "how many {thing} <do> {A} have left?")  # fmt: skip
ALL = ("how many {thing} is that in all?", "how many {thing} are there in total?", "how many is that altogether?", "what is the total?", "how many {thing} is that together?",
       "find the total.", "how many {thing} are there altogether?", "how many {thing} <do> {A} have in all?", "what do all of them add up to?")  # fmt: skip
STOCKED = ("{A} <bake> {m} {thing}", "{A} <have> {m} {thing}", "a shop <have:s> {m} {thing}", "there <be:p> {m} {thing} on the stall", "{m} {thing} <be:p> ready",
           "{A} <bring> {m} {thing} to the market", "{A} <make> {m} {thing}", "{m} {thing} <come:p> out of the oven")  # fmt: skip

TWO_PARTS_OF_DAY = Puzzle(
    things=THINGS,
    numbers="n=2..150 k=2..150 m=200..600",
    steps=("m - n", "_ - k"),
    facts=(
        STOCKED,
        ("{n} <be:p> sold in the morning and {k} in the afternoon", "{A} <sell> {n} in the morning and {k} in the evening", "{n} <be:p> sold on {day} and {k} on {day2}",
         "{A} <give> {n} to {B} and {k} to {C}", "{B} <take:s> {n} and {C} <take:s> {k}", "{A} <use> {n} {thing} on {day} and {k} on {day2}",
         "first {n} <be:p> sold, then {k}", "{B} <get:s> {n} of them and {C} <get:s> {k} of them", "{A} <lose> {n} of them and <give> away {k}"),
    ),
    questions=LEFT,
    is_ordered=True,
    weight=1.5,
)  # fmt: skip
SMALL_PARTS_OF_DAY = Puzzle(
    things=THINGS, numbers="n=2..30 k=2..30 m=10..99", steps=TWO_PARTS_OF_DAY.steps, facts=TWO_PARTS_OF_DAY.facts, questions=LEFT, is_ordered=True, weight=1.5
)  # fmt: skip
THREE_DAYS = Puzzle(
    things=COUNTABLE,
    numbers="m=2..200 n=2..200 k=2..200",
    steps=("m + n", "_ + k"),
    facts=(
        ("{A} <find> {m} {thing} on {day}, {n} on {day2} and {k} on {day3}", "on {day} {A} <pick> {m} {thing}, on {day2} {n} and on {day3} {k}",
         "{A} <sell> {m} {thing} on {day}, {n} {thing} on {day2} and {k} {thing} on {day3}", "{A} <count> {m}, {n} and {k} {thing} on three days",
         "{A} <see> {m} {thing} in the morning, {n} at noon and {k} in the evening", "there <be:p> {m} {thing} in one {one_box}, {n} in the next and {k} in the last",
         "three friends <bring:p> {m}, {n} and {k} {thing}", "{B} <bring:s> {m} {thing}, {C} {n} and {D} {k}", "a shop <sell:s> {m}, {n} and {k} {thing} in three weeks"),
    ),
    questions=ALL,
    weight=1.5,
)  # fmt: skip
THREE_WAYS = Puzzle(
    numbers="m=2..90 n=2..90 k=2..90",
    steps=("m + n", "_ + k"),
    facts=(
        ("{A} <run> {m} {far} on {day}, {n} {far} on {day2} and {k} {far} on {day3}", "on {day} {A} <ride> {m} {far}, on {day2} {n} and on {day3} {k}",
         "{A} <walk> {m} {far} to school, {n} {far} to the pool and {k} {far} home", "{A} <drive> {m} {far}, then {n} {far} and then {k} {far}",
         "a tour <have:s> three parts of {m}, {n} and {k} {far}"),
    ),
    questions=("how far is that in all?", "how many {far} is that?", "how many {far} is that in total?", "what is the whole distance?", "how far is that together?",
               "find the total distance.", "how many {far} <do> {A} cover?"),
)  # fmt: skip
A_WEEK = Puzzle(
    things=("pages", "eggs", "cups", "songs", "letters", "words", "glasses of water", "exercises", "kilometers", "rolls", "apples", "minutes"),
    numbers="n=2..60",
    steps=("n * 7",),
    facts=(
        ("{A} <do> {n} {thing} every day", "{A} <need> {n} {thing} a day", "every day there <be:p> {n} {thing}", "{A} <manage> {n} {thing} a day", "each day {A} <get> {n} {thing}",
         "{n} {thing} <be:p> used every day"),
    ),
    questions=("how many {thing} is that in a week?", "how many {thing} is that a week?", "how many {thing} are there in one week?", "how many is that in a week?",
               "how many {thing} is that in seven days?", "what does that make in a week?"),
    weight=0.7,
)  # fmt: skip
GROWS = Puzzle(
    numbers="n=2..20 k=2..12 m=2..150",
    steps=("k * n", "m + _"),
    facts=(
        ("a plant <be:s> {m} {len} tall", "{A} <have> a tree of {m} {len}", "a snowman <be:s> {m} {len} high", "a heap of sand <be:s> {m} {len} high"),
        ("it <grow:s> {n} {len} a week for {k} weeks", "for {k} days it <get:s> {n} {len} taller a day", "it <grow:s> {n} {len} each month, {k} months long",
         "it <grow:s> by {n} {len} a year for {k} years", "every day it <get:s> {n} {len} more, {k} days in a row"),
    ),
    questions=("how tall is it then?", "how high is it now?", "how tall is it in the end?", "how many {len} is it then?", "how tall does it get?", "what is its height in the end?"),
    is_ordered=True,
)  # fmt: skip
SAVES = Puzzle(
    numbers="n=2..20 k=2..12 m=2..200",
    steps=("k * n", "m + _"),
    facts=(
        ("{A} <have> {m} {cur}", "there <be:p> {m} {cur} in {As} piggy bank", "{A} <start> with {m} {cur}", "{As} savings <be:p> {m} {cur}"),
        ("{A} <save> {n} {cur} a week for {k} weeks", "for {k} days {A} <earn> {n} {cur} a day", "{A} <add> {n} {cur} every month, {k} months long", "{A} <sell> {k} {ware} for {n} {cur} each",
         "each week {A} <put> in {n} {cur}, {k} weeks in a row", "{A} <work> {k} hours for {n} {cur} an hour", "{k} people <give:p> {him} {n} {cur} each"),
    ),
    questions=("how much is that in the end?", "how many {cur} <do> {A} have then?", "how much money <do> {A} have in the end?", "how much money is there then?", "how many {cur} is that in all?",
               "how much <do> {A} have now?", "find how much there is in the end."),
    is_ordered=True,
    weight=1.5,
)  # fmt: skip
SHRINKS = Puzzle(
    numbers="n=2..12 k=2..9 m=60..200",
    steps=("k * n", "m - _"),
    facts=(
        ("a candle <be:s> {m} {len} long", "a tank <hold:s> {m} {volume} of water", "{A} <have> {m} {mass} of rice", "a barrel <have:s> {m} {volume} in it", "there <be:p> {m} {volume} of oil"),
        ("it <lose:s> {n} an hour for {k} hours", "{n} <be:p> lost each hour, for {k} hours", "every day {n} <be:p> used up, {k} days long", "for {k} days {n} <be:p> gone each day",
         "{k} times {n} <be:p> taken from it"),
    ),
    questions=("how much is left?", "what is left?", "how much is left in the end?", "how much remains?", "what remains in the end?", "find what is left."),
    is_ordered=True,
)  # fmt: skip
PARTS = (
    ("pizza", "slices"), ("book", "chapters"), ("bus", "seats"), ("team", "players"), ("table", "chairs"), ("bunch", "flowers"), ("house", "windows"), ("train", "cars"), ("tree", "nests"),
    ("week", "lessons"), ("pack", "cards"), ("train car", "seats"), ("field", "trees"), ("box", "chocolates"), ("class", "pupils"), ("shelf", "books"), ("floor", "rooms"), ("boat", "rowers"),
    ("cake", "candles"), ("page", "pictures"), ("album", "photos"), ("sheet", "stamps"), ("coat", "buttons"), ("hen", "eggs"),
)  # fmt: skip
PLURALS = {
    "bus": "buses",
    "box": "boxes",
    "class": "classes",
    "shelf": "shelves",
    "bunch": "bunches",
}


def _of_parts(*templates: str) -> tuple[str, ...]:
    return tuple(
        text.replace("WHOLES", PLURALS.get(whole, f"{whole}s"))
        .replace("WHOLE", whole)
        .replace("PARTS", parts)
        for whole, parts in PARTS
        for text in templates
    )


WITH_PARTS = Puzzle(
    numbers="k=2..15 n=2..30",
    steps=("k * n",),
    facts=(_of_parts("each WHOLE <have:s> {n} PARTS. there <be:p> {k} WHOLES", "there <be:p> {k} WHOLES with {n} PARTS each", "one WHOLE <have:s> {n} PARTS. {A} <have> {k} WHOLES",
                     "{A} <see> {k} WHOLES. every WHOLE <have:s> {n} PARTS"),),
    questions=("how many is that in all?", "how many are there in total?", "how many are there altogether?", "what is the total number?", "how many is that together?", "how many are there in all?"),
    whole=_of_parts("how many PARTS do {k} WHOLES with {n} PARTS each have?", "a WHOLE has {n} PARTS. how many PARTS do {k} WHOLES have?", "if every WHOLE has {n} PARTS, how many PARTS do {k} WHOLES have?"),
    weight=1.2,
)  # fmt: skip
PARTS_LEFT = Puzzle(
    numbers="k=2..12 n=2..20 e=2..90",
    steps=("k * n", "_ - e"),
    facts=(WITH_PARTS.facts[0], ("{e} of them <be:p> gone", "{e} of these <be:p> taken", "{e} of them <be:p> missing", "{A} <take> {e} of them", "{e} of them <be:p> no longer there", "{B} <count:s> {e} that <be:p> broken")),
    questions=("how many are left?", "how many remain?", "how many are still there?", "how many does that leave?", "find how many are left."),
    is_ordered=True,
)  # fmt: skip
TWO_KINDS = (
    "how many is that in all?",
    "how many does that make together?",
    "how many are there in all?",
    "what is the total of both?",
    "how many are there altogether?",
    "how many is that together?",
)


def _two_kinds(numbers: str, steps: tuple[str, ...], *relations: str) -> tuple[Puzzle, Puzzle]:
    """Two kinds of thing of one owner: the second kind asked for, or both together."""
    facts = tuple(
        f"{start} {{m}} {{thing}} and {relation}"
        for relation in relations
        for start in (
            "{A} <have>",
            "{A} <buy>",
            "there <be:p>",
            "{A} <see>",
            "a farm <have:s>",
            "{A} <count>",
        )
    )
    asked = (
        "how many {thing2} is that?",
        "how many {thing2} are there?",
        "find the number of {thing2}.",
        "what is the number of {thing2}?",
        "how many are the {thing2}?",
    )
    return (
        Puzzle(things=COUNTABLE, numbers=numbers, steps=steps[:1], facts=(facts,), questions=asked, weight=0.7),
        Puzzle(things=COUNTABLE, numbers=numbers, steps=steps, facts=(facts,), questions=TWO_KINDS, weight=0.7),
    )  # fmt: skip


KIND_MORE, KINDS_MORE = _two_kinds(
    "m=2..300 n=2..200",
    ("m + n", "m + _"),
    "{n} more {thing2} than that",
    "{n} more {thing2} than {thing}",
)
KIND_FEWER, KINDS_FEWER = _two_kinds(
    "n=2..200 m=n+2..200",
    ("m - n", "m + _"),
    "{n} fewer {thing2} than {thing}",
    "{n} fewer {thing2} than that",
)
KIND_TWICE, KINDS_TWICE = _two_kinds(
    "m=2..250",
    ("m * 2", "m + _"),
    "twice as many {thing2}",
    "twice as many {thing2} as {thing}",
    "double that number of {thing2}",
)
KIND_THRICE, KINDS_THRICE = _two_kinds(
    "m=2..150",
    ("m * 3", "m + _"),
    "three times as many {thing2}",
    "3 times as many {thing2} as {thing}",
)
KIND_TIMES, KINDS_TIMES = _two_kinds(
    "k=4..9 m=2..50",
    ("m * k", "m + _"),
    "{k} times as many {thing2}",
    "{k} times as many {thing2} as {thing}",
)
KIND_HALF, KINDS_HALF = _two_kinds(
    "h=2..250 m=h*2..2",
    ("m / 2", "m + _"),
    "half as many {thing2}",
    "half as many {thing2} as {thing}",
)
DEARER = Puzzle(
    numbers="p=2..200 n=2..100",
    steps=("p + n", "p + _"),
    facts=(
        ("a {one_ware} <cost:s> {p} {cur}", "the price of a {one_ware} <be:s> {p} {cur}", "{A} <buy> a {one_ware} for {p} {cur}"),
        ("a {one_ware2} <cost:s> {n} {cur} more than a {one_ware}", "a {one_ware2} <be:s> {n} {cur} dearer than a {one_ware}", "a {one_ware2} <cost:s> {n} {cur} more", "for a {one_ware2} {A} <pay> {n} {cur} more"),
    ),
    questions=("how much do both cost together?", "what do the two cost in all?", "how much are they together?", "how much is that in total for both?", "what is the price of both?"),
    is_ordered=True,
)  # fmt: skip
HOW_MANY_TO_BUY = Puzzle(
    numbers="p=2..20 m=p*2..20",
    steps=("m / p",),
    facts=(
        ("{A} <have> {m} {cur}", "{A} <want> to spend {m} {cur}", "there <be:p> {m} {cur} in {As} purse", "{B} <give:s> {him} {m} {cur}"),
        ("a {one_ware} <cost:s> {p} {cur}", "one {one_ware} <be:s> {p} {cur}", "{ware} <cost:p> {p} {cur} each", "a shop <sell:s> {ware} for {p} {cur} each", "the price of one {one_ware} <be:s> {p} {cur}"),
    ),
    questions=("how many {ware} can {A} buy?", "how many {ware} is that money good for?", "how many {ware} <do> {A} get for it all?", "how many can {A} buy?", "how many {ware} can be bought?"),
    whole=("how many {ware} at {p} {cur} each can be bought for {m} {cur}?", "how many {ware} of {p} {cur} each <do> {A} get for {m} {cur}?"),
)  # fmt: skip
BILL = Puzzle(
    numbers="k=2..12 t=k*2..40",
    steps=("t / k",),
    facts=(
        ("the bill <be:s> {t} {cur}", "a dinner <cost:s> {t} {cur}", "a present for {B} <cost:s> {t} {cur}", "a taxi <cost:s> {t} {cur}", "the rent <be:s> {t} {cur}"),
        ("{k} friends <share:p> it equally", "{k} people <split:p> it evenly", "{k} of them <pay:p> the same", "it <be:s> split evenly among {k} people", "{k} friends <pay:p> equal parts"),
    ),
    questions=("how much does each one pay?", "what does each one pay?", "how many {cur} is that for each?", "how much is one share?", "how much is it for each?", "find what each one pays."),
    whole=("{k} friends split a bill of {t} {cur} evenly. how much does each one pay?", "{k} people share {t} {cur} equally. how much does each get?"),
    is_ordered=True,
)  # fmt: skip
BOX_COST = Puzzle(
    numbers="k=2..12 p=2..30 q=4..24",
    steps=("k * p",),
    facts=(
        ("a box of {q} {ware} <cost:s> {p} {cur}", "{ware} <come:p> in packs of {q}, and a pack <cost:s> {p} {cur}", "one bag with {q} {ware} <be:s> {p} {cur}"),
        ("{A} <buy> {k} of these", "{A} <take> {k} of them", "{A} <need> {k} such packs", "{k} of these <be:p> in the cart"),
    ),
    questions=("how much <do> {A} pay?", "what is the total?", "how much is that?", "what does that cost?", "how much is that in all?", "how many {cur} is that?"),
    is_ordered=True,
    weight=0.7,
)  # fmt: skip
CLOCK = Puzzle(
    numbers="s=1..7 h=2..5",
    steps=("s + h",),
    facts=(
        ("a film <start:s> at {s} o'clock", "{A} <go> to the park at {s} o'clock", "the party <begin:s> at {s} o'clock", "school <start:s> at {s} o'clock", "it <be:s> {s} o'clock"),
        ("it <last:s> {h} hours", "everything <last:s> {h} hours", "{A} <have> to wait {h} hours", "that <take:s> {h} hours"),
    ),
    questions=("at what time is it over?", "when is it over?", "what time is it then?", "what time is it in the end?", "at what hour does it end?"),
    is_ordered=True,
    weight=0.5,
    most=12,
)  # fmt: skip
AGE_SUM = Puzzle(
    numbers="m=2..60 n=2..30",
    steps=("m + n", "m + _"),
    facts=(
        ("{A} <be> {m} years old", "{A} <be> {m}", "{As} age <be:s> {m}"),
        ("{C} <be:s> {n} years older", "{C} <be:s> {n} years older than {A}", "{his} {sib} {C} <be:s> {n} years older", "{his} {sib} {C} <be:s> older by {n} years"),
    ),
    questions=("how old are they together?", "what is the sum of their ages?", "what do their ages add up to?", "how many years old are they together?", "find the sum of their ages."),
    is_ordered=True,
)  # fmt: skip
