"""The examples of the page, and the data by which answers to them are checked.

Presets are prompts to start from; a recorded run may have a prompt of its own, and so may the story
of the Learn view. Knows no Gradio.
"""

import json
from dataclasses import dataclass
from functools import cache

from sbd_core.errors import TraceError
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT
from sbd_core.tasks.base import Example
from ui import recordings
from ui.assets import ASSETS

BUNDLED_MODEL = DEFAULT_CHECKPOINT.name
PRESETS = "presets.json"
"""File in assets/ with the presets of the bundled model."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A kind of text and its held-out prompts.

    task: key of `sbd_core.tasks.TASKS`, "" for none.
    cases: Example.case of each prompt; there may be fewer than prompts.
    """

    label: str
    prompts: tuple[str, ...]
    task: str = ""
    cases: tuple[str, ...] = ()


@cache
def presets(name: str = PRESETS) -> tuple[Preset, ...]:
    """All presets of a file in assets/, in the order of the page."""
    rows = json.loads((ASSETS / name).read_text(encoding="utf-8"))
    return tuple(
        Preset(row["label"], tuple(row["prompts"]), row["family"], tuple(row.get("cases", ())))
        for row in rows
    )


@cache
def checked_examples() -> tuple[Example, ...]:
    """Every example whose answers can be checked; the first with a prompt counts."""
    of_presets = [
        Example(preset.task, prompt, "", case)
        for preset in presets()
        for prompt, case in zip(preset.prompts, preset.cases, strict=False)
    ]
    of_gallery = [
        Example(item.task, item.title, "", item.case) for item in recordings.gallery() if item.case
    ]
    return (*of_presets, *of_gallery, *_of_lesson())


def _of_lesson() -> tuple[Example, ...]:
    """The story of the Learn view; none if its recorded runs are missing."""
    try:
        lesson = recordings.learn_runs()
    except TraceError:
        return ()
    prompt = lesson.runs["edge-0"]["sbd"].prompt
    return (Example("story", prompt, "", lesson.choices.story_case),)


@cache
def example_of(prompt: str) -> Example | None:
    """The example with this prompt, up to spaces; None for a visitor's own prompt."""
    titles = (prompt, " ".join(prompt.split()))
    return next((example for example in checked_examples() if example.prompt in titles), None)


@cache
def recording_of(prompt: str) -> str:
    """The name of the recorded run that answers a prompt rightly; "" if there is none."""
    title = " ".join(prompt.split())
    names = (item.name for item in recordings.gallery() if item.title == title and not item.case)
    return next(names, "")
