"""The models that a page offers: which there are, and the state of each.

Each is loaded when somebody wants it; a missing base is fetched on request. Knows no Gradio and no
tensors.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

import sbd_core
from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError, ModelError, SetBlockDecodingError
from sbd_core.models.bases import BASES, BaseSource, base_folder, fetch, find_base, hub_copy, remove
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
from ui.hosting.web_models import export_behind
from ui.hosting.zero_gpu import on_zero_gpu
from ui.lazy_model import LazyModel, import_loading

REAL_PRESETS = "presets-english.json"
"""File in assets/ with prompts for the real model, which takes any prompt."""

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 0.3
BUNDLED = {
    DEFAULT_CHECKPOINT.name: ("nano 5M", "knows six kinds of task"),
    REAL_MODEL: ("SmolLM2 135M", "takes any prompt in English; it is small and may be wrong"),
}
"""Title of each model that ships with this package, and a few words about it."""
FETCH_FAILED = "the program failed; its log says where"


class _Cancelled(Exception):
    """Raised within a fetch that the visitor cancelled."""


@dataclass(frozen=True, slots=True)
class FetchNews:
    """Progress of a fetch. words: its present step, or why it failed. done, total: bytes."""

    words: str = ""
    done: int = 0
    total: int = 0
    is_running: bool = False


class Offer:
    """One model that a page offers.

    name: as in the form, links and traces. title, about: words for people.
    make: makes its LazyModel.
    base: what must be fetched before it can be loaded; None for a complete model.
    presets: file in assets/ with prompts for it.
    """

    def __init__(
        self,
        make: Callable[[], LazyModel],
        title: str = "",
        about: str = "",
        *,
        base: BaseSource | None = None,
        presets: str = "presets.json",
    ) -> None:
        self._make = make
        self.lazy = make()
        self.name = self.lazy.name
        self.title = title or self.name
        self.about = about
        self.base = base
        self.presets = presets
        self.fetch_news = FetchNews()
        self._lock = threading.Lock()
        self._is_cancelled = False

    @property
    def is_chat(self) -> bool:
        """Whether it takes a conversation: nano was trained on single puzzles."""
        return self.name != DEFAULT_CHECKPOINT.name

    def folder_for_browsers(self, *, is_public: bool) -> Path | None:
        """The model's folder if a visitor's browser may decode with it, else None.

        On a public page only bundled models may be given.
        """
        model = self.lazy
        is_ours = model.folder is not None and bundled_folder(model.folder.name) == model.folder
        return model.folder if model.is_trained and (is_ours or not is_public) else None

    @property
    def is_here(self) -> bool:
        """Whether it can be loaded without a fetch."""
        return self.base is None or self.lazy.is_loaded or find_base(self.base) is not None

    @property
    def is_damaged(self) -> bool:
        """Whether its base is here but incomplete."""
        return self.base is not None and not self.is_here and base_folder(self.base).exists()

    @property
    def absence(self) -> str:
        """A sentence on what to do about a missing base."""
        if self.fetch_news.is_running:
            return f"{self.title} is still being downloaded; until then choose another model."
        state = "is damaged on this machine" if self.is_damaged else "is not on this machine yet"
        return f"{self.title} {state}: download it in the head of the page."

    def fetch(self) -> None:
        """Fetch its base in a thread of its own, unless a fetch is under way."""
        base = self.base
        with self._lock:
            if base is None or self.fetch_news.is_running:
                return
            self._is_cancelled = False
            self.fetch_news = FetchNews("waiting", 0, base.num_bytes, is_running=True)
        threading.Thread(target=self._fetch, args=(base,), name="fetch", daemon=True).start()

    def cancel(self) -> None:
        """Cancel the fetch under way, at its next progress; it leaves nothing behind."""
        with self._lock:
            if self.fetch_news.is_running:
                self._is_cancelled = True
                self.fetch_news = replace(self.fetch_news, words="cancelling")

    def remove(self) -> None:
        """Delete the fetched base, and drop the model."""
        if self.base is None or self.fetch_news.is_running:
            return
        try:
            remove(self.base)
        except ModelError as error:
            self.fetch_news = FetchNews(str(error))
            return
        self._forget()
        self.fetch_news = FetchNews()

    def _forget(self) -> None:
        """Let the model be loaded anew; one not begun stays, as somebody may wait for it."""
        if self.lazy.is_begun:
            self.lazy = self._make()

    def _fetch(self, base: BaseSource) -> None:
        words = ""
        try:
            import_loading()  # which unpacks the download
            fetch(base, self._hear)
        except _Cancelled:
            words = ""
        except SetBlockDecodingError as error:
            words = str(error)
        except Exception:  # the page must say something, whatever broke
            logger.exception("a base could not be fetched")
            words = FETCH_FAILED
        if self.lazy.failure is not None:  # for want of the base
            self._forget()
        if not words:
            export_behind([self.lazy.folder] if self.is_here else [])
        self.fetch_news = FetchNews(words)

    def _hear(self, what: str, done: int, total: int) -> None:
        with self._lock:
            if self._is_cancelled:
                raise _Cancelled
            self.fetch_news = FetchNews(what, done, total, is_running=True)


class Models:
    """The models of a page by name. first: the one it opens with."""

    def __init__(self, offers: Sequence[Offer], first: Offer | None = None) -> None:
        self._offers = {offer.name: offer for offer in offers}
        self.first = first or offers[0]

    @classmethod
    def of(cls, model: "SetBlockModel | LazyModel | Models") -> "Models":
        """One model alone, perhaps still loading, as the models of a page."""
        if isinstance(model, Models):
            return model
        lazy = LazyModel.of(model)
        return cls([Offer(lambda: lazy)])

    def __iter__(self) -> Iterator[Offer]:
        return iter(self._offers.values())

    def __len__(self) -> int:
        return len(self._offers)

    def known(self, name: object) -> str:
        """The name if a model here has it, else the first one's; "" if there is only one model."""
        if isinstance(name, str) and name in self._offers:
            return name
        return self.first.name if len(self) > 1 else ""

    def offer(self, name: object) -> Offer:
        """The model called `name`; the first for "" and None. Raises ArgumentError."""
        if name is None or name == "":
            return self.first
        if not isinstance(name, str) or name not in self._offers:
            raise ArgumentError("model", f"must be one of {', '.join(self._offers)}", name)
        return self._offers[name]

    def wanted(self, name: object) -> LazyModel:
        """Begin to load the model called `name`. Raises ArgumentError, ModelError."""
        offer = self.offer(name)
        if not offer.is_here:
            raise ModelError(offer.absence)
        offer.lazy.begin()
        return offer.lazy


DEVICES_TO_TRUST = ("auto", "cpu")


def model_of(path_or_hub_id: str | None, device: str) -> LazyModel:
    """The model asked for; loaded later if its info is readable, else now, raising our errors."""

    def load() -> SetBlockModel:
        from sbd_core.models.runtime import choose_threads

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
