"""Prompts written by hand, made by no generator, each with what a right answer must satisfy.

handwritten_prompts.json is a list of objects of three strings: task, prompt, and case as the
check of the task reads it: math the number, code a literal of (inputs, results), json the object.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sbd_core.errors import ArgumentError
from sbd_core.evaluation.scoring import Answer
from sbd_core.tasks import Example, task

PATH = Path(__file__).with_name("handwritten_prompts.json")
NAME = PATH.stem
KEYS = ("family", "prompt", "case")


def handwritten_prompts(path: Path = PATH) -> list[Example]:
    """The prompts of `path` as examples without an answer. Raises ArgumentError."""
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ArgumentError(
            "handwritten_prompts", "must be a readable JSON file", str(path)
        ) from error
    if not isinstance(data, list) or not data:
        raise ArgumentError(
            "handwritten_prompts", "must be a list of at least one object", str(path)
        )
    return [_example(item) for item in data]


def answer_table(
    items: Sequence[Example], answers: Mapping[str, Sequence[Answer]]
) -> list[dict[str, Any]]:
    """What each row answered to each prompt, as plain data."""
    return [
        {
            "family": item.task,
            "prompt": item.prompt,
            "answers": {
                row: {"text": one[index].text, "is_right": one[index].is_right}
                for row, one in answers.items()
            },
        }
        for index, item in enumerate(items)
    ]


def _example(item: object) -> Example:
    if not isinstance(item, dict) or set(item) != set(KEYS):
        raise ArgumentError(NAME, f"must hold objects of {', '.join(KEYS)}", item)
    for key in KEYS:
        if not isinstance(item[key], str) or not item[key]:
            raise ArgumentError(NAME, f"must have a text as {key}", item)
    task(item["family"])
    return Example(item["family"], item["prompt"], "", item["case"])
