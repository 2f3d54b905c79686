"""The line that says who decodes, the server or the visitor's browser, and offers the other.

Hands the page's script the addresses of the engine and of the model's files; the files of no other
folder are served. Knows no tensors.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr

from sbd_core.json_node import json_of
from sbd_core.replay import wire_json
from ui.assets import DIST, static_path

MODEL_TYPES = ("llama", "mistral")
"""As ui/web/engine/checkpoint/shape.js."""
MOST_BYTES = 450_000_000
COMPILED = {
    "plain": DIST / "sbd.wasm",
    "fma": DIST / "sbd-fma.wasm",
    "threads": DIST / "sbd-threads.wasm",
}
SMALL_FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "model.safetensors.index.json",
)


def engine_value(name: str, folder: Path | None) -> str:
    """What the line is made from for the model `name`; "" if no browser can decode with it.

    folder: where the model lies, None for one that lies in none.
    """
    files = () if folder is None else model_files(folder)
    return wire_json(_setting(name, folder, files)) if folder and files else ""


def model_files(folder: Path) -> tuple[Path, ...]:
    """What a browser reads of a model folder; none if it could not decode with it."""
    config = _object_in(folder / "config.json")
    weights = tuple(sorted(folder.glob("*.safetensors")))
    size = sum(file.stat().st_size for file in weights)
    if config.get("model_type") not in MODEL_TYPES or not 0 < size <= MOST_BYTES:
        return ()
    return (*(file for name in SMALL_FILES if (file := folder / name).is_file()), *weights)


def _setting(name: str, folder: Path, files: tuple[Path, ...]) -> dict[str, Any]:
    """See Setting in ui/web/in_browser/mount.js."""
    gr.set_static_paths([*files, DIST / "engine.js", *COMPILED.values()])
    return {
        "name": name,
        "script": _versioned(DIST / "engine.js"),
        "wasm": {kind: _versioned(file) for kind, file in COMPILED.items()},
        "base": f"{static_path(folder.resolve())}/",
        "names": [file.name for file in files],
        "bytes": sum(file.stat().st_size for file in files),
    }


@cache
def _versioned(file: Path) -> str:
    """Its path; another content has another one."""
    return f"{static_path(file)}?v={hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"


def _object_in(file: Path) -> dict[str, Any]:
    try:
        found = json_of(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
