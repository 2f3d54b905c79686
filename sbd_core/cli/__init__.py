"""The command line: one module for each kind of command, shared flags, and the output."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its flags, and a function that runs it and returns what --json prints.

    extra: name of the optional part of sbd-core that the command needs.
    has_own_json: True if add_flags adds --json, or another program reads the flags.
    parser_options: further arguments of the command's parser.
    """

    help: str
    add_flags: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], dict[str, Any] | None]
    extra: str | None = None
    has_own_json: bool = False
    parser_options: Mapping[str, Any] = field(default_factory=dict)
