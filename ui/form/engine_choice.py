"""The line that says who decodes, the server or the visitor's browser, and offers the other.

Hands the page's script the addresses of the engine and of the model's export. Knows no tensors.
"""

from pathlib import Path

import gradio as gr

from sbd_core.hf.web_cache import find_export
from sbd_core.replay import wire_json
from ui.assets import DIST, versioned_path
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
    if export is None:
        return ""
    gr.set_static_paths([ENGINE, *RUNTIME, *GPU_RUNTIME])
    value = {  # see Setting in ui/web/in_browser/mount.js
        "name": export.name,
        "script": versioned_path(ENGINE),
        "base": address_of(export),
        "bytes": export.manifest["download"],
    }
    return wire_json(value)
