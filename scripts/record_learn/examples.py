"""The held-out examples that the scenes' runs are chosen from."""

from collections.abc import Iterator
from random import Random

from sbd_core.tasks import SUITES, TASKS
from sbd_core.tasks.base import Example
from scripts.mixed_up_names import stories_of_two
from ui.gallery import recorded as gallery
from ui.gallery.examples import presets

SEED = 18


def from_presets(task: str = "") -> list[Example]:
    """Of the page, those of one task or all."""
    return [
        Example(preset.task, prompt, "", case)
        for preset in presets()
        for prompt, case in zip(preset.prompts, preset.cases, strict=False)
        if task in ("", preset.task)
    ]


def drawn(task: str, count: int) -> list[Example]:
    """The first `count` of a task by a fixed seed."""
    random = Random(SEED)
    return [TASKS[task].generate(random, "test") for _ in range(count)]


def of_any_task(count: int) -> list[Example]:
    """The presets, then `count` of each task."""
    return [*from_presets(), *(example for task in SUITES for example in drawn(task, count))]


def told_of_mix_up() -> Iterator[Example]:
    """The gallery's story of mixed-up names, if it has one; then others of two people."""
    for item in gallery.gallery():
        if item.name == "names-mixed-up":
            prompt = gallery.gallery_traces(item.name)["sbd"].prompt
            yield Example(item.task, prompt, "", item.case)
    yield from stories_of_two()
