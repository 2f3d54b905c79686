"""Copes with Ctrl-C, and with an output that is closed, full, not Unicode, or loses its reader."""

import io
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import TextIO

LOSSLESS = ("strict", "surrogateescape")


def interruptible(command: Callable[[], int]) -> int:
    """Run `command` and return its exit status; after Ctrl-C, say "stopped" and return 130.

    That holds whatever error the interrupted code makes of it, as imports do.
    """
    if threading.current_thread() is not threading.main_thread():
        return command()  # Python tells the main thread alone of signals
    has_stopped = False

    def stop(*_: object) -> None:
        nonlocal has_stopped
        has_stopped = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, stop)
    try:
        return command()
    except (Exception, KeyboardInterrupt) as error:
        if not has_stopped and not isinstance(error, KeyboardInterrupt):
            raise
        print("stopped", file=sys.stderr)
        return 130
    finally:
        signal.signal(signal.SIGINT, before)


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
