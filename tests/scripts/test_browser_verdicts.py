"""The engine of the browser judges answers as ui/decode/verdict.py does, in the same words."""

import json
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from random import Random

import pytest

from sbd_core.tasks import held_out
from sbd_core.tasks.base import Example
from sbd_core.tasks.story.words import LISTS
from tests.ui.decode.test_verdicts import DECIDED, SAID_OF_GRIDS, SUDOKU, answered
from ui.browser.engine_choice import BROWSER_TASKS, checked_here
from ui.decode.verdict import NOT_RUN, Verdict, verdict_of, verdict_on
from ui.gallery.examples import checked_examples

JUDGE = Path(__file__).parents[2] / "ui" / "web" / "tests" / "engine" / "judge.js"
NUM_HELD_OUT, NUM_STORIES = 25, 150
NUM_FAULTS = 14
"""Kinds of what `fault_of` says of a story."""
OTHERS = ("", "no answer", "The answer is 7.", "[]", "null", "1111222233334444")
JSON_TEXTS = ('{"a": NaN}', '{"a": 1, "a": 2}', "[1, 1.0, 1e3, -0.0]", '"\\u00e9"', "[01]", "{} {}")
OWN = [
    *((prompt, text) for prompt, text, _ in DECIDED.values()),
    *(("A cat as JSON, please", text) for text in JSON_TEXTS),
    *((SUDOKU, text) for text in SAID_OF_GRIDS),
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


def broken_stories(random: Random, example: Example, other: str) -> list[str]:
    """A story with words changed, doubled, garbled and moved; `other` is one of another prompt."""
    text, facts = example.answer, json.loads(example.case)
    words = text.split(" ")
    kinds, pets = facts.get("species", ["cat"]), facts.get("animal", ["Rex"])
    at, away = random.sample(range(len(words)), 2)
    listed = [random.choice(sorted(LISTS[random.choice(sorted(LISTS))])) for _ in range(2)]

    def with_word(index: int, *instead: str) -> str:
        return " ".join([*words[:index], *instead, *words[index + 1 :]])

    letter = random.randrange(len(words[at]))
    capitals = [index for index, word in enumerate(words) if index and word[:1].isupper()]
    name = random.choice(capitals or [at])
    return [
        with_word(at, words[at], words[at]),
        with_word(at, words[away]),
        with_word(at),
        with_word(at, listed[0]),
        with_word(at, listed[0].upper()),
        with_word(at, *listed),
        with_word(at, words[at][:letter] + words[at][letter + 1 :]),
        with_word(at, words[at][: letter + 1] + words[away]),
        with_word(at, words[at][: letter + 1], words[at][letter:]),
        with_word(at, "ö" + words[at], "7"),
        with_word(name, words[name][:1] + "x" + words[name][1:]),
        with_word(name, words[name][:-2] + "öx"),
        with_word(name, random.choice(sorted(LISTS["animal"]))),
        text.replace(" he ", " she "),
        text.replace(" her ", " his "),
        text + " " + text,
        f"{text} {pets[-1]}.",
        f"{text} Puff! Puff?",
        text + " Zorbal met Quimby at Narnia.",
        text.replace(" the ", " the the ", 1),
        text.replace("the ", "the cat Rex, the dog Rex and ", 1),
        text + " Then Tom's cat met Amy's cat.",
        f"{text} The {kinds[0].split(' ')[-1]} {pets[-1]} was glad.",
        " ".join(words[:9]) + ".",
        text + " " + "very " * 2000 + "good.",
        other,
    ]


def kind_of(words: str) -> str:
    """A verdict's sentence without what it quotes, unless it quotes a pronoun."""
    return re.sub(r"“(?!he”|she”)[^”]*”", "…", words)


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


def test_a_function_is_not_judged_and_the_reason_is_said() -> None:
    (example,) = held_out("code", 1)
    (found,) = judged([(example.prompt, example.answer, [(example.prompt, "code", "")])])
    assert found == asdict(Verdict(None, NOT_RUN["browser"]))


def test_stories_and_broken_ones_are_judged_alike_and_by_every_fault() -> None:
    random = Random(0)
    stories = held_out("story", NUM_STORIES)
    rows, wanted = [], []
    for example, other in zip(stories, [*stories[1:], stories[0]], strict=True):
        for text in [example.answer, *broken_stories(random, example, other.answer)]:
            rows.append((example.prompt, text, [(example.prompt, "story", example.case)]))
            wanted.append(verdict_on(example, text))
    for row, found, verdict in zip(rows, judged(rows), wanted, strict=True):
        assert found == asdict(verdict), row
    kinds = Counter(kind_of(verdict.words) for verdict in wanted)
    assert len(kinds) == NUM_FAULTS + 1, kinds
    assert min(kinds.values()) >= 10, kinds


def test_examples_of_the_page_and_prompts_of_ones_own_are_judged_alike() -> None:
    trace = answered("What is 12 + 30?", "The answer is 42.")
    asked = [*OWN, *((one.prompt, text) for one in checked_examples() for text in OTHERS)]
    known = checked_here()
    needs_running = {one.prompt for one in checked_examples() if one.task not in BROWSER_TASKS}
    for (prompt, text), found in zip(asked, judged([(*one, known) for one in asked]), strict=True):
        verdict: Verdict | None = Verdict(None, NOT_RUN["browser"])
        if prompt not in needs_running:
            verdict = verdict_of(replace(trace, prompt=prompt, text=text))
        assert found == (verdict and asdict(verdict)), (prompt, text)
