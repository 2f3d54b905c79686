"""Judges answers with the checkers of sbd_core.tasks; the prompt decides which checker applies.

An answer that no checker can judge has no verdict. Knows no Gradio, no model and no tensors.
"""

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sbd_core.errors import SandboxError
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
JSON = re.compile(r"\bjson\b", re.IGNORECASE)
FENCED = re.compile(r"^```(?:json)?[ \t]*\n(.*?)^```", re.IGNORECASE | re.DOTALL | re.MULTILINE)
"""A fenced block, in which chat models write the JSON asked for, with text around it."""
WORDS = {
    "code": (
        "Right: the function returns what it should.",
        "Wrong: the function does not return what it should.",
    ),
    "json": (
        "Right: this is the JSON that was asked for.",
        "Wrong: this is not the JSON that was asked for.",
    ),
    "infill": (
        "Right: this is the line with its blanks filled.",
        "Wrong: this is not the line with its blanks filled.",
    ),
}
SUDOKU_WORDS = {
    "right": "Solved: no rule is broken.",
    "broken": "Wrong: the grid breaks a rule or changes a digit of the puzzle.",
    "unfinished": f"Wrong: unfinished, {{count}} of {NUM_CELLS} cells written.",
    "other": f"Wrong: not {NUM_CELLS} digits, each 1 to 4, and nothing else.",
}
SUM_WORDS = {
    "right": "Right: the answer is {case}.",
    "wrong": "Wrong: the answer is {case}, not {said}.",
    "silent": "Wrong: no line says “The answer is {case}.”",
    "elsewhere": "Not judged: no line says “The answer is”; it is {case}.",
}
STORY_WORDS = {
    "right": (
        "Right: it has the people, animals, things, colours and places of the prompt, at most one "
        "of a kind left open, no sentence twice, no word twice in a row, every word one of "
        "stories or the prompt. Its grammar, sense, style and theme (say, a race) are not checked."
    ),
    "wrong": "Wrong: one fault found is that {fault}.",
}
NOT_RUN = {
    "server": (
        "Not judged: the page runs no function that has pinned tokens or comes from a trace file."
    ),
    "sandbox": "Not judged: this machine cannot run the function safely.",
}
NO_SOLUTION = "Not solved: this sudoku has no solution."
PARTED_DIGITS = "Not judged: write the sudoku’s 16 digits together."
JSON_WORDS = ("Valid JSON; nothing checked its values.", "Wrong: this is not valid JSON.")


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
        return Verdict(None, NOT_RUN["server"])
    if example.task == "math" and trace.model != BUNDLED_MODEL and not ANSWER.search(trace.text):
        return Verdict(None, SUM_WORDS["elsewhere"].format(case=example.case))
    return verdict_on(example, trace.text)


def verdict_on(example: Example, text: str) -> Verdict:
    """Judge `text` as the answer to an example."""
    try:
        is_right = TASKS[example.task].check(example, text)
    except SandboxError as error:
        logger.warning("no verdict: %s", error)
        return Verdict(None, NOT_RUN["sandbox"])
    if example.task == "math":
        said = ANSWER.findall(text)
        kind = "right" if is_right else "wrong" if said else "silent"
        words = SUM_WORDS[kind].format(case=example.case, said=said[-1] if said else "")
        return Verdict(is_right, words)
    if example.task == "story":
        fault = fault_of(example.case, text)
        words = STORY_WORDS["wrong" if fault else "right"].format(fault=fault)
        return Verdict(is_right, words)
    if example.task == "sudoku":
        are_digits = re.fullmatch(f"[1-4]{{0,{NUM_CELLS}}}", text) is not None
        full = "broken" if len(text) == NUM_CELLS else "unfinished"
        kind = "right" if is_right else full if are_digits else "other"
        return Verdict(is_right, SUDOKU_WORDS[kind].format(count=len(text)))
    return Verdict(is_right, WORDS[example.task][not is_right])


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
            return Verdict(right=False, words=JSON_WORDS[1])
        return Verdict(right=True, words=JSON_WORDS[0])
    if PUZZLE.search(trace.prompt):
        return Verdict(right=False, words=NO_SOLUTION)
    return Verdict(right=None, words=PARTED_DIGITS) if PARTED.search(trace.prompt) else None


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
