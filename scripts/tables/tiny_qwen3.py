"""The table of a tiny Qwen3 trained from nothing."""

from scripts.tables.results_files import results, table, where
from scripts.tables.wall_clock import load_of


def tiny_qwen3() -> str:
    """What some minutes of training make of a tiny Qwen3."""
    data = results("tiny_qwen3")
    steps = {name: f"{stage['steps']:,}" for name, stage in data["stages"].items()}
    verify, ntp = data["verify"], data["ntp"]
    cells = [
        f"{data['minutes']:g}",
        *steps.values(),
        f"{verify['tokens_per_forward']:.2f}",
        f"{data['predrafts']['tokens_per_forward']:.2f}",
        f"{100 * ntp['accuracy']:.1f} %",
    ]
    head = ["minutes", *(f"steps of {name}" for name in steps)]
    speeds = ("tokens a forward pass, `verify`", "with 4 predrafts", "right, as by `ntp`")
    return (
        table([*head, *speeds], [cells])
        + f"\n{verify['num_examples']} held-out examples of `code`. "
        f"{load_of(data)} {where(data)}"
    )
