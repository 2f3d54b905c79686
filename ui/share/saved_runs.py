"""Runs that the visitor's browser saves: their traces handed to it, and taken back from it.

After a restart, or an hour away, the server has a run no more and the browser still has. What it
brings back is a stranger's: bounded before it is unpacked, then checked as a trace file is.
"""

import base64
import re
import zlib
from typing import Any

from sbd_core.errors import ArgumentError
from sbd_core.trace import Trace
from ui.decode.verdict import verdicts_of
from ui.decode.visitor_runs import GoneError, Traces, VisitorRuns
from ui.share.trace_files import MAX_FILE_BYTES, read_trace

MAX_LANES = 3
"""One of each strategy."""
RUN_ID = re.compile(r"[0-9a-f]{8}")
NAME = "The saved run"


def saved(visit: VisitorRuns, run_id: object) -> dict[str, Any]:
    """{"run": id, "lanes": traces as text for the browser to save}; no lanes of a run gone."""
    try:
        lanes = [base64.b64encode(lane).decode() for lane in visit.packed(run_id)]
    except GoneError as error:
        return {"run": error.run_id, "lanes": []}
    return {"run": run_id, "lanes": lanes}


def traces_of(visit: VisitorRuns, wish: dict[str, Any]) -> Traces:
    """The lanes of the run that is wished for; kept again if the wish had to bring them along.

    Raises GoneError for a run that is not there, ArgumentError or TraceError for one brought that
    cannot be.
    """
    run_id, lanes = wish.get("run"), wish.get("lanes")
    try:
        return visit.traces(run_id)
    except GoneError:
        if lanes is None:
            raise
    if not isinstance(run_id, str) or not RUN_ID.fullmatch(run_id):
        raise ArgumentError(NAME, "must have the id of a run", run_id)
    if not isinstance(lanes, list) or not 1 <= len(lanes) <= MAX_LANES:
        raise ArgumentError(NAME, f"must have 1 to {MAX_LANES} lanes", None)
    traces = [read_trace(_unpacked(lane)) for lane in lanes]
    brought: dict[str, Trace] = {trace.config.strategy: trace for trace in traces}
    if len(brought) < len(traces):
        raise ArgumentError(NAME, "must have lanes of different strategies", None)
    visit.add(brought, run_id, verdicts=verdicts_of(brought, is_ours=False))
    return brought


def _unpacked(lane: object) -> str:
    """The JSON of a lane; never more of it than a trace file may have."""
    try:
        if not isinstance(lane, str) or len(lane) > MAX_FILE_BYTES:
            raise ValueError
        packed = base64.b64decode(lane, validate=True)
        text = zlib.decompressobj().decompress(packed, MAX_FILE_BYTES + 1)
        return text.decode()
    except (ValueError, zlib.error) as error:
        raise ArgumentError(NAME, "must be as this page handed it out", None) from error
