"""Turns the names of a device and a dtype into torch's."""

import torch

from sbd_core.errors import ArgumentError, ModelError, shown
from sbd_core.models.model_folder import own_cpu_dtype

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
QUANTIZED = ("int8",)
"""Dtypes that weights loaded in fp32 are converted to, on a CPU alone."""


def chosen_device(device: str) -> torch.device:
    """The torch device called `device`. Raises ArgumentError if it is unknown or not here."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    kind, _, number = device.partition(":")
    if kind not in ("cpu", "cuda") or (number and not (kind == "cuda" and number.isdigit())):
        raise ArgumentError("device", "must be auto, cpu, cuda or cuda:N", device)
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise ArgumentError("device", f"{torch.cuda.device_count()} CUDA devices here", device)
    return torch.device(device)


def named_dtype(dtype: str | None, device: torch.device, source: str) -> str:
    """The dtype asked for; None is the one that the folder `source` names for CPUs, else "auto".

    Raises ModelError for a folder that names an unknown dtype.
    """
    if dtype is not None:
        return dtype
    if device.type != "cpu":
        return "auto"
    own = own_cpu_dtype(source)
    if own not in (*DTYPES, *QUANTIZED):
        raise ModelError(f"model: {shown(source)} names {own!r} as cpu_dtype, which is unknown")
    return str(own)


def chosen_dtype(dtype: str, device: torch.device) -> torch.dtype | str:
    """The dtype to load weights in. Raises ArgumentError if it is unknown or not for `device`."""
    if dtype == "auto":
        return torch.float32 if device.type == "cpu" else "auto"
    if dtype in QUANTIZED:
        if device.type != "cpu":
            raise ArgumentError("dtype", f"must not be {dtype} on a GPU", str(device))
        return torch.float32
    if dtype not in DTYPES:
        known = ", ".join((*DTYPES, *QUANTIZED))
        raise ArgumentError("dtype", f"must be auto or one of {known}", dtype)
    return DTYPES[dtype]


def has_bf16(device: torch.device) -> bool:
    """Whether `device` multiplies bf16 matrices in hardware."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    # Read from the processor's flags: without them PyTorch emulates bf16, slowly.
    known = torch.cpu.get_capabilities()
    return any(known.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16"))
