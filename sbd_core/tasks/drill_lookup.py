"""The exercise to find, in a list of names with values, what some of the names stand for.

Names and values are mostly made up, or names differ in one word, so that nothing is recalled.
"""

from random import Random

from sbd_core.tasks import words
from sbd_core.tasks.base import Wording, made_up_name, made_up_word
from sbd_core.tasks.json.records_open import MODIFIERS, NUMERIC, TEXTUAL

BETWEEN = (": ", ": ", " = ", " is ", " -> ", "=")
APART = (", ", "; ", "\n", ". ", " - ", " | ")
BEFORE_LIST = (". ", ":\n", "\n", " in: ", " here: ")
MADE_UP_RATE, PAIR_RATE, ALIKE_RATE, SHARED_RATE = 0.5, 0.3, 0.3, 0.2


def lookup(random: Random, wording: Wording) -> tuple[str, str]:
    """What is asked of which list, and the entries asked for, one a line as "name: value"."""
    names = _names(random, wording, random.randint(3, 8))
    values = [_value(random, wording) for _ in names]
    if random.random() < SHARED_RATE:
        values[0] = values[-1]
    entries = dict(zip(names, values, strict=True))
    asked = random.sample(names, random.randint(1, min(4, len(names))))
    between, apart = random.choice(BETWEEN), random.choice(APART)
    told = apart.join(f"{name}{between}{value}" for name, value in entries.items())
    content = ", ".join(asked) + random.choice(BEFORE_LIST) + told
    return content, "\n".join(f"{name}: {entries[name]}" for name in asked)


def _names(random: Random, wording: Wording, count: int) -> list[str]:
    """Different names, at times alike but for a word before them."""
    found: list[str] = []
    while len(found) < count:
        name = _name(random, wording)
        if found and random.random() < ALIKE_RATE:
            name = found[-1].split(" ")[-1]
        if random.random() < PAIR_RATE:
            name = f"{MODIFIERS.draw(random, wording)} {name}"
        if name not in found:
            found.append(name)
    random.shuffle(found)
    return found


def _name(random: Random, wording: Wording) -> str:
    if random.random() < MADE_UP_RATE:
        return made_up_word(random, wording)
    return random.choice((NUMERIC, TEXTUAL)).draw(random, wording)


def _value(random: Random, wording: Wording) -> str:
    draw = random.random()
    if draw < 0.4:
        return str(random.randint(0, random.choice((9, 99, 9999))))
    if draw < 0.7:
        return random.choice((made_up_word, made_up_name))(random, wording)
    return random.choice((*words.COLORS, *words.THINGS))
