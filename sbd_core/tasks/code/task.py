"""Python functions described in a sentence. Knows the pieces only as data.

A function is composed of pieces: filter x map x fold over numbers, words, digits or letters,
written as an expression, a loop or a recursion; a chain of operations on one number or text;
or a choice between two of them. The composition that decides the split is the tuple of piece
keys, whatever their numbers, letters, wording and form; a single piece, and a well-known
function of its own, is always train. Wordings fix the pieces, so a prompt belongs to one split.
"""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from sbd_core.tasks.base import Example, Split, Task, split_of
from sbd_core.tasks.code import operations, parts
from sbd_core.tasks.code.bodies import DOMAINS, LOOPS, body, forms, signature
from sbd_core.tasks.code.cases import LETTERS, draw_case
from sbd_core.tasks.code.classics import CLASSICS
from sbd_core.tasks.code.parts import HINTS, Kind, Piece
from sbd_core.tasks.sandbox import Trial, passes, passes_each

NAME = "code"
NO_PIECE_RATE = 0.25
HEAD_RATE = 0.5
TEST_KEYS = tuple(piece.key for piece in parts.TESTS)
FORM_WEIGHTS = {"expression": 1, "loop": 1, "recursion": 3}
DOMAIN_WEIGHTS = (6, 5, 3, 2, 3)

OPENINGS = (
    "Write a function that", "Write a Python function that", "Define a function that",
    "Create a function that", "I need a function that", "Please write a function that",
    "Make a Python function that", "Implement a function that", "Code a function that",
)  # fmt: skip
RETURNS = (
    *(f"{opening} returns {{}}." for opening in OPENINGS),
    *(f"{opening} gives {{}}." for opening in OPENINGS[:3]),
    "Write a Python function returning {}.", "Return {}.", "Write code to get {}.",
    "Write a function to return {}.", "Python function for {}.", "Function that returns {}",
)  # fmt: skip
LOOP_HINTS = ("Use a loop.", "Use a for loop.", "With a loop.", "Write it as a loop.")
RECURSION_HINTS = (
    "Use recursion.",
    "Do it recursively.",
    "It must call itself.",
    "Make it recursive.",
)
TAKES = (
    *(f"{opening} takes a {{kind}}{{joint}}{{what}}." for opening in OPENINGS),
    "Define a function: it takes a {kind}{joint}{what}.",
    "Given a {kind}, the function {what}.",
)
KIND_WORDS = {"number": ("number", "number", "whole number"), "text": ("text", "text", "string")}


@dataclass(frozen=True, slots=True)
class Assignment:
    """A composed function: its key, one way to say it, and its source."""

    composition: tuple[str, ...]
    prompt: str
    source: str
    takes: tuple[str, ...]
    """The kind of each argument of solve, as function_cases draws it."""


def generate(random: Random, split: Split) -> Example:
    """A function whose composition belongs to `split`, with cases its reference passes."""
    while True:
        draw = random.choices((_fold_task, _chain_task, _branch_task, _classic_task), (11, 4, 3, 3))
        task = draw[0](random)
        if task is None or owner(task.composition) != split:
            continue
        case = draw_case(random, task.source, task.takes)
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


def _fold_task(random: Random) -> Assignment | None:
    """A filter, a map and a fold over a domain; None if the draw makes no sense."""
    domain = random.choices(DOMAINS, DOMAIN_WEIGHTS)[0]
    keep = _maybe(random, domain.filters)
    change = _maybe(random, domain.maps)
    gives = change.gives if change else domain.of
    folds = parts.FOLDS + (parts.NUMBER_FOLDS if gives == "number" else parts.TEXT_FOLDS)
    if keep and not change:
        folds += parts.TESTS
    if change and change.noun:
        folds += parts.DICTIONARIES
    weights = [2 if fold.key in LOOPS else 1 for fold in folds]
    fold = _drawn(random, random.choices(folds, weights)[0])
    if fold.key == "list" and not keep and not change:
        return None
    possible = forms(domain, keep, fold)
    form = random.choices(possible, [FORM_WEIGHTS[form] for form in possible])[0]
    what = _said(random, fold, keep, change, domain.noun, random.choice(domain.places))
    prompt = random.choice(RETURNS).format(what)
    if form != "expression" and (fold.code or form == "recursion"):
        hints = LOOP_HINTS if form == "loop" else RECURSION_HINTS
        prompt = f"{prompt.removesuffix('.')}. {random.choice(hints)}"
    summary = _said(None, fold, keep, change, domain.noun, "")
    source = _source(signature(domain, change, fold), f"Return {summary}.",
                     body(domain, keep, change, fold, form))  # fmt: skip
    keys = (domain.name, keep.key if keep else "", change.key if change else "", fold.key)
    return Assignment(keys, prompt, source, (domain.name,))


