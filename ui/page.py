"""The page: its HTML, its files, and the data with which its views start.

The server hands the page out, and scripts/static_site.py writes it into a folder. Knows no Gradio.
"""

import re
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sbd_core.errors import SetBlockDecodingError
from sbd_core.files import ASSETS
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.models.protocol import SetBlockModel
from sbd_core.models.web_folder import WebFolder
from sbd_core.replay import STYLES as REPLAY_STYLES
from sbd_core.run_lines import wire_json
from ui import examples
from ui.best_settings import Best, best_for
from ui.decode.form import settings_of
from ui.examples import BUNDLED_MODEL, PRESETS, gallery_run_for, presets
from ui.models import BUNDLED, REAL_PRESETS, LazyModel, Models, serve_export
from ui.views.charts import LIBRARY, LIBRARY_PATH, charts_value
from ui.views.compare import compare_value
from ui.views.learn import lesson, setting
from ui.views.recorded import gallery_value, home_value, opening, replay
from ui.views.roofline import roofline_value

DIST = ASSETS / "dist"
"""Bundles built from ui/web/, see its package.json."""
STYLES = (*REPLAY_STYLES, "compare", "charts", "roofline", "page", "learn", "views", "home")
"""Stylesheets of assets/css, in order."""
ENGINE = DIST / "engine.js"
RUNTIME = (DIST / "onnxruntime.mjs", DIST / "onnxruntime.wasm.gz")
GPU_RUNTIME = (DIST / "onnxruntime-webgpu.mjs", DIST / "onnxruntime-webgpu.wasm.gz")
CARD = DEFAULT_CHECKPOINT / "README.md"
CARD_PATH = "model-card.html"
LESSON_PATH = "lesson.html"
RUN_ID = "gallery"
"""Id of every recorded run; the page gives each its own."""


def page_files() -> dict[str, Path]:
    """The files of the page by their paths below it, without those that are made: see made_file."""
    scripts = (DIST / "page.js", DIST / "replay.js", ENGINE, *RUNTIME, *GPU_RUNTIME)
    styles = (ASSETS / "css" / f"{name}.css" for name in STYLES)
    return {
        **{f"dist/{script.name}": script for script in scripts},
        **{f"css/{style.name}": style for style in styles},
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
    names = (*REPLAY_STYLES, "learn")
    styles = "\n".join((ASSETS / "css" / f"{name}.css").read_text("utf-8") for name in names)
    text = (ASSETS / "html" / "learn-page.html").read_text("utf-8").replace("/*STYLES*/", styles)
    text = text.replace("/*SCRIPTS*/", (DIST / "learn.js").read_text("utf-8"))
    return text.replace("<!--LESSON-->", lesson(has_model=False))


def gallery_json(name: str) -> str:
    """A recorded run of the gallery, and the settings with which to repeat it, as JSON."""
    traces = examples.gallery_traces(name)
    about = next(item.sentence for item in examples.gallery() if item.name == name)
    lines = replay(RUN_ID, traces, about=about)
    return wire_json({"lines": lines, "settings": settings_of(next(iter(traces.values())))})


@cache
def markups() -> dict[str, str]:
    """The markup of each view by the view's name, read from views.html."""
    text = (ASSETS / "html" / "views.html").read_text(encoding="utf-8")
    _, *parts = re.split(r"^<!-- ([a-z-]+) -->$", text, flags=re.MULTILINE)
    return {name: part.strip() for name, part in zip(parts[::2], parts[1::2], strict=True)}


def page_html(
    models: Sequence[dict[str, Any]],
    *,
    server: dict[str, Any] | None = None,
    code: str = "",
    base: str = "",
) -> str:
    """Make index.html: the markup of every view, and the initial data of the views as JSON.

    models: results of model_entry(); the page opens with the first. server: what the page's script
    has to know of its server; None without one. code: public URL of the code; "" if there is none.
    base: path of the page behind a proxy, with a slash at its end; "" where it needs none.
    """
    first = models[0]["name"]
    can_draft = any(model["canDraft"] for model in models)
    values = {
        **dict.fromkeys(("header", "presets", "status-line", "engine-choice", "ways"), ""),
        "player": opening(first),
        "compare": compare_value(first, can_draft=can_draft),
        "home": home_value(),
        "learn": setting(),
        "charts": charts_value(),
        "roofline": roofline_value(),
        "gallery": gallery_value(),
        "footer": wire_json({"code": code, "card": CARD_PATH, "lesson": LESSON_PATH}),
        **({"untrained": ""} if server else {}),
    }
    page = (ASSETS / "html" / "page.html").read_text("utf-8").strip()
    for view in values:
        page = page.replace(f"<!--{view}-->", f'<div id="sbd-{view}">{markups()[view]}</div>')
    links = "\n".join(f'<link rel="stylesheet" href="css/{name}.css">' for name in STYLES)
    head = f'<base href="{base}">\n{links}' if base else links
    data = wire_json({"models": models, "views": values, "server": server})
    return page.replace("<!--STYLES-->", head).replace("<!--VALUES-->", data) + "\n"


GAMMAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 1)
"""The slider's steps in nats; any other gamma can be typed."""
DEFAULT_BLOCK_RANGE = (2, 16)
READY = {"isDone": True, "canDraft": True, "absence": "", "untrained": None}
"""Fields of a model that browsers can decode with at once."""


