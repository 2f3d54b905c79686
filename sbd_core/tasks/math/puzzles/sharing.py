"""Puzzles about equal groups, packs, shares and parts of a whole. Data only."""

from sbd_core.tasks import words
from sbd_core.tasks.math.puzzles.puzzle import Puzzle

THINGS = tuple(dict.fromkeys(words.THINGS + words.SNACKS))
HAVE = (
    "{A} <have> {n} {thing}", "{A} <bring> {n} {thing}", "there <be:p> {n} {thing} in a box",
    "{A} <pick> {n} {thing}", "{A} <buy> {n} {thing}", "{n} {thing} <lie:p> on the table",
    "{A} <collect> {n} {thing}", "{A} <own> {n} {thing}", "a bag <hold:s> {n} {thing}",
    "{A} <get> {n} {thing} from {B}", "{A} <count> {n} {thing}",
)  # fmt: skip
EACH = (
    "how many {thing} does each one get?", "how many {thing} does each child get?",
    "how many is that for each?", "how many {thing} are there for each?",
    "how many does everybody get?", "what is the share of each?", "how many {thing} per person?",
    "how many does each person get?", "how many {thing} is one share?", "find the share of one.",
)  # fmt: skip
LEFT = (
    "how many {thing} are left?", "how many are left?", "how many {thing} remain?",
    "how many {thing} <do> {A} have left?", "what is left?", "how many are still there?",
    "how many {thing} are left over?", "find the number of {thing} that are left.",
    "how many {thing} are there now?", "how many <do> {A} have now?",
)  # fmt: skip
ALL = (
    "how many {thing} are there in total?", "how many {thing} is that in all?",
    "how many {thing} are there altogether?", "how many {thing} <do> {A} have in all?",
    "what is the total number of {thing}?", "how many is that together?", "find the total.",
    "how many {thing} are there?", "how many {thing} <do> {A} have altogether?",
    "count all the {thing}. how many are there?",
)  # fmt: skip
GROUPS = (
    "there <be:p> {k} {box} with {n} {thing} in each", "{A} <have> {k} {box} of {n} {thing} each",
    "{A} <fill> {k} {box} with {n} {thing} each", "{k} {box} <hold:p> {n} {thing} each",
    "each of {k} {box} <have:s> {n} {thing} in it", "{A} <buy> {k} {box} with {n} {thing} in every {one_box}",
    "in every {one_box} there <be:p> {n} {thing}, and {A} <have> {k} {box}",
    "{k} children <bring:p> {n} {thing} each", "{A} <get> {n} {thing} a day for {k} days",
    "{A} <put> {n} {thing} into each of {k} {box}", "{A} <make> {k} piles of {n} {thing}",
)  # fmt: skip

