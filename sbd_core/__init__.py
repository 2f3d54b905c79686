"""Set Block Decoding (Gat et al. 2025, arXiv 2509.04185): a complete open implementation.

    import sbd_core
    model = sbd_core.load()
    trace = sbd_core.generate(model, "Tara has 49 pencils. ...", sbd_core.DecodeConfig())
    print(trace.text, trace.tokens_per_forward)

A name is imported only when it is first used, so `import sbd_core` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sbd_core.version import VERSION as __version__

if TYPE_CHECKING:
    from sbd_core.config import DecodeConfig
    from sbd_core.decoding.api import generate, generate_batch, stream, stream_batch
    from sbd_core.errors import (
        ArgumentError,
        MissingExtraError,
        ModelError,
        SetBlockDecodingError,
        TraceError,
    )
    from sbd_core.events import StepEvent
    from sbd_core.models.loading import load
    from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
    from sbd_core.models.protocol import SetBlockModel
    from sbd_core.trace import Trace

_HOMES = (
    *("errors", "config", "events", "trace", "models.model_folder", "models.protocol"),
    *("decoding.api", "models.loading"),
)
"""Modules that define the names, those that are imported soonest first."""
_MODULES = (
    "config",
    "evaluation",
    "hf",
    "masks",
    "plots",
    "roofline",
    "sampling",
    "solvers",
    "tasks",
)

__all__ = [
    "DEFAULT_CHECKPOINT",
    "ArgumentError",
    "DecodeConfig",
    "MissingExtraError",
    "ModelError",
    "SetBlockDecodingError",
    "SetBlockModel",
    "StepEvent",
    "Trace",
    "TraceError",
    "__version__",
    "generate",
    "generate_batch",
    "load",
    "stream",
    "stream_batch",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"sbd_core.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'sbd_core' has no attribute {name!r}")
    homes = (import_module(f"sbd_core.{module}") for module in _HOMES)
    return next(getattr(module, name) for module in homes if hasattr(module, name))


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
