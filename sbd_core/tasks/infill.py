r"""Lines with blanks; the answer is the whole line with its blanks filled.

The word in a blank follows from the rest of the line or is common knowledge. The answer repeats the
rest of the line unchanged. The filled line decides the split, so no line of the test split occurs
in training, not even with other blanks.

Patterns are written one per line, with \n for a new line inside. A word marked as «red» may become
a blank. If «red|crimson» becomes a blank, either word is right, and the example's answer has the
first. Of the words marked with the same number, as in «1=Mia» and «1=Mia», at most one becomes a
blank, so that the others tell the answer.
"""

import json
import re
from random import Random

from sbd_core.tasks import words
from sbd_core.tasks.base import (
    Example,
    Phrasings,
    Split,
    Task,
    draw_wording,
    sentences,
    split_of,
)

NAME = "infill"
BLANK = "___"
MARK = re.compile(r"«(?:(\d)=)?([^«»]*)»")
NUM_BLANKS, NUM_BLANKS_WEIGHTS = (1, 2, 3), (5, 3, 2)
KINDS = {"told": 35, "knowledge": 20, "rows": 10, "code": 30}
BEFORE = Phrasings(
    (
        "Fill in the {blank}:", "Fill in:", "Fill in the missing words:", "Fill in what is missing:", "Fill the gaps:",
        "Please fill in the {blank}:", "Complete this {it}:", "Please complete the {it}:", "What is missing?",
        "What is missing here?", "What goes in the {blank}?", "Which words are missing?", "Write the whole {it}:",
        "Finish the {it}:", "Can you complete the {it}?",
    ),
    ("Fill the {blank}:", "Fill in the {blank} in this {it}:", "Complete the {it}:", "Finish this {it}:", "Find the missing parts:"),
)  # fmt: skip
CALLED = {"told": "sentence", "knowledge": "sentence", "rows": "list", "code": "code"}

