"""One-line Python functions described in a sentence. Knows the pieces only as data.

A function is composed of pieces: filter x map x fold over a list of numbers or words, or a
chain of operations on one number or text. The composition that decides the split is the tuple
of piece keys, whatever their numbers, letters and wording; a single piece is always train.
Wordings fix the pieces, so a prompt belongs to one split only.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from sbd_core.training.corpus import one_liner_parts as parts
from sbd_core.training.corpus.base import Example, Family, Split, split_of
from sbd_core.training.corpus.one_liner_parts import Piece
from sbd_core.training.corpus.sandbox import Trial, passes, passes_each
from sbd_core.training.corpus.words import SHORT_WORDS

NAME = "code"
NUM_CASES = 5
MAX_CASE_TRIES = 40
LETTERS = "abcdeghilmnoprstu"
NO_PIECE_RATE = 0.25
TEST_KEYS = tuple(piece.key for piece in parts.TESTS)

LIST_PROMPTS = (
    "Write a function that returns {what}.",
    "Write a Python function returning {what}.",
    "Define a function that gives {what}.",
    "Return {what}.",
)
CHAIN_PROMPTS = (
    "Write a function that takes a {kind}{joint}{what}.",
    "Define a function: it takes a {kind}{joint}{what}.",
    "Given a {kind}, the function {what}.",
)


@dataclass(frozen=True, slots=True)
class Domain:
    """What a list holds: the names used in code and the pieces that apply."""

    name: str
    variable: str
    filters: Sequence[Piece]
    maps: Sequence[Piece]


@dataclass(frozen=True, slots=True)
class Task:
    """A composed function: its key, one way to say it, and its source."""

    composition: tuple[str, ...]
    prompt: str
    source: str
    takes: str
    """Argument of solve: "numbers", "words", "number" or "text"."""


NUMBERS = Domain("numbers", "n", parts.NUMBER_FILTERS, parts.NUMBER_MAPS)
WORDS = Domain("words", "w", parts.WORD_FILTERS, parts.WORD_MAPS)


def generate(random: Random, split: Split) -> Example:
    """A function whose composition belongs to `split`, with cases its reference passes."""
    while True:
        task = _list_task(random) if random.random() < 0.7 else _chain_task(random)
        if task is None or owner(task.composition) != split:
            continue
        case = _case(random, task)
        if case is not None:
            return Example(NAME, task.prompt, task.source, case)


def check(example: Example, text: str) -> bool:
    """True when `text`, run in the sandbox, returns what the reference does; never raises."""
    return passes(_trial(example, text))


def check_each(answered: Iterable[tuple[Example, str]], num_workers: int = 2) -> list[bool]:
    """`check` of every (example, text), in order, `num_workers` processes at a time."""
    return passes_each([_trial(example, text) for example, text in answered], num_workers)


def owner(composition: tuple[str, ...]) -> Split:
    """The split that owns a composition; one with a single piece is always train."""
    num_pieces = sum(part not in ("", "list") for part in composition[1:])
    return split_of(" ".join(composition)) if num_pieces > 1 else "train"


def _list_task(random: Random) -> Task | None:
    """A filter, a map and a fold over a list; None if the draw makes no sense."""
    domain = random.choice((NUMBERS, WORDS))
    keep = _maybe(random, domain.filters)
    change = _maybe(random, domain.maps)
    gives = change.gives if change else ("number" if domain is NUMBERS else "text")
    folds = parts.FOLDS + (parts.NUMBER_FOLDS if gives == "number" else parts.TEXT_FOLDS)
    if keep and not change:
        folds += parts.TESTS
    fold = _drawn(random, random.choice(folds))
    if fold.key == "list" and not keep and not change:
        return None
    core = f"the {random.choice(keep.wordings) if keep else domain.name} in a list"
    if change:
        core += f", each {random.choice(change.wordings)}"
    if fold.key in TEST_KEYS:
        core = core.removeprefix("the ")
    what = random.choice(fold.wordings).replace("{core}", core)
    source = f"def solve({domain.name}):\n    return {_list_code(domain, keep, change, fold)}"
    keys = (domain.name, keep.key if keep else "", change.key if change else "", fold.key)
    return Task(keys, random.choice(LIST_PROMPTS).format(what=what), source, domain.name)


def _list_code(domain: Domain, keep: Piece | None, change: Piece | None, fold: Piece) -> str:
    if keep is None and change is None:
        items = full = domain.name
    else:
        items = f"{change.code if change else domain.variable} for {domain.variable} in "
        items += domain.name + (f" if {keep.code}" if keep else "")
        full = f"[{items}]"
    if fold.code.count("{items},") or fold.code.startswith("{items}"):
        items = f"({items})" if full != domain.name else items
    slots = {
        "items": items, "list": full, "v": domain.variable, "source": domain.name,
        "condition": keep.code if keep else "",
    }  # fmt: skip
    return fold.code.format(**slots)


def _chain_task(random: Random) -> Task | None:
    """One to three operations on a number or a text, one after another."""
    kind = random.choice(("number", "text"))
    operations = parts.NUMBER_OPERATIONS if kind == "number" else parts.TEXT_OPERATIONS
    chosen = random.sample(operations, random.randint(1, 3 if kind == "number" else 2))
    if kind == "text" and random.random() < 0.5:
        chosen.append(random.choice(parts.TEXT_ENDINGS))
    chosen = [_drawn(random, piece) for piece in chosen]
    said = [random.choice(piece.wordings) for piece in chosen]
    what = ", ".join(said[:-1]) + (" and " if len(said) > 1 else "") + said[-1]
    joint = ", " if len(said) > 1 else " and "
    source = f"def solve({kind}):\n    return {_chain_code(kind, chosen)}"
    prompt = random.choice(CHAIN_PROMPTS).format(kind=kind, joint=joint, what=what)
    return Task((kind, *(piece.key for piece in chosen)), prompt, source, kind)


def _chain_code(kind: str, chosen: Sequence[Piece]) -> str:
    """The expression of the operations, with brackets wherever one is not an atom."""
    code, is_atom = kind, True
    for piece in chosen:
        needs_atom = not piece.code.endswith("({e})")
        code = piece.code.format(e=code if is_atom or not needs_atom else f"({code})")
        is_atom = piece.code.startswith(("{e}.", "{e}[", "len(", "list("))
    return code


def _maybe(random: Random, pieces: Sequence[Piece]) -> Piece | None:
    """A drawn piece or, at NO_PIECE_RATE, none."""
    return None if random.random() < NO_PIECE_RATE else _drawn(random, random.choice(pieces))


def _drawn(random: Random, piece: Piece) -> Piece:
    """`piece` with its {k} and {c} filled in and the other slots kept."""
    number, letter = str(random.randint(piece.low, piece.high)), random.choice(LETTERS)

    def fill(text: str) -> str:
        return text.replace("{k}", number).replace("{c}", letter)

    wordings = tuple(fill(wording) for wording in piece.wordings)
    return replace(piece, wordings=wordings, code=fill(piece.code))


def _case(random: Random, task: Task) -> str | None:
    """NUM_CASES inputs with the reference's results as JSON; None if they are too alike."""
    space: dict[str, Any] = {}
    exec(task.source, space)
    solve = space["solve"]
    inputs: list[object] = []
    results: list[object] = []
    for _ in range(MAX_CASE_TRIES):
        value = _value(random, task.takes)
        try:
            result = solve(value)
        except (ValueError, IndexError):  # No element is left to fold.
            continue
        if value not in inputs:
            inputs.append(value)
            results.append(result)
        if len(inputs) >= NUM_CASES and any(result != results[0] for result in results):
            return json.dumps([inputs, results])
    return None


def _value(random: Random, takes: str) -> object:
    """A fresh argument for solve."""
    if takes == "numbers":
        return [random.randint(-12, 24) for _ in range(random.randint(3, 9))]
    if takes == "words":
        return random.choices(SHORT_WORDS, k=random.randint(3, 9))
    if takes == "number":
        return random.randint(-30, 60)
    text = " ".join(random.choices(SHORT_WORDS, k=random.randint(1, 4)))
    text = random.choice((text, text, text.title()))
    return random.choice(("", " ")) + text + random.choice(("", " "))


def _trial(example: Example, text: str) -> Trial:
    inputs, expected = json.loads(example.case)
    return Trial(text, tuple(inputs), tuple(expected))


FAMILY = Family(NAME, generate, check)