SHARE = Puzzle(
    things=THINGS,
    numbers="k=2..12 n=k*2..25",
    steps=("n / k",),
    facts=(
        HAVE,
        ("{k} children <share:p> them equally", "they <be:p> shared equally among {k} people",
         "they <be:p> split evenly between {k} friends", "{A} <divide> them equally among {k} children",
         "{A} <share> them fairly with others, {k} people in all", "{k} people <get:p> the same number each",
         "{A} <put> them evenly into {k} {box}", "they <be:p> dealt out evenly to {k} players"),
    ),
    questions=EACH,
    whole=(
        "{n} {thing} are shared equally among {k} children. how many does each child get?",
        "if {k} friends share {n} {thing} equally, how many does each friend get?",
        "{A} <put> {n} {thing} evenly into {k} {box}. how many {thing} are in each {one_box}?",
        "how many {thing} does each of {k} people get when {n} {thing} are split evenly?",
        "split {n} {thing} evenly among {k} children. how many for each?",
        "divide {n} {thing} into {k} equal groups. how many are in one group?",
        "{k} {box} hold {n} {thing} in all, the same number in each. how many are in one {one_box}?",
        "{A} <plant> {n} {thing} in {k} equal rows. how many are in a row?",
    ),
    is_ordered=True,
    weight=2,
)  # fmt: skip
PACKS = Puzzle(
    things=THINGS,
    numbers="k=2..12 n=k*2..25",
    steps=("n / k",),
    facts=(
        HAVE,
        ("{A} <put> {k} {thing} into each {one_box}", "each {one_box} <hold:s> {k} {thing}", "{k} {thing} <fit:p> into a {one_box}",
         "they <go:p> into {box} of {k}", "{A} <pack> them into {box} of {k}", "one {one_box} <take:s> {k} {thing}"),
    ),
    questions=(
        "how many {box} are needed?", "how many {box} is that?", "how many {box} <do> {A} need?", "how many {box} are filled?",
        "how many {box} <do> {A} fill?", "how many full {box} are there?", "find the number of {box}.",
    ),
    whole=(
        "how many {box} of {k} can be made from {n} {thing}?", "{n} {thing} are packed in {box} of {k}. how many {box} is that?",
        "how many {box} are needed for {n} {thing} if {k} fit in one {one_box}?",
    ),
    is_ordered=True,
)  # fmt: skip
GROUPS_PLUS = Puzzle(
    things=THINGS,
    numbers="k=2..12 n=2..20 e=2..60",
    steps=("k * n", "_ + e"),
    facts=(
        GROUPS,
        ("{A} also <have> {e} loose {thing}", "{B} <add:s> {e} more {thing}", "another {e} {thing} <lie:p> on the floor",
         "there <be:p> {e} more {thing} in the kitchen", "{e} {thing} <be:p> not in any of them", "{A} <find> {e} more {thing}",
         "{B} <bring:s> {e} {thing}", "then {e} more {thing} <come:p>"),
    ),
    questions=ALL,
    whole=("{A} <have> {k} {box} of {n} {thing} and {e} single ones. how many {thing} is that in all?",),
    is_ordered=True,
    weight=1.5,
)  # fmt: skip
GROUPS_MINUS = Puzzle(
    things=THINGS,
    numbers="k=2..12 n=2..20 e=2..60",
    steps=("k * n", "_ - e"),
    facts=(
        GROUPS,
        ("{e} of them <be:p> eaten", "{A} <give> {e} {thing} to {B}", "{e} {thing} <be:p> broken", "{B} <take:s> {e} of the {thing}",
         "{A} <sell> {e} of them", "{e} of the {thing} <get:p> lost", "{A} <use> {e} of them", "{e} <go:p> to {B}",
         "{e} of them <be:p> gone by noon", "{A} <throw> {e} of them away"),
    ),
    questions=LEFT,
    whole=("from {k} {box} of {n} {thing}, {e} {thing} are taken. how many are left?",),
    is_ordered=True,
    weight=1.5,
)  # fmt: skip
TWO_SOURCES = Puzzle(
    things=THINGS,
    numbers="m=2..200 n=2..200 e=2..90",
    steps=("m + n", "_ - e"),
    facts=(
        ("{A} <pick> {m} {thing} and {B} <pick:s> {n}", "{A} <find> {m} {thing} and {C} <find:s> {n}", "{A} <make> {m} {thing}, {B} <make:s> {n}",
         "{A} <bring> {m} {thing} and {C} <bring:s> {n} {thing}", "{A} <collect> {m} {thing} while {C} <collect:s> {n}",
         "{A} <have> {m} {color} and {n} {color2} {thing}", "{B} <give:s> {him} {m} {thing} and {C} <give:s> {n}"),
        ("{e} of them <be:p> gone on the way home", "{e} of them <be:p> bad", "together they <lose:p> {e} of them", "they <eat:p> {e} of them on the way",
         "{e} {thing} <be:p> given to {D}", "{e} of all these {thing} <be:p> used up", "they <sell:p> {e} of them", "{e} {thing} <fall:p> into the water",
         "{D} <take:s> {e} of them"),
    ),
    questions=(*LEFT[:3], LEFT[4], *LEFT[6:9]),
    is_ordered=True,
    weight=2,
)  # fmt: skip
EACH_GAVE = Puzzle(
    things=THINGS,
    numbers="k=2..12 n=2..20 m=k*n+0..90",
    steps=("k * n", "m - _"),
    facts=(
        tuple(text.replace("{n}", "{m}") for text in HAVE),
        ("{A} <give> {n} {thing} to each of {k} friends", "{k} children <take:p> {n} {thing} each", "each of {k} guests <get:s> {n} {thing}",
         "{A} <sell> {n} {thing} a day for {k} days", "{A} <fill> {k} {box} with {n} {thing} each", "{n} of them <go:p> to each of {k} neighbors",
         "every one of {k} players <take:s> {n}", "{A} <use> {n} of them a day, for {k} days"),
    ),
    questions=LEFT,
    is_ordered=True,
    weight=1.5,
)  # fmt: skip
HALF_LEFT = Puzzle(
    things=THINGS,
    numbers="h=2..250 n=h*2..2 e=2..90",
    steps=("n / 2", "_ + e"),
    facts=(
        HAVE,
        ("half of them <be:p> gone by ten o'clock", "{A} <give> half of them away", "half of the {thing} <be:p> sold", "{B} <take:s> half of them",
         "half of them <go:p> to {B}", "{A} <lose> half of the {thing}", "one half <go:s> to {B}", "half of them <break:p>",
         "by the evening half of them <be:p> gone", "by noon half of the {thing} <be:p> gone"),
        ("then {e} more <come:p>", "then {A} <get> {e} more", "{B} <bring:s> {e} more {thing}", "after that {e} new ones <be:p> made",
         "then {e} more <be:p> put there", "later {A} <add> {e} {thing}", "then {B} <add:s> another {e}", "{e} more {thing} <come:p> later", "then {e} more <come:p> out of the oven", "and then {e} more <come:p> in"),
    ),
    questions=(*ALL[:1], *LEFT[6:], LEFT[5]),
    is_ordered=True,
    weight=1.5,
)  # fmt: skip
THIRD = Puzzle(
    things=THINGS,
    numbers="h=2..200 n=h*3..3",
    steps=("n / 3", "n - _"),
    facts=(
        HAVE,
        ("a third of them <be:p> sold", "{A} <give> a third of them to {B}", "one third of the {thing} <be:p> broken", "{B} <eat:s> a third of them",
         "{A} <lose> one third of them", "1/3 of them <be:p> gone", "a third of the {thing} <be:p> used", "{A} <sell> a third of the {thing}"),
    ),
    questions=LEFT,
    is_ordered=True,
)  # fmt: skip
QUARTER = Puzzle(
    things=THINGS,
    numbers="h=2..150 n=h*4..4",
    steps=("n / 4", "n - _"),
    facts=(
        HAVE,
        ("a quarter of them <be:p> sold", "{A} <give> a quarter of them to {B}", "one quarter of the {thing} <be:p> broken", "{B} <eat:s> a quarter of them",
         "{A} <lose> one fourth of them", "1/4 of them <be:p> gone", "a quarter of the {thing} <be:p> used", "{A} <sell> a quarter of the {thing}"),
    ),
    questions=LEFT,
    is_ordered=True,
)  # fmt: skip
PART_OF = (
    "{n} {thing} <lie:p> on a table. {PART} of them <be:p> {color}", "{PART} of the {n} {thing} <be:p> {color}",
    "{A} <have> {n} {thing}. {PART} of them <be:p> {color}", "of {n} {thing}, {PART} <be:p> {color}",
    "a box <hold:s> {n} {thing}, and {PART} of them <be:p> {color}",
)  # fmt: skip
PART_ASKED = (
    "how many {color} {thing} are there?", "how many {thing} are {color}?", "how many of them are {color}?",
    "find the number of {color} {thing}.", "how many {thing} is that?", "how many {color} ones are there?",
    "how many of the {thing} are {color}?",
)  # fmt: skip