def _said(
    random: Random | None, fold: Piece, keep: Piece | None, change: Piece | None, noun: str,
    place: str,
) -> str:  # fmt: skip
    """What a fold gives, in words drawn, or always the first ones when there is no `random`."""

    def pick(wordings: Sequence[str]) -> str:
        return random.choice(wordings) if random else wordings[0]

    core = f"the {pick(keep.wordings) if keep else noun} {place}".rstrip()
    if noun != "numbers" and keep:
        core = core.replace("numbers", noun)
    wording = pick(fold.wordings)
    if change and "{noun}" not in wording:
        is_head = change.nouns and (random is None or random.random() < HEAD_RATE)
        core = (
            f"the {change.nouns} of {core}" if is_head else f"{core}, each {pick(change.wordings)}"
        )
    if fold.key in TEST_KEYS:
        core = core.removeprefix("the ")
    return wording.replace("{core}", core).replace("{noun}", change.noun if change else "")


def _chain_task(random: Random) -> Assignment | None:
    """One to three operations on a number or a text, one after another."""
    kind: Kind = random.choice(("number", "text"))
    pool = operations.NUMBER_OPERATIONS if kind == "number" else operations.TEXT_OPERATIONS
    chosen = random.sample(pool, random.randint(1, 3 if kind == "number" else 2))
    if kind == "text" and random.random() < 0.5:
        chosen.append(random.choice(operations.TEXT_ENDINGS))
    chosen = [_drawn(random, piece) for piece in chosen]
    what = _listed([random.choice(piece.wordings) for piece in chosen])
    joint = ", " if len(chosen) > 1 else " and "
    returned = chosen[-1].hint or HINTS[chosen[-1].gives]
    summary = _listed([piece.wordings[0] for piece in chosen])
    source = _source(f"{kind}: {HINTS[kind]}) -> {returned}", _sentence(summary),
                     f"return {_chain_code(kind, chosen)}")  # fmt: skip
    word = random.choice(KIND_WORDS[kind])
    prompt = random.choice(TAKES).format(kind=word, joint=joint, what=what)
    return Assignment((kind, *(piece.key for piece in chosen)), prompt, source, (kind,))


def _branch_task(random: Random) -> Assignment | None:
    """One of two operations on a number or a text, by a condition."""
    kind: Kind = random.choice(("number", "text"))
    is_number = kind == "number"
    condition = _drawn(
        random,
        random.choice(operations.NUMBER_CONDITIONS if is_number else operations.TEXT_CONDITIONS),
    )
    pool = operations.NUMBER_OPERATIONS if is_number else operations.TEXT_OPERATIONS
    first, second = (_drawn(random, piece) for piece in random.sample(pool, 2))
    when = random.choice(condition.wordings)
    does, other = random.choice(first.wordings), random.choice(second.wordings)
    what = random.choice((
        f"{does} if it {when}, otherwise {other}", f"if it {when}, {does}, else {other}",
        f"{does} when it {when} and {other} when not",
    ))  # fmt: skip
    summary = f"{first.wordings[0]} if it {condition.wordings[0]}, else {second.wordings[0]}"
    code = (
        f"if {condition.code.format(e=kind)}:\n    return {first.code.format(e=kind)}\n"
        f"return {second.code.format(e=kind)}"
    )
    source = _source(f"{kind}: {HINTS[kind]}) -> {HINTS[kind]}", _sentence(summary), code)
    word = random.choice(KIND_WORDS[kind])
    prompt = random.choice(TAKES).format(kind=word, joint=" and ", what=what)
    keys = (kind, "if", condition.key, first.key, second.key)
    return Assignment(keys, prompt, source, (kind,))


def _classic_task(random: Random) -> Assignment:
    """A well-known function."""
    classic = random.choice(CLASSICS)
    prompt = f"{random.choice(OPENINGS)} {random.choice(classic.wordings)}."
    source = _source(classic.signature, _sentence(classic.wordings[0]), classic.body)
    return Assignment(("classic", classic.key), prompt, source, classic.takes)


def _source(signature: str, summary: str, code: str) -> str:
    lines = [f'"""{summary}"""', *code.split("\n")]
    return "\n".join([f"def solve({signature}:", *(f"    {line}" for line in lines)])


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _listed(said: Sequence[str]) -> str:
    return ", ".join(said[:-1]) + (" and " if len(said) > 1 else "") + said[-1]


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
    return replace(
        piece, wordings=wordings, code=fill(piece.code), noun=fill(piece.noun),
        nouns=fill(piece.nouns),
    )  # fmt: skip


def _trial(example: Example, text: str) -> Trial:
    inputs, expected = ast.literal_eval(example.case)
    return Trial(text, tuple(inputs), tuple(expected))


TASK = Task(NAME, generate, check)
