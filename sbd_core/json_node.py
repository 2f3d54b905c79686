"""Reads JSON from untrusted sources, into typed values, with errors that name the faulty place.

msgspec reads and checks the types and limits that annotations declare. It is used for nothing else:
the package writes JSON with the standard library, which refuses NaN and infinity.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import msgspec

from sbd_core.errors import TraceError, shown, shown_name

T = TypeVar("T")
MAX_INTEGER = 2**53
"""Largest integer accepted. JavaScript represents every integer up to it exactly."""
Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_INTEGER)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=MAX_INTEGER)]
Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]

WORDS = {str: "must be a string", bool: "must be true or false", dict: "must be an object"}
PART = re.compile(r"\[(\d+)\]|\.(\w+)|\[(\.\.\.)\]")
"""A part of msgspec's path: an index, the name of a field, or any key of an object."""


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


def read_json(text: str, decoder: "msgspec.json.Decoder[T]", name: str) -> T:
    """Read JSON text with a decoder. Raises TraceError, which names the first fault and its place.

    name: of the whole data in errors, such as "trace".
    """
    try:
        return decoder.decode(text)
    except msgspec.ValidationError as error:
        raise TraceError(_sentence(str(error), text, decoder.type, name)) from error
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        try:
            data = json_of(text, _refuse_constant)
        except ValueError as reason:
            raise TraceError(f"{name}: must be JSON; {reason}") from error
        rule = "must be Unicode text without lone surrogates"
        path, value = next(_lone_surrogates(data, name), (name, text))
        raise TraceError(f"{path}: {rule}; got {shown(value)}") from error


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a finite number")


def _sentence(message: str, text: str, kind: Any, path: str) -> str:
    """Replace a message of msgspec by path, rule and value. kind: type of the whole data."""
    try:
        value = json_of(text)
    except ValueError as reason:  # a number of thousands of digits
        return f"{path}: must be JSON; {reason}"
    place = message.partition(" - at ")[2]
    for index, name, key in PART.findall(place):
        if key:  # msgspec does not tell which; all but texts can be wrong
            name = next(key for key, item in value.items() if not isinstance(item, str))
        path += f"[{index}]" if index else f".{shown_name(name)}"
        value = value[int(index) if index else name]
        of_fields = list(getattr(kind, "__annotations__", {}).items())
        if index:
            kinds = [*get_args(kind), *(own for _, own in of_fields)]
            kind = kinds[0] if ... in kinds else kinds[int(index)]
        else:
            kind = dict(of_fields).get(name) or get_args(kind)[1]
    if "required field" in message:
        return f"{path}.{message.split('`')[1]}: is missing"
    if place.startswith("`key`"):
        value = next(key for key in value if not re.fullmatch("0|[1-9][0-9]{0,14}", key))
        return f"{path}: keys must be token ids; got {shown(value)}"
    length = re.search(r"of (?:at \w+ )?length (\d+(?: to \d+)?)", message)
    rule = f"must have {length[1]} entries" if length else _rule(kind)
    return f"{path}: {rule}; got {shown(value)}"


def _rule(kind: Any) -> str:
    """Say what a value of a type must be."""
    if limits := getattr(kind, "__metadata__", None):
        low, high = limits[0].ge, limits[0].le
        if kind.__origin__ is int:
            return f"must be a whole number from {low} to {high}"
        return f"must be a number from {low} to {high:g}"
    if get_origin(kind) is Literal:
        return f"must be one of {', '.join(get_args(kind))}"
    if get_origin(kind) is UnionType:
        return f"{_rule(get_args(kind)[0])} or null"
    whole = get_origin(kind) or kind
    if whole is Any:
        return "must be a finite number"
    if isinstance(whole, type) and issubclass(whole, tuple):
        return "must be a list"
    return WORDS.get(whole, WORDS[dict])


def _lone_surrogates(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the texts that UTF-8 cannot hold, with their paths."""
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        yield path, value
    for index, item in enumerate(value if isinstance(value, list) else ()):
        yield from _lone_surrogates(item, f"{path}[{index}]")
    for key, item in value.items() if isinstance(value, dict) else ():
        yield from _lone_surrogates(key, path)
        yield from _lone_surrogates(item, f"{path}.{shown_name(key)}")
