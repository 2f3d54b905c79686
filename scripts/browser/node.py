"""Node, which runs the engine of the browser where no browser is needed."""

import subprocess

RELAXED_SIMD = "--experimental-wasm-relaxed-simd"
"""What older Nodes must be told to run sbd-fma.wasm; newer ones do not know it."""


def node_flags() -> list[str]:
    """What Node must be told to run each compiled file."""
    return [RELAXED_SIMD] if RELAXED_SIMD in _said("--v8-options") else []


def node_version() -> str:
    """Such as "20.20.2"."""
    return _said("--version").strip().removeprefix("v")


def _said(flag: str) -> str:
    return subprocess.run(["node", flag], capture_output=True, text=True, check=True).stdout
