"""Commands of `python -m sbd_core`, shown before they run, for scripts that chain several."""

import shlex

from sbd_core.__main__ import main as sbd


class CommandError(Exception):
    """A command ended badly, and has said why. status: its exit status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def command(*parts: object) -> None:
    """Show and run one. Raises CommandError."""
    words = [str(part) for part in parts]
    print(f"== python -m sbd_core {shlex.join(words)}", flush=True)
    if status := sbd(words):
        raise CommandError(status)
