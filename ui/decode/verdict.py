"""Judges answers with the checkers of sbd_core.tasks; the prompt decides which checker applies.

An answer that no checker can judge has no verdict. Knows no Gradio, no model and no tensors.
"""

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from sbd_core.errors import SandboxError
from sbd_core.files import ASSETS
from sbd_core.tasks import TASKS
from sbd_core.tasks.base import Example
from sbd_core.tasks.math_task import ANSWER, FRAMES
from sbd_core.tasks.story import fault_of
from sbd_core.tasks.sudoku import NUM_CELLS, solutions
from sbd_core.trace import Trace
from ui.examples import BUNDLED_MODEL, checked_example_for

logger = logging.getLogger(__name__)

PUZZLE = re.compile(r"(?:^|\D)([0-4]{16})\s*$")
PARTED = re.compile(r"sudoku(?:.*[^0-9\s])?\s*(?:[0-4]\s*){16}$", re.IGNORECASE | re.DOTALL)
SUM = re.compile(r"\d{1,6}(?: ?[-+*/] ?\d{1,6}){1,6}")
DIGITS = rf"[1-4]{{0,{NUM_CELLS}}}"
JSON = re.compile(r"\bjson\b", re.IGNORECASE)
FENCED = re.compile(r"^```(?:json)?[ \t]*\n(.*?)^```", re.IGNORECASE | re.DOTALL | re.MULTILINE)
"""A fenced block, in which chat models write the JSON asked for, with text around it."""


@cache
def words() -> dict[str, dict[str, str]]:
    """The sentences of every verdict: {task or other reason: {kind: sentence}}."""
    table: dict[str, dict[str, str]] = json.loads((ASSETS / "verdicts.json").read_text("utf-8"))
    return table


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an answer is right.

    right: None if the answer was not judged.
    words: sentence that says what was checked, or why nothing was.
    """

    right: bool | None
    words: str


def verdicts_of(
    traces: Mapping[str, Trace], *, is_decoded_here: bool = True
) -> dict[str, dict[str, Any]]:
    """Judge each lane; return {lane: fields of its Verdict}, without the lanes that have none."""
    verdicts = {
        lane: verdict_of(trace, is_decoded_here=is_decoded_here) for lane, trace in traces.items()
    }
    return {lane: asdict(verdict) for lane, verdict in verdicts.items() if verdict is not None}


def verdict_of(trace: Trace, *, is_decoded_here: bool = True) -> Verdict | None:
    """Judge the answer of a trace; None if the decode was stopped or no checker applies.

    is_decoded_here: whether this program decoded the answer. If not, or if a visitor pinned
        tokens, code in the answer is not run.
    """
    if trace.finish == "stopped":
        return None
    example = checked_example_for(trace.prompt) or _asked_for(trace.prompt)
    if example is None:
        return _unknown_verdict(trace)
    if example.task == "code" and (not is_decoded_here or trace.config.pinned):
        return Verdict(None, words()["not run"]["server"])
    if example.task == "math" and trace.model != BUNDLED_MODEL and not ANSWER.search(trace.text):
        return Verdict(None, words()["math"]["elsewhere"].format(case=example.case))
    return verdict_on(example, trace.text)


def verdict_on(example: Example, text: str) -> Verdict:
    """Judge `text` as the answer to an example."""
    try:
        is_right = TASKS[example.task].check(example, text)
    except SandboxError as error:
        logger.warning("no verdict: %s", error)
        return Verdict(None, words()["not run"]["sandbox"])
    kind = "right" if is_right else "wrong"
    facts: dict[str, Any] = {"case": example.case}
    if example.task == "math" and not is_right:
        said = ANSWER.findall(text)
        kind, facts["said"] = ("wrong", said[-1]) if said else ("silent", "")
    elif example.task == "story":
        facts["fault"] = fault_of(example.case, text)
    elif example.task == "sudoku" and not is_right and re.fullmatch(DIGITS, text):
        facts["count"] = len(text)
        kind = "broken" if len(text) == NUM_CELLS else "unfinished"
    return Verdict(is_right, words()[example.task][kind].format_map(facts))


def _unknown_verdict(trace: Trace) -> Verdict | None:
    """Judge an answer to a prompt that is no known example, as far as the prompt allows.

    If the prompt asks for JSON, any valid JSON is right. An answer to an unsolvable sudoku is
    wrong. A sudoku with spaced digits is not judged. Any other prompt gives None.
    """
    if JSON.search(trace.prompt):
        fenced = FENCED.search(trace.text)
        try:
            json.loads(fenced[1] if fenced else trace.text, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return Verdict(right=False, words=words()["any json"]["wrong"])
        return Verdict(right=True, words=words()["any json"]["right"])
    if PUZZLE.search(trace.prompt):
        return Verdict(right=False, words=words()["sudoku"]["no solution"])
    is_parted = PARTED.search(trace.prompt)
    return Verdict(right=None, words=words()["sudoku"]["parted"]) if is_parted else None


def _asked_for(prompt: str) -> Example | None:
    """Make an example that checks answers to a visitor's sudoku or sum; None for other prompts."""
    puzzle = PUZZLE.search(prompt)
    if puzzle and solutions(puzzle[1]):
        return Example("sudoku", prompt, "", puzzle[1])
    for frame in FRAMES.every:
        before, after = (re.escape(part) for part in frame.split("{}"))
        asked = re.fullmatch(f"{before}({SUM.pattern}){after}", prompt.strip(), re.IGNORECASE)
        if asked:
            result = _worked_out(asked[1])
            return None if result is None else Example("math", prompt, "", str(result))
    return None


def _worked_out(expression: str) -> int | None:
    total = 0
    for sign, first, rest in re.findall(r"([-+]?) ?(\d+)((?: ?[*/] ?\d+)*)", expression):
        term = int(first)
        for operation, digits in re.findall(r"([*/]) ?(\d+)", rest):
            number = int(digits)
            if operation == "/" and (number == 0 or term % number):
                return None
            term = term * number if operation == "*" else term // number
        total += -term if sign == "-" else term
    return total


def _refuse(literal: str) -> None:
    raise ValueError(f"{literal} is Python's, not JSON")
