"""Facts in a text to one line of JSON. Knows the records only as data.

Every value asked for stands in the text as it must be copied, a list as "a, b and c", a number
also in words; yes and no become true and false, and what is not told is null. The composition
that decides the split is the set of fields asked for, whatever the record, order, style of
names or values. Every prompt lists the fields, so a prompt belongs to one split only.
"""

import json
from collections.abc import Iterable, Mapping
from random import Random

from sbd_core.tasks.base import Example, Split, Task, Wording, draw_wording, split_of
from sbd_core.tasks.json.asking import STYLE_WEIGHTS, STYLES, ask, named, plain
from sbd_core.tasks.json.records import Field, Record
from sbd_core.tasks.json.records_events import EVENTS
from sbd_core.tasks.json.records_open import open_record
from sbd_core.tasks.json.records_people import PEOPLE
from sbd_core.tasks.json.records_places import PLACES
from sbd_core.tasks.json.records_things import THINGS
from sbd_core.tasks.json.telling import tell

NAME = "json"
RECORDS: tuple[Record, ...] = PEOPLE + THINGS + EVENTS + PLACES
KIND_WEIGHTS = {"known": 78, "open": 22}
"""Of records whose fields are told of in a fixed list, and of those with made-up fields."""
NUM_FIELDS = (1, 2, 3, 4, 5, 6, 7)
NUM_FIELDS_WEIGHTS = (1, 4, 6, 5, 3, 2, 1)
MISSING_RATE, MAX_EXTRA_FIELDS = 0.2, 2
MAX_SIZE = 510
"""Of a prompt and twice its answer, in characters: so that nearly all fit into 256 tokens."""
MAX_ANSWER_CHARACTERS = 4000


def generate(random: Random, split: Split) -> Example:
    """An extraction whose set of fields belongs to `split`; a field not told is null."""
    return _generate(random, split, KIND_WEIGHTS)


def generate_kind(random: Random, split: Split, kind: str) -> Example:
    """An extraction of one kind of `KIND_WEIGHTS`."""
    return _generate(random, split, {kind: 1})


def _generate(random: Random, split: Split, weights: Mapping[str, float]) -> Example:
    wording = draw_wording(random, split)
    while True:
        style = random.choices(STYLES, STYLE_WEIGHTS)[0]
        kind, record, fields = _request(random, wording, split, weights)
        asked = {field: named(name, style) for field, name in fields}
        told = {field: field.kind(random, wording) for field in _told(random, record, asked)}
        untold = [field for field in asked if field not in told]
        text = tell(random, wording, record, told, untold)
        answer = json.dumps(
            {key: told[field][0] if field in told else None for field, key in asked.items()}
        )
        prompt = ask(random, wording, list(asked.values()), style, text)
        if len(prompt) + 2 * len(answer) <= MAX_SIZE:
            return Example(NAME, prompt, answer, answer, wording, kind)


def check(example: Example, text: str) -> bool:
    """True when `text` is JSON of the expected object, in any key order, types counting."""
    if len(text) > MAX_ANSWER_CHARACTERS:
        return False
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
        # Compared as text because True == 1 and 1 == 1.0 in Python.
        return _canonical(found) == _canonical(json.loads(example.case))
    except (ValueError, RecursionError):
        return False


def composition(keys: Iterable[str]) -> str:
    """The key that decides the split of a request for `keys`, in whatever style they are."""
    return ", ".join(sorted(map(plain, keys)))


def _request(
    random: Random, wording: Wording, split: Split, weights: Mapping[str, float]
) -> tuple[str, Record, list[tuple[Field, str]]]:
    """A record with its kind, and what is asked of it: fields, each by one of its names."""
    open_rate = weights.get("open", 0) / sum(weights.values())
    while True:
        kind, record = "known", random.choice(RECORDS)
        if random.random() < open_rate:
            kind, record = "open", open_record(random, wording)
        count = random.choices(NUM_FIELDS, NUM_FIELDS_WEIGHTS)[0]
        fields = [record.anchor, *record.fields]
        chosen = random.sample(fields, min(count, len(fields)))
        # A field's first name is what most people would ask for.
        names = [
            item.names[0] if random.random() < 0.5 else random.choice(item.names) for item in chosen
        ]
        if split_of(composition(names)) == split:
            return kind, record, list(zip(chosen, names, strict=True))


def _told(random: Random, record: Record, asked: Iterable[Field]) -> list[Field]:
    """The fields that the text tells: most of those asked for, the anchor, and some others."""
    wanted = [field for field in asked if field is not record.anchor]
    missing: list[Field] = []
    if wanted and random.random() < MISSING_RATE:
        missing = random.sample(wanted, min(len(wanted), random.choice((1, 1, 1, 2))))
    others = [field for field in record.fields if field not in wanted]
    extra = random.sample(others, min(len(others), random.randint(0, MAX_EXTRA_FIELDS)))
    told = [field for field in wanted if field not in missing]
    return [record.anchor, *told, *extra]


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refuse(literal: str) -> object:
    raise ValueError(f"{literal} is not a value any answer holds")


TASK = Task(NAME, generate, check, kinds=KIND_WEIGHTS, generate_kind=generate_kind)
"""Facts in a text to one line of JSON."""
