"""Facts in a sentence or two to one line of JSON. Knows the records only as data.

The composition that decides the split is the set of fields asked for, whatever the record,
order or values. Every prompt lists the fields, so a prompt belongs to one split only.
"""

import json
import re
from random import Random

from sbd_core.training.corpus.base import Example, Family, Split, split_of
from sbd_core.training.corpus.json_records import RECORDS, Record

NAME = "json"
MIN_FIELDS, MAX_FIELDS = 3, 6
MISSING_RATE = 0.15
MAX_EXTRA_FIELDS = 2
MAX_ANSWER_CHARACTERS = 4000

BRACKETS = re.compile(r"\[([^\]{]*\{(\w+)\}[^\]]*)\]")
INSTRUCTIONS: tuple[str, ...] = (
    "Extract {fields} as JSON: {text}",
    "Give {fields} as JSON: {text}",
    "Return JSON with {fields}. Text: {text}",
    "Write JSON with {fields} from this: {text}",
    "{text} Give {fields} as JSON.",
    "{text} Extract {fields} as JSON.",
)


def generate(random: Random, split: Split) -> Example:
    """An extraction whose set of fields belongs to `split`; a field not told is null."""
    record, fields = _request(random, split)
    facts = {name: random.choice(values) for name, values in record.values.items()}
    missing = set()
    if random.random() < MISSING_RATE:
        missing.add(random.choice([name for name in fields if name != record.anchor]))
    others = [name for name in record.values if name not in fields and name != record.anchor]
    extra = random.sample(others, min(len(others), random.randint(0, MAX_EXTRA_FIELDS)))
    told = {name: facts[name] for name in (*fields, *extra, record.anchor) if name not in missing}
    prompt = random.choice(INSTRUCTIONS).format(
        fields=", ".join(fields[:-1]) + " and " + fields[-1],
        text=tell(random.choice(record.wordings), told),
    )
    answer = json.dumps({name: told.get(name) for name in fields})
    return Example(NAME, prompt, answer, answer)


def check(example: Example, text: str) -> bool:
    """True when `text` is JSON of the expected object, in any key order, types counting."""
    if len(text) > MAX_ANSWER_CHARACTERS:
        return False
    try:
        found = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_refuse
        )
        # Compared as text because True == 1 in Python.
        return _canonical(found) == _canonical(json.loads(example.case))
    except (ValueError, RecursionError):
        return False


def composition(fields: list[str]) -> str:
    """The key that decides the split of a request for `fields`."""
    return " ".join(sorted(fields))


def tell(wording: str, told: dict[str, str | int]) -> str:
    """`wording` with the told facts, without the bracketed parts of others."""

    def part(match: re.Match[str]) -> str:
        return match[1] if match[2] in told else ""

    text = BRACKETS.sub(part, wording).format(**told).strip(" ,")
    text = re.sub(r"\ba (?=[aeiou])", "an ", text)
    if text.startswith(tuple(str(value) for value in told.values())):
        return text  # A value is told as it must be copied.
    return text[0].upper() + text[1:]


def _request(random: Random, split: Split) -> tuple[Record, list[str]]:
    while True:
        record = random.choice(RECORDS)
        count = random.randint(MIN_FIELDS, MAX_FIELDS)
        fields = random.sample(list(record.values), count)
        if split_of(composition(fields)) == split:
            return record, fields


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refuse(literal: str) -> object:
    raise ValueError(f"{literal} is not a value any answer holds")


FAMILY = Family(NAME, generate, check)