# Slots: {A} {B} {C} people, with {he} {his} {He} for {A}; {S} {T} species, {N} {M} names of animals;
# {k} {l} things, {color} {hue} colors, {place} {site} places, {town} {other} cities, {day} {date} days,
# {job} {work} jobs, {food} {meal} dishes.
TOLD = """
{A} has a {k} and {B} has a {l}. The {l} belongs to «{B}».
{A} has a {S} called «1={N}». Every day {he} plays with «1={N}».
«1={N}» is the {S} of {A}. {A} feeds «1={N}» every day.
«1={A}» has a {S}. The {S} of «1={A}» is called {N}.
{A} has a {S} and {B} has a {T}. The «{S}» of {A} is called {N}.
{N} is a {S} and {M} is a {T}. The {T} is called «{M}». The {S} is called «{N}».
{A} has the {S} {N}, and {B} has the {T} {M}. «{N}» is a {S}, and «{M}» is a {T}.
{A} has a «1={color}» «2={k}». {He} likes the «2={k}» because it is «1={color}».
Look at that «1={color}» «2={k}»! I like a «2={k}» that is «1={color}».
The {k} is {color} and the {l} is {hue}. The {hue} thing is the «{l}», the {color} one the «{k}».
{A} wears {color} and {B} wears {hue}. The one in {hue} is «{B}», the one in {color} is «{A}».
{A} gave {B} a {k}. Now «{B}» has the «{k}».
{A} had a {k}. {He} gave it to {B}. Now the «{k}» belongs to «{B}».
{A} sold the {k} to {B}. {B} bought the «{k}» from «{A}».
{A} lost a {k} in the «1={place}». {B} went to the «1={place}» and found the «{k}».
{A} went from {town} to {other}. First {he} was in «{town}», then in «{other}».
{A} lives in {town}, and {B} lives in {other}. To see {B}, {A} must go to «{other}».
{A} is in the {place} and {B} is in the {site}. «{B}» is in the {site}, «{A}» is in the {place}.
There is a {k} on the table and a {l} under it. Under the table is the «{l}».
The {k} is in the box and the {l} is in the bag. In the bag is the «{l}», in the box the «{k}».
In the row stand {A}, {B} and {C}. The first is «{A}», the last is «{C}».
{A} came first, {B} second and {C} third. The winner is «{A}», and third is «{C}».
{A} is older than {B}. So «{B}» is younger than «{A}».
My name is {A}. People call me «{A}».
Hello, I am «1={A}». Nice to meet you, «1={A}»!
{A} met {B}. "Hello, «{B}»!" said «{A}».
{A} and {B} play chess. {B} wins, so «{A}» loses.
{A} is a {job} and {B} is a {work}. The {work} is «{B}», and the {job} is «{A}».
{A} eats {food} and {B} eats {meal}. The {food} is for «{A}», the {meal} for «{B}».
{A} likes {food}, but {B} likes {meal}. So we cook «{food}» for {A} and «{meal}» for {B}.
{A} comes on {day}, and {B} comes on {date}. On {date} I will see «{B}», on {day} «{A}».
{A} saw a {S}. The «{S}» ran away, and «{A}» ran after it.
""".strip().split("\n")
# {w} and {v} are a pair; what {v} says first is the answer.
KNOWN = (
    ("The capital of {w} is «{v}».", "France=Paris, Italy=Rome, Germany=Berlin, Norway=Oslo, Japan=Tokyo, Egypt=Cairo"),
    ("A {w} has «{v}» legs.", "dog=four|4, cat=four|4, horse=four|4, cow=four|4, bird=two|2, hen=two|2, bee=six|6, duck=two|2"),
    ("{A} draws a {w}. It has «{v}» sides.", "triangle=three|3, square=four|4"),
    ("A {w} is a kind of «{v}».", "rose=flower|plant, oak=tree|plant, apple=fruit, carrot=vegetable, eagle=bird|animal, hammer=tool"),
    ("The {w} «{v}».", "dog=barks, baby=cries|sleeps, cat=meows|purrs, river=flows, bell=rings, fire=burns, horse=neighs, lion=roars, duck=quacks"),
    ("A {w} can «{v}».", "bird=fly, fish=swim, dog=bark, horse=run|gallop, kangaroo=jump, plane=fly, knife=cut, pen=write, singer=sing, dancer=dance"),
    ("As they say: {w} «{v}».", "once upon a=time, better late than=never, happy birthday to=you, time is=money, bread and=butter, salt and=pepper"),
)  # fmt: skip
# {f} a function, {x} {y} variables, {xs} a list, {a} {b} {m} numbers.
CODE = r"""
def {f}({x}, {y}):\n    return {x} + «{y}»
def {f}({x}, {y}):\n    return «{x}» - {y}
def {f}({x}, {y}):\n    total = {x} + «{y}»\n    return «total»
def {f}({x}):\n    «return» «{x}» * {m}
def {f}({x}):\n    result = «{x}» + {a}\n    return «result»
«def» {f}({x}, {y}):\n    return {x} * {y}
def «1={f}»({x}):\n    return {x} + {a}\n\nprint(«1={f}»({b}))
def double({x}):\n    return {x} * «2»
def square({x}):\n    return {x} * «{x}»
def is_even({x}):\n    return {x} % «2» == «0»
def add({x}, {y}):\n    return {x} «+» {y}
def larger({x}, {y}):\n    return «max»({x}, {y})
def first({xs}):\n    return {xs}[«0»]
def total({xs}):\n    return «sum»({xs})
def length({xs}):\n    return «len»({xs})
def {f}({xs}):\n    return len(«{xs}»)
def {f}({xs}):\n    for {x} in «{xs}»:\n        print(«{x}»)
def {f}({xs}):\n    return [{x} * {m} for {x} in «{xs}»]
def {f}({xs}):\n    total = 0\n    for {x} in «{xs}»:\n        total += «{x}»\n    return «total»
def {f}({xs}):\n    result = []\n    for {x} in «{xs}»:\n        «result».append(«{x}»)\n    return «result»
for {x} in {xs}:\n    print(«{x}»)
for {x} in «range»({m}):\n    print({x})
{xs} = [{a}, {b}]\nfor {x} in «{xs}»:\n    print(«{x}»)
{xs} = []\n«{xs}».append({a})
if {x} > {y}:\n    print({x})\n«else»:\n    print({y})
while {x} > 0:\n    «{x}» -= 1
{x} = {a}\nprint(«{x}»)
""".strip().split("\n")
FUNCTIONS = words.split_words(
    "best score change update scale merge area price count measure pick find get"
)
VARIABLES = words.split_words(
    "value item number name price width height size start end left right length weight age"
)
LISTS = words.split_words(
    "items numbers words values names prices results lines rows data scores points cards"
)


