"""Writes the page as a folder of static files that decodes in the visitor's own browser.

python -m scripts.static_site --out DIR                      nano and SmolLM2 (after sbd fetch)
python -m scripts.static_site --out DIR --models nano        nano alone
python -m scripts.static_site --out DIR --models FOLDER ...  other models

Any web host, such as `python -m http.server -d DIR`, can serve DIR. DIR holds the README.md that a
static Hugging Face Space needs. After the first visit the page works offline. DIR must be new,
empty, or written by this command before; the contents of DIR are replaced.
"""

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sbd_core.cli.output import interruptible
from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.files import ASSETS
from sbd_core.models.model_folder import CHECKPOINTS, DEFAULT_CHECKPOINT, REAL_MODEL, WEB_MANIFEST
from sbd_core.models.web_folder import WebFolder, keep_export
from sbd_core.replay import STYLES as REPLAY_STYLES
from sbd_core.run_lines import wire_json
from ui import examples
from ui.best_settings import Best, best_for
from ui.components import DIST, STYLES, markups
from ui.decode.form import settings_of
from ui.models import BUNDLED, REAL_PRESETS
from ui.views import controls
from ui.views.compare import compare_value
from ui.views.controls import ENGINE, GPU_RUNTIME, RUNTIME, presets_value, slider_value
from ui.views.head import CARD, footer_value
from ui.views.learn import setting
from ui.views.recorded import gallery_value, home_value, opening, replay

MODELS = {"nano": DEFAULT_CHECKPOINT, "smollm2": CHECKPOINTS / REAL_MODEL}
SCRIPTS = (DIST / "site.js", DIST / "replay.js", ENGINE, *RUNTIME, *GPU_RUNTIME)
RUN_ID = "gallery"
"""Id of every recorded run; ui/web/site.ts gives each its own."""
MARKER = "sbd-site.json"
"""File that marks a folder as written by this command, which may write it again."""
CARD_COPY = "model-card.md"
PICTURE = ASSETS / "pictures" / "static-site-1440-light.png"
"""Picture taken by scripts/take_pictures.py."""
SPACE = Path(__file__).with_name("site_readme.md")
"""README of a static Space."""


def write_site(out: Path, exports: Sequence[WebFolder]) -> dict[str, int]:
    """Write the site; return the size in bytes of every file by its path in `out`.

    exports: the models of the site; the page opens with the first.
    Raises ArgumentError as make_room() does, and OSError if a file cannot be written.
    """
    make_room(out)
    for script in SCRIPTS:
        copy(script, out / "dist" / script.name)
    for file in {*STYLES, *(ASSETS / "css" / f"{name}.css" for name in ("site", *REPLAY_STYLES))}:
        copy(file, out / "css" / file.name)
    copy(ASSETS / "html" / "replay.html", out / "html" / "replay.html")
    for export in exports:
        for name in export.names:
            copy(export.folder / name, out / folder_path_of(export) / name)
    for recording in examples.gallery():
        traces = examples.gallery_traces(recording.name)
        lines = replay(RUN_ID, traces, about=recording.sentence)
        data = {"lines": lines, "settings": settings_of(next(iter(traces.values())))}
        write(out / "gallery" / f"{recording.name}.json", wire_json(data))
    write(out / "index.html", page_html(exports))
    copy(PICTURE, out / PICTURE.name)
    copy(CARD, out / CARD_COPY)
    copy(SPACE, out / "README.md")
    names = [export.name for export in exports]
    write(out / MARKER, json.dumps({"models": names}) + "\n")
    write(out / "sw.js", service_worker(out, exports))
    return {str(path.relative_to(out)): path.stat().st_size for path in files_of(out)}


def folder_path_of(export: WebFolder) -> str:
    """Path of a model's folder in the site, with a slash at the end."""
    return f"models/{export.name}/"


def make_room(out: Path) -> None:
    """Empty the folder `out`. Raises ArgumentError if another program wrote the folder's files."""
    if out.exists() and any(out.iterdir()) and not (out / MARKER).is_file():
        raise ArgumentError("out", "must be a new or empty folder, or one written before", str(out))
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)


def page_html(exports: Sequence[WebFolder]) -> str:
    """Make index.html: the markup of every view, and the initial values of the views as JSON."""
    first = exports[0]
    values = views(exports)
    page = (ASSETS / "html" / "site.html").read_text("utf-8").strip()
    for view in values:
        page = page.replace(f"<!--{view}-->", f'<div id="sbd-{view}">{markups()[view]}</div>')
    names = [*(file.name for file in STYLES), "site.css"]
    links = "\n".join(f'<link rel="stylesheet" href="css/{name}">' for name in names)
    data = wire_json({"views": values, "form": form_of(first)})
    return page.replace("<!--STYLES-->", links).replace("<!--VALUES-->", data) + "\n"


