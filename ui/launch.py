"""Start of the page: the address is checked first, the model is loaded last."""

import errno
import socket
from importlib import import_module

import sbd_core
from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError, ModelError
from sbd_core.models.bases import BASES, BaseSource, fetch, find_base, hub_copy
from sbd_core.models.model_folder import (
    ADAPTER_INFO,
    DEFAULT_CHECKPOINT,
    REAL_MODEL,
    bundled_folder,
    folder_of,
    is_block_adapter,
    object_in,
    read_checkpoint_info,
)
from sbd_core.models.protocol import SetBlockModel
from ui.hosting.zero_gpu import on_zero_gpu
from ui.lazy_model import LazyModel
from ui.models import BUNDLED, REAL_PRESETS, Models, Offer

DEVICES_TO_TRUST = ("auto", "cpu")
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


def model_of(path_or_hub_id: str | None, device: str) -> LazyModel:
    """The model asked for; loaded later if its info is readable, else now, raising our errors."""

    def load() -> SetBlockModel:
        from sbd_core.models.threads import choose_threads

        # In this thread and first: transformers fails if two threads import it at the same time.
        import_module("sbd_core.decoding.api")
        fetch_base(path_or_hub_id)
        model = sbd_core.load(path_or_hub_id, device=device)
        choose_threads(model.num_parameters)
        if on_zero_gpu():  # without a GPU between calls, exactness cannot be tested
            model.exactness = "equal up to rounding"
        else:  # so that the set-up in the first forward passes does not count in a run's time
            sbd_core.generate(model, "Hi", DecodeConfig(strategy="ntp", max_new_tokens=2))
        return model

    # A model for a GPU that is lent per call must be loaded before the page is served.
    may_wait = device in DEVICES_TO_TRUST and not on_zero_gpu()
    info = read_checkpoint_info(path_or_hub_id) if may_wait else None
    if info is None:
        return LazyModel.of(load(), path_or_hub_id or "")
    return LazyModel(
        info.name,
        can_draft=True,
        block_range=info.block_range,
        load=load,
        folder=folder_of(path_or_hub_id),
        is_trained=info.is_trained,
        has_adapter=info.has_adapter,
        source=path_or_hub_id or "",
    )


def models_of(path_or_hub_id: str | None, device: str) -> Models:
    """The models that the page offers: the one asked for, and those that ship with this package.

    The page opens with the one asked for, else with the real one if its base is here, else with
    nano. On a GPU that is lent per call, only the first is offered. Raises as model_of().
    """
    asked = None
    if path_or_hub_id is not None and bundled_folder(path_or_hub_id) is None:
        lazy = model_of(path_or_hub_id, device)
        asked = Offer(lambda: lazy)
        if on_zero_gpu():
            return Models([asked])
    nano = Offer(lambda: model_of(None, device), *BUNDLED[DEFAULT_CHECKPOINT.name])
    offers = [nano]
    if bundled_folder(REAL_MODEL) is not None:
        base = base_of(REAL_MODEL)
        try:
            if base is not None and hub_copy(base) is not None:  # downloaded by a Space's build
                fetch_base(REAL_MODEL)
        except ModelError as error:
            print(f"{error}; the page opens without it")
        words = BUNDLED[REAL_MODEL]
        real = Offer(lambda: model_of(REAL_MODEL, device), *words, base=base, presets=REAL_PRESETS)
        offers.insert(0, real)
    if asked is not None:
        others = [offer for offer in offers if offer.name != asked.name]
        return Models([asked, *others])
    if path_or_hub_id is None:
        first = next(offer for offer in offers if offer.is_here)
    else:
        first = next((offer for offer in offers if offer.name == path_or_hub_id), nano)
    return Models([first] if on_zero_gpu() else offers, first=first)


def base_of(path_or_hub_id: str | None) -> BaseSource | None:
    """The base that must be fetched for a block adapter; None for any other model."""
    folder = folder_of(path_or_hub_id)
    if not is_block_adapter(folder):
        return None
    try:
        return BASES.get(str(object_in(folder / ADAPTER_INFO)["base"]))
    except (OSError, ValueError, KeyError):
        return None  # loading says what is wrong with it


def fetch_base(path_or_hub_id: str | None) -> None:
    """Fetch the base of a block adapter, unless it is here. Raises ModelError."""
    source = base_of(path_or_hub_id)
    if source is not None and find_base(source) is None:
        size = source.num_bytes // 10**6
        print(f"fetching {source.name}, of {source.original}, {source.licence}, {size} MB, once")
        fetch(source)


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
