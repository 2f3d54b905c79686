"""Which torch device and dtype a caller's words mean."""

import torch

from sbd_core.errors import ArgumentError

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def chosen_device(device: str) -> torch.device:
    """The torch device meant; ArgumentError if it is unknown or not there."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    kind, _, number = device.partition(":")
    if kind not in ("cpu", "cuda") or (number and not (kind == "cuda" and number.isdigit())):
        raise ArgumentError("device", "must be auto, cpu, cuda or cuda:N", device)
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise ArgumentError("device", f"{torch.cuda.device_count()} CUDA devices here", device)
    return torch.device(device)


def chosen_dtype(dtype: str, device: torch.device) -> torch.dtype | str:
    """The dtype meant; ArgumentError if it is unknown."""
    if dtype == "auto":
        return torch.float32 if device.type == "cpu" else "auto"
    if dtype not in DTYPES:
        raise ArgumentError("dtype", f"must be auto or one of {', '.join(DTYPES)}", dtype)
    return DTYPES[dtype]
