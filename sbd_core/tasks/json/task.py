"""Facts in a paragraph to one line of JSON. Knows the records only as data.

Every value asked for stands in the paragraph as it must be copied, a list as "a, b and c"; what
is not told is null. The composition that decides the split is the set of fields asked for,
whatever the record, order or values. Every prompt lists the fields, so a prompt belongs to one
split only.
"""

import json
import re
from random import Random

from sbd_core.tasks import words
from sbd_core.tasks.base import Example, Split, Task, split_of
from sbd_core.tasks.json.records import PEOPLE, Record, Several, Value
from sbd_core.tasks.json.records_events import EVENTS
from sbd_core.tasks.json.records_things import THINGS

NAME = "json"
RECORDS: tuple[Record, ...] = PEOPLE + THINGS + EVENTS
NUM_FIELDS = (2, 3, 4, 5, 6, 7, 8)
NUM_FIELDS_WEIGHTS = (2, 4, 5, 4, 3, 2, 1.5)
MISSING_RATE = 0.2
MAX_EXTRA_FIELDS = 2
LABEL_RATE, ARTICLE_RATE = 0.15, 0.15
MAX_ANSWER_CHARACTERS = 4000

BRACKETS = re.compile(r"\[([^\]{]*\{(\w+)\}[^\]]*)\]")
INSTRUCTIONS: tuple[str, ...] = (
    "Extract {fields} as JSON: {text}", "Give {fields} as JSON: {text}",
    "Return JSON with {fields}. Text: {text}", "Write JSON with {fields} from this: {text}",
    "{text} Give {fields} as JSON.", "{text} Extract {fields} as JSON.",
    "Find {fields} and answer in JSON: {text}", "Put {fields} into JSON: {text}",
    "Turn this into JSON with the keys {fields}: {text}", "JSON with {fields}: {text}",
    "Make a JSON object with {fields}. {text}", "{text} Write {fields} as JSON.",
    "From the text, give {fields} in JSON. {text}", "{text} Return {fields} as a JSON object.",
    "Read this and return {fields} as JSON: {text}", "What are {fields}? Answer in JSON. {text}",
    "Convert to JSON ({fields}): {text}", "{text} Turn this into JSON with {fields}.",
    "Please extract {fields} as JSON: {text}", "Text: {text} JSON fields: {fields}.",
)  # fmt: skip


def generate(random: Random, split: Split) -> Example:
    """An extraction whose set of fields belongs to `split`; a field not told is null."""
    record, fields = _request(random, split)
    facts = {name: _value(random, values) for name, values in record.values.items()}
    missing: set[str] = set()
    if random.random() < MISSING_RATE:
        optional = [name for name in fields if name != record.anchor]
        missing.update(random.sample(optional, min(len(optional), random.choice((1, 1, 1, 2)))))
    others = [name for name in record.values if name not in fields and name != record.anchor]
    extra = random.sample(others, min(len(others), random.randint(0, MAX_EXTRA_FIELDS)))
    names = dict.fromkeys([*fields, *extra, record.anchor])
    told = {name: facts[name] for name in names if name not in missing}
    asked = [f"the {name}" for name in fields] if random.random() < ARTICLE_RATE else fields
    prompt = random.choice(INSTRUCTIONS).format(
        fields=_listed(asked, random.choice((" and ", " and ", ", "))),
        text=tell(random, record, told),
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


def tell(random: Random, record: Record, told: dict[str, Value]) -> str:
    """The told facts as a paragraph: a beginning and sentences, or a list of labels."""
    said = {name: _said(value) for name, value in told.items()}
    if random.random() < LABEL_RATE:
        names = random.sample(list(said), len(said))
        return " ".join(f"{name.capitalize()}: {said[name]}." for name in names)
    beginning = random.choice(record.wordings)
    sentences = [_begin(beginning, said)]
    covered = {*re.findall(r"\{(\w+)\}", beginning)}
    rest = [name for name in said if name not in covered]
    pronouns = {"S": "It", "Its": "Its"}
    if record.is_person:
        is_woman = said[record.anchor].split()[0] in words.WOMEN
        pronouns = {"S": "She", "Its": "Her"} if is_woman else {"S": "He", "Its": "His"}
    for name in random.sample(rest, len(rest)):
        sentences.append(random.choice(record.sentences[name]).format(**said, **pronouns))
    return re.sub(r"\ba (?=[aeiou])", "an ", " ".join(sentences))


def _begin(wording: str, said: dict[str, str]) -> str:
    """`wording` with the told facts, without the bracketed parts of others."""

    def part(match: re.Match[str]) -> str:
        return match[1] if match[2] in said else ""

    text = BRACKETS.sub(part, wording).format(**said).strip(" ,")
    if text.startswith(tuple(said.values())):
        return text  # A value is told as it must be copied.
    return text[0].upper() + text[1:]


def _said(value: Value) -> str:
    return _listed(value, " and ") if isinstance(value, list) else str(value)


def _listed(items: list[str], last: str) -> str:
    return ", ".join(items[:-1]) + last + items[-1] if len(items) > 1 else items[0]


def _value(random: Random, values: object) -> Value:
    if isinstance(values, Several):
        return random.sample(values.choices, random.randint(2, values.most))
    assert isinstance(values, tuple | range)
    return random.choice(values)


def _request(random: Random, split: Split) -> tuple[Record, list[str]]:
    while True:
        record = random.choice(RECORDS)
        count = random.choices(NUM_FIELDS, NUM_FIELDS_WEIGHTS)[0]
        fields = random.sample(list(record.values), min(count, len(record.values)))
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


TASK = Task(NAME, generate, check)
