"""The page's examples: prompts to start from, and recorded runs, which play without a model.

Some recorded runs have a prompt that is in no preset. Knows no Gradio.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

from sbd_core.errors import ArgumentError, TraceError
from sbd_core.files import ASSETS
from sbd_core.models.model_folder import DEFAULT_CHECKPOINT, REAL_MODEL
from sbd_core.tasks.base import Example
from sbd_core.trace import Trace
from ui.decode.form import lane_name

logger = logging.getLogger(__name__)

BUNDLED_MODEL = DEFAULT_CHECKPOINT.name
PRESETS = "presets.json"
"""File in assets/ with the presets of the bundled model."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A kind of prompt, such as "Sudoku", and the prompts that the page offers of that kind.

    task: key of `sbd_core.tasks.TASKS`, "" for none.
    cases: Example.case of the first prompts; prompts beyond these cannot be checked.
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


TRACES = ASSETS / "traces"
GALLERY_INDEX = TRACES / "gallery" / "index.json"
HOW_CHOSEN = (
    "We chose every prompt by hand for what its run shows: no run is an average. Answers of nano "
    "are right, except under “What goes wrong”."
)
"""Words for the page on the choice of the recorded runs."""
HOME_RUN = "code-1"
"""Run of the gallery with which the page opens."""
OPENINGS = {REAL_MODEL: "gallery/real-2"}
"""The run with which a model opens; any other model opens with nano's."""


@dataclass(frozen=True, slots=True)
class Recording:
    """An entry of the gallery: one recorded run. group: the heading above it.

    sentence: says what to look at in the run.
    passes: for each token of the main lane, the index of the forward pass that wrote it.
    task, case: task and Example.case of the prompt, if the prompt is in no preset.
    """

    name: str
    group: str
    title: str
    sentence: str
    passes: tuple[int, ...] = ()
    task: str = ""
    case: str = ""


def recorded(name: str) -> list[Trace]:
    """Read the traces of a recorded run, the main lane first. Raises OSError, TraceError.

    name: a file below assets/traces without its ending; each line of the file is a trace.
    """
    lines = (TRACES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Trace.from_json(line) for line in lines]


def by_strategy(traces: Sequence[Trace]) -> dict[str, Trace]:
    """Traces of one prompt by their strategies."""
    return {trace.strategy: trace for trace in traces}


@cache
def opening_traces(model: str = "") -> dict[str, Trace]:
    """Traces by lane, the main one first, of a model's opening run; none if missing or damaged."""
    return by_strategy(_known(OPENINGS.get(model, "opening")))


@cache
def compared_traces(model: str = "") -> dict[str, Trace]:
    """Traces by lane of the run that the Compare view opens with; none if missing or damaged.

    SmolLM2 shows its opening run, as its adapter was trained to draft for verify, not for Eq. 8.
    """
    if model == REAL_MODEL:
        return dict(reversed(opening_traces(model).items()))
    return {lane_name(trace.config): trace for trace in _known("race")}


def _known(name: str) -> list[Trace]:
    try:
        return recorded(name)
    except (OSError, TraceError) as error:
        logger.warning("no %s: %s", name, error)
        return []


@cache
def gallery() -> tuple[Recording, ...]:
    """The gallery's entries in the order of the page; none if the index is missing or damaged."""
    try:
        rows = json.loads(GALLERY_INDEX.read_text(encoding="utf-8"))
        return tuple(Recording(**{**row, "passes": tuple(row["passes"])}) for row in rows)
    except (OSError, ValueError, TypeError, KeyError) as error:
        logger.warning("no gallery: %s", error)
        return ()


def gallery_traces(name: object) -> dict[str, Trace]:
    """Traces by lane of a gallery run. Raises ArgumentError for an unknown or damaged run."""
    if not any(item.name == name for item in gallery()):
        raise ArgumentError("The recorded run", "must be one of the gallery", name)
    try:
        return by_strategy(recorded(f"gallery/{name}"))
    except (OSError, TraceError) as error:
        logger.warning("no recorded run: %s", error)
        rule = "is missing or damaged here; press Decode to run its prompt"
        raise ArgumentError("The recorded run", rule, None) from error


