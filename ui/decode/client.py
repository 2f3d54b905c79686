"""Who asks for a run: the address it came from, and whether anybody still listens to it.

Knows no Gradio; ui.gradio_hooks makes clients of its requests.
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
