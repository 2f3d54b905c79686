"""`roofline`: theoretical slowdown of a block pass and speed-up, as published and corrected."""

import argparse
import json
from typing import get_args

from sbd_core.roofline import H100_FP8, Mode, slowdown, speedup

HELP = "theoretical cost of a block pass (Sec. 4 of the paper)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `roofline`."""
    parser.add_argument("--block-size", type=int, default=16)
    parser.add_argument("--kv-length", type=int, default=1024)
    parser.add_argument("--batch-size", type=int, default=1)
    parser.add_argument("--nfe-speedup", type=float, default=3.4, help="tokens per forward pass")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")


def run(arguments: argparse.Namespace) -> None:
    """Print both modes. Raises ArgumentError."""
    block, length, batch = arguments.block_size, arguments.kv_length, arguments.batch_size
    result: dict[str, object] = {"device": H100_FP8.name, "block_size": block}
    result |= {"kv_length": length, "batch_size": batch, "nfe_speedup": arguments.nfe_speedup}
    print(f"{H100_FP8.name}, block {block}, KV cache {length}, batch {batch}; theory, not measured")
    for mode in get_args(Mode):
        cost = slowdown(block, length, batch, mode)
        gain = speedup(block, arguments.nfe_speedup, length, batch, mode)
        result[mode] = {"slowdown": round(cost, 6), "speedup": round(gain, 6)}
        print(f"{mode:>10}: slowdown {cost:.3f}, speed-up {gain:.3f}x")
    if arguments.json:
        print(json.dumps(result))
