"""Integrations with transformers, the Hugging Face Hub and lm-eval.

Modules are imported when first used, as in sbd_core/__init__.py.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sbd_core.hf.conversions import Merged, Preparation, merge, prepare
    from sbd_core.hf.generation import SetBlockOutput, generate
    from sbd_core.hf.hub import write_custom_generate
    from sbd_core.models.loading import read_adapted

_HOMES = {
    "Merged": "hf.conversions",
    "Preparation": "hf.conversions",
    "SetBlockOutput": "hf.generation",
    "generate": "hf.generation",
    "merge": "hf.conversions",
    "prepare": "hf.conversions",
    "read_adapted": "models.loading",
    "write_custom_generate": "hf.hub",
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
    return getattr(import_module(f"sbd_core.{_HOMES[name]}"), name)
