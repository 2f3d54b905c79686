"""Silences what transformers and the Hub print while they load and save. Errors are raised."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from huggingface_hub.utils import logging as hub_logging
from transformers.utils import logging as transformers_logging

_quiet = threading.RLock()


@contextmanager
def quietly() -> Iterator[None]:
    """Silence the messages of transformers and the Hub while they load; errors are raised.

    One thread at a time: the setting holds for all threads, and parts of transformers fail when two
    threads import them at once.
    """
    with _quiet:
        libraries = [(each, each.get_verbosity()) for each in (transformers_logging, hub_logging)]
        for library, _ in libraries:
            library.set_verbosity_error()
        try:
            with bars_only_on_a_terminal():
                yield
        finally:
            for library, verbosity in libraries:
                library.set_verbosity(verbosity)


@contextmanager
def bars_only_on_a_terminal() -> Iterator[None]:
    """Keep transformers' loading bars out of logs and pipes."""
    was_enabled = transformers_logging.is_progress_bar_enabled()
    if not sys.stderr.isatty():
        transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            transformers_logging.enable_progress_bar()
