"""Names of earlier versions that still work, each with a warning. Knows no other module."""

import argparse
import sys
import warnings
from typing import Any

NATIVE = "native has no effect: on a CPU, forward passes run in ONNX Runtime; see model.runs_on"


def warn_of_native(native: bool | None) -> None:  # noqa: FBT001 - load()'s own argument
    """Of load(native=...), unless it was left out."""
    if native is not None:
        warnings.warn(NATIVE, DeprecationWarning, stacklevel=3)


class EarlierModelNames:
    """What a model was asked before."""

    backend: Any

    @property
    def is_native(self) -> bool:
        """Whether forward passes leave PyTorch."""
        warnings.warn(NATIVE, DeprecationWarning, stacklevel=2)
        return bool(self.backend.name == "ONNX Runtime")


class NativeFlag(argparse.BooleanOptionalAction):
    """--native and --no-native, which still parse."""

    def __call__(self, *given: Any, **more: Any) -> None:
        """Say that the flag has no effect."""
        print(f"note: {NATIVE}", file=sys.stderr)
