"""The data of the charts under the player, which the browser draws: their words, and a sweep."""

import json
from typing import Any

from sbd_core.files import ASSETS
from sbd_core.run_lines import wire_json

LIBRARY = ASSETS / "vendor" / "plotly-cartesian.min.js"
LIBRARY_PATH = "vendor/plotly-cartesian.min.js"
WORDS = ASSETS / "charts.json"
SWEEP = ASSETS / "results" / "sweep.json"
MAX_MARKED = 12
"""Most runs of the reader in the chart of all solvers, the newest."""


def charts_value() -> str:
    """The JSON of the charts: the type Setting of ui/web/charts.

    The texts quote numbers of the sweep, the results that `sbd evaluate --sweep` stored for every
    solver on held-out examples.
    """
    results: dict[str, Any] = json.loads(SWEEP.read_text(encoding="utf-8"))
    tasks = next(iter(results["rows"].values()))["families"]
    numbers = {
        "examples": min(task["num_examples"] for task in tasks),
        "block": results["block_size"],
        "marked": MAX_MARKED,
    }
    text = WORDS.read_text(encoding="utf-8")
    for name, value in numbers.items():
        text = text.replace(f"{{{name}}}", str(value))
    means = {name: row["mean"] for name, row in results["rows"].items()}
    sweep = {name: [each["accuracy"], each["tokens_per_forward"]] for name, each in means.items()}
    return wire_json(
        {
            "cards": json.loads(text),
            "sweep": sweep,
            "model": results["model"],
            "mostMarked": MAX_MARKED,
        }
    )
