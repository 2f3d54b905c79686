"""The line that says who decodes, the server or the visitor's browser, and offers the other.

Hands the page's script the addresses of the engine and of the model's export. Knows no tensors.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr

from sbd_core.hf.web_cache import find_export
from sbd_core.models.web_folder import WebFolder
from sbd_core.replay import wire_json
from ui.assets import DIST, static_path
from ui.hosting.web_models import address_of

ENGINE = DIST / "engine.js"
RUNTIME = (DIST / "onnxruntime.mjs", DIST / "onnxruntime.wasm.gz")
"""Files of ONNX Runtime Web, which the engine finds beside itself."""
GPU_RUNTIME = (DIST / "onnxruntime-webgpu.mjs", DIST / "onnxruntime-webgpu.wasm.gz")
"""Its build for GPUs."""


def engine_value(folder: Path | None) -> str:
    """Data of the line for the model of a folder; "" while no browser can decode with it.

    folder: where the model lies, None for one that lies in none.
    """
    export = None if folder is None else find_export(folder)
    return "" if export is None else wire_json(_setting(export))


def _setting(export: WebFolder) -> dict[str, Any]:
    """See Setting in ui/web/in_browser/mount.js."""
    gr.set_static_paths([ENGINE, *RUNTIME, *GPU_RUNTIME])
    return {
        "name": export.name,
        "script": _versioned(ENGINE),
        "base": address_of(export),
        "bytes": export.manifest["download"],
    }


@cache
def _versioned(file: Path) -> str:
    """The file's path, which changes with its content."""
    return f"{static_path(file)}?v={hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"
