"""Clients and their visits: the address, whether anybody still listens, which runs go on.

A visitor's runs are kept by their browser alone. Knows no Gradio and no tensors; ui.gradio_hooks
makes clients of its requests.
"""

from collections.abc import Callable
from dataclasses import dataclass


def always() -> bool:
    """A listener that does not leave."""
    return True


@dataclass(frozen=True, slots=True)
class Client:
    """address: clients of one address share their turns with it. is_listening: asked between
    forward passes; a run that nobody listens to ends. session: the tab or program, as it says
    itself."""

    address: str = ""
    is_listening: Callable[[], bool] = always
    session: str = ""


LOCAL = Client()


class Visit:
    """Held by the page for each visitor apart."""

    def __init__(self) -> None:
        self._num_stops = 0
        self._decodes: set[object] = set()

    def __deepcopy__(self, memo: object) -> "Visit":
        """A visitor of their own: Gradio copies the first value of a state for everyone."""
        return Visit()

    def stop(self) -> None:
        """Let the decodes that are running end after their next forward pass."""
        self._num_stops += 1

    def watch(self) -> Callable[[], bool]:
        """A function that says whether stop() was called since."""
        before = self._num_stops
        return lambda: self._num_stops != before

    def is_decoding(self, decode: object, *, is_running: bool) -> bool:
        """Note whether `decode` runs. Says whether any decode of the visitor does."""
        (self._decodes.add if is_running else self._decodes.discard)(decode)
        return bool(self._decodes)
