"""A model that may still be on its way: what is known of it at once, and waiting for the rest.

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
"""The folders of an absolute path, all but the last name of it."""

_loading = threading.Lock()
"""Two threads that import transformers at a time fail, so one model is loaded after the other."""


def import_loading() -> None:
    """Import what loads models, while no model is loaded."""
    with _loading:
        import_module("sbd_core.models.loading")


class LazyModel:
    """A model of a page.

    name, can_draft (whether it has a mask token), block_range, folder (where it lies, None for one
    of the hub), is_trained (to decode blocks), has_adapter (that the rows of blocks alone read):
    the model's own, known at once. source: the folder or hub id that was asked for. is_begun:
    whether it is loaded, or was. failure: what loading raised.
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
        """A model that is there as one that need not be waited for."""
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
        """Load it in a thread of its own, unless that was begun."""
        if not self.is_begun:
            threading.Thread(target=self.load, name=f"load {self.name}", daemon=True).start()

    def load(self) -> None:
        """Load it now, in this thread, or wait for who does."""
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
        """Whether result() comes back at once."""
        return self._future.done()

    @property
    def is_loaded(self) -> bool:
        """Whether it is there."""
        return self.is_settled and self._future.exception() is None

    def wait(self, seconds: float) -> bool:
        """Ask for it and wait at most so long; True once result() comes back at once."""
        self._wanted.set()
        return bool(futures.wait([self._future], seconds).done)

    def settle(self) -> None:
        """Ask for it and return once result() comes back at once, whatever it gives."""
        self._wanted.set()
        futures.wait([self._future])

    def result(self) -> SetBlockModel:
        """The loaded model, waiting for it. Raises ModelError where it could not be loaded."""
        self._wanted.set()
        return self._future.result()
