"""One visitor's decodes as long as they run: which ones do, and whether to stop them.

Their runs are kept by the visitor's browser alone. Knows no Gradio and no tensors.
"""

from collections.abc import Callable


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
