"""Writes the constants that Python and JavaScript share, ui/web/constants.json."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sbd_core import roofline
from sbd_core.config import decode_settings
from sbd_core.files import ASSETS
from sbd_core.plots import solver_curves, theme
from sbd_core.replay import STYLES
from sbd_core.run_lines import LANE_NAMES, MAX_SHOWN_BLOCK
from sbd_core.solvers import SOLVER_SOURCES, SOLVER_TITLES, SOLVERS, solver_parameters
from scripts.write_tables import results
from scripts.write_views import device_data
from ui import trace_files
from ui.decode import form
from ui.decode.form import MAX_TEMPLATE_CHARACTERS

FILE = Path(__file__).parents[1] / "ui" / "web" / "constants.json"
SOLVER_WORDS = ASSETS / "solvers.json"
LINK_FIELDS = {
    "prompt": "prompt",
    "system": "system",
    **{item["link"]: item["name"] for item in form.SETTINGS},
    "with": "model",
}
"""Names in the page's address, with the field of the form that each stands for."""
LANES = "lanes"
"""Name in the page's address of the lanes to compare."""


def constants() -> dict[str, Any]:
    """All shared constants, each read from the Python module that defines it."""
    schemes = {"light": theme.LIGHT, "dark": theme.DARK}
    return {
        "laneNames": LANE_NAMES,
        "replayStyles": STYLES,
        "fieldLabels": form.LABELS,
        "maxLanes": form.MAX_LANES,
        "usualRows": form.USUAL_ROWS,
        "solverNames": SOLVER_TITLES,
        "solverSources": SOLVER_SOURCES,
        "settings": decode_settings(),
        "formDefaults": form.DEFAULTS,
        "solverDefaults": {name: solver_parameters(rule()) for name, rule in SOLVERS.items()},
        # A rule without a ranking of its own has a setting for it.
        "solverRules": {
            name: {"ranking": getattr(rule, "ranking", "by"), "stop": rule.stop}
            for name, rule in SOLVERS.items()
        },
        **solver_words(),
        "entropyScale": {
            "max": theme.MAX_ENTROPY,
            "ticks": theme.TICKS,
            "ramps": {name: ink.ramp.split() for name, ink in schemes.items()},
        },
        "inks": {name: {**asdict(ink), "ramp": name} for name, ink in schemes.items()},
        "figures": {
            "layouts": {name: theme.layout_of(ink) for name, ink in schemes.items()},
            "colourBar": theme.coloured(theme.LIGHT)["colorbar"],
            "legend": theme.LEGEND,
            "dashes": solver_curves.DASHES,
        },
        "linkFields": {name: field for name, field in LINK_FIELDS.items() if name != "pins"},
        "linkNames": [*LINK_FIELDS, LANES],
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


def solver_words() -> dict[str, Any]:
    """Sentences about every solver, and what the γ of those with one bounds, in words."""
    data = json.loads(SOLVER_WORDS.read_text("utf-8"))
    lines, bounds = {}, {}
    for name, own in data["solvers"].items():
        stop = SOLVERS[name].stop
        kind = stop if stop in data["bounds"] else "none"
        lines[name] = own.pop("words")
        bounds[name] = {"kind": kind, "equation": "", **data["bounds"][kind], **own}
    none = {"kind": "none", "equation": "", **data["bounds"]["none"]}
    return {"solverLines": lines, "bounds": bounds, "noBound": none}


def memory_of_download() -> dict[str, float]:
    """{engine: peak browser memory divided by download size}, for the larger bundled model."""
    row = max(results("browser")["rows"].values(), key=lambda each: each["download_bytes"]["wasm"])
    runs = {"wasm": [run["memory_bytes"] for run in row["runs"]]}
    runs["webgpu"] = [row["gpu_memory_bytes"]]
    return {
        engine: round(max(sum(each.values()) for each in held) / row["download_bytes"][engine], 2)
        for engine, held in runs.items()
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(constants(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
