"""Writes the constants that Python and JavaScript share, ui/web/constants.json."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sbd_core import roofline
from sbd_core.plots import theme
from sbd_core.replay import STYLES
from sbd_core.run_lines import LANE_NAMES, MAX_SHOWN_BLOCK
from sbd_core.solvers import NO_BOUND, SOLVER_TITLES, SOLVERS, solver_parameters
from scripts.write_tables import results
from ui.decode import form
from ui.decode.form import MAX_TEMPLATE_CHARACTERS
from ui.share import trace_files
from ui.views.roofline import device_data

FILE = Path(__file__).parents[1] / "ui" / "web" / "constants.json"


def constants() -> dict[str, Any]:
    """All shared constants, each read from the Python module that defines it."""
    schemes = {"light": theme.LIGHT, "dark": theme.DARK}
    return {
        "laneNames": LANE_NAMES,
        "replayStyles": STYLES,
        "fieldLabels": form.LABELS,
        "maxLanes": form.MAX_LANES,
        "solverNames": SOLVER_TITLES,
        "solverDefaults": {name: solver_parameters(rule()) for name, rule in SOLVERS.items()},
        "solverLines": {name: rule.words for name, rule in SOLVERS.items()},
        "bounds": {name: asdict(rule.bound) for name, rule in SOLVERS.items()},
        "noBound": asdict(NO_BOUND),
        "entropyScale": {
            "max": theme.MAX_ENTROPY,
            "ticks": theme.TICKS,
            "ramps": {name: ink.ramp.split() for name, ink in schemes.items()},
        },
        "inks": {name: {**asdict(ink), "ramp": name} for name, ink in schemes.items()},
        "linkFields": {name: field for name, field in form.LINK_FIELDS.items() if name != "pins"},
        "linkNames": [*form.LINK_FIELDS, form.LANES],
        "devices": {name: device_data(each) for name, each in roofline.DEVICES.items()},
        "memoryOfDownload": memory_of_download(),
        "limits": {  # of the files, forms and runs that the page takes
            "block": MAX_SHOWN_BLOCK,
            "fileBytes": trace_files.MAX_FILE_BYTES,
            "newTokens": form.MAX_NEW_TOKENS,
            "passes": trace_files.MAX_PASSES,
            "positions": trace_files.MAX_POSITIONS,
            "promptCharacters": form.MAX_PROMPT_CHARACTERS,
            "typedCharacters": form.MAX_TYPED_CHARACTERS,
            "templateCharacters": MAX_TEMPLATE_CHARACTERS,
        },
    }


def memory_of_download() -> float:
    """Peak browser memory divided by download size, for the larger bundled model."""
    row = max(results("browser")["rows"].values(), key=lambda each: each["download_bytes"])
    held = [run["memory_bytes"] for run in row["runs"]] + [row["gpu_memory_bytes"]]
    return round(max(sum(each.values()) for each in held) / row["download_bytes"], 2)


if __name__ == "__main__":
    FILE.write_text(json.dumps(constants(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
