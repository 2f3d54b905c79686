"""Write the example prompts of the page: held-out prompts of every task that is measured.

    python -m scripts.write_presets

Takes the first held-out examples that people might type (see `reads_well`) and that differ in more
than names and numbers (see `kind_of`). No model's answer influences the choice, and every run of
this command writes the same file.
"""

import json
import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from random import Random

from sbd_core.files import ASSETS
from sbd_core.tasks import TASKS
from sbd_core.tasks.base import Example
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
PROMPTS_PER_PRESET = 8
MIN_CHARACTERS, MAX_CHARACTERS = 40, 175
AWKWARD = {
    "math": r"^(?!.*\. )|\b(picks|finds|loses|uses)\b|of \d+ dollars each|boxes in each",
    "code": r", each|[cC]all|[nN]ame|[uU]se|doubles|triples|cubes|forms|reverses|first letters"
    r"|absolute|of the lengths|palindromes|fewer than|more than|\bfirst\b|In Python,|equal to",
    "json": r"\bfur\b|patient|pet called|We have found|My name|the children|Somebody|welcomes"
    r"|The (event|film|book|order) (is in|comes from|goes|holds|was placed)|newsletter",
    "story": r"an animal|\bpet\b|,? the (\w+)(,| and| in| at|\.)|with .* with | trade|contest",
    "infill": r"\bin the (beach|island|hill|bridge|mill)|Fill in:|Hello, I|People call"
    r"|def (?!(double|square|is_even|add|larger|first|total|length)\()|\b(print|while|range)\b"
    r"|___ \w+\(|missing parts",
}
"""Patterns of prompts that nobody would type, by task: sums without a story, three operations, a
snake's fur, code without a purpose.
"""
SEED = 20250904


def reads_well(example: Example) -> bool:
    """Whether a prompt is short, easy to read, and something that a person might type."""
    has_length = MIN_CHARACTERS <= len(example.prompt) <= MAX_CHARACTERS
    is_told = example.task != "json" or ("null" not in example.case and "," in example.case)
    return has_length and is_told and not re.search(AWKWARD.get(example.task, "$^"), example.prompt)


def kind_of(example: Example) -> str:
    """The answer with names, colors and numbers blanked, to tell whether examples are similar."""
    return re.sub(r"\d+|\b[A-Z]\w+|\bwhite|yellow\b", "_", example.answer)


def readable_examples(task: str) -> Iterator[Example]:
    """Yield, without end, test examples that read well and are unlike the last few."""
    random = Random(f"{SEED}/{task}")
    kinds: deque[str] = deque(maxlen=PROMPTS_PER_PRESET)
    while True:
        example = TASKS[task].generate(random, "test")
        kind = example.answer if task == "sudoku" else kind_of(example)
        if reads_well(example) and kind not in kinds:
            kinds.append(kind)
            yield example


def main() -> None:
    """Write the file PRESETS, one dict per task, which ui.examples.presets() reads."""
    rows: list[dict[str, object]] = []
    for task, label in LABELS.items():
        examples = list(islice(readable_examples(task), PROMPTS_PER_PRESET))
        prompts, cases = [item.prompt for item in examples], [item.case for item in examples]
        rows.append({"family": task, "label": label, "prompts": prompts, "cases": cases})
    (ASSETS / PRESETS).write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    print(f"wrote {PRESETS}: {', '.join(str(row['label']) for row in rows)}")


if __name__ == "__main__":
    main()