def model_entry(
    name: str,
    best: Best,
    block_range: tuple[int, int],
    presets_file: str,
    export: WebFolder | None,
    base: str,
    **own: Any,
) -> dict[str, Any]:
    """What the page knows of a model: the type Model of ui/web/models.ts.

    best: initial settings for a visitor's own prompt, and the reason for them. If it warns against
        the paper's solver, the page offers to switch to nano.
    block_range: smallest and largest block size that the model was trained on.
    export, base: the files with which browsers decode, and their path on the page; None and "" if
        no browser decodes with the model.
    own: the fields that depend on where the model is.
    """
    return {
        "name": name,
        "isChat": name != BUNDLED_MODEL,
        "presets": presets_of(presets_file),
        "promise": PROMISES.get(name, "Start from an example, or write any other prompt."),
        "best": {"strategy": best.strategy, "gamma": best.gamma, "words": best.words},
        "gammas": list(GAMMAS),
        "blockRange": list(block_range),
        "isTrained": own.get("untrained") is None,
        "paper": best.paper,
        "causalFirst": best.causal_first,
        "other": BUNDLED_MODEL if best.paper else "",
        "form": {
            "prompt": next(iter(examples.opening_traces(name).values())).prompt,
            "strategy": best.strategy,
            "gamma": best.gamma,
            "block_size": best.block_size or block_range[1],
            "repetition_penalty": 0,  # the model's own
        },
        "export": None if export is None else {"base": base, "bytes": export.download},
        **READY,
        **own,
    }


def entry_of_offer(model: LazyModel, *, is_public: bool) -> dict[str, Any]:
    """The entry of a model that a server offers, even while the model is loading."""
    best = best_for(
        model.name,
        can_draft=model.can_draft,
        is_trained=model.is_trained,
        has_adapter=model.has_adapter,
    )
    export, source = model.export(is_public=is_public), model.name if is_public else model.source
    return model_entry(
        model.name,
        best,
        model.block_range or DEFAULT_BLOCK_RANGE,
        model.presets,
        export,
        "" if export is None else serve_export(export),
        title=model.title,
        about=model.about,
        line=title_of(model),
        isDone=model.is_done,
        canDraft=model.can_draft,
        absence=model.absence,
        untrained=None if model.is_trained else words_for(model, source),
    )


def entry_of_export(export: WebFolder, base: str) -> dict[str, Any]:
    """The entry of a model of a page without a server. base: path of its files."""
    title, about = BUNDLED.get(export.name, (export.name, ""))
    config = export.manifest["config"]
    return model_entry(
        export.name,
        best_for(export.name, can_draft=True, has_adapter=config["has_adapter"]),
        tuple(config["block_range"]),
        REAL_PRESETS if export.name == REAL_MODEL else PRESETS,
        export,
        base,
        title=title,
        about=about,
        line=f"{export.name} · in your browser",
    )


def presets_of(file: str) -> list[dict[str, Any]]:
    """The bar of presets: kinds of prompts, each prompt with the name of its recorded run."""
    rows = []
    for preset in presets(file):
        prompts = [(prompt, gallery_run_for(prompt)) for prompt in preset.prompts]
        prompts.sort(key=lambda row: not row[1])  # those with a recorded run first
        rows.append({"label": preset.label, "prompts": prompts})
    return rows


PROMISES = {
    BUNDLED_MODEL: "Other prompts work too, but this tiny model answers most of them with "
    "nonsense.",
    REAL_MODEL: "It takes any prompt in English. It is small and may be wrong.",
}
"""A line that says what to expect of a model's answers."""


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
    parts = (
        model.name,
        f"{count_text(model.num_parameters)} parameters",
        model.device,
        getattr(model, "runs_on", ""),
        f"verify is {'exact: probed' if exactness == 'probed' else exactness}" * bool(exactness),
    )
    return " · ".join(filter(None, parts))


def count_text(count: int) -> str:
    """Format a number of parameters, such as "4.6 M"."""
    for size, unit in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return str(count)


TRAIN = "sbd train --stage sbd --recipe finetune --init {} --data file:chat.jsonl --out trained"
RECORDED = "Runs of the gallery were recorded with the bundled model. These lines teach yours:"
PLAIN = (
    "is a plain language model: it has no mask token and was not trained for Set Block Decoding, "
    "so here it writes by next-token prediction, one token a forward pass. "
)
UNTRAINED = (
    "has a mask token, but was not trained for Set Block Decoding. Next-token prediction, chosen "
    "below, shows what it can do; any other strategy runs too, and writes poorly. "
)


def words_for(model: LazyModel, source: str) -> dict[str, object]:
    """The notice on how to train a model: the model's name, a text, and the commands to type.

    source: the model's path or hub id in the commands.
    """
    folder, lines = shlex.quote(source), []
    if not model.can_draft or model.block_range is None:
        lines.append(f"sbd prepare {folder} --out ready")
        folder = "ready"
    lines += [TRAIN.format(folder), "python app.py --model trained"]
    words = (UNTRAINED if model.can_draft else PLAIN) + RECORDED
    return {"name": model.name, "words": words, "lines": lines}


def entries_of_offers(models: Models, *, is_public: bool) -> list[dict[str, Any]]:
    """The entries of the models that a server offers, as they are now; the page's first leads."""
    first_leads = sorted(models, key=lambda model: model is not models.first)
    return [entry_of_offer(model, is_public=is_public) for model in first_leads]
