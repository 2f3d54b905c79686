"""The page's head and foot: a line on the model, a switch between models, how to train a model.

A model whose base is not on this machine can be downloaded, and can be chosen after that.
"""

import itertools
import os
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from sbd_core.models.protocol import SetBlockModel
from sbd_core.run_lines import wire_json
from ui.components import static_path, view
from ui.decode.form import Limits
from ui.gradio_hooks import HIDDEN, QUICK, data_of
from ui.models import SECONDS_BETWEEN_LOOKS, LazyModel, Models, Offer
from ui.views.controls import Controls, FormValues, block_size_words, strategies_of


def header(page: gr.Blocks, offer: Offer) -> gr.HTML:
    """Add the header, which describes the model in one line, to the page that is being built."""
    title = view("header", title_of(offer.lazy))
    if not offer.lazy.is_done:

        def loaded() -> str:
            lazy = offer.lazy
            lazy.wait_until_done()
            return title_of(lazy)

        page.load(loaded, None, title, concurrency_limit=None, **HIDDEN)
    return title


def title_of(lazy: LazyModel) -> str:
    """One line that describes a model, or says that it is loading or why loading failed."""
    if not lazy.is_done:
        return f"{lazy.name} · loading …"
    try:
        return describe(lazy.result())
    except SetBlockDecodingError as error:
        return f"{lazy.name} could not be loaded: {error}"


def describe(model: SetBlockModel) -> str:
    """Describe a loaded model: name, parameters, device, and whether verify is exact."""
    parts = [model.name, f"{count_text(model.num_parameters)} parameters", model.device]
    parts.append(getattr(model, "runs_on", ""))
    exactness = model.mask_token_id is not None and getattr(model, "exactness", None)
    if exactness:
        parts.append(
            "verify is exact: probed" if exactness == "probed" else f"verify is {exactness}"
        )
    return " · ".join(filter(None, parts))


def count_text(count: int) -> str:
    """Format a number of parameters, such as "4.6 M"."""
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
    """Add a notice on how to train a model; return None if all models are trained.

    may_name_folder: whether visitors may read where a model lies on this machine.
    """
    if all(offer.lazy.is_trained for offer in models):
        return None
    return view("untrained", untrained_value(models.first.lazy, may_name_folder=may_name_folder))


def untrained_value(model: LazyModel, *, may_name_folder: bool) -> str:
    """The JSON of the notice on how to train a model; "", which hides it, if `model` is trained."""
    if model.is_trained:
        return ""
    return wire_json(words_for(model, model.source if may_name_folder else model.name))


def words_for(model: LazyModel, source: str) -> dict[str, object]:
    """The notice on how to train a model: the model's name, a text, and the commands to type.

    source: the model's path or hub id in the commands.
    """
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


EVENTS = ("choose_model", "fetch_base", "cancel_fetch", "remove_base")
SET_BY_MODEL = ("system", "strategy", "gamma", "block_size", "repetition_penalty")
_count = itertools.count()


@dataclass(frozen=True, slots=True)
class Parts:
    """Components of the page that change with the chosen model.

    switch: the switch between models. title: the header.
    untrained: the notice on how to train a model; None if all models are trained.
    """

    switch: gr.HTML
    title: gr.HTML
    form: Controls
    untrained: gr.HTML | None


def model_switch(models: Models, *, may_manage: bool) -> gr.HTML | None:
    """Add the switch between models; return None if there is only one model.

    may_manage: whether visitors may download and delete base models.
    """
    if len(models) == 1:
        return None
    return view("model-switch", switch_value(models, may_manage=may_manage), *EVENTS)


def switch_value(models: Models, chosen: str = "", *, may_manage: bool) -> str:
    """The JSON of the switch. chosen: the model to put into the form; "" leaves the form alone."""
    number = next(_count)  # read before the rows, so that a later number never holds older news
    rows = [_model_entry(offer, may_manage=may_manage) for offer in models]
    value = {"number": number, "first": models.first.name, "chosen": chosen, "models": rows}
    return wire_json(value)


def _model_entry(offer: Offer, *, may_manage: bool) -> dict[str, Any]:
    """One model as the switch's JSON describes it: the type Model of ui/web/models.ts."""
    news, base = offer.fetch_news, offer.base
    row: dict[str, Any] = {
        "name": offer.name,
        "title": offer.title,
        "about": offer.about,
        "isHere": offer.is_here,
        "isChat": offer.is_chat,
        "mayManage": may_manage and base is not None,
    }
    if base is not None:
        row |= {
            "megabytes": round(base.num_bytes / 1e6),
            "room": round(base.room / 1e6),
            "base": base.original,
            "licence": base.licence,
            "isDamaged": offer.is_damaged,
            "isFetching": news.is_running,
            "words": news.words,
            "done": round(news.done / 1e6),
        }
    return row


