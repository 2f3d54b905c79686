"""The command line: commands by what they are for, their flags, and their output."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its flags, and a function that runs it and returns what --json prints.

    extra: the optional part that it needs.
    has_own_json: whether it adds --json itself, or leaves its flags to another program.
    parser_options: further arguments of its parser.
    """

    help: str
    add_flags: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], dict[str, Any] | None]
    extra: str | None = None
    has_own_json: bool = False
    parser_options: Mapping[str, Any] = field(default_factory=dict)
