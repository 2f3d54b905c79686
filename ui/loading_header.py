"""The page's title line: which model, and that it is still being loaded, or could not be."""

import gradio as gr

from sbd_core.errors import SetBlockDecodingError
from sbd_core.models.protocol import SetBlockModel
from ui.gradio_hooks import HIDDEN
from ui.lazy_model import LazyModel
from ui.views.home import header


def loading_header(page: gr.Blocks, lazy: LazyModel) -> gr.HTML:
    """The header of the page that is being built; it follows the model on its way."""
    title = header(title_of(lazy))
    if not lazy.is_settled:

        def loaded() -> str:
            lazy.settle()
            return title_of(lazy)

        page.load(loaded, None, title, concurrency_limit=None, **HIDDEN)
    return title


def title_of(lazy: LazyModel) -> str:
    """A model in one line, or that it is not there yet, or why it never will be."""
    if not lazy.is_settled:
        return f"{lazy.name} · loading …"
    try:
        return about(lazy.result())
    except SetBlockDecodingError as error:
        return f"{lazy.name} could not be loaded: {error}"


def about(model: SetBlockModel) -> str:
    """A loaded model in one line."""
    parts = [model.name, f"{count_text(model.num_parameters)} parameters", model.device]
    return " · ".join([*parts, *filter(None, [getattr(model, "runs_on", "")])])


def count_text(count: int) -> str:
    """A number of parameters as 4.6 M."""
    for size, unit in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return str(count)
