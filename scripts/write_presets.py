"""Write the presets of the page: held-out prompts of every task that is measured.

    python -m scripts.write_presets

Needs no model, and gives the same file every time. Not imported by the page.
"""

import json
from collections.abc import Iterator
from random import Random

from sbd_core.tasks import SUITES, TASKS
from sbd_core.tasks.base import Example
from ui.assets import ASSETS
from ui.examples import PRESETS

# The words on the buttons, in the order of the page.
LABELS = {
    "sudoku": "Sudoku",
    "math": "Word problem",
    "code": "Python",
    "json": "JSON",
    "story": "Story",
    "infill": "Fill blanks",
}
PROMPTS_PER_PRESET = 12
# A bare sum is over before there is anything to see.
MIN_PRESET_CHARACTERS, MAX_PRESET_CHARACTERS = 40, 320
SEED = 20250904


def held_out(task: str) -> Iterator[Example]:
    """Test examples of a task worth watching that read at a glance, without end."""
    random = Random(f"{SEED}/{task}")
    while True:
        example = TASKS[task].generate(random, "test")
        if MIN_PRESET_CHARACTERS <= len(example.prompt) <= MAX_PRESET_CHARACTERS:
            yield example


def preset_examples(task: str) -> list[Example]:
    """The first held-out examples of a task whose prompts differ."""
    chosen: dict[str, Example] = {}
    for example in held_out(task):
        chosen.setdefault(example.prompt, example)
        if len(chosen) == PROMPTS_PER_PRESET:
            break
    return list(chosen.values())


def tasks() -> list[str]:
    """Every measured task, those with a label first."""
    known = [name for name in LABELS if name in SUITES]
    return known + [name for name in SUITES if name not in LABELS]


def label_of(task: str) -> str:
    """The words on its button; a task that has none is called by its name."""
    return LABELS.get(task, task.replace("_", " ").capitalize())


def preset_rows() -> list[dict[str, object]]:
    """What the file holds, see ui.examples."""
    rows: list[dict[str, object]] = []
    for task in tasks():
        found = preset_examples(task)
        prompts, cases = [item.prompt for item in found], [item.case for item in found]
        rows.append({"family": task, "label": label_of(task), "prompts": prompts, "cases": cases})
    return rows


def main() -> None:
    """The command line."""
    rows = preset_rows()
    (ASSETS / PRESETS).write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    print(f"wrote {PRESETS}: {', '.join(str(row['label']) for row in rows)}")


if __name__ == "__main__":
    main()
