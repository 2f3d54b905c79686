"""A model that may still be on its way: what is known of it at once, and waiting for the rest.

The page opens before its model is loaded. Knows no Gradio and no tensors.
"""

import threading
from collections.abc import Callable
from concurrent import futures
from pathlib import Path

from sbd_core.models.protocol import SetBlockModel


class LazyModel:
    """The one model of a page.

    name, can_draft (whether it has a mask token), block_range, folder (where it lies, None for one
    of the hub), is_trained (to decode blocks): the model's own, known at once. source: the folder
    or hub id that was asked for.
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
        source: str = "",
    ) -> None:
        self.name = name
        self.can_draft = can_draft
        self.block_range = block_range
        self.folder = folder
        self.is_trained = is_trained
        self.source = source or name
        self._load = load
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
            source=source,
        )
        here.load()
        return here

    def load(self) -> None:
        """Load it now, in this thread; to be called once. Raises what loading raises."""
        try:
            self._future.set_result(self._load())
        except Exception as error:
            self._future.set_exception(error)
            raise

    def wait_until_wanted(self, seconds: float) -> None:
        """Return when somebody asks for the model, or after so many seconds."""
        self._wanted.wait(seconds)

    @property
    def is_settled(self) -> bool:
        """Whether result() comes back at once."""
        return self._future.done()

    def wait(self, seconds: float) -> bool:
        """Ask for it and wait at most so long; True once result() comes back at once."""
        self._wanted.set()
        return bool(futures.wait([self._future], seconds).done)

    def result(self) -> SetBlockModel:
        """The loaded model, waiting for it. Raises what loading raised."""
        self._wanted.set()
        return self._future.result()
