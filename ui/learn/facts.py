"""The numbers in the scenes' words: from the recorded runs, the roofline or the evaluation."""

import json
from dataclasses import replace
from math import inf, log
from typing import Any

from sbd_core.roofline import DEVICES, LLAMA_8B, Device, pass_seconds
from sbd_core.rules import solver_parameters
from sbd_core.trace import Trace
from ui.form.measured import EVALUATION
from ui.learn.recorded import Recorded

BIG_CHIP = "h100-bf16"
NUM_LAYERS = 32
"""Of Llama-3.1-8B, whose layer is roofline.LLAMA_8B."""
ROWS = 16
RECORDER = "the processor that recorded this"


def facts(recorded: Recorded) -> dict[str, str]:
    """Every number of the words, by its name there, as it is written there."""
    main, ntp = recorded.runs["text"]["sbd"], recorded.runs["text"]["ntp"]
    cached = len(ntp.prompt_token_ids)
    loading, computing = parts_of_pass(1, cached, DEVICES[BIG_CHIP])
    chip = DEVICES[BIG_CHIP]
    block = main.config.block_size
    return {
        "tokens": str(ntp.num_tokens),
        "ntp_passes": str(ntp.num_forwards),
        "sbd_passes": str(main.num_forwards),
        "passes_ratio": times(ntp.num_forwards / main.num_forwards),
        "block": str(block),
        "two_blocks": str(2 * block),
        "idle_percent": percent(1 - computing / loading),
        "two_blocks_cost": f"{rows_cost(2 * block, cached, chip):.2f}",
        "coin_nats": f"{log(2):.2f}",
        "big_ratio": times(run_seconds(ntp, chip) / run_seconds(main, chip)),
        "here": RECORDER,
        "here_ratio": times(ntp.seconds / main.seconds),
        **order_facts(recorded),
        **clash_facts(recorded),
        **measured_facts(block, solver_parameters(main.config.solver)["gamma"]),
    }


def order_facts(recorded: Recorded) -> dict[str, str]:
    """Of the sudoku's first empty cell: what it could hold, and the cells that settle it."""
    order = recorded.choices.order
    return {
        "candidates": " or ".join(order.candidates),
        "settled_by": " and ".join(cell_name(cell) for cell in order.settled_by),
    }


def cell_name(cell: int) -> str:
    """Of a cell 0 to 15 of a sudoku, in reading order."""
    row, column = divmod(cell, 4)
    return f"row {row + 1} column {column + 1}"


def clash_facts(recorded: Recorded) -> dict[str, str]:
    """A clash at the highest gamma."""
    broken = [edge for edge in recorded.choices.edges if not edge.is_right]
    return {
        "clash": " ".join(broken[-1].clashes[0].words.split()),
        "clash_gamma": f"{broken[-1].gamma:g}",
    }


def measured_facts(block: int, gamma: float) -> dict[str, str]:
    """What decoding costs in accuracy, from the committed evaluation at this block and gamma."""
    evaluation: dict[str, Any] = json.loads(EVALUATION.read_text(encoding="utf-8"))
    assert evaluation["block_size"] == block
    means = {name: row["mean"] for name, row in evaluation["rows"].items()}
    return {
        "ntp_accuracy": percent(means["NTP"]["accuracy"]),
        "sbd_accuracy": percent(means[f"SBD gamma {gamma:g}"]["accuracy"]),
        "sbd_gamma": f"{gamma:g}",
        "verify_accuracy": percent(means["verify"]["accuracy"]),
        "verify_tokens": f"{means['verify']['tokens_per_forward']:.1f}",
    }


def percent(part: float) -> str:
    """A part of 1 as it is written in a sentence: 82.7 %."""
    return f"{100 * part:.1f}\N{NO-BREAK SPACE}%"


def times(ratio: float) -> str:
    """A ratio as the scene's bars show it: 7.05, 0.83."""
    return f"{ratio:.2f}"


def parts_of_pass(rows: int, cached: int, device: Device) -> tuple[float, float]:
    """Seconds of a forward pass of Llama-3.1-8B for loading alone, and computing alone."""
    only_reads = replace(device, linear_flops=inf, attention_flops=inf)
    only_computes = replace(device, bandwidth=inf)
    loading, computing = (
        NUM_LAYERS * pass_seconds(rows, cached, 1, "corrected", device=each)
        for each in (only_reads, only_computes)
    )
    return loading, computing


def rows_cost(rows: int, cached: int, device: Device) -> float:
    """How many times as long as a forward pass of one row one of `rows` takes."""
    many, one = (pass_seconds(count, cached, 1, "corrected", device=device) for count in (rows, 1))
    return many / one


def run_seconds(trace: Trace, device: Device) -> float:
    """What a run's forward passes would take on a device with Llama-3.1-8B, by the roofline."""
    return NUM_LAYERS * sum(
        pass_seconds(
            max(1, event.num_causal + event.block.size),
            event.num_cached,
            1,
            "corrected",
            device=device,
        )
        for event in trace.events
    )


def machines(recorded: Recorded) -> list[dict[str, Any]]:
    """Seconds of both lanes of the run `text`: as recorded, then by the roofline of each device."""
    lanes = recorded.runs["text"]
    rows: list[dict[str, Any]] = [
        {
            "name": RECORDER,
            "rates": "",
            "is_measured": True,
            "is_big": False,
            **{lane: trace.seconds for lane, trace in lanes.items()},
        }
    ]
    for key, device in DEVICES.items():
        seconds = {lane: run_seconds(trace, device) for lane, trace in lanes.items()}
        rows.append(
            {
                "name": device.name,
                "rates": device.source,
                "is_measured": False,
                "is_big": key == BIG_CHIP,
                **seconds,
            }
        )
    return rows


def layer_weights() -> str:
    """Weights of all layers that times on a chip are worked out for, as a sentence has it."""
    return f"{NUM_LAYERS * LLAMA_8B.num_weights / 1e9:.0f} billion"


def pass_times(recorded: Recorded) -> list[dict[str, float]]:
    """Seconds of one forward pass on the large chip by its rows: loading, and computing."""
    cached = len(recorded.runs["text"]["ntp"].prompt_token_ids)
    rows = []
    for count in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
        loading, computing = parts_of_pass(count, cached, DEVICES[BIG_CHIP])
        rows.append({"rows": count, "loading": loading, "computing": computing})
    return rows
