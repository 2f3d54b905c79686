"""A model that may still be loading: its known properties, and waiting for the rest.

The page opens before its model is loaded. Knows no Gradio and no tensors.
"""

import logging
import re
import threading
from collections.abc import Callable
from concurrent import futures
from importlib import import_module
from pathlib import Path

from sbd_core.errors import ModelError, SetBlockDecodingError, shown
from sbd_core.models.protocol import SetBlockModel

logger = logging.getLogger(__name__)

FOLDERS = re.compile(r"(?<![\w.:/])/(?:[^\s'\"/]+/)+")
"""Folders of an absolute path, without its last name."""

_loading = threading.Lock()
"""One model is loaded at a time, as two threads that import transformers at once fail."""


def import_loading() -> None:
    """Import the module that loads models, while no model is being loaded."""
    with _loading:
        import_module("sbd_core.models.loading")


class LazyModel:
    """A model of a page, whose properties are known before it is loaded.

    can_draft: whether it has a mask token.
    folder: where it lies; None for a model of the hub.
    is_trained: whether it is trained to decode blocks.
    has_adapter: whether it has an adapter that only the rows of blocks read.
    source: the folder or hub id that was asked for.
    is_begun: whether loading has begun. failure: error of the loading.
    """

    def __init__(
        self,
        name: str,
        *,
        can_draft: bool,
        block_range: tuple[int, int] | None,
        load: Callable[[], SetBlockModel],
        folder: Path | None = None,
        is_trained: bool = True,
        has_adapter: bool = False,
        source: str = "",
    ) -> None:
        self.name = name
        self.can_draft = can_draft
        self.block_range = block_range
        self.folder = folder
        self.is_trained = is_trained
        self.has_adapter = has_adapter
        self.source = source or name
        self.is_begun = False
        self.failure: Exception | None = None
        self._load = load
        self._lock = threading.Lock()
        self._future: futures.Future[SetBlockModel] = futures.Future()
        self._wanted = threading.Event()

    @classmethod
    def of(cls, model: "SetBlockModel | LazyModel", source: str = "") -> "LazyModel":
        """Wrap a loaded model, for which nobody has to wait."""
        if isinstance(model, LazyModel):
            return model
        can_draft = model.mask_token_id is not None
        here = cls(
            model.name,
            can_draft=can_draft,
            block_range=model.block_range,
            load=lambda: model,
            folder=getattr(model, "folder", None),
            is_trained=can_draft and getattr(model, "is_trained", True),
            has_adapter=getattr(model, "adapter", None) is not None,
            source=source,
        )
        here.is_begun = True
        here._future.set_result(model)
        return here

    def begin(self) -> None:
        """Begin to load it in a thread of its own, unless that has begun."""
        if not self.is_begun:
            threading.Thread(target=self.load, name=f"load {self.name}", daemon=True).start()

    def load(self) -> None:
        """Load it in this thread, or wait for the thread that loads it."""
        with self._lock:
            is_ours, self.is_begun = not self.is_begun, True
        if not is_ours:
            self.settle()
            return
        with _loading:
            try:
                self._future.set_result(self._load())
            except Exception as error:
                if not isinstance(error, SetBlockDecodingError):
                    logger.exception("the model could not be loaded")
                self.failure = error
                self._future.set_exception(ModelError(self._words_of(error)))

    def _words_of(self, error: Exception) -> str:
        """The reason why there is no model, for visitors: without its folder or its base's."""
        if not isinstance(error, SetBlockDecodingError):
            kind = type(error).__name__
            return f"model: loading it failed inside the program ({kind}); its log says where"
        words = str(error)
        for place in (self.source, str(self.folder or self.source)):
            words = words.replace(shown(place), shown(self.name)).replace(place, self.name)
        return FOLDERS.sub("", words)

    def wait_until_wanted(self, seconds: float) -> None:
        """Return when somebody asks for the model, or after so many seconds."""
        self._wanted.wait(seconds)

    @property
    def is_settled(self) -> bool:
        """Whether loading is over, so that result() returns at once."""
        return self._future.done()

    @property
    def is_loaded(self) -> bool:
        """Whether it was loaded without an error."""
        return self.is_settled and self._future.exception() is None

    def wait(self, seconds: float) -> bool:
        """Ask for it and wait up to so many seconds; True if result() would now return at once."""
        self._wanted.set()
        return bool(futures.wait([self._future], seconds).done)

    def settle(self) -> None:
        """Ask for it and wait until it is loaded or has failed."""
        self._wanted.set()
        futures.wait([self._future])

    def result(self) -> SetBlockModel:
        """Wait for the loaded model and return it. Raises ModelError if it could not be loaded."""
        self._wanted.set()
        return self._future.result()
