"""The table of the page's presets that are right."""

from scripts.tables.results_files import results, table, where


def presets() -> str:
    """By strategy: of each kind of preset, and of all."""
    data = results("presets")
    kinds = data["presets"]
    total = sum(kind["num_prompts"] for kind in kinds.values())
    rows = []
    for strategy in next(iter(kinds.values()))["right"]:
        right = [kind["right"][strategy] for kind in kinds.values()]
        name = f"`sbd`, gamma {data['gamma']:g}" if strategy == "sbd" else f"`{strategy}`"
        rows.append([name, *map(str, right), f"{sum(right)} of {total}"])
    return table(["strategy", *kinds, "all"], rows) + f"\n{where(data)}"
