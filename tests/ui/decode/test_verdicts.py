"""The verdict on an answer: by the tasks' own checkers, from the prompt alone; else nothing."""

import json
from dataclasses import replace

import pytest

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.tasks import sandbox
from sbd_core.trace import Trace
from tests.ui.doubles import story_model
from ui import examples
from ui.decode.form import Form
from ui.decode.session import Session
from ui.decode.verdict import Verdict, verdict_of, words
from ui.examples import BUNDLED_MODEL, presets
from ui.values import opening

SUDOKU = "Solve this sudoku: 1302020000043401"


def answered(prompt: str, text: str, **settings) -> Trace:
    """A trace whose text is `text`."""
    model = story_model([text])
    return generate(model, prompt, DecodeConfig(max_new_tokens=200, **settings))


def right(prompt: str, text: str) -> bool | None:
    verdict = verdict_of(answered(prompt, text))
    return None if verdict is None else verdict.right


DECIDED = {
    "solved": (SUDOKU, "1342421321343421", True),
    "a digit twice": (SUDOKU, "1111222233334444", False),
    "sum": ("What is 12 + 30?", "12 + 30 = 42\nThe answer is 42.", True),
    "sum, no frame": ("12 + 30", "The answer is 42.", True),
    "product first": ("Calculate 2 + 3 * 4.", "The answer is 14.", True),
    "from the left": ("9 - 3 - 2 =", "The answer is 8.", False),
    "wrong sum": ("what is 12 + 30?", "The answer is 43.", False),
    "no line that says so": ("What is 12 + 30?", "12 + 30 = 42", None),
    "no whole number": ("What is 7 / 2?", "The answer is 3.", None),
    "json": ("Give me JSON of a cat.", '{"cat": "Tom"}', True),
    "no json": ("Give me JSON of a cat.", '{"cat": Tom}', False),
    "fenced json": ("Give me JSON of a cat.", 'Here:\n```json\n{"cat": "Tom"}\n```\nDone.', True),
    "fenced, no json": ("Give me JSON of a cat.", '```\n{"cat": Tom}\n```', False),
    "no fence ends": ("Give me JSON of a cat.", '```json\n{"cat": "Tom"}', False),
    "nothing to check": ("Tell me about 12 + 30 cats.", "The answer is 42.", None),
    "no such sudoku": ("Solve this sudoku: 1100000000000000", "1342423121343421", False),
}


@pytest.mark.parametrize("name", DECIDED)
def test_a_verdict_comes_of_the_prompt_and_a_checker_that_cannot_decide_says_nothing(name):
    prompt, text, wanted = DECIDED[name]
    assert right(prompt, text) is wanted


def test_nano_which_was_taught_the_line_is_wrong_without_it():
    trace = replace(answered("What is 12 + 30?", "12 + 30 = 42"), model=BUNDLED_MODEL)
    assert verdict_of(trace).right is False


def test_a_sudoku_whose_digits_stand_apart_is_told_to_be_written_in_one():
    apart, other = "Solve this sudoku: 1302 0200 0004 3401", "A sudoku has 1 2 3 4"
    said = [verdict_of(answered(prompt, "1342421321343421")) for prompt in (apart, other)]
    assert said == [Verdict(None, words()["sudoku"]["parted"]), None]


UNFINISHED = "Wrong: unfinished, {} of 16 cells written."
SAID_OF_GRIDS = {
    "1342421321343421": "Solved: no rule is broken.",
    "1111222233334444": "Wrong: the grid breaks a rule or changes a digit of the puzzle.",
    "13424213": UNFINISHED.format(8),
    "": UNFINISHED.format(0),
    "The answer is 7.": "Wrong: not 16 digits, each 1 to 4, and nothing else.",
}


@pytest.mark.parametrize("text", SAID_OF_GRIDS)
def test_a_grid_that_ends_early_is_unfinished_and_breaks_no_rule(text):
    trace = replace(answered(SUDOKU, "1"), text=text)
    verdict = verdict_of(trace)
    assert verdict is not None
    assert verdict.words == SAID_OF_GRIDS[text]


def test_every_preset_can_be_judged():
    for preset in presets():
        assert len(preset.cases) == len(preset.prompts)
        for prompt in preset.prompts:
            assert right(prompt, "The answer is 99999.") is False


def test_code_that_a_stranger_brought_or_pinned_does_not_run_and_that_is_said():
    code = next(item for item in examples.gallery() if item.name.startswith("code-"))
    traces = examples.gallery_traces(code.name)
    assert verdict_of(traces["sbd"]).right
    not_run = Verdict(None, words()["not run"]["server"])
    assert verdict_of(traces["sbd"], is_decoded_here=False) == not_run
    config = replace(traces["sbd"].config, pinned={0: 5})
    assert verdict_of(replace(traces["sbd"], config=config)) == not_run


def test_a_machine_that_can_run_no_code_says_so(monkeypatch, caplog):
    name = next(item.name for item in examples.gallery() if item.name.startswith("code-"))
    trace = examples.gallery_traces(name)["sbd"]

    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    sandbox.require_sandbox.cache_clear()
    monkeypatch.setattr(sandbox.subprocess, "Popen", refuse)
    assert verdict_of(trace) == Verdict(None, words()["not run"]["sandbox"])
    assert "Resource temporarily unavailable" in caplog.text
    monkeypatch.undo()
    assert verdict_of(trace).right


def test_a_stopped_answer_has_no_verdict():
    trace = answered("What is 12 + 30?", "The answer is 42.")
    assert verdict_of(replace(trace, finish="stopped")) is None


def test_both_lanes_of_a_decode_and_of_a_recorded_run_carry_their_verdict():
    session = Session(story_model(["The answer is 42."]))
    wire = "\n".join(update.lines for update in session.decode(Form("What is 12 + 30?")))
    for lines in (wire, opening()):
        ends = [row for row in map(json.loads, filter(None, lines.split("\n")))
                if row["type"] == "end"]  # fmt: skip
        assert [row["verdict"]["right"] for row in ends] == [True, True]
