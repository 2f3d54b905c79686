"""Start of the page: the address is checked first, the model is loaded last."""

import errno
import socket
from importlib import import_module

from sbd_core.errors import ArgumentError
from ui.lazy_model import LazyModel
from ui.models import Models

SECONDS_FOR_FIRST_VISITOR = 3.0
MAX_PORT = 65_535


def checked_port(value: object) -> int:
    """Read a port number. Raises ArgumentError."""
    text = str(value)
    port = int(text) if text.isascii() and text.isdigit() and len(text) <= 5 else 0
    if not 1 <= port <= MAX_PORT:
        raise ArgumentError("port", f"must be a whole number from 1 to {MAX_PORT}", value)
    return port


def check_address(host: str, port: int) -> None:
    """Raise ArgumentError, with the reason, if this machine cannot listen on an address."""
    try:
        family, kind, *_, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(place)
    except (socket.gaierror, UnicodeError) as error:
        raise ArgumentError("host", "must be a name or an address", host) from error
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ArgumentError("port", "is in use; choose another", port) from error
        if error.errno == errno.EACCES:
            raise ArgumentError("port", "needs rights that you do not have", port) from error
        raise ArgumentError("host", "must be an address of this machine", host) from error


def load_behind(model: LazyModel | Models) -> Exception | None:
    """Load the first model of a page that is already served; return its error, if any.

    Loading slows a page down for its first visitor, so it begins when that page is shown, somebody
    decodes, or nobody comes. A page whose model fails says why until it is stopped.
    """
    lazy = Models.of(model).first.lazy
    lazy.wait_until_wanted(SECONDS_FOR_FIRST_VISITOR)
    lazy.load()
    # With Plotly, so that the first visitor who opens the charts need not wait for it.
    import_module("sbd_core.plots")
    return lazy.failure
