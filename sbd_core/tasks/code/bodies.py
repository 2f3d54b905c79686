"""Python bodies of a filter, a map and a fold over a domain. Knows no wording.

Three forms say the same: an expression, a loop, a recursion. A fold has the forms it can take.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sbd_core.tasks.code import parts
from sbd_core.tasks.code.parts import HINTS, Kind, Piece

Form = Literal["expression", "loop", "recursion"]


@dataclass(frozen=True, slots=True)
class Recursion:
    """How a domain is walked: when it is done, its first element, what is left."""

    done: str
    head: str
    tail: str
    keeps_order: bool = True


@dataclass(frozen=True, slots=True)
class Domain:
    """What a function goes through: names in words and in code, and the pieces that apply."""

    name: str
    """The key of the domain, and the kind of its argument as function_cases draws it."""
    noun: str
    places: tuple[str, ...]
    """Where the elements are, in words."""
    argument: str
    hint: str
    variable: str
    source: str
    of: Kind
    filters: Sequence[Piece]
    maps: Sequence[Piece]
    recursion: Recursion


def _in_terms_of(variable: str, pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Pieces written about n, about `variable`."""
    return tuple(
        Piece(p.key, p.wordings, re.sub(r"\bn\b", variable, p.code), p.gives, p.low, p.high,
              p.hint, p.noun, p.nouns)
        for p in pieces
    )  # fmt: skip


COUNTABLE = tuple(
    p for p in parts.NUMBER_FILTERS
    if p.key in ("even", "odd", "greater", "less", "multiple", "other_multiple", "except")
)  # fmt: skip
PLAIN_MAPS = tuple(
    p for p in parts.NUMBER_MAPS
    if p.key in ("double", "triple", "square", "cube", "add", "multiply", "remainder")
)  # fmt: skip
LIST_PLACES = (
    "in a list", "of a list", "in the list", "from a list", "in an array", "in a given list",
    "from the list", "of a given list", "from an array", "in my list", "in a Python list",
)  # fmt: skip
TEXT_PLACES = (
    "in a text", "of a text", "in a string", "of a string", "in a given text", "in some text",
)  # fmt: skip
DOMAINS: tuple[Domain, ...] = (
    Domain(
        "numbers", "numbers", LIST_PLACES, "numbers", "list[int]", "n", "numbers", "number",
        parts.NUMBER_FILTERS, parts.NUMBER_MAPS,
        Recursion("not numbers", "numbers[0]", "numbers[1:]"),
    ),
    Domain(
        "words", "words", LIST_PLACES, "words", "list[str]", "w", "words", "text",
        parts.WORD_FILTERS, parts.WORD_MAPS, Recursion("not words", "words[0]", "words[1:]"),
    ),
    Domain(
        "range", "numbers", ("from 1 to {0}", "between 1 and {0}", "from one up to {0}"), "n",
        "int", "i", "range(1, n + 1)", "number",
        _in_terms_of("i", COUNTABLE), _in_terms_of("i", PLAIN_MAPS),
        Recursion("n < 1", "n", "n - 1", keeps_order=False),
    ),
    Domain(
        "digits", "digits", ("of {0}", "of a number {0}", "of the number {0}", "in {0}"), "n",
        "int", "d", "map(int, str(n))", "number",
        _in_terms_of("d", COUNTABLE), _in_terms_of("d", PLAIN_MAPS),
        Recursion("n == 0", "(n % 10)", "n // 10", keeps_order=False),
    ),
    Domain(
        "letters", "letters", TEXT_PLACES, "text", "str", "c", "text", "text",
        parts.LETTER_FILTERS, parts.LETTER_MAPS, Recursion('text == ""', "text[0]", "text[1:]"),
    ),
)  # fmt: skip
# Per fold: before the loop, in it, after it.
LOOPS: dict[str, tuple[str, str, str]] = {
    "sum": ("total = 0", "total += {e}", "total"),
    "product": ("product = 1", "product *= {e}", "product"),
    "count": ("count = 0", "count += 1", "count"),
    "list": ("result = []", "result.append({e})", "result"),
    "backwards": ("result = []", "result.insert(0, {e})", "result"),
    "joined": ('result = ""', "result += {e}", "result"),
    "any": ("", "return True", "False"),
    "counts": ("counts = {{}}", "counts[{e}] = counts.get({e}, 0) + 1", "counts"),
    "dictionary": ("result = {{}}", "result[{v}] = {e}", "result"),
    "groups": ("groups = {{}}", "groups.setdefault({e}, []).append({v})", "groups"),
}
# Per fold: what an empty domain gives, and how the first element joins the rest.
RECURSIONS: dict[str, tuple[str, str]] = {
    "sum": ("0", "{e} + {rest}"),
    "product": ("1", "{e} * {rest}"),
    "list": ("[]", "[{e}] + {rest}"),
    "backwards": ("[]", "{rest} + [{e}]"),
    "joined": ('""', "{e} + {rest}"),
}


