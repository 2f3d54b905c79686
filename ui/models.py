"""The models that a page offers: each is loaded when somebody wants it, and one whose base must be
fetched is fetched when somebody says so.

Knows no Gradio and no tensors.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sbd_core.errors import ArgumentError, ModelError, SetBlockDecodingError
from sbd_core.models.bases import BaseSource, fetch, find_base, remove
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from sbd_core.models.protocol import SetBlockModel
from ui.lazy_model import LazyModel

REAL_PRESETS = "presets-english.json"
"""In assets/: prompts for the real model, to which any may be put."""

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LOOKS = 0.3
FETCH_FAILED = "the program failed; its log says where"


class _Cancelled(Exception):
    """The visitor's wish, raised within the fetch."""


@dataclass(frozen=True, slots=True)
class FetchNews:
    """How far a fetch is. words: what is done, or why it failed. done, total: bytes."""

    words: str = ""
    done: int = 0
    total: int = 0
    is_running: bool = False


class Offer:
    """One model of a page.

    name: as the form, links and traces call it. title, about: for people. make: a new LazyModel of
    it. base: what must be fetched before it can be loaded, None for a model that is whole. presets:
    file in assets/ of prompts for it.
    """

    def __init__(
        self,
        make: Callable[[], LazyModel],
        *,
        title: str = "",
        about: str = "",
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
        self._is_begun = self.lazy.is_settled
        self._is_cancelled = False

    @property
    def is_chat(self) -> bool:
        """Whether it takes a conversation: nano was trained on single puzzles."""
        return self.name != DEFAULT_CHECKPOINT.name

    @property
    def is_here(self) -> bool:
        """Whether it can be loaded without a fetch."""
        return self.base is None or self.lazy.is_settled or find_base(self.base) is not None

    @property
    def absence(self) -> str:
        """What to do about a base that is not here."""
        if self.fetch_news.is_running:
            return f"{self.title} is still being downloaded; until then choose another model."
        return f"{self.title} is not on this machine yet: download it in the head of the page."

    def is_claimed(self) -> bool:
        """Whether it is loaded elsewhere already; from now on it is: by who asked."""
        with self._lock:
            was_begun, self._is_begun = self._is_begun, True
        return was_begun

    def begin(self, after: LazyModel | None = None) -> None:
        """Load it in a thread of its own, unless that was begun.

        after: a model whose loading is to end first, as two cannot import transformers at a time.
        """
        if self.is_claimed():
            return
        lazy = self.lazy

        def load() -> None:
            if after is not None and after is not lazy:
                after.settle()
            lazy.load()

        threading.Thread(target=load, name=f"load {self.name}", daemon=True).start()

    def fetch(self, after: LazyModel | None = None) -> None:
        """Fetch its base in a thread of its own, unless that is under way. after: as of begin()."""
        base = self.base
        with self._lock:
            if base is None or self.fetch_news.is_running:
                return
            self._is_cancelled = False
            self.fetch_news = FetchNews("waiting", 0, base.num_bytes, is_running=True)
        args = (base, after)
        threading.Thread(target=self._fetch, args=args, name="fetch", daemon=True).start()

    def cancel(self) -> None:
        """End the fetch that is under way; nothing of it stays."""
        self._is_cancelled = True

    def remove(self) -> None:
        """Delete the fetched base, and let go of the model."""
        if self.base is None or self.fetch_news.is_running:
            return
        remove(self.base)
        with self._lock:
            self.lazy, self._is_begun = self._make(), False
            self.fetch_news = FetchNews()

    def _fetch(self, base: BaseSource, after: LazyModel | None) -> None:
        words = ""
        try:
            if after is not None:
                after.settle()
            fetch(base, self._hear)
        except _Cancelled:
            words = ""
        except SetBlockDecodingError as error:
            words = str(error)
        except Exception:  # the page must say something, whatever broke
            logger.exception("a base could not be fetched")
            words = FETCH_FAILED
        self.fetch_news = FetchNews(words)
        with self._lock:
            if not words and self.lazy.is_settled:  # it failed for want of the base
                self.lazy, self._is_begun = self._make(), False

    def _hear(self, what: str, done: int, total: int) -> None:
        if self._is_cancelled:
            raise _Cancelled
        self.fetch_news = FetchNews(what, done, total, is_running=True)


class Models:
    """The models of a page by name. first: the one it opens with."""

    def __init__(self, offers: Sequence[Offer], first: Offer | None = None) -> None:
        self._offers = {offer.name: offer for offer in offers}
        self.first = first or offers[0]
        self.first.is_claimed()  # whoever serves the page loads it, see ui.launch.load_behind

    @classmethod
    def of(cls, model: "SetBlockModel | LazyModel | Models") -> "Models":
        """One model alone, which may still be on its way, as all of them."""
        if isinstance(model, Models):
            return model
        lazy = LazyModel.of(model)
        return cls([Offer(lambda: lazy)])

    def __iter__(self) -> Iterator[Offer]:
        return iter(self._offers.values())

    def __len__(self) -> int:
        return len(self._offers)

    def known(self, name: object) -> str:
        """The name if a model here has it, else the first's; "" where there is one alone."""
        if isinstance(name, str) and name in self._offers:
            return name
        return self.first.name if len(self) > 1 else ""

    def offer(self, name: object) -> Offer:
        """The model of a name; "" and None are the first. Raises ArgumentError."""
        if name is None or name == "":
            return self.first
        if not isinstance(name, str) or name not in self._offers:
            raise ArgumentError("model", f"must be one of {', '.join(self._offers)}", name)
        return self._offers[name]

    def wanted(self, name: object) -> LazyModel:
        """The model of a name, on its way from now on. Raises ArgumentError, ModelError."""
        offer = self.offer(name)
        if not offer.is_here:
            raise ModelError(offer.absence)
        offer.begin(after=self.first.lazy)
        return offer.lazy
