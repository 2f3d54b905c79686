"""Records of whatever: things made up, with facts of any name, told by that name. Data only.

What a field is called is open here, so a field is found by reading its name in the text, not
by knowing it. Some names are reserved for test.
"""

from random import Random

from sbd_core.tasks import words
from sbd_core.tasks.base import Pool, Wording, made_up_name, made_up_word
from sbd_core.tasks.json.records import Field, Record
from sbd_core.tasks.json.values import (
    Kind,
    decimal,
    full_name,
    label,
    one_of,
    several,
    text,
    thing,
    title,
    whole,
)

MADE_UP_FIELD_RATE, COMPOUND_RATE = 0.15, 0.3


def _pool(names: str) -> Pool[str]:
    return Pool(names.split())


NUMERIC = _pool("""altitude voltage depth volume level speed range limit radius angle pressure length width
    power index rank points lives coins steps rounds laps turns chapters votes shares views
    likes orders returns errors repairs wheels legs arms keys buttons lamps beds chairs
    windows stairs lanes tracks bridges towers trees cows crates boxes visits calls trips
    days weeks months hours minutes seconds density energy strength force magic health armor
    damage bonus penalty fee debt profit loss balance budget deposit refund credit""")
TEXTUAL = _pool("""nickname motto sponsor founder partner rival mentor heir witness winner hero villain planet
    vessel station harbor district village valley mountain forest island code password label
    tag version channel mode signal shape pattern flavor scent sound symbol badge rune spell
    potion weapon shield mount guild tribe clan crew engine fabric metal wood stone gem
    crystal dessert topping filling sauce spice tea tune anthem dance costume mascot emblem
    mission target source route exit entrance tool sample result reason purpose""")
MODIFIERS = _pool("""first second third last next main total final old new left right inner outer front back
    upper lower best worst daily weekly yearly current average minimum maximum own secret
    spare base home""")
KINDS = _pool("""robot dragon wizard spaceship planet castle team game level sample engine sensor server
    machine project plan village knight monster garden boat train bridge tower account
    ticket package file test lab island mine""")
TEXTS: tuple[Kind, ...] = (
    text(lambda random, wording: made_up_name(random, wording)),
    text(made_up_word),
    text(full_name),
    text(label),
    one_of(words.COLORS),
    one_of((*words.ADJECTIVES, *words.MATERIALS)),
    text(thing),
    text(title),
)
AMOUNTS: tuple[Kind, ...] = (whole(0, 12), whole(1, 99), whole(100, 9999), decimal(0, 99, 0))
LISTS: tuple[Kind, ...] = (
    several(words.COLORS),
    several(thing),
    several(made_up_word),
    several(made_up_name),
)
STARTS = (
    "This is about {}.",
    "Here are the facts on {}.",
    "Look at {}.",
    "We have {} here.",
    "A report on {}.",
    "Data of {}:",
)


def open_record(random: Random, wording: Wording) -> Record:
    """A record with fields of open names: the same generator, the same record."""
    kind = KINDS.draw(random, wording)
    name = made_up_name(random, wording)
    anchor = Field(("name", f"{kind} name", kind), lambda *_: (name, name), STARTS)
    fields: dict[str, Field] = {}
    for _ in range(random.randint(2, 7)):
        field = _open_field(random, wording)
        if field.names[0] not in anchor.names:
            fields.setdefault(field.names[0], field)
    subject = random.choice((f"The {kind} {{}}", "{}"))
    return Record(anchor, tuple(fields.values()), subject, kind)


def _open_field(random: Random, wording: Wording) -> Field:
    chance = random.random()
    is_number = chance < 0.45
    name = (NUMERIC if is_number else TEXTUAL).draw(random, wording)
    if random.random() < MADE_UP_FIELD_RATE:
        name = made_up_word(random, wording)
    elif random.random() < COMPOUND_RATE:
        name = f"{MODIFIERS.draw(random, wording)} {name}"
    tellings = (
        f"has a {name} of {{}}",
        f"~with a {name} of {{}}",
        f"shows {{}} as {name}",
        f"has {{}} as its {name}",
        f"The {name} is {{}}.",
    )
    if is_number:
        return Field((name,), random.choice(AMOUNTS), tellings)
    if chance > 0.9:
        listed = (f"has {{}} as {name}", f"shows {{}} under {name}")
        return Field((name,), random.choice(LISTS), listed)
    return Field((name,), random.choice(TEXTS), tellings)
