"""The table of what others decode with."""

from scripts.tables.results_files import results, table, where


def peers() -> str:
    """Tokens a forward pass of others' ways to decode and of ours, by two definitions."""
    data = results("peers")
    rows = [
        [
            f"`{name}`",
            f"{row['tokens_per_forward']:.2f}",
            f"{row['tokens_per_revealing_forward']:.2f}",
            f"{row['num_draft_forwards']:,}" if row["num_draft_forwards"] else "",
            f"{100 * row['num_right'] / row['num_prompts']:.1f} %",
        ]
        for name, row in data["peers"].items()
    ]
    head = ["", "every forward pass", "those that gave a token", "of the assistant", "right"]
    left_out = "".join(f"{line}. " for line in data["left_out"])
    num_prompts = next(iter(data["peers"].values()))["num_prompts"]
    return (
        table(head, rows)
        + f"\nTokens a forward pass over {num_prompts} held-out prompts of all tasks; the "
        f"assistant's forward passes are counted apart. {left_out}{where(data)}"
    )
