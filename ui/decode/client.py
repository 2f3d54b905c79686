"""Clients and their visits: the address, whether anybody still listens, which runs are stopped.

A visitor's runs are kept by their browser alone. Knows no Gradio and no tensors; ui.gradio_hooks
makes clients of Gradio's requests.
"""

from collections.abc import Callable
from dataclasses import dataclass


def always() -> bool:
    """Return True, as a client that never leaves."""
    return True


@dataclass(frozen=True, slots=True)
class Client:
    """A visitor's tab, or a program.

    address: clients of one address share its turns in line.
    is_listening: asked between forward passes; a run that nobody listens to ends.
    session: the tab or program, as it names itself.
    """

    address: str = ""
    is_listening: Callable[[], bool] = always
    session: str = ""


LOCAL = Client()


class Visit:
    """State of one visitor of the page: running decodes and the wish to stop them."""

    def __init__(self) -> None:
        self._num_stops = 0
        self._decodes: set[object] = set()

    def __deepcopy__(self, memo: object) -> "Visit":
        """Make a new visit: Gradio copies the first value of a state for every visitor."""
        return Visit()

    def stop(self) -> None:
        """End the running decodes after their next forward pass."""
        self._num_stops += 1

    def watch(self) -> Callable[[], bool]:
        """Return a function that says whether stop() has been called since."""
        before = self._num_stops
        return lambda: self._num_stops != before

    def is_decoding(self, decode: object, *, is_running: bool) -> bool:
        """Note whether `decode` runs; return whether any decode of the visitor does."""
        (self._decodes.add if is_running else self._decodes.discard)(decode)
        return bool(self._decodes)
