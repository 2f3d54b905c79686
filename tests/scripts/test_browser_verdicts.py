"""The engine of the browser judges answers as ui/decode/verdict.py does, in the same words."""

import json
import re
import shutil
import subprocess
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from sbd_core.tasks import held_out
from sbd_core.tasks.base import Example
from tests.ui.decode.test_verdicts import DECIDED, answered
from ui.browser.engine_choice import BROWSER_TASKS, checked_here
from ui.decode.verdict import verdict_of, verdict_on
from ui.gallery.examples import checked_examples

JUDGE = Path(__file__).parents[2] / "ui" / "web" / "tests" / "engine" / "judge.js"
NUM_HELD_OUT = 25
OTHERS = ("", "no answer", "The answer is 7.", "[]", "null", "1111222233334444")
JSON_TEXTS = ('{"a": NaN}', '{"a": 1, "a": 2}', "[1, 1.0, 1e3, -0.0]", '"\\u00e9"', "[01]", "{} {}")
OWN = [
    *((prompt, text) for prompt, text, _ in DECIDED.values()),
    *(("A cat as JSON, please", text) for text in JSON_TEXTS),
    ("Tell me of a jsonnet.", "{}"),
    ("  what is 4 + 4 / 2 - 3? ", "The answer is 3."),
    ("999999*999999*999999*999999*999999*999999*999999", "The answer is 1."),
]

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")


def judged(rows: list[tuple]) -> list[dict | None]:
    """What the engine says of every [prompt, text, examples]."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    said = subprocess.run(
        ["node", str(JUDGE)], input=text, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in said.stdout.splitlines()]


def texts_for(example: Example) -> list[str]:
    """Answers that are right, nearly right, and wrong."""
    answer = example.answer
    near = [answer + "\n", answer[:-1], answer[1:], answer.replace("1", "2"), answer.upper()]
    if example.task == "json":
        data = json.loads(answer)
        first = next(iter(data))
        near += [
            json.dumps(dict(reversed(data.items())), indent=1),
            re.sub(r": (\d+)([,}])", r": \1.0\2", answer),
            answer.replace("{", '{"extra": 1, ', 1),
            answer.replace("{", f"{{{json.dumps(first)}: 0, ", 1),
        ]
    return [answer, *near, *OTHERS]


def test_held_out_examples_are_judged_alike_and_in_the_same_words() -> None:
    rows, wanted = [], []
    for task in BROWSER_TASKS:
        for example in held_out(task, NUM_HELD_OUT):
            for text in texts_for(example):
                rows.append((example.prompt, text, [(example.prompt, task, example.case)]))
                wanted.append(verdict_on(example, text))
    for row, found, verdict in zip(rows, judged(rows), wanted, strict=True):
        assert found == asdict(verdict), row
    num_right = sum(verdict.right for verdict in wanted)
    assert len(BROWSER_TASKS) * NUM_HELD_OUT <= num_right < len(rows) / 2


def test_examples_of_the_page_and_prompts_of_ones_own_are_judged_alike() -> None:
    trace = answered("What is 12 + 30?", "The answer is 42.")
    asked = [*OWN, *((one.prompt, text) for one in checked_examples() for text in OTHERS)]
    known = checked_here()
    judges = {one.prompt: one.task in BROWSER_TASKS for one in checked_examples()}
    for (prompt, text), found in zip(asked, judged([(*one, known) for one in asked]), strict=True):
        verdict = None
        if judges.get(prompt, True):
            verdict = verdict_of(replace(trace, prompt=prompt, text=text))
        assert found == (verdict and asdict(verdict)), (prompt, text)
