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
_MODULES = ("hf.generation", "hf.hub", "hf.conversions", "models.loading")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sbd_core.hf' has no attribute {name!r}")
    modules = (import_module(f"sbd_core.{module}") for module in _MODULES)
    return next(getattr(module, name) for module in modules if hasattr(module, name))
