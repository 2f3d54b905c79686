"""The strip on a page whose model was not trained for Set Block Decoding.

It says what the model can do, and how to train it. Decides only its words.
"""

import shlex

import gradio as gr

from sbd_core.replay import wire_json
from ui.assets import view
from ui.lazy_model import LazyModel
from ui.models import Models

OPEN = "python app.py --model trained"
RECORDED = "Runs of the gallery were recorded with the bundled model. These lines teach yours:"
TRAIN = (
    "sbd train --stage sbd --recipe finetune --init {folder} --data file:chat.jsonl --out trained"
)


def untrained(models: Models, *, may_name_folder: bool) -> gr.HTML | None:
    """Add the strip to the layout that is open now, if any of the models wants one.

    may_name_folder: whether visitors may read where a model lies on this machine.
    """
    if all(offer.lazy.is_trained for offer in models):
        return None
    return view("untrained", untrained_value(models.first.lazy, may_name_folder=may_name_folder))


def untrained_value(model: LazyModel, *, may_name_folder: bool) -> str:
    """Text of the strip for a model; "" hides it."""
    if model.is_trained:
        return ""
    return wire_json(words_for(model, model.source if may_name_folder else model.name))


def words_for(model: LazyModel, source: str) -> dict[str, object]:
    """{name, words, lines}: lines are commands. source: the model as a command names it."""
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
