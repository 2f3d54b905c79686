"""Settings as fields of dataclasses, each declared once: limits, label, help, names elsewhere.

A field made by setting() carries all that a command, a link, a form and a check need to know of it.
Everything that lists settings is made from settings_of(). Needs the standard library only.
"""

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from sbd_core.errors import ArgumentError, require_integer, require_number

Kind = Literal["choice", "whole", "number", "flag", "text", "other"]
KINDS: dict[Any, Kind] = {int: "whole", float: "number", bool: "flag", str: "text"}
"""Kinds by annotation. A Literal is a choice; the class itself checks a setting of kind "other"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A declared setting. name, kind, default and is_optional follow from its field.

    default: None if there is none. is_optional: whether None is a value. choices: of kind "choice".
    low, high: limits of a number, inclusive; None for none.
    label, help, unit: words for people; the help says what the setting does, in one line.
    link: name in a link; None if the page does not have the setting.
    flag: name of the command's flag without dashes; None if no command has the setting.
    step: of a box or slider. strategies: those that use the setting; () if all do.
    words: the setting with its value for {}, as in "blocks of {}".
    unset: what holds where the value is None, in words.
    """

    name: str
    kind: Kind
    default: Any
    is_optional: bool
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    label: str = ""
    help: str = ""
    unit: str = ""
    link: str | None = None
    flag: str | None = None
    step: float | None = None
    strategies: tuple[str, ...] = ()
    words: str = ""
    unset: str = ""


def setting(
    default: Any = MISSING, *, factory: Any = MISSING, hash: bool | None = None, **more: Any
) -> Any:
    """Declare a setting as a dataclass field. more: arguments of Setting that are not implied.

    default, factory: as in dataclasses.field(). hash: False for a value that has no hash.
    """
    return field(default=default, default_factory=factory, hash=hash, metadata={"help": "", **more})


def settings_of(cls: Any) -> tuple[Setting, ...]:
    """List the settings that a dataclass declares, in order. cls: the class."""
    return _settings_of(cls)


@cache
def _settings_of(cls: Any) -> tuple[Setting, ...]:
    return tuple(_setting_of(item) for item in fields(cls) if item.metadata)


def _setting_of(item: Field[Any]) -> Setting:
    annotation, default = item.type, item.default
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    [kind] = [part for part in parts if part is not NoneType]
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    return Setting(
        **{"flag": item.name.replace("_", "-"), "choices": choices, **item.metadata},
        name=item.name,
        kind="choice" if choices else KINDS.get(kind, "other"),
        default=None if default is MISSING else default,
        is_optional=NoneType in parts,
    )


def check(config: Any) -> None:
    """Raise ArgumentError for the first setting of a dataclass that breaks its kind or limits."""
    for item in settings_of(type(config)):
        value = getattr(config, item.name)
        if value is None and item.is_optional:
            continue
        if item.kind == "whole":
            low, high = int(item.low or 0), None if item.high is None else int(item.high)
            require_integer(item.name, value, low, high)
        elif item.kind == "number":
            require_number(item.name, value, item.low or 0, *([item.high] if item.high else []))
        elif item.kind == "choice" and value not in item.choices:
            raise ArgumentError(item.name, f"must be one of {', '.join(item.choices)}", value)
        elif item.kind == "flag" and not isinstance(value, bool):
            raise ArgumentError(item.name, "must be True or False", value)
        elif item.kind == "text" and not isinstance(value, str):
            raise ArgumentError(item.name, "must be text", value)


def add_flags(parser: argparse._ActionsContainer, items: Iterable[Setting]) -> None:
    """Add a flag for every setting that has one. A flag that is not given leaves None.

    The name of a value in the parsed arguments is that of the setting.
    """
    for item in items:
        if item.flag is None:
            continue
        kind: dict[str, Any] = {"type": {"whole": int, "number": float}.get(item.kind, str)}
        if item.kind == "flag":
            kind = {"action": "store_true", "default": None}
        default = item.unset if item.default is None else item.default
        choices = f": {', '.join(item.choices)}" if item.choices else ""
        words = item.help + choices + f" ({default})" * (item.kind != "flag" and default != "")
        parser.add_argument(f"--{item.flag}", dest=item.name, help=words, **kind)


def given(arguments: argparse.Namespace, items: Iterable[Setting]) -> dict[str, Any]:
    """The values of those settings whose flags were given: {name of the setting: value}."""
    values = {item.name: getattr(arguments, item.name) for item in items}
    return {name: value for name, value in values.items() if value is not None}


def with_whole_numbers(items: Iterable[Setting], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, with an int for each float that is whole where a setting is of kind "whole"."""
    made = dict(values)
    for item in items:
        value = made.get(item.name)
        if item.kind == "whole" and isinstance(value, float) and value.is_integer():
            made[item.name] = int(value)
    return made
