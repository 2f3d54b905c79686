"""Reads JSON from untrusted sources, into typed values, with errors that name the faulty place.

msgspec reads and checks the types and limits that annotations declare. It is used for nothing else:
the package writes JSON with the standard library, which refuses NaN and infinity.
"""

import json
import math
import re
from typing import Annotated, Any, TypeVar, get_args

import msgspec

from sbd_core.errors import TraceError, shown, shown_name

T = TypeVar("T")
MAX_INTEGER = 2**53
"""Largest integer accepted. JavaScript represents every integer up to it exactly."""
Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_INTEGER)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=MAX_INTEGER)]
Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]
PART = re.compile(r"\[(\d+)\]|\.(\w+)|\[(\.\.\.)\]")
"""A part of msgspec's path: an index, the name of a field, or any key of an object."""


def choice_of(literal: Any) -> msgspec.Meta:
    """The limit of a str that must be a value of a Literal, named in the error."""
    return msgspec.Meta(pattern=f"^({'|'.join(get_args(literal))})$")


def json_of(text: str | bytes) -> Any:
    """Parse JSON from an untrusted source. Raises ValueError for bad or too deeply nested JSON."""
    try:
        return json.loads(text)
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
        raise TraceError(_sentence(str(error), text, name)) from error
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise TraceError(f"{name}: must be JSON; {error}") from error


def _sentence(message: str, text: str, path: str) -> str:
    """Replace a message of msgspec by path, rule and value."""
    rule, _, place = message.partition(" - at ")
    try:
        value = json_of(text)
    except ValueError as reason:  # a number of thousands of digits, or nested too deep
        return f"{path}: {reason}"
    for index, name, key in PART.findall(place):
        if key:  # msgspec does not tell which; all but texts can be wrong
            name = next(key for key, item in value.items() if not isinstance(item, str))
        path += f"[{index}]" if index else f".{shown_name(name)}"
        value = value[int(index) if index else name]
    if "required field" in rule:
        return f"{path}.{rule.split('`')[1]}: is missing"
    if place.startswith("`key`"):
        value = next(key for key in value if not re.fullmatch("0|[1-9][0-9]{0,14}", key))
        return f"{path}: keys must be token ids; got {shown(value)}"
    rule = rule.partition(", got ")[0].replace("Expected", "must be")
    return f"{path}: {rule}; got {shown(value)}"
