"""The page's head, which follows the model while it loads, its first view, and its foot."""

import os

import gradio as gr

from sbd_core.errors import SetBlockDecodingError
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.models.protocol import SetBlockModel
from sbd_core.replay import wire_json
from ui.assets import static_path, view
from ui.gradio_hooks import HIDDEN
from ui.lazy_model import LazyModel
from ui.models import Offer
from ui.views import gallery


def home_value(*, prompt_id: str) -> str:
    """The opening of the page: a run by the paper's method, and one of a real model, checked.

    prompt_id: of the box that "Try your own prompt" leads to.
    """
    runs = [
        {"name": "Set Block Decoding · nano", "lines": gallery.home()},
        {"name": "verify · SmolLM2 135M", "lines": gallery.opening(REAL_MODEL)},
    ]
    return wire_json({"runs": runs, "prompt_id": prompt_id})


CARD = DEFAULT_CHECKPOINT / "README.md"


def footer() -> None:
    """The foot of the served page."""
    gr.set_static_paths([CARD])
    space = os.environ.get("SPACE_ID", "")
    code = f"https://huggingface.co/spaces/{space}/tree/main" if space else ""
    view("footer", footer_value(static_path(CARD), code=code))


def footer_value(card: str, *, code: str = "", is_beside: bool = False) -> str:
    """The view's value. card: its path. is_beside: whether that begins at the page's folder.

    code: its public address, "" where there is none.
    """
    return wire_json({"code": code, "card": card, "is_beside": is_beside})


def header(page: gr.Blocks, offer: Offer) -> gr.HTML:
    """The header of the page that is being built: which model, shown as text whatever it says."""
    title = view("header", title_of(offer.lazy))
    if not offer.lazy.is_settled:

        def loaded() -> str:
            lazy = offer.lazy
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
    parts.append(getattr(model, "runs_on", ""))
    exactness = model.mask_token_id is not None and getattr(model, "exactness", None)
    if exactness:
        parts.append(
            "verify is exact: probed" if exactness == "probed" else f"verify is {exactness}"
        )
    return " · ".join(filter(None, parts))


def count_text(count: int) -> str:
    """A number of parameters as 4.6 M."""
    for size, unit in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return str(count)
