"""Functions composed of pieces, each in words drawn and as source. Knows no request.

A filter x map x fold over a domain, written as an expression, a loop or a recursion; a chain of
operations on one number or text; or a choice between two of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from sbd_core.tasks.base import Wording, is_reserved
from sbd_core.tasks.code import operations, parts
from sbd_core.tasks.code.asks import Phrase, command, noun_phrase
from sbd_core.tasks.code.bodies import DOMAINS, LOOPS, body, forms, signature
from sbd_core.tasks.code.cases import LETTERS
from sbd_core.tasks.code.parts import HINTS, Kind, Piece
from sbd_core.tasks.code.wordings import BRANCHES, HINTS_BY_FORM

NO_PIECE_RATE = 0.25
BARE_RATE = 0.12
HEAD_RATE = 0.5
TEST_KEYS = tuple(piece.key for piece in parts.TESTS)
FORM_WEIGHTS = {"expression": 2, "loop": 2, "recursion": 3}
DOMAIN_WEIGHTS = (6, 5, 3, 2, 3)
ONE_LINE_RATE = 0.15


@dataclass(frozen=True, slots=True)
class Assignment:
    """A function named solve: its key, what it does in words, and its source in parts."""

    composition: tuple[str, ...]
    phrase: Phrase
    """{0}, {1}, {2} are its parameters."""
    summary: str
    """Its docstring, with the same slots."""
    signature: str
    """What follows "def solve(", up to the colon."""
    code: str
    """The lines after the docstring, not indented."""
    takes: tuple[str, ...]
    """The kind of each argument, as draw_case draws it."""
    after: str = ""
    """One more sentence for the prompt: "Use a loop."."""
    name: str = "solve"
    """What it is called where the prompt gives no name, and in `code`."""


def fold(random: Random, wording: Wording) -> Assignment | None:
    """A filter, a map and a fold over a domain; None if the draw makes no sense."""
    domain = random.choices(DOMAINS, DOMAIN_WEIGHTS)[0]
    is_bare = random.random() < BARE_RATE
    keep = None if is_bare else _maybe(random, wording, domain.filters)
    change = None if is_bare else _maybe(random, wording, domain.maps)
    gives = change.gives if change else domain.of
    folds = parts.FOLDS + (parts.NUMBER_FOLDS if gives == "number" else parts.TEXT_FOLDS)
    if keep and not change:
        folds += parts.TESTS
    if change and change.noun:
        folds += parts.DICTIONARIES
    weights = [2 if one.key in LOOPS else 1 for one in folds]
    joined = drawn(random, wording, random.choices(folds, weights)[0])
    if joined.key == "list" and not keep and not change:
        return None
    possible = forms(domain, keep, joined)
    form = random.choices(possible, [FORM_WEIGHTS[form] for form in possible])[0]
    place = choose(random, wording, domain.places)
    what = _said(random, joined, keep, change, domain.noun, place)
    summary = _said(None, joined, keep, change, domain.noun, "")
    keys = (domain.name, keep.key if keep else "", change.key if change else "", joined.key)
    return Assignment(
        keys, noun_phrase(random, wording, what), f"Return {summary}.",
        signature(domain, change, joined), body(domain, keep, change, joined, form),
        (domain.name,), _hint(random, wording, form, has_expression=bool(joined.code)),
    )  # fmt: skip


def _hint(random: Random, wording: Wording, form: str, *, has_expression: bool) -> str:
    """A sentence that asks for the form; "" where it is the plain one."""
    if form == "expression":
        is_asked = random.random() < ONE_LINE_RATE
    else:
        is_asked = has_expression or form == "recursion"
    return HINTS_BY_FORM[form].draw(random, wording) if is_asked else ""


def _said(
    random: Random | None, fold: Piece, keep: Piece | None, change: Piece | None, noun: str,
    place: str,
) -> str:  # fmt: skip
    """What a fold gives, in words drawn, or always the first ones when there is no `random`."""
    index = -1 if random else 0
    core = f"the {keep.wordings[index] if keep else noun} {place}".rstrip()
    if noun != "numbers" and keep:
        core = core.replace("numbers", noun)
    said = fold.wordings[index]
    if change and "{noun}" not in said:
        is_head = change.nouns and (random is None or random.random() < HEAD_RATE)
        each = change.wordings[index]
        core = f"the {change.nouns} of {core}" if is_head else f"{core}, each {each}"
    if fold.key in TEST_KEYS:
        core = core.removeprefix("the ")
    return said.replace("{core}", core).replace("{noun}", change.noun if change else "")


def chain(random: Random, wording: Wording) -> Assignment:
    """One to three operations on a number or a text, one after another."""
    kind: Kind = random.choice(("number", "text"))
    pool = operations.NUMBER_OPERATIONS if kind == "number" else operations.TEXT_OPERATIONS
    chosen = random.sample(pool, random.randint(1, 3 if kind == "number" else 2))
    if kind == "text" and random.random() < 0.5:
        chosen.append(random.choice(operations.TEXT_ENDINGS))
    chosen = [drawn(random, wording, piece) for piece in chosen]
    says = [piece.wordings[-1] for piece in chosen]
    slot, joint = _slot(kind), ", " if len(chosen) > 1 else " and "
    phrase = Phrase(
        f"take {slot}{joint}{_listed([command(one) for one in says])}",
        f"takes {slot}{joint}{_listed(says)}",
    )
    summary = _sentence(_listed([command(piece.wordings[0]) for piece in chosen]))
    returned = chosen[-1].hint or HINTS[chosen[-1].gives]
    return Assignment(
        (kind, *(piece.key for piece in chosen)), phrase, summary,
        f"{kind}: {HINTS[kind]}) -> {returned}", f"return {_chain_code(kind, chosen)}", (kind,),
    )  # fmt: skip


def branch(random: Random, wording: Wording) -> Assignment:
    """One of two operations on a number or a text, by a condition."""
    kind: Kind = random.choice(("number", "text"))
    is_number = kind == "number"
    conditions = operations.NUMBER_CONDITIONS if is_number else operations.TEXT_CONDITIONS
    condition = drawn(random, wording, random.choice(conditions))
    pool = operations.NUMBER_OPERATIONS if is_number else operations.TEXT_OPERATIONS
    first, second = (drawn(random, wording, piece) for piece in random.sample(pool, 2))
    template = BRANCHES.draw(random, wording).replace("{when}", condition.wordings[-1])

    def said(one: str, other: str) -> str:
        return template.replace("{first}", one).replace("{second}", other)

    does, other = first.wordings[-1], second.wordings[-1]
    slot = _slot(kind)
    phrase = Phrase(
        f"take {slot} and {said(command(does), command(other))}",
        f"takes {slot} and {said(does, other)}",
    )
    summary = (
        f"{command(first.wordings[0])} if it {condition.wordings[0]}, "
        f"else {command(second.wordings[0])}"
    )
    code = (
        f"if {condition.code.format(e=kind)}:\n    return {first.code.format(e=kind)}\n"
        f"return {second.code.format(e=kind)}"
    )
    keys = (kind, "if", condition.key, first.key, second.key)
    hint = f"{kind}: {HINTS[kind]}) -> {HINTS[kind]}"
    return Assignment(keys, phrase, _sentence(summary), hint, code, (kind,))


def _slot(kind: Kind) -> str:
    return "{X}" if kind == "number" else "{T}"


def _chain_code(kind: str, chosen: Sequence[Piece]) -> str:
    """The expression of the operations, with brackets wherever one is not an atom."""
    code, is_atom = kind, True
    for piece in chosen:
        needs_atom = not piece.code.endswith("({e})")
        code = piece.code.format(e=code if is_atom or not needs_atom else f"({code})")
        is_atom = piece.code.startswith(("{e}.", "{e}[", "len(", "list("))
    return code


def _maybe(random: Random, wording: Wording, pieces: Sequence[Piece]) -> Piece | None:
    """A drawn piece or, at NO_PIECE_RATE, none."""
    if random.random() < NO_PIECE_RATE:
        return None
    return drawn(random, wording, random.choice(pieces))


def drawn(random: Random, wording: Wording, piece: Piece) -> Piece:
    """`piece` with its {k} and {c} filled in; its wordings: the docstring's and the prompt's."""
    number, letter = str(random.randint(piece.low, piece.high)), random.choice(LETTERS)

    def fill(text: str) -> str:
        return text.replace("{k}", number).replace("{c}", letter)

    says = piece.wordings[0], choose(random, wording, piece.wordings)
    return replace(
        piece, wordings=(fill(says[0]), fill(says[1])), code=fill(piece.code),
        noun=fill(piece.noun), nouns=fill(piece.nouns),
    )  # fmt: skip


def choose(random: Random, wording: Wording, wordings: tuple[str, ...]) -> str:
    """One of the wordings; the first, which docstrings hold, is always among the seen."""
    seen, reserved = _parted(wordings)
    return random.choice(reserved if wording == "unseen" and reserved else seen)


@cache
def _parted(wordings: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    reserved = tuple(one for one in wordings[1:] if is_reserved(one))
    return tuple(one for one in wordings if one not in reserved), reserved


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _listed(said: Sequence[str]) -> str:
    return ", ".join(said[:-1]) + (" and " if len(said) > 1 else "") + said[-1]
