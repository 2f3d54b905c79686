"""Sums without a story, in symbols or words: "What is 47 + 86?", "Take 9 away from 50."."""

from dataclasses import dataclass
from random import Random

from sbd_core.tasks.base import Pool, Wording
from sbd_core.tasks.math.arithmetic import (
    MAX_PRODUCT,
    OPERATIONS,
    Calculation,
    Operation,
    calculate,
    operands,
)
from sbd_core.tasks.math.everyday import EVERYDAY, is_reserved
from sbd_core.tasks.words import NUMBER_WORDS

FRAMES = Pool((
    "What is {}?", "How much is {}?", "Work out {}.", "Calculate {}.", "Compute {}.", "{}", "{} =",
    "{} = ?", "Solve {}.", "What's {}?", "Can you work out {}?", "What does {} make?", "{}?",
    "Tell me {}.", "Find {}.", "Give me {}.", "Please calculate {}.", "Evaluate {}.", "{} is what?",
    "What do you get for {}?", "What does {} equal?", "Work out: {}", "Calculate: {}", "Solve: {}",
    "How many is {}?", "Please work out {}.", "What is the result of {}?", "Say what {} is.",
    "I need {}.", "Could you tell me what {} is?", "What number is {}?", "Do you know {}?",
    "Quick: {}", "Sum: {}", "{}. What is it?", "Show me how to work out {}.", "What would {} be?",
    "Help me with {}.", "{} makes how much?", "Check: what is {}?", "My homework: {}", "{} please",
    "Figure out {}.", "Determine {}.", "And what is {}?", "What is the value of {}?",
    "The answer to {} is what?", "Do the math: {}", "Reckon {}.", "Now {}", "Write down {}.",
    "What comes out of {}?", "Math: {}", "Exercise: {}", "Answer this: {}", "How about {}?",
), everyday=EVERYDAY)  # fmt: skip
NOUNS: dict[Operation, Pool[str]] = {
    "+": Pool(("{m} plus {n}", "the sum of {m} and {n}", "{m} and {n} together", "{m} added to {n}",
               "{m} and {n} in all", "{n} more than {m}", "the total of {m} and {n}",
               "{m} increased by {n}", "{m} with {n} added",
               "{m} and {n} added together", "{m} and {n} more", "{m} and {n} combined",
               "{m} and {n} added up", "{m} and another {n}", "the sum you get from {m} and {n}")),
    "-": Pool(("{m} minus {n}", "{m} less {n}", "{m} take away {n}", "{n} less than {m}",
               "the difference between {m} and {n}", "{m} decreased by {n}", "{n} fewer than {m}",
               "{m} without {n}", "the difference of {m} and {n}", "{n} subtracted from {m}",
               "{m} reduced by {n}", "{m} with {n} taken away", "{m} lowered by {n}",
               "{n} taken from {m}", "{n} deducted from {m}", "the rest when {n} is taken from {m}")),
    "*": Pool(("{m} times {n}", "{m} multiplied by {n}", "the product of {m} and {n}", "{m} x {n}",
               "{m} groups of {n}", "{m} lots of {n}", "{n} taken {m} times",
               "{m} sets of {n}", "{m} rows of {n}", "{m} piles of {n}",
               "{m} packs of {n}", "the result of {m} times {n}")),
    "/": Pool(("{m} divided by {n}", "{m} over {n}", "the quotient of {m} and {n}", "{m} : {n}",
               "{m} shared by {n}", "{m} split into {n} equal parts", "{m} divided into {n}",
               "{m} cut into {n} equal parts", "{m} shared out equally among {n}", "{m} split by {n}",
               "{m} shared equally by {n}", "one part of {m} in {n} equal parts")),
}  # fmt: skip
ORDERS: dict[Operation, Pool[str]] = {
    "+": Pool(("Add {m} and {n}.", "Add {n} to {m}.", "Take {m} and add {n}.", "Put {m} and {n} together.",
               "Sum up {m} and {n}.", "Increase {m} by {n}.", "Count {n} on from {m}.",
               "What do {m} and {n} make?", "How much do {m} and {n} make?", "What do {m} and {n} add up to?",
               "If you add {m} and {n}, what do you get?", "{m} and {n} make what?",
               "Work out the sum of {m} and {n}.", "Add {m} and {n} together.", "Start at {m} and go up by {n}.",
               "Find the total of {m} and {n}.", "Take {m}. Add {n}. What do you have?", "What is {n} more than {m}?",
               "Join {m} and {n}. How many is that?", "What do you get when you add {m} and {n}?", "Raise {m} by {n}.")),
    "-": Pool(("Subtract {n} from {m}.", "Take {n} away from {m}.", "Take {n} from {m}.", "Take {m} minus {n}.",
               "Decrease {m} by {n}.", "Count {n} back from {m}.", "From {m} take {n}.",
               "What is left of {m} when {n} are taken away?", "What remains if you take {n} from {m}?",
               "How much bigger is {m} than {n}?", "By how much is {m} greater than {n}?",
               "How much less than {m} is {n}?",
               "Start at {m} and go down by {n}.", "Take {m}. Take away {n}. What is left?", "Remove {n} from {m}.",
               "Deduct {n} from {m}.", "Reduce {m} by {n}.", "Find the difference between {m} and {n}.",
               "What is the gap between {m} and {n}?", "What do you get when you take {n} from {m}?", "Lower {m} by {n}.")),
    "*": Pool(("Multiply {m} by {n}.", "Multiply {m} and {n}.", "Take {m} times {n}.", "Find {m} times {n}.",
               "What do {m} groups of {n} make?", "How many are {m} times {n}?", "What is {m} by {n}?",
               "If you multiply {m} by {n}, what do you get?", "{m} rows of {n}: how many?",
               "Work out the product of {m} and {n}.", "Take {m} and multiply it by {n}.", "Multiply {m} with {n}.",
               "Count {m} groups of {n}.", "{m} bags with {n} in each: how many?", "What do you get when you multiply {m} by {n}?",
               "How many is {m} times {n}?", "{m} boxes of {n} are how many?")),
    "/": Pool(("Divide {m} by {n}.", "Split {m} into {n} equal parts.", "Share {m} equally among {n}.",
               "How many times does {n} go into {m}?", "How often does {n} fit into {m}?",
               "Cut {m} into {n} equal parts. How big is one?", "If you divide {m} by {n}, what do you get?",
               "How many {n}s are in {m}?", "Put {m} into groups of {n}. How many groups?",
               "Take {m} and divide it by {n}.", "What do you get when you divide {m} by {n}?", "Divide {m} into {n} equal parts.",
               "Deal {m} out to {n} players. How many does each get?", "Work out the quotient of {m} and {n}.", "Share {m} between {n}. How many for each?",
               "How many groups of {n} are there in {m}?", "{m} in {n} equal rows: how many in a row?")),
}  # fmt: skip
# What a fixed second number is called.
NAMED: dict[tuple[Operation, int], Pool[str]] = {
    ("*", 2): Pool(("twice {m}", "double {m}", "two times {m}", "the double of {m}", "{m} doubled")),
    ("*", 3): Pool(("three times {m}", "triple {m}", "{m} tripled", "thrice {m}", "{m} taken three times")),
    ("*", 4): Pool(("four times {m}", "{m} taken four times")),
    ("/", 2): Pool(("half of {m}", "one half of {m}", "1/2 of {m}", "{m} halved", "half as much as {m}",
                   "50% of {m}", "50 percent of {m}")),
    ("/", 3): Pool(("a third of {m}", "one third of {m}", "1/3 of {m}"), everyday=EVERYDAY),
    ("/", 4): Pool(("a quarter of {m}", "one quarter of {m}", "1/4 of {m}", "a fourth of {m}", "25% of {m}", "25 percent of {m}"), everyday=EVERYDAY),
    ("/", 5): Pool(("a fifth of {m}", "one fifth of {m}", "1/5 of {m}")),
    ("/", 10): Pool(("a tenth of {m}", "one tenth of {m}", "1/10 of {m}", "10% of {m}", "10 percent of {m}")),
}  # fmt: skip
SYMBOL_RATE, ORDER_RATE, NAMED_RATE, LONG_RATE = 0.45, 0.25, 0.12, 0.2
WORD_RATE, LOWER_RATE, TIGHT_RATE = 0.08, 0.15, 0.1
Told = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class Sum:
    """Calculations with the way they are asked for: "one" of two numbers, or a longer form."""

    form: str
    numbers: tuple[int, ...]
    chain: list[Calculation]


