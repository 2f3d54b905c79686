"""Lines with numbers that follow from one another, and rows in a known order.

Slots: {a} + {b} = {c}, {m} * {n} = {p}, {m} + {n} = {mn}, {mn} + {d} = {mnd}, in words
{wm} + {wn} = {wmn}; others as in told.
"""

from itertools import pairwise
from random import Random

from sbd_core.tasks.base import Wording, made_up_word
from sbd_core.tasks.infill.patterns import groups, split_words
from sbd_core.tasks.words import COLORS, DAYS, MONTHS

NUMBERS = groups("""
«1={a}» + «1={b}» = «1={c}»
«1={a}»+«1={b}»=«1={c}»
«1={a}» + «1={b}» is «1={c}»

«1={c}» - «1={b}» = «1={a}»
«1={c}»-«1={b}»=«1={a}»
«1={c}» - «1={b}» is «1={a}»

«1={m}» * «1={n}» = «1={p}»
«1={m}» x «1={n}» = «1={p}»
«1={m}»*«1={n}»=«1={p}»

«1={p}» / «1={m}» = «1={n}»
«1={p}» : «1={m}» = «1={n}»
«1={p}» divided by «1={m}» is «1={n}».

{a} + {b} = «{c}» and {m} * {n} = «{p}»
{m} * {n} = «1={p}», and «1={p}» / {m} = «{n}»
{a} + {b} = «1={c}», so «1={c}» - {b} = «{a}»
{a} + {b} = {c}, so {c} - «{a}» = {b} and {c} - «{b}» = {a}
{m} + {n} = {n} + «{m}»
{m} * {n} = {n} * «{m}»
{m} * {n} = {p}, and {n} * {m} = «{p}»

«1={m}» + «1={n}» + «1={d}» = «1={mnd}»
«1={m}» + «1={n}» + «1={d}» is «1={mnd}»
{m} + {n} = «{mn}», and {mn} + {d} = «{mnd}»

«1={a}» plus «1={b}» is «1={c}».
The sum of «1={a}» and «1={b}» is «1={c}».
If you add {a} and {b}, you get «{c}».
{a} and {b} make «{c}» together.

«1={c}» minus «1={b}» is «1={a}».
If you take «1={b}» from «1={c}», «1={a}» is left.
The difference of {c} and {b} is «{a}».

«1={m}» times «1={n}» is «1={p}».
The product of «1={m}» and «1={n}» is «1={p}».
{m} groups of {n} are «{p}».

{A} has «1={a}» {ks} and gets «1={b}» more. Now {he} has «1={c}» «{ks}».
{A} had «1={c}» {ks} and gave «1={b}» to {B}. Now {he} has «1={a}».
{A} has «1={a}» {ks}, {B} has «1={b}». Together they have «1={c}» {ks}.
{A} had «1={a}» {ks}. {B} gave {him} «1={b}», so {he} has «1={c}» now.
There were «1={c}» {ks}. {A} took «1={b}» away, and «1={a}» were left.

There are «1={m}» boxes with «1={n}» {ks} each, so «1={p}» {ks} in all.
«1={m}» bags hold «1={n}» {ks} each. In all there are «1={p}» {ks}.
One {k} costs «1={m}» dollars, so «1={n}» {ks} cost «1={p}» dollars.
{A} shares «1={p}» {ks} among «1={m}» friends. Each gets «1={n}».
«1={m}» friends share «1={p}» {ks}. Each gets «1={n}».

{A} is «1={a}» years old. In «1={b}» years {he} will be «1={c}».
{A} is «1={c}» years old now. «1={b}» years ago {he} was «1={a}».
{A} is «1={b}» years older than {B}. {B} is «1={a}», so {A} is «1={c}».

{A} has {a} {ks} and {B} has {b} {ls}. {B} has «{b}» {ls}, and {A} has «{a}» {ks}.
{c} is more than {a}. The larger number is «{c}», the smaller is «{a}».

«1={wm}» plus «1={wn}» is «1={wmn}».
«1={wmn}» minus «1={wn}» is «1={wm}».
{wm} and {wn} make «{wmn}».
If you add {wm} and {wn}, you get «{wmn}».
{wm} plus {wn} equals «{wmn}».

{A} has «1={wm}» {ks} and gets «1={wn}» more. Now {he} has «1={wmn}».
{A} had «1={wmn}» {ks} and lost «1={wn}». Now {he} has «1={wm}».
There are «1={wm}» {ks} and «1={wn}» {ls}, so «1={wmn}» things.

{m} + {n} is the same as {n} + «{m}».
{a} is «less|smaller» than {c}.
{c} is «more|greater|bigger|larger» than {a}.

After {a} comes «{next_a}».
Before {a} comes «{before_a}».
Between {before_a} and {next_a} is «{a}».
One more than {a} is «{next_a}», one less is «{before_a}».
The number after {a} is «{next_a}».

Half of {double} is «{n}», and two times {n} is «{double}».
Half of {double} is «{n}».
Twice {n} is «{double}».
{n} doubled is «{double}».
{n} + {n} = «{double}», and {double} / 2 = «{n}»

{a} + 0 = «{a}», and {a} * 1 = «{a}»
{a} - {a} = «0»
{a} - 0 = «{a}», and {a} * 0 = «0»
""")
SPELLED = split_words(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen twenty"""
)
ORDINALS = split_words("first second third fourth fifth sixth seventh eighth ninth tenth")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ORDERS = {
    "days": DAYS, "months": MONTHS, "words": SPELLED[1:], "ordinals": ORDINALS, "letters": LETTERS,
    "small letters": LETTERS.lower(),
}  # fmt: skip
ROW_KINDS = (*ORDERS, "steps", "steps", "steps", "down", "doubles", "turns", "turns", "back")
SHAPES = split_words("circle square triangle star heart line dot cross")
BETWEEN = (", ", ", ", ", ", " ", " - ", " -> ")
STEPS = (1, 1, 2, 2, 3, 4, 5, 5, 6, 10, 10, 20, 25, 100)


def number_slots(random: Random) -> dict[str, str]:
    """Numbers for the slots of sums, most of them small."""
    limit = random.choice((9, 9, 20, 20, 50, 99))
    a, b, m, n = (random.randint(2, top) for top in (limit, limit, 10, 10))
    if random.random() < 0.15:
        m = random.randint(11, 20)
    d = random.randint(1, 9)
    values = {"a": a, "b": b, "c": a + b, "m": m, "n": n, "p": m * n, "d": d, "mn": m + n}
    values |= {"mnd": m + n + d, "next_a": a + 1, "before_a": a - 1, "double": 2 * n}
    small, other = random.randint(1, 10), random.randint(1, 10)
    spelled = {"wm": SPELLED[small], "wn": SPELLED[other], "wmn": SPELLED[small + other]}
    return {name: str(value) for name, value in values.items()} | spelled


def row(random: Random, wording: Wording) -> str:
    """Things in a known order, all of them marked; what is left tells what is blank."""
    items = _row(random, wording)
    marked = [f"«{item}»" for item in items]
    if _doubles(items):
        # With two blanks, 4, 8 and 12 could be read into it.
        place = random.randrange(len(items))
        marked = [*items[:place], marked[place], *items[place + 1 :]]
    return random.choice(BETWEEN).join(marked)


def _doubles(items: list[str]) -> bool:
    return items[0].isdigit() and all(
        int(later) == 2 * int(item) for item, later in pairwise(items)
    )


def _row(random: Random, wording: Wording) -> list[str]:
    kind = random.choice(ROW_KINDS)
    count, start = random.randint(5, 6), random.choice((0, 0, random.randint(1, 60)))
    if kind in ORDERS:
        order = ORDERS[kind]
        first = random.randrange(len(order) if kind in ("days", "months") else len(order) - count)
        return [order[(first + place) % len(order)] for place in range(count)]
    if kind == "back":
        order = ORDERS[random.choice(list(ORDERS))]
        first = random.randrange(len(order) - count)
        return list(order[first : first + count])[::-1]
    if kind == "turns":
        # A pattern needs to be seen twice and a half with up to three blanks.
        things = _turning(random, wording)
        return [things[place % len(things)] for place in range(len(things) * 3 + 1)]
    if kind == "doubles":
        first = random.randint(1, 5)
        return [str(first * 2**place) for place in range(count)]
    step = random.choice(STEPS)
    if random.random() < 0.4:
        start *= step
    numbers = [str(start + step * place) for place in range(count)]
    return numbers if kind == "steps" else numbers[::-1]


def _turning(random: Random, wording: Wording) -> list[str]:
    count = random.choice((2, 2, 3))
    pools = (COLORS, SHAPES, LETTERS[:8], [str(number) for number in range(1, 10)])
    if random.random() < 0.2:
        return list(dict.fromkeys(made_up_word(random, wording) for _ in range(2)))
    return random.sample(random.choice(pools), count)
