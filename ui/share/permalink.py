"""The address bar as a decode or a race: read here unchecked, as a raw post would be.

ui/web/share/permalink.js writes the names of a decode. Knows no Gradio.
"""

import re
from collections.abc import Mapping
from typing import Any

from sbd_core.errors import ArgumentError
from ui.decode.form import Form
from ui.race.entry import Entry

# Name in the address: field of the form.
FIELDS = {
    "prompt": "prompt",
    "strategy": "strategy",
    "solver": "solver",
    "gamma": "gamma",
    "tau": "tau",
    "factor": "factor",
    "k": "k",
    "by": "by",
    "block": "block_size",
    "tokens": "max_new_tokens",
    "seed": "seed",
    "predrafts": "num_predrafts",
    "threshold": "draft_threshold",
    "penalty": "repetition_penalty",
    "rows": "row_policy",
    "pins": "pinned",
    "with": "model",
}
RACE_FIELDS = {
    "race": "lanes",
    "prompt": "prompt",
    "low": "low",
    "high": "high",
    "block": "block_size",
    "tokens": "max_new_tokens",
    "seed": "seed",
    "with": "model",
}
TEXTS = {"prompt", "strategy", "solver", "by", "rows", "with"}
WHOLE = re.compile(r"-?[0-9]{1,20}")
DECIMAL = re.compile(r"-?[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?")
PINS = re.compile(r"[0-9]{1,9}:[0-9]{1,9}(,[0-9]{1,9}:[0-9]{1,9})*")


def is_link(query: Mapping[str, str]) -> bool:
    """Whether an address asks for a decode."""
    return any(name in query for name in FIELDS)


def form_of(query: Mapping[str, str]) -> Form:
    """The form that an address describes; what it does not name has its default."""
    values = {field: _value(name, query[name]) for name, field in FIELDS.items() if name in query}
    return Form.of(values)


def is_race(query: Mapping[str, str]) -> bool:
    """Whether an address asks for a race."""
    return "race" in query


def entry_of(query: Mapping[str, str]) -> Entry:
    """The race that an address describes; what it does not name has its default."""
    given = {name: field for name, field in RACE_FIELDS.items() if name in query}
    values = {field: _value(name, query[name]) for name, field in given.items()}
    return Entry(**{"prompt": None, **values})


def race_query(entry: Entry) -> dict[str, str]:
    """What the address of a race says, by name."""
    values = {name: getattr(entry, field) for name, field in RACE_FIELDS.items()}
    texts = {name: str(value) for name, value in values.items() if value != ""}
    return texts | {"race": ",".join(entry.lanes)}


def _value(name: str, text: str) -> Any:
    """A number where one is expected and given, else the text, for the form's check to refuse."""
    if name in TEXTS:
        return text
    if name == "race":
        return text.split(",")
    if name == "pins":
        return _pins(text)
    if WHOLE.fullmatch(text):
        # What no 64 bits hold cannot be sent back to the page.
        return int(text) if abs(int(text)) < 2**63 else float(text)
    return float(text) if DECIMAL.fullmatch(text) else text


def _pins(text: str) -> list[list[int]]:
    if not PINS.fullmatch(text):
        raise ArgumentError("pins", "must be offsets and token ids like 3:17,5:99", text)
    return [[int(number) for number in pair.split(":")] for pair in text.split(",")]
