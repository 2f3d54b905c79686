"""The page's title line: which model, and that it is still being loaded, or could not be."""

import gradio as gr

from sbd_core.errors import SetBlockDecodingError
from sbd_core.models.protocol import SetBlockModel
from ui.components.header import header
from ui.gradio_hooks import HIDDEN
from ui.lazy_model import LazyModel


def loading_header(page: gr.Blocks, lazy: LazyModel) -> None:
    """The header of the page that is being built; it follows the model on its way."""
    if lazy.is_settled:
        header(about(lazy.result()))
        return
    title = header(f"{lazy.name} · loading …")

    def loaded() -> str:
        try:
            return about(lazy.result())
        except SetBlockDecodingError as error:
            return f"{lazy.name} could not be loaded: {error}"

    page.load(
        loaded,
        None,
        title,
        concurrency_limit=None,
        **HIDDEN,
    )


def about(model: SetBlockModel) -> str:
    """A loaded model in one line."""
    device = f"{model.device}, in C" if getattr(model, "is_native", False) else model.device
    return f"{model.name} · {count_text(model.num_parameters)} parameters · {device}"


def count_text(count: int) -> str:
    """A number of parameters as 4.6 M."""
    for size, unit in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return str(count)
