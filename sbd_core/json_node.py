"""Parses JSON and checks its values, with errors that name the path of the bad value.

JsonNode raises TraceError for a value that is missing, of a wrong type or out of range.
"""

import json
import math
from collections.abc import Callable
from typing import Any

from sbd_core.errors import TraceError, shown, shown_name

MAX_INTEGER = 2**53
"""Largest integer accepted. JavaScript represents every integer up to it exactly."""


def json_of(text: str | bytes, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """Parse JSON from an untrusted source. Raises ValueError for bad or too deeply nested JSON.

    parse_constant: an argument of json.loads.
    """
    try:
        return json.loads(text, parse_constant=parse_constant)
    except RecursionError as error:
        raise ValueError(json_fault(error)) from error


def json_fault(error: ValueError | RecursionError) -> str:
    """Say in a few words why Python cannot parse a JSON text. error: what json.loads() raised."""
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return "it holds a whole number of more digits than Python reads"


def finite_or_none(digits: str) -> float | None:
    """Parse a JSON number with a fraction or exponent; None if it is too large for a float."""
    value = float(digits)
    return value if math.isfinite(value) else None


class JsonNode:
    """A JSON value and its path in the whole data, such as "trace.events[3].block"."""

    def __init__(self, value: Any, path: str) -> None:
        self.value = value
        self.path = path

    def wrong(self, rule: str) -> TraceError:
        """Return, without raising it, a TraceError that names the path, `rule` and the value."""
        return TraceError(f"{self.path}: {rule}; got {shown(self.value)}")

    def value_of(self, key: str) -> Any:
        """Return the value of an object's member `key`, unchecked."""
        return self.at(key).value

    def at(self, key: str) -> "JsonNode":
        """Return an object's member `key` as a node."""
        if not isinstance(self.value, dict):
            raise self.wrong("must be an object")
        if key not in self.value:
            raise TraceError(f"{self.path}.{key}: is missing")
        return JsonNode(self.value[key], f"{self.path}.{key}")

    def members(self) -> list[tuple[str, "JsonNode"]]:
        """Return an object's members as (key, node) pairs."""
        if not isinstance(self.value, dict):
            raise self.wrong("must be an object")
        if any(_has_surrogate(key) for key in self.value):
            raise TraceError(f"{self.path}: keys must be Unicode text without lone surrogates")
        return [
            (key, JsonNode(item, f"{self.path}.{shown_name(key)}"))
            for key, item in self.value.items()
        ]

    def items(self, length: int | None = None) -> list["JsonNode"]:
        """Return a list's entries as nodes. length: required number of entries; None allows any."""
        if not isinstance(self.value, list):
            raise self.wrong("must be a list")
        if length is not None and len(self.value) != length:
            raise self.wrong(f"must have {length} entries")
        return [JsonNode(item, f"{self.path}[{index}]") for index, item in enumerate(self.value)]

    def integer(self, low: int = 0) -> int:
        """Return the value as an int; it must be a whole number from `low` to MAX_INTEGER."""
        is_integer = isinstance(self.value, int) and not isinstance(self.value, bool)
        if not is_integer or not low <= self.value <= MAX_INTEGER:
            raise self.wrong(f"must be a whole number from {low} to {MAX_INTEGER}")
        return int(self.value)

    def integers(self) -> tuple[int, ...]:
        """Return a list as a tuple of ints; each must be a whole number from 0 to MAX_INTEGER."""
        return tuple(node.integer() for node in self.items())

    def number(self, high: float = math.inf) -> float:
        """Return the value as a float; it must be a number from 0 to min(high, MAX_INTEGER)."""
        is_number = isinstance(self.value, (int, float)) and not isinstance(self.value, bool)
        # A JSON number too large for a float reads as inf or as a huge int.
        if not is_number or not 0 <= self.value <= min(high, MAX_INTEGER):
            raise self.wrong(f"must be a number from 0 to {min(high, MAX_INTEGER):g}")
        return float(self.value)

    def boolean(self) -> bool:
        """Return the value, which must be true or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("must be true or false")
        return self.value

    def string(self) -> str:
        """Return the value, which must be a string without lone surrogates."""
        if not isinstance(self.value, str):
            raise self.wrong("must be a string")
        if _has_surrogate(self.value):
            raise self.wrong("must be Unicode text without lone surrogates")
        return self.value

    def one_of(self, allowed: tuple[Any, ...]) -> Any:
        """Return the value, which must be one of the strings `allowed`."""
        if self.value not in allowed:
            raise self.wrong(f"must be one of {', '.join(allowed)}")
        return self.value


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
