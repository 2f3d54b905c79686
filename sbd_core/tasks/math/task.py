"""Arithmetic problems of 1 to 5 steps, solved line by line: stories, puzzles and bare sums.

The composition that decides the split is the chain of calculations: the numbers and
operations in order, whatever the people, things and wording. A prompt fixes its chain, so no
prompt and no answer occurs in both splits. Test problems are told half in wordings and names
that training draws too, half in others.
"""

import re
from random import Random

from sbd_core.tasks import words
from sbd_core.tasks.base import (
    WORDINGS,
    Example,
    Pool,
    Split,
    Task,
    Wording,
    draw_wording,
    split_of,
)
from sbd_core.tasks.math import bare, chains
from sbd_core.tasks.math.arithmetic import Calculation
from sbd_core.tasks.math.puzzles import daily, measures, money, people, sharing
from sbd_core.tasks.math.puzzles.puzzle import Puzzle, draw_numbers, solve, tell
from sbd_core.tasks.math.telling import Teller

NAME = "math"
KINDS = ("chain", "puzzle", "bare")
KIND_WEIGHTS = (3.5, 4.5, 2)
MAX_ANSWER_CHARACTERS = 110
MAX_CHARACTERS = 480
"""Of a prompt and twice its answer, which share a row of 256 tokens when training."""

PUZZLES: tuple[Puzzle, ...] = tuple(
    puzzle
    for module in (money, sharing, people, measures, daily)
    for value in vars(module).values()
    for puzzle in (value if isinstance(value, tuple) else (value,))
    if isinstance(puzzle, Puzzle)
)
PUZZLES_TOLD = {wording: tuple(p.told_in(wording) for p in PUZZLES) for wording in WORDINGS}
PUZZLE_WEIGHTS = tuple(puzzle.weight for puzzle in PUZZLES)
FRAMES = Pool((
    "Solve: {}", "Problem: {}", "Here is a problem. {}", "Question: {}", "Math question: {}",
    "Please solve this. {}", "Can you help? {}", "A riddle: {}", "Work this out. {}",
    "{} Show the steps.", "{} Show your work.", "{} Work it out step by step.", "{} Thanks!",
    "Help me with this: {}", "Word problem: {}", "{} Please calculate.", "Homework: {}",
    "Try this one: {}", "Think step by step. {}", "{} What do you think?", "Puzzle: {}",
))  # fmt: skip
FRAME_RATE, LOWER_RATE = 0.12, 0.04
ANSWER = re.compile(r"The answer is (-?[0-9]{1,6})\.")


def generate(random: Random, split: Split) -> Example:
    """A problem whose chain of calculations belongs to `split`."""
    wording = draw_wording(random, split)
    while True:
        kind = random.choices(KINDS, KIND_WEIGHTS)[0]
        found = GENERATORS[kind](random, split, wording)
        if found is None:
            continue
        prompt, chain, is_unseen = found
        if is_unseen != (wording == "unseen"):
            continue
        answer = "\n".join([*map(str, chain), f"The answer is {chain[-1].result}."])
        if len(answer) <= MAX_ANSWER_CHARACTERS and len(prompt) + 2 * len(answer) <= MAX_CHARACTERS:
            return Example(NAME, prompt, answer, str(chain[-1].result), wording, kind)


def check(example: Example, text: str) -> bool:
    """True when the last "The answer is N." of `text` holds the right number."""
    found = ANSWER.findall(text)
    return bool(found) and int(found[-1]) == int(example.case)


def composition(chain: list[Calculation]) -> str:
    """The key that decides the split of a problem: its calculations in order."""
    return "; ".join(calculation.key for calculation in chain)


Found = tuple[str, list[Calculation], bool]


def _chain(random: Random, split: Split, wording: Wording) -> Found | None:
    plan = chains.plan(random, wording)
    if plan is None or not plan.chain or split_of(composition(plan.chain)) != split:
        return None
    teller = Teller(random, plan.setting.things, wording)
    prompt = chains.tell(random, plan, teller)
    return _framed(random, prompt, plan.chain, teller)


def _puzzle(random: Random, split: Split, wording: Wording) -> Found | None:
    puzzle = random.choices(PUZZLES_TOLD[wording], PUZZLE_WEIGHTS)[0]
    numbers = draw_numbers(random, puzzle.numbers)
    chain = solve(puzzle, numbers)
    if chain is None or split_of(composition(chain)) != split:
        return None
    teller = Teller(random, puzzle.things or words.THINGS, wording)
    prompt = tell(random, puzzle, numbers, teller)
    return _framed(random, prompt, chain, teller)


def _bare(random: Random, split: Split, wording: Wording) -> Found | None:
    plan = bare.plan(random)
    if plan is None or split_of(composition(plan.chain)) != split:
        return None
    prompt, is_unseen = bare.tell(random, plan, wording)
    return prompt, plan.chain, is_unseen


def _framed(random: Random, prompt: str, chain: list[Calculation], teller: Teller) -> Found:
    is_unseen = teller.is_unseen
    if random.random() < FRAME_RATE:
        frame = FRAMES.draw(random, teller.wording)
        is_unseen |= teller.wording == "unseen" and frame in FRAMES.reserved
        prompt = frame.format(prompt)
    if random.random() < LOWER_RATE:
        prompt = prompt.lower()
    return prompt, chain, is_unseen


GENERATORS = {"chain": _chain, "puzzle": _puzzle, "bare": _bare}
TASK = Task(NAME, generate, check)
