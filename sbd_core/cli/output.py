"""Copes with standard output that is closed, full, not in Unicode, or loses its reader."""

import io
import os
import sys
from collections.abc import Callable
from typing import TextIO

LOSSLESS = ("strict", "surrogateescape")
"""Error handlers that fail on a character that the encoding lacks."""


def with_output(command: Callable[[], int]) -> int:
    """Run `command` and return its exit status. If output fails, print an error and return 2.

    If the output is a pipe whose reader has gone, no error is printed and 0 is returned. After a
    failure, buffered output is discarded, or Python would fail again at exit. Characters that the
    output's encoding lacks are replaced.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed before we began
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in LOSSLESS:
        sys.stdout.reconfigure(errors="replace")
    try:
        try:
            return command()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
        return 0
    except OSError as error:
        _discard(sys.stdout)
        try:
            text = f"error: the output cannot be written: {error}"
            print(text, file=sys.stderr, flush=True)
        except OSError:
            _discard(sys.stderr)
        return 2


def _discard(stream: TextIO) -> None:
    """Discard everything that is buffered in the stream or written to it later."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