def generate(random: Random, split: Split) -> Example:
    """Make an example with one to three blanks whose filled line belongs to `split`."""
    wording = draw_wording(random, split)
    while True:
        kind = random.choices(tuple(KINDS), tuple(KINDS.values()))[0]
        marked = _sequence(random) if kind == "rows" else _line(random, kind)
        if split_of(filled(marked)) == split:
            break
    line, fills = blanked(random, marked, 2 if kind == "rows" else 3)
    request = BEFORE.draw(random, wording).format(
        it=CALLED[kind], blank="blank" if len(fills) == 1 else "blanks"
    )
    space = "\n" if "\n" in line or random.random() < 0.4 else " "
    return Example(
        NAME,
        request + space + line,
        filled(marked),
        json.dumps({"line": line, "fills": fills}),
        wording,
    )


def check(example: Example, text: str) -> bool:
    """Whether `text` is the example's line with every blank filled by an allowed word."""
    case = json.loads(example.case)
    fixed = [re.escape(part) for part in case["line"].split(BLANK)]
    fills = ["(?:" + "|".join(map(re.escape, allowed)) + ")" for allowed in case["fills"]]
    pattern = fixed[0] + "".join(f + part for f, part in zip(fills, fixed[1:], strict=True))
    return re.fullmatch(pattern, text) is not None


def filled(marked: str) -> str:
    """Remove the marks from a line; of «red|crimson», the first word stays."""
    return MARK.sub(lambda mark: mark[2].split("|")[0], marked)


def blanked(random: Random, marked: str, most: int) -> tuple[str, list[list[str]]]:
    """Blank up to `most` marked words; return the line and, for each blank, the right words."""
    marks = list(MARK.finditer(marked))
    random.shuffle(marks)
    num_blanks = min(most, random.choices(NUM_BLANKS, NUM_BLANKS_WEIGHTS)[0])
    chosen: dict[str, re.Match[str]] = {}
    for mark in marks:
        if len(chosen) < num_blanks:
            chosen.setdefault(mark[1] or f"at {mark.start()}", mark)
    blanks = sorted(chosen.values(), key=lambda mark: mark.start())
    starts = {mark.start() for mark in blanks}
    line = MARK.sub(lambda m: BLANK if m.start() in starts else m[2].split("|")[0], marked)
    return line, [mark[2].split("|") for mark in blanks]


def _line(random: Random, kind: str) -> str:
    """Make a line from a pattern of `kind`, with marks around the words that may become blanks."""
    if kind == "code":
        x, y = random.sample(VARIABLES, 2)
        a, b, m = (str(random.randint(2, 20)) for _ in range(3))
        function, numbers = random.choice(FUNCTIONS), random.choice(LISTS)
        pattern = random.choice(CODE).replace(r"\n", "\n")
        return pattern.format(f=function, x=x, y=y, xs=numbers, a=a, b=b, m=m)
    pattern, pair = random.choice(TOLD), ""
    if kind == "knowledge":
        pattern, pairs = random.choice(KNOWN)
        pair = random.choice(pairs.split(", "))
    left, _, right = pair.partition("=")
    people = random.sample(words.NAMES, 3)
    he, his = ("she", "her") if people[0] in words.WOMEN else ("he", "his")
    slots = {"he": he, "his": his, "He": he.title(), "w": left, "v": right}
    for names, items in (
        ("ABC", people), ("ST", tuple(words.SPECIES)), ("NM", words.PET_NAMES), ("kl", words.OBJECTS),
        (("color", "hue"), words.COLORS), (("place", "site"), tuple(words.PLACES)), (("town", "other"), words.CITIES),
        (("day", "date"), words.DAYS), (("job", "work"), words.JOBS), (("food", "meal"), words.FOODS),
    ):  # fmt: skip
        slots |= dict(zip(names, random.sample(items, len(names)), strict=True))
    return sentences(pattern.format(**slots))


def _sequence(random: Random) -> str:
    """Make a line of five consecutive days or months, with marks around each of them."""
    order = random.choice((words.DAYS, words.MONTHS))
    first = random.randrange(len(order))
    items = [order[(first + place) % len(order)] for place in range(5)]
    return ", ".join(f"«{item}»" for item in items)


TASK = Task(NAME, generate, check)
"""Fill in the blanks of a line."""
