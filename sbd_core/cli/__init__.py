"""The command line: a module for each kind of command, shared flags, and the output."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Command:
    """A command: a function that runs it and returns what --json prints, and its flags.

    The first sentence of the function's docstring is the command's line of help.
    extra: name of the group of optional packages that the command needs; None if it needs none.
    has_own_json: True if --json must not be added, as add_flags adds it.
    takes_all_words: True if words with dashes, --help among them, may be another program's.
    """

    run: Callable[[argparse.Namespace], dict[str, Any] | None]
    add_flags: Callable[[argparse.ArgumentParser], None]
    extra: str | None = None
    has_own_json: bool = False
    takes_all_words: bool = False

    @property
    def help(self) -> str:
        """The line of help."""
        words = " ".join(str(self.run.__doc__).split())
        return words[0].lower() + words[1:].rstrip(".")
