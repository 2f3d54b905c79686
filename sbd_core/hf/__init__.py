"""Integrations: transformers, the Hugging Face Hub, browsers, lm-eval.

Modules are imported when first used, as in sbd_core/__init__.py.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sbd_core.hf.generation import SetBlockOutput, generate
    from sbd_core.hf.merging import Merged, merge, read_adapted
    from sbd_core.hf.preparation import Preparation, prepare
    from sbd_core.hf.vendoring import write_custom_generate

_HOMES = {
    "Merged": "merging",
    "Preparation": "preparation",
    "SetBlockOutput": "generation",
    "generate": "generation",
    "merge": "merging",
    "prepare": "preparation",
    "read_adapted": "merging",
    "write_custom_generate": "vendoring",
}

__all__ = [
    "Merged",
    "Preparation",
    "SetBlockOutput",
    "generate",
    "merge",
    "prepare",
    "read_adapted",
    "write_custom_generate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sbd_core.hf' has no attribute {name!r}")
    return getattr(import_module(f"sbd_core.hf.{_HOMES[name]}"), name)