def _part(denominator: int, *names: str) -> Puzzle:
    facts = tuple(text.replace("{PART}", name) for text in PART_OF for name in names)
    return Puzzle(
        things=THINGS,
        numbers=f"h=2..120 n=h*{denominator}..{denominator}",
        steps=(f"n / {denominator}",),
        facts=(facts,),
        questions=PART_ASKED,
        weight=0.7,
    )


HALF_OF = _part(2, "half", "one half", "1/2", "exactly half")
THIRD_OF = _part(3, "a third", "one third", "1/3")
QUARTER_OF = _part(4, "a quarter", "one quarter", "1/4", "one fourth")
FIFTH_OF = _part(5, "a fifth", "one fifth", "1/5")
TENTH_OF = _part(10, "a tenth", "one tenth", "1/10")
THREE_QUARTERS = Puzzle(
    things=THINGS,
    numbers="h=2..100 n=h*4..4",
    steps=("n / 4", "_ * 3"),
    facts=(tuple(text.replace("{PART}", name) for text in PART_OF for name in ("three quarters", "3/4", "three fourths")),),
    questions=PART_ASKED,
    weight=0.7,
)  # fmt: skip
TWO_THIRDS = Puzzle(
    things=THINGS,
    numbers="h=2..100 n=h*3..3",
    steps=("n / 3", "_ * 2"),
    facts=(tuple(text.replace("{PART}", name) for text in PART_OF for name in ("two thirds", "2/3")),),
    questions=PART_ASKED,
    weight=0.7,
)  # fmt: skip
