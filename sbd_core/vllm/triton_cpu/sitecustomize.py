"""Lets vLLM's CPU build run its small Triton kernels by Triton's interpreter, for trying it.

Python imports this file at its start if its folder is in PYTHONPATH. vLLM asks for a Triton backend
called cpu, which no wheel brings; with TRITON_INTERPRET=1 none compiles anything.
"""

from types import SimpleNamespace

from triton.backends import backends

_DRIVER = SimpleNamespace(is_active=lambda: True)
backends["cpu"] = SimpleNamespace(driver=_DRIVER, compiler=None)