def forms(domain: Domain, keep: Piece | None, fold: Piece) -> tuple[Form, ...]:
    """The forms a fold over `domain` can be written in."""
    found: list[Form] = ["expression"] if fold.code else []
    if fold.key in LOOPS:
        found.append("loop")
    is_ordered = domain.recursion.keeps_order or fold.key in ("sum", "product")
    if keep is None and fold.key in RECURSIONS and is_ordered:
        found.append("recursion")
    return tuple(found)


def signature(domain: Domain, change: Piece | None, fold: Piece) -> str:
    """What follows "def solve(" in the first line, up to the colon."""
    element = HINTS[domain.of]
    folded = HINTS[change.gives] if change else element
    returned = fold.hint.format(t=folded, s=element)
    return f"{domain.argument}: {domain.hint}) -> {returned}"


def body(domain: Domain, keep: Piece | None, change: Piece | None, fold: Piece, form: Form) -> str:
    """The lines after the docstring, not indented."""
    if form == "loop":
        return _loop(domain, keep, change, fold)
    if form == "recursion":
        return _recursion(domain, change, fold)
    return f"return {_expression(domain, keep, change, fold)}"


def _expression(domain: Domain, keep: Piece | None, change: Piece | None, fold: Piece) -> str:
    element = change.code if change else domain.variable
    condition = f" if {keep.code}" if keep else ""
    if keep is None and change is None and domain.source == domain.argument:
        items = full = domain.source
        full = f"list({full})" if domain.name == "letters" else full
    else:
        items = f"{element} for {domain.variable} in {domain.source}{condition}"
        full = f"[{items}]"
        items = f"({items})" if "{items}," in fold.code else items
    slots = {
        "items": items, "list": full, "v": domain.variable, "e": element,
        "source": domain.source, "condition": keep.code if keep else "", "if": condition,
    }  # fmt: skip
    return fold.code.format(**slots)


def _loop(domain: Domain, keep: Piece | None, change: Piece | None, fold: Piece) -> str:
    slots = {"e": change.code if change else domain.variable, "v": domain.variable}
    before, inside, after = (text.format(**slots) for text in LOOPS[fold.key])
    lines = [before] if before else []
    lines.append(f"for {domain.variable} in {domain.source}:")
    if keep:
        lines.append(f"    if {keep.code}:")
    lines.append(("        " if keep else "    ") + inside)
    return "\n".join([*lines, f"return {after}"])


def _recursion(domain: Domain, change: Piece | None, fold: Piece) -> str:
    walk = domain.recursion
    empty, join = RECURSIONS[fold.key]
    code = change.code if change else domain.variable
    element = re.sub(rf"\b{domain.variable}\b", walk.head, code)
    if fold.key == "product" and change and not re.fullmatch(r"[\w.\[\]()]+", element):
        element = f"({element})"
    return (
        f"if {walk.done}:\n    return {empty}\n"
        f"return {join.format(e=element, rest=f'solve({walk.tail})')}"
    )
