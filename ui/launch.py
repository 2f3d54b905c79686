"""Starting quickly: Gradio imported without what only editors need, the model loaded last."""

import inspect
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import sbd_core
from sbd_core.errors import SetBlockDecodingError
from sbd_core.models.checkpoint_info import read_checkpoint_info
from sbd_core.models.protocol import SetBlockModel
from ui.lazy_model import LazyModel

DEVICES_TO_TRUST = ("auto", "cpu")
SECONDS_FOR_FIRST_VISITOR = 3.0
SECONDS_FOR_BAD_NEWS = 1.0


@contextmanager
def no_stubs_for_editors() -> Iterator[None]:
    """While open, `import gradio` takes half its time.

    Gradio writes a .pyi beside each of its components at every import, and skips a class whose
    file it cannot find.
    """
    file_of = inspect.getfile

    def hidden(item: Any) -> str:
        if isinstance(item, type) and str(item.__module__).startswith("gradio."):
            raise OSError("not looked up")
        return file_of(item)

    with mock.patch.object(inspect, "getfile", hidden):
        yield


def model_of(path_or_hub_id: str | None, device: str) -> LazyModel:
    """The model that is asked for: loaded later if its info is readable, else now.

    Raises ArgumentError, ModelError for a model that is loaded now.
    """

    def load() -> SetBlockModel:
        from sbd_core.models.threads import choose_threads

        model = sbd_core.load(path_or_hub_id, device=device)
        choose_threads(model.num_parameters)
        return model

    info = read_checkpoint_info(path_or_hub_id) if device in DEVICES_TO_TRUST else None
    if info is None:
        return LazyModel.of(load())
    return LazyModel(info.name, can_draft=True, block_range=info.block_range, load=load)


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
