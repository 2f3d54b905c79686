"""Reads a decode, or lanes to compare, from the page's address, unchecked, as from a raw post.

ui/web/share/permalink.js writes the names. Knows no Gradio.
"""

import re
from collections.abc import Mapping
from typing import Any

from sbd_core.errors import ArgumentError
from ui.decode.form import Form

# Name in the address: field of the form.
FIELDS = {
    "prompt": "prompt",
    "system": "system",
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
    "penalty": "repetition_penalty",
    "max_rows": "max_rows",
    "pins": "pinned",
    "with": "model",
}
TEXTS = {"prompt", "system", "strategy", "solver", "by", "with"}
WHOLE = re.compile(r"-?[0-9]{1,20}")
DECIMAL = re.compile(r"-?[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?")
LANES = "lanes"
"""Name of the lanes in an address that asks for a comparison."""
PINS = re.compile(r"[0-9]{1,9}:[0-9]{1,9}(,[0-9]{1,9}:[0-9]{1,9})*")


def is_link(query: Mapping[str, str]) -> bool:
    """Whether an address asks for a decode; one with a model alone only chooses it."""
    return any(name in query for name in FIELDS if name != "with")


def form_of(query: Mapping[str, str]) -> Form:
    """The form that an address describes; fields that it does not name have their defaults."""
    values = {field: value_of(name, query[name]) for name, field in FIELDS.items() if name in query}
    return Form.of(values)


def value_of(name: str, text: str) -> Any:
    """A number if one is expected and given, else the text, for the form's check to refuse."""
    if name in TEXTS:
        return text
    if name == "pins":
        if not PINS.fullmatch(text):
            raise ArgumentError("pins", "must be offsets and token ids like 3:17,5:99", text)
        return [[int(number) for number in pair.split(":")] for pair in text.split(",")]
    if WHOLE.fullmatch(text):
        # A number of more than 64 bits cannot be sent back to the page.
        return int(text) if abs(int(text)) < 2**63 else float(text)
    return float(text) if DECIMAL.fullmatch(text) else text
