"""The page's header, which follows the model while it loads, its first view, and its footer.

A strip says what a model can do that was not trained for Set Block Decoding, and how to train it.
"""

import os
import shlex

import gradio as gr

from sbd_core.errors import SetBlockDecodingError, TraceError
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.models.protocol import SetBlockModel
from sbd_core.run_lines import wire_json
from ui.assets import static_path, view
from ui.gradio_hooks import HIDDEN
from ui.lazy_model import LazyModel
from ui.models import BUNDLED, Models, Offer
from ui.recordings import learn_runs
from ui.views import gallery


def home_value(*, prompt_id: str) -> str:
    """The value of the first view: a run by the paper's method, and a checked run of a real model.

    prompt_id: id of the box to which "Try your own prompt" leads.
    """
    lines = {DEFAULT_CHECKPOINT.name: gallery.home(), REAL_MODEL: gallery.opening(REAL_MODEL)}
    runs = [{"model": BUNDLED[name][0], "lines": text} for name, text in lines.items()]
    try:
        processor = learn_runs().choices.processor
    except TraceError:
        processor = ""
    return wire_json({"runs": runs, "processor": processor, "prompt_id": prompt_id})


CARD = DEFAULT_CHECKPOINT / "README.md"


def footer() -> None:
    """Add the footer of the served page."""
    gr.set_static_paths([CARD])
    space = os.environ.get("SPACE_ID", "")
    code = f"https://huggingface.co/spaces/{space}/tree/main" if space else ""
    view("footer", footer_value(static_path(CARD), code=code))


def footer_value(card: str, *, code: str = "", is_beside: bool = False) -> str:
    """The footer's value.

    card: path of the model card. is_beside: whether it is relative to the page's folder.
    code: public address of the code; "" if there is none.
    """
    return wire_json({"code": code, "card": card, "is_beside": is_beside})


def header(page: gr.Blocks, offer: Offer) -> gr.HTML:
    """Add the header, with the model in one line, to the page that is being built."""
    title = view("header", title_of(offer.lazy))
    if not offer.lazy.is_settled:

        def loaded() -> str:
            lazy = offer.lazy
            lazy.settle()
            return title_of(lazy)

        page.load(loaded, None, title, concurrency_limit=None, **HIDDEN)
    return title


def title_of(lazy: LazyModel) -> str:
    """A model in one line, or that it is loading, or why it could not be loaded."""
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
    """A number of parameters as text, such as 4.6 M."""
    for size, unit in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return str(count)


OPEN = "python app.py --model trained"
RECORDED = "Runs of the gallery were recorded with the bundled model. These lines teach yours:"
TRAIN = (
    "sbd train --stage sbd --recipe finetune --init {folder} --data file:chat.jsonl --out trained"
)


def untrained(models: Models, *, may_name_folder: bool) -> gr.HTML | None:
    """Add the strip to the layout that is open, if any of the models needs it.

    may_name_folder: whether visitors may read where a model lies on this machine.
    """
    if all(offer.lazy.is_trained for offer in models):
        return None
    return view("untrained", untrained_value(models.first.lazy, may_name_folder=may_name_folder))


def untrained_value(model: LazyModel, *, may_name_folder: bool) -> str:
    """The strip's value for a model; "" hides it."""
    if model.is_trained:
        return ""
    return wire_json(words_for(model, model.source if may_name_folder else model.name))


def words_for(model: LazyModel, source: str) -> dict[str, object]:
    """Name, words and command lines for the strip. source: the model as commands name it."""
    named = shlex.quote(source)
    if not model.can_draft:
        lines = [f"sbd prepare {named} --out ready", TRAIN.format(folder="ready"), OPEN]
        words = (
            "is a plain language model: it has no mask token and was not trained for Set Block "
            "Decoding, so here it writes by next-token prediction, one token a forward pass. "
            + RECORDED
        )
        return {"name": model.name, "words": words, "lines": lines}
    is_prepared = model.block_range is not None
    lines = [] if is_prepared else [f"sbd prepare {named} --out ready"]
    lines += [TRAIN.format(folder=named if is_prepared else "ready"), OPEN]
    words = (
        "has a mask token, but was not trained for Set Block Decoding. Next-token prediction, "
        "chosen below, shows what it can do; any other strategy runs too, and writes poorly. "
        + RECORDED
    )
    return {"name": model.name, "words": words, "lines": lines}
