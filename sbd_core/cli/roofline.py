"""`roofline`: slowdown of a block's forward pass and speed-up: published, corrected, calibrated."""

import argparse
from pathlib import Path
from typing import Any, get_args

from sbd_core.errors import ArgumentError
from sbd_core.roofline import DEVICES, Calibrated, Mode, slowdown, speedup

HELP = "cost of a forward pass over a block: the paper's Sec. 4, corrected, or from measured times"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `roofline`."""
    parser.add_argument("--block-size", type=int, default=16)
    parser.add_argument("--kv-length", type=int, default=1024)
    parser.add_argument("--batch-size", type=int, default=1)
    parser.add_argument("--nfe-speedup", type=float, default=3.4, help="tokens per forward pass")
    parser.add_argument("--device", default="h100-fp8", help=", ".join(DEVICES))
    parser.add_argument("--model", metavar="M", help="model whose shape counts (Llama-3.1-8B)")
    parser.add_argument(
        "--measured", type=Path, metavar="FILE", help="results of bench to calibrate by"
    )


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Print every mode. Raises ArgumentError."""
    if arguments.device not in DEVICES:
        raise ArgumentError("device", f"must be one of {', '.join(DEVICES)}", arguments.device)
    device, shape = DEVICES[arguments.device], None  # the paper's
    if arguments.model is not None:
        from sbd_core.models.model_folder import read_shape

        shape = read_shape(arguments.model)
    block, length, batch = arguments.block_size, arguments.kv_length, arguments.batch_size
    gain = arguments.nfe_speedup
    rows = {
        mode: (
            slowdown(block, length, batch, mode, shape=shape, device=device),
            speedup(block, gain, length, batch, mode, shape=shape, device=device),
        )
        for mode in get_args(Mode)
    }
    if arguments.measured is not None:
        if batch != 1:
            raise ArgumentError("batch_size", "must be 1 with measured times", batch)
        measured = Calibrated.read(arguments.measured)
        rows["calibrated"] = (
            measured.slowdown(block, length),
            measured.speedup(block, gain, length),
        )
    result: dict[str, Any] = {"device": device.name, "source": device.source, "block_size": block}
    result |= {"kv_length": length, "batch_size": batch, "nfe_speedup": gain}
    print(f"{device.name} ({device.source}), block {block}, KV cache {length}, batch {batch}")
    for mode, (cost, faster) in rows.items():
        result[mode] = {"slowdown": round(cost, 6), "speedup": round(faster, 6)}
        kind = "measured" if mode == "calibrated" else "theory"
        print(f"{mode:>10}: slowdown {cost:.3f}, speed-up {faster:.3f}x ({kind})")
    return result
