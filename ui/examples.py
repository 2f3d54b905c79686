"""The page's examples: prompts to start from, and recorded runs, which play without a model.

A run has one trace for each of its lanes, the decodes that the page plays side by side.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sbd_core.files import ASSETS
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.tasks.base import Example
from sbd_core.trace import Trace

BUNDLED_MODEL = DEFAULT_CHECKPOINT.name
PRESETS = "presets.json"
"""File in assets/ with the presets of the bundled model."""


def parsed(path: Path) -> Any:
    """Read JSON, each object in it as one with its fields as attributes."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text, object_hook=lambda fields: SimpleNamespace(**fields))


@cache
def presets(name: str = PRESETS) -> Sequence[Any]:
    """Read all presets from a file in assets/, kinds of prompts in the order of the page.

    Each has a `label`, such as "Sudoku", its `prompts` and the `family`, the name of the task that
    checks the answers; those of the bundled model have `cases`, Example.case of each prompt.
    """
    return tuple(parsed(ASSETS / name))


TRACES = ASSETS / "traces"
GALLERY_INDEX = TRACES / "gallery" / "index.json"
HOW_CHOSEN = (
    "We chose every prompt by hand for what its run shows: no run is an average. Answers of nano "
    "are right, except under “What goes wrong”."
)
"""The page's text on how the recorded runs were chosen."""
HOME_RUN = "code-1"
"""Gallery run with which the page opens."""
OPENINGS = {REAL_MODEL: "gallery/real-2"}
"""Path of the run with which a model opens; any other model opens with nano's."""

RACE = ("ntp", "sbd:0.1", "sbd:0.35", "verify")
"""Lanes of the recorded run "race"."""


def recorded(name: str) -> list[Trace]:
    """Read the traces of a recorded run, the main lane first.

    name: path of the file in assets/traces, without its ending; each line of the file is a trace.
    Raises OSError if the file cannot be read, TraceError if a trace is damaged.
    """
    lines = (TRACES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Trace.from_json(line) for line in lines]


def by_strategy(traces: Sequence[Trace]) -> dict[str, Trace]:
    """Map the name of each strategy to its trace; all traces are of one prompt."""
    return {trace.strategy: trace for trace in traces}


@cache
def opening_traces(model: str = "") -> dict[str, Trace]:
    """Read a model's opening run as {lane: trace}, main lane first."""
    return by_strategy(recorded(OPENINGS.get(model, "opening")))


@cache
def compared_traces(model: str = "") -> dict[str, Trace]:
    """Read the Compare view's first run, as {lane: trace}.

    SmolLM2 gets its opening run: its adapter was not trained for the paper's solver (Eq. 8).
    """
    if model == REAL_MODEL:
        return dict(reversed(opening_traces(model).items()))
    return dict(zip(RACE, recorded("race"), strict=True))


@cache
def gallery() -> Sequence[Any]:
    """Read the gallery's entries in the order of the page.

    Each has its `name`, that of its file, `group`, `title` and `sentence`, and the `passes`: for
    each token of the main lane, the index of the forward pass that wrote it. `task` and `case` are
    the prompt's task and Example.case; "" if a preset gives them or there are none.
    """
    return tuple(parsed(GALLERY_INDEX))


def gallery_traces(name: str) -> dict[str, Trace]:
    """Read a run of the gallery as {lane: trace}."""
    return by_strategy(recorded(f"gallery/{name}"))


LEARN_INDEX = TRACES / "learn" / "index.json"


@cache
def checked_examples() -> tuple[Example, ...]:
    """All examples whose answers can be checked, from presets, gallery and Learn view."""
    of_presets = [
        Example(preset.family, prompt, "", case)
        for preset in presets()
        for prompt, case in zip(preset.prompts, preset.cases, strict=True)
    ]
    of_gallery = [
        Example(item.task, recorded(f"gallery/{item.name}")[0].prompt, "", item.case)
        for item in gallery()
        if item.case
    ]
    told = recorded("learn/edges")[0].prompt
    return (*of_presets, *of_gallery, Example("story", told, "", parsed(LEARN_INDEX).story_case))


@cache
def checked_example_for(prompt: str) -> Example | None:
    """The first of checked_examples() with this prompt, extra spaces ignored, or None."""
    titles = (prompt, " ".join(prompt.split()))
    return next((example for example in checked_examples() if example.prompt in titles), None)


@cache
def gallery_run_for(prompt: str) -> str:
    """The name of the gallery's run whose title is this prompt; "" if there is no such run."""
    title = " ".join(prompt.split())
    names = (item.name for item in gallery() if item.title == title and not item.case)
    return next(names, "")
