"""The table of what fine-tuning takes of a GPU's memory."""

from scripts.tables.results_files import results, table

GIB = 2**30
PARTS = ("weights", "gradients", "optimizer", "communication", "activations", "output_layer")


def memory() -> str:
    """Each case of scripts/training/estimate_memory.py in the quickest setup that fits."""
    lines = []
    for row in results("training_memory")["rows"]:
        found = row["checkpointed" if row["is_checkpointed"] else "plain"]
        gpus = f"{row['num_gpus']} of {row['gpu_gib']} GiB"
        flags = [f"`--accumulate {row['accumulate']}`"] if row["accumulate"] > 1 else []
        flags += ["`--gradient-checkpointing`"] if row["is_checkpointed"] else []
        lines.append(
            [
                row["model"],
                f"`{row['recipe']}`",
                gpus + (f", {row['sharding']}" if row["num_gpus"] > 1 else ""),
                " ".join(flags),
                *(f"{found[part] / GIB:.1f}" for part in PARTS),
                f"{found['total'] / GIB:.1f}",
                f"{row['checkpointed']['total'] / GIB:.1f}",
            ]
        )
    head = ["shape", "recipe", "GPUs", "flags", *(part.replace("_", " ") for part in PARTS)]
    return table([*head, "together", "with checkpointing"], lines)
