"""The numbers in the scenes' words: counted from the recorded runs, or from the roofline."""

from dataclasses import replace
from math import inf, log
from typing import Any

from sbd_core.roofline import DEVICES, LLAMA_8B, Device, pass_seconds
from sbd_core.trace import Trace
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
    loading, computing = parts_of_call(1, cached, DEVICES[BIG_CHIP])
    chip = DEVICES[BIG_CHIP]
    block = main.config.block_size
    return {
        "tokens": str(ntp.num_tokens),
        "ntp_calls": str(ntp.num_forwards),
        "sbd_calls": str(main.num_forwards),
        "calls_ratio": times(ntp.num_forwards / main.num_forwards),
        "block": str(block),
        "two_blocks": str(2 * block),
        "idle_percent": f"{100 * (1 - computing / loading):.1f} %",
        "rows": str(ROWS),
        "rows_cost": f"{rows_cost(ROWS, cached, chip):.2f}",
        "two_blocks_cost": f"{rows_cost(2 * block, cached, chip):.2f}",
        "coin_nats": f"{log(2):.2f}",
        "big_ratio": times(run_seconds(ntp, chip) / run_seconds(main, chip)),
        "chip": chip.name,
        "here": RECORDER,
        "here_ratio": times(ntp.seconds / main.seconds),
        **order_facts(recorded),
        **clash_facts(recorded),
        **check_facts(recorded),
    }


def order_facts(recorded: Recorded) -> dict[str, str]:
    """Of the sudoku's first empty cell, and the cells that settle it."""
    order = recorded.choices.order
    events = recorded.runs["sudoku"]["sbd"].events
    calls = {item.position: event.index for event in events for item in event.reveals}
    return {
        "first_cell": cell_name(order.cell),
        "candidates": " or ".join(order.candidates),
        "settled_by": " and ".join(cell_name(cell) for cell in order.settled_by),
        "first_call": str(calls.get(order.cell, 0) + 1),
    }


def cell_name(cell: int) -> str:
    """Of a cell 0 to 15 of a sudoku, in reading order."""
    row, column = divmod(cell, 4)
    return f"row {row + 1} column {column + 1}"


def clash_facts(recorded: Recorded) -> dict[str, str]:
    """A clash at the highest gamma, and the first gamma whose story the check refuses."""
    broken = [edge for edge in recorded.choices.edges if not edge.is_right]
    return {
        "clash": " ".join(broken[-1].clashes[0].words.split()),
        "clash_gamma": f"{broken[-1].gamma:g}",
        "first_broken_gamma": f"{broken[0].gamma:g}",
    }


def check_facts(recorded: Recorded) -> dict[str, str]:
    """Calls of the checked run, and of the same answer one token at a time."""
    return {
        "check_calls": str(recorded.runs["verify"]["verify"].num_forwards),
        "check_ntp_calls": str(recorded.runs["verify-ntp"]["ntp"].num_forwards),
    }


def times(ratio: float) -> str:
    """A ratio as the scene's bars show it: 7.05, 0.83."""
    return f"{ratio:.2f}"


def parts_of_call(rows: int, cached: int, device: Device) -> tuple[float, float]:
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


def call_times(recorded: Recorded) -> list[dict[str, float]]:
    """Seconds of one forward pass on the large chip by its rows: loading, and computing."""
    cached = len(recorded.runs["text"]["ntp"].prompt_token_ids)
    rows = []
    for count in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
        loading, computing = parts_of_call(count, cached, DEVICES[BIG_CHIP])
        rows.append({"rows": count, "loading": loading, "computing": computing})
    return rows
