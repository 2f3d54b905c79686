"""The gallery of recorded runs under the player, and recorded runs as wire lines."""

from collections.abc import Mapping

from sbd_core.errors import ArgumentError
from sbd_core.run_lines import replay_lines, wire_json
from sbd_core.trace import Trace
from ui import recordings
from ui.decode.verdict import verdicts_of


def opening(model: str = "") -> str:
    """The run with which the page opens; "" for an empty player. model: the page's first."""
    lanes = recordings.opening_traces(model)
    return replay("opening", lanes) if lanes else ""


def home() -> str:
    """The run that plays first on the page; "" if its recording is missing."""
    try:
        return replay("home", recordings.gallery_traces(recordings.HOME_RUN))
    except ArgumentError:
        return ""


def replay(
    run_id: str, lanes: Mapping[str, Trace], *, about: str = "", is_ours: bool = True
) -> str:
    """Wire lines of recorded lanes with verdicts. about: a sentence. is_ours: see verdict_of()."""
    verdicts = verdicts_of(lanes, is_ours=is_ours)
    return replay_lines(run_id, lanes, verdicts=verdicts, about=about)


def gallery_value() -> str:
    """All recorded runs, as the view draws them."""
    names = ("name", "group", "title", "sentence", "passes")
    runs = [{name: getattr(item, name) for name in names} for item in recordings.gallery()]
    return wire_json({"how": recordings.HOW_CHOSEN, "runs": runs})
