"""The page: its HTML, its files, and the data with which its views start.

The server hands the page out, and scripts/static_site.py writes it into a folder. Knows no Gradio.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sbd_core.errors import SetBlockDecodingError
from sbd_core.files import ASSETS
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.web_folder import WebFolder
from sbd_core.replay import STYLES
from sbd_core.run_lines import wire_json
from ui import examples
from ui.best_settings import FIRST_GAMMA, Best, best_for
from ui.decode.form import DEFAULT_GAMMA
from ui.examples import BUNDLED_MODEL, gallery_run_for, presets
from ui.models import LazyModel, Models, offer_of, serve_export
from ui.values import (
    LIBRARY,
    LIBRARY_PATH,
    compare_value,
    gallery_value,
    home_value,
    lesson,
    opening,
    replay,
    written_value,
)

DIST = ASSETS / "dist"
"""Bundles built from ui/web/, see its package.json."""
ENGINE = DIST / "engine.js"
RUNTIME = (DIST / "onnxruntime.mjs", DIST / "onnxruntime.wasm.gz")
GPU_RUNTIME = (DIST / "onnxruntime-webgpu.mjs", DIST / "onnxruntime-webgpu.wasm.gz")
CARD = DEFAULT_CHECKPOINT / "README.md"
CARD_PATH = "model-card.html"
LESSON_PATH = "lesson.html"
RUN_ID = "gallery"
"""Id of every recorded run; the page gives each its own."""


def page_files() -> dict[str, Path]:
    """The files of the page by their paths below it, without those that are made."""
    scripts = (DIST / "page.js", DIST / "replay.js", ENGINE, *RUNTIME, *GPU_RUNTIME)
    return {
        **{f"dist/{script.name}": script for script in scripts},
        **{f"css/{style.name}": style for style in (ASSETS / "css").glob("*.css")},
        "html/replay.html": ASSETS / "html" / "replay.html",
        LIBRARY_PATH: LIBRARY,
    }


def card_html() -> str:
    """Make model-card.html: the card of the bundled model."""
    from markdown_it import MarkdownIt

    text = CARD.read_text("utf-8").removeprefix("---").partition("\n---\n")[2]
    text = re.sub("<!--.*?-->", "", text)
    card = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return (ASSETS / "html" / "card.html").read_text("utf-8").replace("<!--CARD-->", card)


def lesson_html() -> str:
    """Make lesson.html: the scenes of the Learn view in one file, which works offline."""
    names = (*STYLES, "learn")
    styles = "\n".join((ASSETS / "css" / f"{name}.css").read_text("utf-8") for name in names)
    text = (ASSETS / "html" / "learn-page.html").read_text("utf-8").replace("/*STYLES*/", styles)
    text = text.replace("/*SCRIPTS*/", (DIST / "learn.js").read_text("utf-8"))
    return text.replace("<!--LESSON-->", lesson(has_model=False))


def gallery_json(name: str, about: str) -> str:
    """A recorded run of the gallery, as JSON. about: a sentence on it."""
    return wire_json({"lines": replay(RUN_ID, examples.gallery_traces(name), about=about)})


def made_files() -> dict[str, Callable[[], str]]:
    """What makes the other files of the page but index.html, by their paths below it."""
    return {
        CARD_PATH: card_html,
        LESSON_PATH: lesson_html,
        **{
            f"gallery/{item.name}.json": partial(gallery_json, item.name, item.sentence)
            for item in examples.gallery()
        },
    }


def page_html(
    models: Sequence[dict[str, Any]],
    *,
    server: dict[str, Any] | None = None,
    code: str = "",
    base: str = "",
) -> str:
    """Make index.html: assets/html/page.html with the initial data of the views as JSON.

    models: results of model_entry(); the page opens with the first. server: what the page's script
    has to know of its server; None without one. code: public URL of the code; "" if there is none.
    base: path of the page behind a proxy, with a slash at its end; "" where it needs none.
    """
    first = models[0]["name"]
    values = {
        "player": opening(first),
        "compare": compare_value(first, can_draft=any(model["canDraft"] for model in models)),
        "home": home_value(),
        "learn": wire_json({"gamma": DEFAULT_GAMMA, "lesson": lesson()}),
        "charts": written_value("charts"),
        "roofline": written_value("roofline"),
        "gallery": gallery_value(),
        "footer": wire_json({"code": code, "card": CARD_PATH, "lesson": LESSON_PATH}),
    }
    page = (ASSETS / "html" / "page.html").read_text("utf-8")
    page = page.replace("<!--BASE-->", f'<base href="{base}">\n' if base else "")
    data = wire_json({"models": models, "views": values, "server": server})
    return page.replace("<!--VALUES-->", data)


GAMMAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 1)
"""The slider's steps in nats; any other gamma can be typed."""
DEFAULT_BLOCK_RANGE = (2, 16)


