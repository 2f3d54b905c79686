"""What the slots of patterns are filled with. Knows words, not patterns."""

from collections.abc import Callable, Sequence
from random import Random

from sbd_core.tasks import words
from sbd_core.tasks.base import Pool, Wording, is_womanly, made_up_name, made_up_word
from sbd_core.tasks.infill import code
from sbd_core.tasks.infill.grammar import PLURALS, VERBS
from sbd_core.tasks.infill.numbers import number_slots
from sbd_core.tasks.infill.patterns import split_words

MADE_UP_NAME_RATE, MADE_UP_THING_RATE, MADE_UP_CODE_RATE = 0.3, 0.1, 0.15
WOMEN = frozenset(words.WOMEN)
SPECIES = split_words("""dog cat rabbit parrot hamster turtle horse pony goat duck hen mouse fox owl donkey lamb
    goose frog pig cow hedgehog squirrel crow puppy kitten lizard""")
ANIMAL_NAMES = Pool(
    split_words("""Rex Fluffy Spot Biscuit Pepper Ginger Coco Patches Shadow Sunny Rocky Buddy Bubbles
    Nibbles Whiskers Pickles Peanut Snowy Smokey Tiger Bandit Rusty Dusty Misty Pebbles
    Waffles Mango Pip Dot Fuzzy Scout Ziggy Toffee Cookie Oreo Muffin Popcorn Sparky Bingo
    Tilly Lulu Poppy Socks Simba Nemo Zigzag""")
)
OBJECTS = Pool(
    split_words("""kite ball drum lamp hat scarf umbrella basket bell boat book bottle bucket button cap
    clock coin crown cup doll feather flag flute glove guitar hammer horn jacket jar key
    ladder lantern letter map marble mask medal mirror necklace painting pearl pencil
    pillow pot puzzle ribbon ring robot rope sack shell shoe spoon stamp stick sweater
    teapot telescope tent toy trumpet vase violin wagon whistle balloon blanket compass
    chair table plate phone bike""")
)
PLACES = split_words("""park forest market garden school castle village museum library zoo harbor station barn
    mill valley kitchen hall yard office theater""")
CITIES = Pool(words.CITIES)


def slots(random: Random, wording: Wording) -> dict[str, str]:
    """What every pattern of sentences, sums and records may ask for."""
    names = _different(random, wording, _person, 3)
    pets = _different(random, wording, _pet, 2, names)
    towns = _different(random, wording, _town, 2)
    things = _different(random, wording, _thing, 2)
    first = names[0]
    is_woman = first in WOMEN if first in words.NAMES else is_womanly(first)
    he, him, his = ("she", "her", "her") if is_woman else ("he", "him", "his")
    color, hue = random.sample(words.COLORS, 2)
    day, date = random.sample(words.DAYS, 2)
    species, other_species = random.sample(SPECIES, 2)
    one, many = random.choice(list(PLURALS.items()))
    return {
        "A": first, "B": names[1], "C": names[2], "N": pets[0], "M": pets[1],
        "he": he, "him": him, "his": his, "He": he.title(), "His": his.title(),
        "S": species, "T": other_species, "Ss": plural(species), "one": one, "many": many,
        "k": things[0], "l": things[1], "ks": plural(things[0]), "ls": plural(things[1]),
        "town": towns[0], "other": towns[1], "color": color, "hue": hue, "day": day, "date": date,
        **_pairs(random), **_words(random, wording), **number_slots(random),
        **dict(zip(("do", "does", "doing", "did"), random.choice(VERBS), strict=True)),
    }  # fmt: skip


def code_slots(random: Random, wording: Wording) -> dict[str, str]:
    """What every pattern of code may ask for."""
    x, y = random.sample(code.VARIABLES, 2)
    word, other = random.sample(code.WORDS, 2)
    function = random.choice(code.FUNCTIONS)
    if random.random() < MADE_UP_CODE_RATE:
        x, function = made_up_word(random, wording), made_up_word(random, wording)
    return {
        "x": x, "y": y, "xi": "value" if x == "i" else x, "w": word, "v": other,
        "W": word.upper(), "w0": word[0], "f": function,
        "xs": random.choice([name for name in code.LISTS if name not in (x, y)]),
        "Cls": random.choice(code.CLASSES), **number_slots(random),
    }  # fmt: skip


def plural(thing: str) -> str:
    """The plural of a thing, from the list or by the rule."""
    if thing in PLURALS:
        return PLURALS[thing]
    return thing + ("es" if thing.endswith(("s", "x", "ch", "sh")) else "s")


def _pairs(random: Random) -> dict[str, str]:
    place, site = random.sample(PLACES, 2)
    job, work = random.sample(words.JOBS, 2)
    food, meal = random.sample(words.FOODS, 2)
    return {"place": place, "site": site, "job": job, "work": work, "food": food, "meal": meal}


def _words(random: Random, wording: Wording) -> dict[str, str]:
    x, y = random.sample(code.VARIABLES[10:], 2)
    word, other = random.sample(code.WORDS, 2)
    made_up = made_up_word(random, wording) if random.random() < 0.5 else word
    return {"x": x, "y": y, "w": made_up, "v": other, "W": made_up.upper(), "w0": made_up[0]}


def _person(random: Random, wording: Wording) -> str:
    if random.random() < MADE_UP_NAME_RATE:
        return made_up_name(random, wording)
    return words.NAME_POOL.draw(random, wording)


def _pet(random: Random, wording: Wording) -> str:
    if random.random() < MADE_UP_NAME_RATE:
        return made_up_name(random, wording)
    return ANIMAL_NAMES.draw(random, wording)


def _town(random: Random, wording: Wording) -> str:
    if random.random() < MADE_UP_NAME_RATE / 2:
        return made_up_name(random, wording)
    return CITIES.draw(random, wording)


def _thing(random: Random, wording: Wording) -> str:
    if random.random() < MADE_UP_THING_RATE:
        return made_up_word(random, wording)
    return OBJECTS.draw(random, wording)


def _different(
    random: Random,
    wording: Wording,
    draw: Callable[[Random, Wording], str],
    count: int,
    taken: Sequence[str] = (),
) -> list[str]:
    found: list[str] = []
    while len(found) < count:
        item = draw(random, wording)
        if item not in found and item not in taken:
            found.append(item)
    return found