def hard_operands(random: Random, operation: Operation) -> tuple[int, int]:
    """Numbers of two or three digits evenly drawn, half of the time; else as in stories."""
    if operation in "*/" or random.random() < 0.4:
        return operands(random, operation)
    most = 99 if random.random() < 0.6 else 999
    left, right = random.randint(2, most), random.randint(2, most)
    if operation == "-":
        return max(left, right), min(left, right)
    return (left, right) if left + right <= 999 else (max(1, left // 2), max(1, right // 2))


def plan(random: Random) -> Sum | None:
    """A sum of one calculation or, now and then, of two."""
    if random.random() < LONG_RATE:
        return _long(random)
    operation = random.choice(OPERATIONS)
    if operation in "*/" and random.random() < NAMED_RATE * 2:
        _, right = random.choice([key for key in NAMED if key[0] == operation])
        left = random.randint(2, 333 if right < 4 else 99) * (right if operation == "/" else 1)
        calculation = calculate(left, operation, right)
        return Sum("named", (left, right), [calculation]) if calculation else None
    left, right = hard_operands(random, operation)
    calculation = calculate(left, operation, right, MAX_PRODUCT)
    return Sum("one", (left, right), [calculation]) if calculation else None


def tell(random: Random, asked: Sum, wording: Wording) -> Told:
    """The question, and whether it is told in words reserved for test."""
    first = asked.chain[0]
    numbers = [str(number) for number in asked.numbers]
    if random.random() < WORD_RATE:
        numbers = [NUMBER_WORDS[n] if n < len(NUMBER_WORDS) else str(n) for n in asked.numbers]
    names = dict(zip(("m", "n", "k"), numbers, strict=False))
    if asked.form == "named":
        pool = NAMED[first.operation, first.right]
    elif asked.form == "one" and random.random() < ORDER_RATE:
        order = ORDERS[first.operation].draw(random, wording)
        return order.format(**names), is_reserved(order)
    elif asked.form == "one" and random.random() > SYMBOL_RATE:
        pool = NOUNS[first.operation]
    else:
        pool = None
    noun = pool.draw(random, wording) if pool else _symbols(asked)
    frame = FRAMES.draw(random, wording)
    told = noun.format(**names)
    if pool is None and random.random() < TIGHT_RATE:
        told = told.replace(" ", "")
    text = frame.format(told)
    if random.random() < LOWER_RATE:
        text = text.rstrip(".?")
        text = text[0].lower() + text[1:]
    elif pool is not None:
        text = text[0].upper() + text[1:]
    return text, is_reserved(noun) or is_reserved(frame)


LONG_FORMS: tuple[tuple[str, str], ...] = (
    # Signs of the form as written, and in which order they are worked out.
    ("{m} + {n} + {k}", "++"), ("{m} + {n} - {k}", "+-"), ("{m} - {n} - {k}", "--"),
    ("{m} - {n} + {k}", "-+"), ("({m} + {n}) * {k}", "+*"), ("({m} - {n}) * {k}", "-*"),
    ("({m} + {n}) / {k}", "+/"), ("({m} - {n}) / {k}", "-/"), ("{m} * {n} + {k}", "*+"),
    ("{m} * {n} - {k}", "*-"), ("{m} / {n} + {k}", "/+"), ("{m} + {n} * {k}", "later +*"),
    ("{m} - {n} * {k}", "later -*"), ("{m} + {n} / {k}", "later +/"),
)  # fmt: skip


def _long(random: Random) -> Sum | None:
    form, signs = random.choice(LONG_FORMS)
    is_later = signs.startswith("later")
    one, two = signs[-2], signs[-1]
    if is_later:  # The second sign is worked out first.
        n, k = operands(random, two)  # type: ignore[arg-type]
        inner = calculate(n, two, k)  # type: ignore[arg-type]
        m = random.randint(2, 99)
        outer = inner and calculate(m, one, inner.result)  # type: ignore[arg-type]
    else:
        m, n = operands(random, one)  # type: ignore[arg-type]
        inner = calculate(m, one, n)  # type: ignore[arg-type]
        k = random.randint(2, 10 if two in "*/" else 99)
        outer = inner and calculate(inner.result, two, k)  # type: ignore[arg-type]
    if inner is None or outer is None:
        return None
    return Sum(form, (m, n, k), [inner, outer])


def _symbols(asked: Sum) -> str:
    return f"{{m}} {asked.chain[0].operation} {{n}}" if asked.form == "one" else asked.form
