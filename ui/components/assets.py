"""Reads the files of assets/ that components carry. Decides nothing."""

from pathlib import Path

ASSETS = Path(__file__).parents[2] / "assets"

PLAYER_SCRIPTS = (
    "bytes", "letters", "dom", "scale", "history", "rules", "reveal", "numbers", "flow", "text",
    "lane", "tiles", "budget", "drawing", "staircase", "transport", "lecture", "keys", "help",
    "permalink", "picture", "slide", "gif", "animation", "share", "alternatives", "inspector",
    "family", "tree", "sudoku", "actions", "player",
)  # fmt: skip
RACE_SCRIPTS = (
    "bytes", "letters", "dom", "reveal", "lecture", "keys", "transport", "permalink", "race-lane",
    "race-table", "race-form", "race-player", "race",
)  # fmt: skip
STYLES = tuple(
    ASSETS / "css" / f"{name}.css"
    for name in (
        "player",
        "budget",
        "replay",
        "help",
        "share",
        "lecture",
        "tree",
        "sudoku",
        "race",
        "charts",
        "page",
    )
)


def markup(name: str) -> str:
    """The markup file `name`."""
    return (ASSETS / "html" / f"{name}.html").read_text(encoding="utf-8").strip()


def scripts(*names: str) -> str:
    """The script files `names` in a row, named for the browser's debugger."""
    parts = [(ASSETS / "js" / f"{name}.js").read_text(encoding="utf-8") for name in names]
    return "\n".join([*parts, f"//# sourceURL=sbd-{names[-1]}.js"])