def best_of(model: LazyModel) -> Best:
    """A model's initial settings."""
    facts = {"can_draft": model.can_draft, "is_trained": model.is_trained}
    return best_for(model.name, has_adapter=model.has_adapter, **facts)


def model_entry(
    model: LazyModel, export: WebFolder | None, base: str, **changes: Any
) -> dict[str, Any]:
    """What the page knows of a model, even while it is loading: the type Model of ui/web/models.ts.

    If the model's best settings warn against the paper's solver, the page offers to switch to nano.
    export, base: the files with which browsers decode, and their path on the page; None and "" if
        no browser decodes with the model.
    changes: fields of the result that depend on where the page is.
    """
    name, best = model.name, best_of(model)
    block_range = model.block_range or DEFAULT_BLOCK_RANGE
    return {
        "name": name,
        "title": model.title,
        "about": model.about,
        "isChat": name != BUNDLED_MODEL,
        "presets": presets_of(model.presets),
        "promise": model.promise,
        "best": {"strategy": best.strategy, "gamma": best.gamma, "words": best.words},
        "gammas": list(GAMMAS),
        "blockRange": list(block_range),
        "isTrained": model.is_trained,
        "paper": best.paper,
        "causalFirst": (FIRST_GAMMA, best.causal_first) if best.causal_first else None,
        "other": BUNDLED_MODEL if best.paper else "",
        "form": {
            "prompt": next(iter(examples.opening_traces(name).values())).prompt,
            "strategy": best.strategy,
            "gamma": best.gamma,
            "block_size": best.block_size or block_range[1],
            "repetition_penalty": 0,  # the model's own
        },
        "export": None if export is None else {"base": base, "bytes": export.download},
        "isDone": True,
        "canDraft": model.can_draft,
        "absence": "",
        "untrained": None,
        **changes,
    }


def entry_of_offer(model: LazyModel, *, is_public: bool) -> dict[str, Any]:
    """The entry of a model that a server offers."""
    export, source = model.export(is_public=is_public), model.name if is_public else model.source
    return model_entry(
        model,
        export,
        "" if export is None else serve_export(export),
        line=title_of(model),
        isDone=model.is_done,
        absence=model.absence,
        untrained=None if model.is_trained else words_for(model, source),
    )


def entries_of_offers(models: Models, *, is_public: bool) -> list[dict[str, Any]]:
    """The entries of the models that a server offers, as they are now."""
    return [entry_of_offer(model, is_public=is_public) for model in models]


def entry_of_export(export: WebFolder, base: str) -> dict[str, Any]:
    """The entry of a model of a page without a server. base: path of its files."""
    name, config = export.name, export.manifest["config"]
    model = LazyModel(
        name,
        can_draft=True,
        block_range=tuple(config["block_range"]),
        has_adapter=config["has_adapter"],
        **offer_of(name),
    )
    return model_entry(model, export, base, line=f"{name} · in your browser")


def presets_of(file: str) -> list[dict[str, Any]]:
    """The bar of presets: kinds of prompts, each prompt with the name of its recorded run."""
    rows = []
    for preset in presets(file):
        prompts = [(prompt, gallery_run_for(prompt)) for prompt in preset.prompts]
        prompts.sort(key=lambda row: not row[1])  # those with a recorded run first
        rows.append({"label": preset.label, "prompts": prompts})
    return rows


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
    exactness = model.mask_token_id is not None and getattr(model, "exactness", None)
    count = model.num_parameters
    size = f"{count / 1e6:.1f} M" if count < 10**9 else f"{count / 1e9:.1f} B"
    parts = (
        model.name,
        f"{size} parameters",
        model.device,
        getattr(model, "runs_on", ""),
        f"verify is {'exact: probed' if exactness == 'probed' else exactness}" * bool(exactness),
    )
    return " · ".join(filter(None, parts))


TRAIN = "sbd train --stage sbd --recipe finetune --init {} --data file:chat.jsonl --out trained"


def words_for(model: LazyModel, source: str) -> dict[str, object]:
    """The notice on how to train a model: the model's name, a text, and the commands to type.

    source: the model's path or hub id in the commands.
    """
    folder, lines = shlex.quote(source), []
    if not model.can_draft or model.block_range is None:
        lines.append(f"sbd prepare {folder} --out ready")
        folder = "ready"
    lines += [TRAIN.format(folder), "python app.py --model trained"]
    return {"name": model.name, "words": best_of(model).notice, "lines": lines}
