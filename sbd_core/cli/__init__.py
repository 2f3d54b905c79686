"""The command line: a module for each kind of command, shared flags, and the output."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its flags, and a function that runs it and returns what --json prints.

    extra: name of the group of optional packages that the command needs; None if it needs none.
    has_own_json: True if --json must not be added, as add_flags or another program handles it.
    parser_options: keyword arguments of the command's ArgumentParser.
    """

    help: str
    add_flags: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], dict[str, Any] | None]
    extra: str | None = None
    has_own_json: bool = False
    parser_options: Mapping[str, Any] = field(default_factory=dict)