def follow(offers: Sequence[Offer], value: Callable[[], str]) -> Iterator[str]:
    """Yield value() repeatedly while an offered model is being downloaded, then once more."""
    is_running = True
    while is_running:
        is_running = any(offer.fetch_news.is_running for offer in offers)  # before value() is read
        yield value()
        if is_running:
            time.sleep(SECONDS_BETWEEN_LOOKS)


def wire_model_switch(page: gr.Blocks, models: Models, parts: Parts, limits: Limits) -> None:
    """Let visitors choose a model for themselves, and download or delete one for everybody."""
    switch, may_manage = parts.switch, limits.may_fetch_model
    fields = parts.form.fields

    def told(offer: Offer) -> str:
        return untrained_value(offer.lazy, may_name_folder=may_manage)

    def value(chosen: str = "") -> str:
        return switch_value(models, chosen, may_manage=may_manage)

    def choose(event: gr.EventData) -> Iterator[Sequence[Any]]:
        sent = data_of(event)
        try:
            offer = models.offer(sent.get("name"))
        except ArgumentError:
            return
        if not offer.is_here:
            yield (value(), *[gr.skip() for _ in outputs[1:]])
            return
        offer.lazy.begin()
        keeps_settings = sent.get("keepsSettings") is True
        yield (
            value(offer.name),
            title_of(offer.lazy),
            *_form_values(offer, limits, keeps_settings=keeps_settings),
            *([] if parts.untrained is None else [told(offer)]),
        )
        offer.lazy.wait_until_done()
        yield (gr.skip(), title_of(offer.lazy), *[gr.skip() for _ in outputs[2:]])

    def fetch(event: gr.EventData) -> Iterator[str]:
        offer = models.offer(models.known(data_of(event).get("name")))
        if may_manage:
            offer.fetch()
        yield from follow([offer], value)

    def cancel(event: gr.EventData) -> str:
        if may_manage:
            models.offer(models.known(data_of(event).get("name"))).cancel()
        return value()

    def remove(event: gr.EventData) -> str:
        if may_manage:
            models.offer(models.known(data_of(event).get("name"))).remove()
        return value()

    def opened() -> Iterator[str]:
        yield from follow(list(models), value)

    outputs = [switch, parts.title, fields["model"]]
    outputs += [parts.form.presets, parts.form.engine, parts.form.ways]
    outputs += [fields[name] for name in SET_BY_MODEL]
    outputs += [] if parts.untrained is None else [parts.untrained]
    alone: dict[str, Any] = {"concurrency_limit": None, "trigger_mode": "multiple", **HIDDEN}
    switch.choose_model(choose, None, outputs, **alone)
    switch.fetch_base(fetch, None, switch, **alone)
    switch.cancel_fetch(cancel, None, switch, **QUICK)
    switch.remove_base(remove, None, switch, **QUICK)
    page.load(opened, None, switch, **alone)


def _form_values(offer: Offer, limits: Limits, *, keeps_settings: bool) -> list[Any]:
    """Values of the form for a model. keeps_settings: whether the visitor's settings stay."""
    shown, model = FormValues.of(offer, limits), offer.lazy
    best, choices = shown.best, strategies_of(model)
    info = block_size_words(model)
    values: list[Any] = [offer.name, shown.presets, shown.engine, shown.ways]
    values.append(gr.update(visible=offer.is_chat))
    if keeps_settings:
        return [*values, gr.update(choices=choices), gr.skip(), gr.update(info=info), gr.skip()]
    return [
        *values,
        gr.update(choices=choices, value=best.strategy),
        best.gamma,
        gr.update(value=best.block_size or shown.block_range[1], info=info),
        0,  # the model's own
    ]


CARD = DEFAULT_CHECKPOINT / "README.md"


def footer() -> None:
    """Add the footer of the served page."""
    gr.set_static_paths([CARD])
    space = os.environ.get("SPACE_ID", "")
    code = f"https://huggingface.co/spaces/{space}/tree/main" if space else ""
    view("footer", footer_value(static_path(CARD), code=code))


def footer_value(card: str, *, code: str = "", is_beside: bool = False) -> str:
    """The JSON of the footer.

    card: path of the model card. is_beside: whether `card` is relative to the page's own folder.
    code: public URL of the code; "" if there is none.
    """
    return wire_json({"code": code, "card": card, "is_beside": is_beside})