def views(exports: Sequence[WebFolder]) -> dict[str, str]:
    """The initial value of every view by the view's name."""
    return {
        **views_of(exports[0]),
        "status-line": "",
        "engine-choice": wire_json(engine_setting(exports)),
        "player": opening(),
        "compare": compare_value(can_draft=True),
        "home": home_value(),
        "learn": setting(),
        "gallery": gallery_value(),
        "footer": footer_value(CARD_COPY, is_beside=True),
    }


def views_of(export: WebFolder) -> dict[str, str]:
    """The initial values of the views that depend on the model."""
    presets = {"file": REAL_PRESETS} if export.name == REAL_MODEL else {}
    return {
        "header": f"{export.name} · in your browser",
        "presets": presets_value(export.name, **presets),
        "ways": slider_value(best_of(export), block_range_of(export), can_draft=True),
    }


def best_of(export: WebFolder) -> Best:
    """The recommended initial settings for a model."""
    has_adapter = export.manifest["adapter"] is not None
    return best_for(export.name, can_draft=True, has_adapter=has_adapter)


def form_of(export: WebFolder) -> dict[str, Any]:
    """The initial values of the form's fields for a model."""
    block_size = best_of(export).block_size or block_range_of(export)[1]
    own = {"block_size": block_size, "repetition_penalty": 0}  # 0 is the model's own
    return {**controls.initial_values(best_of(export), export.name), **own}


def block_range_of(export: WebFolder) -> tuple[int, int]:
    """Smallest and largest block size that the model was trained on."""
    low, high = export.manifest["config"]["block_range"]
    return low, high


def engine_setting(exports: Sequence[WebFolder]) -> dict[str, Any]:
    """Paths of the page's engine and models, as a Setting of ui/web/engine_choice.ts."""
    models = [
        {
            "name": export.name,
            "title": BUNDLED.get(export.name, (export.name, ""))[0],
            "about": BUNDLED.get(export.name, ("", ""))[1],
            "isChat": export.name != DEFAULT_CHECKPOINT.name,
            "base": folder_path_of(export),
            "bytes": export.manifest["download"],
            "views": views_of(export),
            "form": form_of(export),
        }
        for export in exports
    ]
    first = {name: models[0][name] for name in ("name", "base", "bytes")}
    return {**first, "is_only": True, "script": f"dist/{ENGINE.name}", "models": models}


def service_worker(out: Path, exports: Sequence[WebFolder]) -> str:
    """Make sw.js: the service worker's script with the list of files to cache for offline use.

    The list has no weights, which the engine caches itself. The files of ONNX Runtime, which seldom
    change, have a separate version; the files for the GPU are cached at their first use.
    """
    runtime, asked = (
        [file.relative_to(DIST.parent).as_posix() for file in files]
        for files in (RUNTIME, GPU_RUNTIME)
    )
    manifests = {folder_path_of(export) + WEB_MANIFEST for export in exports}
    kept = {}
    for path in files_of(out):
        name = path.relative_to(out).as_posix()
        is_of_model = name.startswith("models/") and name not in manifests
        if name not in ("README.md", PICTURE.name, *runtime, *asked) and not is_of_model:
            kept[name] = path
    version = version_of({name: out / name for name in (*runtime, *asked)})
    known = {
        "version": version_of(kept),
        "files": ["./", *kept],
        "runtime": {"version": version, "files": runtime, "asked": asked},
    }
    script = (DIST / "sw.js").read_text(encoding="utf-8")
    return f"self.SBD_FILES = {json.dumps(known)};\n{script}"


def version_of(files: Mapping[str, Path]) -> str:
    """Digest of the files' names and contents."""
    digest = hashlib.sha256()
    for name, path in files.items():
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def files_of(folder: Path) -> list[Path]:
    """All files in a folder and its subfolders."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def copy(source: Path, target: Path) -> None:
    """Copy a file; create the target's folder if it is missing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def write(file: Path, text: str) -> None:
    """Write text to a file; create the file's folder if it is missing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def main() -> int:
    """Run the command; return exit status 0, or 2 if a model or the folder cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument(
        "--models",
        nargs="+",
        default=list(MODELS),
        metavar="MODEL",
        help=f"{', '.join(MODELS)}, or folders of others (%(default)s)",
    )
    flags = parser.parse_args()
    try:
        exports = [keep_export(MODELS.get(name) or Path(name)) for name in flags.models]
        sizes = write_site(flags.out, exports)
    except (SetBlockDecodingError, OSError) as error:
        print(f"static_site: {error}", file=sys.stderr)
        return 2
    print(f"wrote {flags.out}: {len(sizes)} files, {sum(sizes.values()) / 1e6:.1f} MB")
    print(f"python -m http.server -d {flags.out}    serves it on http://localhost:8000")
    return 0


if __name__ == "__main__":
    sys.exit(interruptible(main))
