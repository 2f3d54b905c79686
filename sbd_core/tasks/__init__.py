"""Endless seeded streams of generated exercises. Knows neither model nor tokenizer.

To add a task, write a module that is a `Task` and add a line to `TASKS`; CONTRIBUTING.md tells the rest.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from random import Random

from sbd_core.errors import ArgumentError
from sbd_core.tasks import code_task, infill, json_task, math_task, story, sudoku
from sbd_core.tasks.base import SPLITS, Example, Split, Task

TASKS: dict[str, Task] = {
    "math": math_task,
    "json": json_task,
    "code": code_task,
    "sudoku": sudoku,
    "story": story,
    "infill": infill,
}


def task(name: str) -> Task:
    """The task called `name`. Raises ArgumentError if there is none."""
    if not isinstance(name, str) or name not in TASKS:
        raise ArgumentError("task", f"must be one of {', '.join(TASKS)}", name)
    return TASKS[name]


def examples(seed: int, split: Split, tasks: Sequence[str]) -> Iterator[Example]:
    """Generate examples endlessly; the task of each is drawn uniformly from `tasks`.

    The same arguments always give the same examples. Raises ArgumentError, before the first
    example, for an unknown split, an unknown task or no task.
    """
    if split not in SPLITS:
        raise ArgumentError("split", f"must be one of {', '.join(SPLITS)}", split)
    if isinstance(tasks, str) or not tasks:
        raise ArgumentError("tasks", "must be a list of at least one task name", tasks)
    random, chosen = Random(f"{seed}/{split}"), [task(name) for name in tasks]
    return (random.choice(chosen).generate(random, split) for _ in count())


def held_out(name: str, limit: int, seed: int = 0, split: Split = "test") -> list[Example]:
    """The first `limit` examples of a task's split, without examples that repeat a prompt.

    Raises ArgumentError for an unknown task or split.
    """
    by_prompt: dict[str, Example] = {}
    stream = examples(seed, split, [name])
    while len(by_prompt) < limit:
        example = next(stream)
        by_prompt.setdefault(example.prompt, example)
    return list(by_prompt.values())
