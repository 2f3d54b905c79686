"""Starting: the address is checked first, the model is loaded last."""

import errno
import socket
import time
from importlib import import_module
from pathlib import Path

import sbd_core
from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT, read_checkpoint_info
from sbd_core.models.protocol import SetBlockModel
from ui.hosting.zero_gpu import is_lent
from ui.lazy_model import LazyModel

DEVICES_TO_TRUST = ("auto", "cpu")
SECONDS_FOR_FIRST_VISITOR = 3.0
SECONDS_FOR_BAD_NEWS = 1.0
MAX_PORT = 65_535


def checked_port(value: object) -> int:
    """A port as a number. Raises ArgumentError."""
    text = str(value)
    port = int(text) if text.isascii() and text.isdigit() and len(text) <= 5 else 0
    if not 1 <= port <= MAX_PORT:
        raise ArgumentError("port", f"must be a whole number from 1 to {MAX_PORT}", value)
    return port


def check_address(host: str, port: int) -> None:
    """Raise ArgumentError for an address that this machine cannot listen on, saying why."""
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


def model_of(path_or_hub_id: str | None, device: str) -> LazyModel:
    """The model that is asked for: loaded later if its info is readable, else now.

    Raises ArgumentError, ModelError for a model that is loaded now.
    """

    def load() -> SetBlockModel:
        from sbd_core.models.threads import choose_threads

        model = sbd_core.load(path_or_hub_id, device=device)
        choose_threads(model.num_parameters)
        return model

    # A model that is to be on a lent GPU must be there before the page is served.
    may_wait = device in DEVICES_TO_TRUST and not is_lent()
    info = read_checkpoint_info(path_or_hub_id) if may_wait else None
    if info is None:
        return LazyModel.of(load(), path_or_hub_id or "")
    return LazyModel(
        info.name,
        can_draft=True,
        block_range=info.block_range,
        load=load,
        folder=DEFAULT_CHECKPOINT if path_or_hub_id is None else Path(path_or_hub_id),
        is_trained=info.is_trained,
        source=path_or_hub_id or "",
    )


def load_behind(lazy: LazyModel) -> None:
    """Load the model of a page that is already served, unless it is there.

    Loading slows a page on its way to its first visitor; it begins when that page is there, or
    somebody decodes, or nobody came. Raises what loading raises, once visitors have read of it.
    """
    if lazy.is_settled:
        return
    lazy.wait_until_wanted(SECONDS_FOR_FIRST_VISITOR)
    try:
        lazy.load()
    except SetBlockDecodingError:
        time.sleep(SECONDS_FOR_BAD_NEWS)
        raise
    # With Plotly, so that the first visitor who opens the charts need not wait for it.
    import_module("sbd_core.plots")
