"""The table of the load, fault and hostile-input campaign."""

from scripts.tables.results_files import results, table, where


def campaign() -> str:
    """What was counted, beside the most that it may be."""
    data = results("campaign")
    rows = [
        [row["what"], f"{row['value']:,}" + ("" if row["is_met"] else ", not met"), row["wanted"]]
        for row in data["rows"].values()
    ]
    facts = data["circumstances"]
    minutes = sum(row["seconds"] for row in data["rows"].values()) / 60
    browser = f"Gradio {facts['gradio']}, Playwright {facts['playwright']}; {minutes:.0f} minutes. "
    return table(["figure", "found", "target"], rows) + f"\n{browser}{where(data)}"
