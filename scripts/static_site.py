"""Writes the page as a folder of static files that decodes in the visitor's own browser.

python -m scripts.static_site --out DIR                 the bundled checkpoint
python -m scripts.static_site --out DIR --model FOLDER  another one that a browser can run

Any web host serves the folder: `python -m http.server -d DIR` does, and so does a static Space,
whose front matter is in its README.md. Opened once, it works without a network. DIR must be new, or
one that was written so before: what is there is replaced.
"""

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sbd_core.errors import ArgumentError, SetBlockDecodingError
from sbd_core.files import ASSETS
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT, read_checkpoint_info
from sbd_core.replay import STYLES as REPLAY_STYLES
from sbd_core.replay import wire_json
from ui import recordings
from ui.assets import DIST, STYLES, markups
from ui.decode.form import settings_of
from ui.form import controls
from ui.form.controls import presets_value, slider_value
from ui.form.engine_choice import COMPILED, model_files
from ui.form.measured import best_for
from ui.views.gallery import gallery_value, opening, replay
from ui.views.home import CARD, footer_value, home_value
from ui.views.learn import setting
from ui.views.race import race_value

SCRIPTS = ("site.js", "engine.js", "replay.js", *(file.name for file in COMPILED.values()))
RUN_ID = "gallery"
"""Of every recorded run; ui/web/site/site.js gives each a name of its own."""
MARKER = "sbd-site.json"
"""A folder that holds this file was written by this command, and may be written again."""
CARD_COPY = "model-card.md"
PICTURE = ASSETS / "pictures" / "static-site-1440-light.png"
"""Of scripts/take_pictures.py."""
SPACE = f"""---
title: Set Block Decoding
emoji: 🧩
colorFrom: blue
colorTo: yellow
sdk: static
pinned: false
license: apache-2.0
custom_headers:
  cross-origin-embedder-policy: require-corp
  cross-origin-opener-policy: same-origin
  cross-origin-resource-policy: cross-origin
---

# Set Block Decoding, in your browser

Many tokens per forward pass from one small model. This folder is the whole demo: page, engine,
model and recorded runs. Everything is decoded in the browser that opens it; no server computes.
After the first visit it works without a network.

![A run that the browser decoded, with no server behind it]({PICTURE.name})

Written by `python -m scripts.static_site` of the repository.
"""


def write_site(out: Path, model: Path) -> dict[str, int]:
    """The bytes of every file of the site, by its path in `out`. Raises ArgumentError, OSError."""
    info, files = read_checkpoint_info(model), model_files(model)
    if info is None or not files:
        rule = "must be a folder of a Llama-shaped checkpoint that was trained for blocks"
        raise ArgumentError("model", rule, str(model))
    make_room(out)
    for name in SCRIPTS:
        copy(DIST / name, out / "dist" / name)
    for file in {*STYLES, *(ASSETS / "css" / f"{name}.css" for name in ("site", *REPLAY_STYLES))}:
        copy(file, out / "css" / file.name)
    copy(ASSETS / "html" / "replay.html", out / "html" / "replay.html")
    for file in files:
        copy(file, out / "model" / file.name)
    for recording in recordings.gallery():
        write(out / "gallery" / f"{recording.name}.json", wire_json(recording_data(recording)))
    write(out / "index.html", page_html(info.name, info.block_range, files))
    copy(PICTURE, out / PICTURE.name)
    copy(CARD, out / CARD_COPY)
    write(out / "README.md", SPACE)
    write(out / MARKER, json.dumps({"model": info.name}) + "\n")
    write(out / "sw.js", service_worker(out))
    return {str(path.relative_to(out)): path.stat().st_size for path in files_of(out)}


def make_room(out: Path) -> None:
    """Empty `out`, if it is ours or empty."""
    if out.exists() and any(out.iterdir()) and not (out / MARKER).is_file():
        raise ArgumentError("out", "must be a new or empty folder, or one written before", str(out))
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)


def page_html(name: str, block_range: tuple[int, int], files: Sequence[Path]) -> str:
    """index.html: the views' markup where it belongs, and their values as data."""
    values = views(name, block_range, files)
    page = (ASSETS / "html" / "site.html").read_text("utf-8").strip()
    for view in values:
        page = page.replace(f"<!--{view}-->", f'<div id="sbd-{view}">{markups()[view]}</div>')
    names = [*(file.name for file in STYLES), "site.css"]
    links = "\n".join(f'<link rel="stylesheet" href="css/{name}">' for name in names)
    form = controls.start_of(best_for(name, can_draft=True))
    data = wire_json({"views": values, "form": form})
    return page.replace("<!--STYLES-->", links).replace("<!--VALUES-->", data) + "\n"


def views(name: str, block_range: tuple[int, int], files: Sequence[Path]) -> dict[str, str]:
    """The value of every view, as the served page has it."""
    best = best_for(name, can_draft=True)
    return {
        "header": f"{name} · in your browser",
        "presets": presets_value(name, controls.PROMPT_ID),
        "status-line": "",
        "engine-choice": wire_json(place(name, files)),
        "risk-slider": slider_value(best, block_range, can_draft=True),
        "player": opening(),
        "race": race_value(can_draft=True, prompt_id=controls.PROMPT_ID),
        "home": home_value(prompt_id=controls.PROMPT_ID),
        "learn": setting(controls.PROMPT_ID),
        "gallery": gallery_value(),
        "footer": footer_value(CARD_COPY, is_beside=True),
    }


def place(name: str, files: Sequence[Path]) -> dict[str, Any]:
    """Where the engine and the model are; see Setting in ui/web/in_browser/mount.js."""
    return {
        "name": name,
        "is_only": True,
        "script": "dist/engine.js",
        "wasm": {kind: f"dist/{file.name}" for kind, file in COMPILED.items()},
        "base": "model/",
        "names": [file.name for file in files],
        "bytes": sum(file.stat().st_size for file in files),
    }


def recording_data(recording: recordings.Recording) -> dict[str, Any]:
    """A run of the gallery: its wire lines and the settings of its main lane."""
    traces = recordings.gallery_traces(recording.name)
    lines = replay(RUN_ID, traces, about=recording.sentence)
    return {"lines": lines, "settings": settings_of(next(iter(traces.values())))}


def service_worker(out: Path) -> str:
    """sw.js: what it keeps, under a version that is another one for other contents."""
    digest, names = hashlib.sha256(), ["./"]
    for path in files_of(out):
        name = path.relative_to(out).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes())
        if name not in ("README.md", PICTURE.name):
            names.append(name)
    known = json.dumps({"version": digest.hexdigest()[:12], "files": names})
    return f"self.SBD_FILES = {known};\n" + (DIST / "sw.js").read_text(encoding="utf-8")


def files_of(folder: Path) -> list[Path]:
    """Every file in a folder and below."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def copy(source: Path, target: Path) -> None:
    """Copy a file, its folder made."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def write(file: Path, text: str) -> None:
    """Write text, its folder made."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def main() -> int:
    """The command line. Exit status: 0 done, 2 the model or the folder cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the folder to write")
    parser.add_argument("--model", type=Path, default=DEFAULT_CHECKPOINT, help="model folder")
    flags = parser.parse_args()
    try:
        sizes = write_site(flags.out, flags.model)
    except (SetBlockDecodingError, OSError) as error:
        print(f"static_site: {error}", file=sys.stderr)
        return 2
    print(f"wrote {flags.out}: {len(sizes)} files, {sum(sizes.values()) / 1e6:.1f} MB")
    print(f"python -m http.server -d {flags.out}    serves it on http://localhost:8000")
    return 0


if __name__ == "__main__":
    sys.exit(main())
