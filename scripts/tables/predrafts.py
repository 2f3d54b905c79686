"""The tables of drafts made ahead: forward passes saved, rows added, seconds; and exactness."""

from scripts.tables.results_files import results, table, where


def predrafts() -> str:
    """verify at every number of predrafts and draft threshold."""
    data = results("predrafts")
    rows = []
    for row in data["predrafts"]:
        speedups = row["roofline_speedup_over_first"]
        rows.append(
            [
                str(row["num_predrafts"]),
                f"{row['draft_threshold']:g}",
                f"{row['tokens_per_forward']:.2f}",
                f"{row['rows_per_forward']:.1f}",
                f"{row['tokens_per_second']:.0f}",
                *(f"{value:.2f}" for value in speedups.values()),
            ]
        )
    first = data["predrafts"][0]
    num_equal = sum(row["num_equal_to_first"] for row in data["predrafts"])
    num_all = sum(row["num_prompts"] for row in data["predrafts"])
    head = ["predrafts", "threshold", "tokens per forward pass", "rows per forward pass"]
    head += ["tokens per second", *(f"8B on an H100, {size}" for size in speedups)]
    return (
        table(head, rows)
        + f"\n{first['num_prompts']} prompts; {num_equal:,} of {num_all:,} decodes have the "
        f"tokens of the first row's. The last columns are the corrected roofline's speed-up over "
        f"the first row, by the rows. {where(data)}"
    )


def predrafts_many() -> str:
    """Tokens a forward pass of verify without predrafts and with four, on many examples a task."""
    ahead = results("predrafts_many")
    rows = {"0, threshold 0.5": results("evaluation")["rows"]["verify"]}
    rows["4, threshold 0.15"] = ahead["rows"]["verify"]
    tasks = [task["family"] for task in ahead["rows"]["verify"]["families"]]
    lines = [
        [
            name,
            *(f"{task['tokens_per_forward']:.2f}" for task in row["families"]),
            f"{row['mean']['tokens_per_forward']:.2f}",
            f"{row['mean']['accuracy']:.1%}".replace("%", " %"),
        ]
        for name, row in rows.items()
    ]
    return (
        table(["predrafts", *tasks, "mean", "right"], lines)
        + f"\n{ahead['rows']['verify']['families'][0]['num_examples']} held-out examples a task. "
        f"{where(ahead)}"
    )


def exactness() -> str:
    """verify against ntp on random-weight models of every full-attention architecture."""
    data = results("exactness")
    rows = [
        [f"`{name}`", *(f"{found[key]:,}" for key in ("decodes", "equal", "predrafts_used"))]
        for name, found in data["architectures"].items()
    ]
    num_ties = sum(found["ties"] for found in data["architectures"].values())
    settings = ", ".join(
        f"{one['num_predrafts']} at {one['draft_threshold']:g}" for one in data["settings"]
    )
    return (
        table(["architecture", "decodes", "with the tokens of `ntp`", "predrafts used"], rows)
        + f"\n{data['num_prompts']:,} prompts of random tokens each, {data['max_new_tokens']} new "
        f"tokens at most; predrafts and thresholds: {settings}. Two best tokens equal up to "
        f"rounding where an answer differs: {num_ties}. {where(data)}"
    )