LEARN_INDEX = TRACES / "learn" / "index.json"
BLOCKS = (2, 4, 8)
"""Block sizes of the runs block-2, block-4, ...: the run `text` in smaller blocks."""


@dataclass(frozen=True, slots=True)
class LearnRuns:
    """Everything recorded for the Learn view. runs: traces by run and lane, the main lane first.

    choices: places in the runs to which the scenes point, mostly written by hand in index.json:
    - sure, unsure: forward_pass and position, in the run `guess`, of a word that the reader
      guesses.
    - bound_pass, mask_pass: forward passes of the run `text`.
    - check_pass: a forward pass of the run `verify` that rejects part of a draft.
    - is_verify_ntp: whether that run and next-token prediction have the same answer.
    - order: of the run `sudoku`, its first empty `cell`, 0 to 15; the `candidates`, digits that the
      givens leave for the cell; `settled_by`, the cells filled earlier that decide between the
      candidates, empty if the run does not show this.
    - edges: one entry for each run edge-0, edge-1, ..., whose `gamma` rises. is_right: whether the
      checker found no fault. fault: the first fault, as a clause. has_facts: whether the checker
      compared facts with the prompt, and not only words. clashes: words that do not fit together,
      the plainest first, each with its `words`, its tokens from `start` to `end`, and the
      `forward_pass` that filled them.
    - story_case: Example.case of the story in these runs.
    - processor: name of the processor on which the run `text` was timed.
    """

    runs: Mapping[str, Mapping[str, Trace]]
    choices: Any


@cache
def learn_runs() -> LearnRuns:
    """The runs of all scenes. Raises TraceError for files that are missing or damaged."""
    try:
        text = LEARN_INDEX.read_text(encoding="utf-8")
        choices = json.loads(text, object_hook=lambda fields: SimpleNamespace(**fields))
        checked, plain = recorded("learn/verify")
        runs = {
            "first": gallery_traces(HOME_RUN),
            **{
                name: by_strategy(recorded(f"learn/{name}")) for name in ("text", "guess", "sudoku")
            },
            "verify": by_strategy([checked]),
            "verify-ntp": by_strategy([plain]),
        }
        for size, trace in zip(BLOCKS, recorded("learn/blocks"), strict=True):
            runs[f"block-{size}"] = by_strategy([trace])
        for number, trace in enumerate(recorded("learn/edges")):
            runs[f"edge-{number}"] = by_strategy([trace])
    except (OSError, ValueError, TypeError, AttributeError) as error:
        rule = "are missing or damaged; python -m scripts.record writes them"
        raise TraceError(f"The recorded runs of the scenes {rule}") from error
    return LearnRuns(runs, choices)


@cache
def checked_examples() -> tuple[Example, ...]:
    """All examples whose answers can be checked; of several with one prompt the first counts."""
    of_presets = [
        Example(preset.task, prompt, "", case)
        for preset in presets()
        for prompt, case in zip(preset.prompts, preset.cases, strict=False)
    ]
    of_gallery = [
        Example(item.task, trace.prompt, "", item.case)
        for item in gallery()
        for trace in (_known(f"gallery/{item.name}")[:1] if item.case else [])
    ]
    return (*of_presets, *of_gallery, *_of_lesson())


def _of_lesson() -> tuple[Example, ...]:
    """The story of the Learn view; none if its recorded runs are missing."""
    try:
        lesson = learn_runs()
    except TraceError:
        return ()
    prompt = lesson.runs["edge-0"]["sbd"].prompt
    return (Example("story", prompt, "", lesson.choices.story_case),)


@cache
def example_of(prompt: str) -> Example | None:
    """The example with this prompt, whatever its spaces; None if there is none."""
    titles = (prompt, " ".join(prompt.split()))
    return next((example for example in checked_examples() if example.prompt in titles), None)


@cache
def recording_of(prompt: str) -> str:
    """The name of the gallery's run of a prompt, failures left out; "" if there is none."""
    title = " ".join(prompt.split())
    names = (item.name for item in gallery() if item.title == title and not item.case)
    return next(names, "")
