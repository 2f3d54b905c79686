"""Small Python functions described in a sentence, checked by running them.

Some functions are well known. The others apply a filter, a map and a fold to a list; the kind of
list, filter, map and fold decides the split, whatever the numbers, letters and words in the prompt.
A function with only a filter or only a map occurs in training only. Well-known functions occur in
training, and in the test split with held-out phrasings only.
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from sbd_core.tasks.base import (
    Example,
    Phrasings,
    Split,
    Wording,
    draw_wording,
    read_phrasings,
    split_of,
)
from sbd_core.tasks.sandbox import passes

NAME = "code"
NUM_CASES, MAX_CASE_TRIES = 5, 40
CLASSIC_RATE, NAMED_RATE, NO_PIECE_RATE = 0.5, 0.3, 0.3
LETTERS = "abcdehlmnoprst"
DATA = read_phrasings(NAME)
SHORT_WORDS: list[str] = DATA["short_words"]
LEADS, NAMED = Phrasings.of(DATA["leads"]), Phrasings.of(DATA["named"])
FUNCTION_NAMES = tuple(
    f"{verb}_{noun}" for verb in DATA["function_verbs"] for noun in DATA["function_nouns"]
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A filter, map or fold of a function, in words and as a Python expression.

    In the words and the code, {k} stands for a number and {c} for a letter. In a map or fold, {core}
    in the words stands for the elements; so does {items} in the code of a fold.
    key: name of the piece. code: the Python expression.
    said: words in the function's docstring. asked: words in prompts.
    gives: (map, fold) type of the result; {t} stands for the type of the elements.
    low, high: smallest and largest number for {k}.
    """

    key: str
    said: str
    asked: Phrasings
    code: str
    gives: str = "int"
    low: int = 2
    high: int = 9


def _pieces(data: list[dict[str, Any]], kind: Any = Piece) -> tuple[Any, ...]:
    """Read pieces, or classics; one without "seen" has its words "said" in prompts."""
    return tuple(
        kind(
            **{name: value for name, value in each.items() if name not in ("seen", "held_out")},
            asked=Phrasings.of({"seen": [each["said"]], **each}),
        )
        for each in data
    )


# A domain is a kind of list that a function takes: its "name" in code and prompts, the "variable" and
# the "type" of an element, and the "filters" and "maps" that fit such elements.
DOMAINS = [
    {**data, "filters": _pieces(data["filters"]), "maps": _pieces(data["maps"])}
    for data in DATA["domains"]
]
FOLDS, INT_FOLDS, STR_FOLDS = (_pieces(DATA[name]) for name in ("folds", "int_folds", "str_folds"))
# A classic is a well-known function: its "name", "body" and "signature", without the opening
# parenthesis, the kinds of arguments that it "takes", see _value(), its docstring, which is "said",
# a command such as "return the sum of a list", and commands in prompts, which are "asked".
CLASSICS = _pieces(DATA["classics"], dict)


def generate(random: Random, split: Split) -> Example:
    """Make an example that asks for a function and belongs to `split`."""
    wording = draw_wording(random, split)
    is_classic = random.random() < CLASSIC_RATE and (split, wording) != ("test", "seen")
    example = None
    while example is None:
        example = _classic(random, wording) if is_classic else _fold(random, split, wording)
    return example


def check(example: Example, text: str) -> bool:
    """Whether the function in `text`, run in the sandbox, gives the expected results.

    Never raises because of the text. Raises SandboxError if the sandbox does not work here.
    """
    inputs, expected, *name = ast.literal_eval(example.case)
    return passes(text, inputs, expected, *name)


def _classic(random: Random, wording: Wording) -> Example | None:
    item = random.choice(CLASSICS)
    asked, takes = _drawn(random, item["asked"], wording), item["takes"].split()
    name, signature, said, body = (item[n] for n in ("name", "signature", "said", "body"))
    return _example(random, wording, asked, name, signature, said, body, takes)


def _fold(random: Random, split: Split, wording: Wording) -> Example | None:
    """Make an example of a function that applies a filter, a map and a fold, all drawn.

    Returns None if neither filter nor map was drawn, or if the function is of the other split.
    """
    domain = random.choice(DOMAINS)
    keep = None if random.random() < NO_PIECE_RATE else random.choice(domain["filters"])
    change = None if random.random() < NO_PIECE_RATE else random.choice(domain["maps"])
    folded = change.gives if change else domain["type"]
    fold = random.choice(FOLDS + (INT_FOLDS if folded == "int" else STR_FOLDS))
    pieces = (keep.key if keep else "", change.key if change else "", fold.key)
    num_pieces = sum(piece not in ("", "list") for piece in pieces)
    owner = split_of(" ".join((domain["name"], *pieces))) if num_pieces > 1 else "train"
    if owner != split or not (keep or change):
        return None
    number = {
        piece: str(random.randint(piece.low, piece.high)) for piece in (keep, change) if piece
    }
    letter = random.choice(LETTERS)

    def fill(piece: Piece, text: str) -> str:
        return text.replace("{k}", number[piece]).replace("{c}", letter)

    def phrase(place: str, words_of: Callable[[Piece], str]) -> str:
        what = fill(keep, words_of(keep)) if keep else domain["name"]
        changed = fill(change, words_of(change)) if change else "{core}"
        core = changed.replace("{core}", f"the {what}{place}")
        return "return " + words_of(fold).replace("{core}", core)

    element = fill(change, change.code) if change else domain["variable"]
    condition = f" if {fill(keep, keep.code)}" if keep else ""
    items = f"{element} for {domain['variable']} in {domain['name']}{condition}"
    summary = phrase("", lambda piece: piece.said)
    asked = phrase(" in a list", lambda piece: _drawn(random, piece.asked, wording))
    signature = f"{domain['name']}: list[{domain['type']}]) -> {fold.gives.format(t=folded)}"
    body = f"return {fold.code.replace('{items}', items)}"
    return _example(random, wording, asked, "solve", signature, summary, body, [domain["name"]])


def _drawn(random: Random, phrasings: Phrasings, wording: Wording) -> str:
    unseen = phrasings.held_out if wording == "unseen" else ()
    choices = unseen or phrasings.seen
    return random.choice(choices) if len(choices) > 1 else choices[0]


def _example(
    random: Random, wording: Wording, asked: str, name: str, signature: str, said: str, body: str, takes: Sequence[str]
) -> Example | None:  # fmt: skip
    """Make an example of a function. For the arguments see CLASSICS, for None see draw_case()."""
    prompt = LEADS.draw(random, wording).format(do=asked, does=third_person(asked))
    if random.random() < NAMED_RATE:
        new = random.choice(FUNCTION_NAMES)
        prompt += " " + NAMED.draw(random, wording).format(name=new)
        body, name = body.replace(f"{name}(", f"{new}("), new
    lines = [f'"""{said[0].upper()}{said[1:]}."""', *body.split("\n")]
    source = "\n".join([f"def {name}({signature}:", *(f"    {line}" for line in lines)])
    case = draw_case(random, source, name, takes)
    return Example(NAME, prompt, source, case, wording) if case else None


def third_person(do: str) -> str:
    """Put a command into the third person, such as "reverse a text" into "reverses a text"."""
    verb, gap, rest = do.partition(" ")
    if verb.endswith("ly"):
        return f"{verb[:-1]}ies{gap}{rest}"
    return verb + ("es" if verb.endswith(("sh", "ch", "x")) else "s") + gap + rest


def draw_case(random: Random, source: str, name: str, takes: Sequence[str]) -> str | None:
    """Draw inputs for a function; return (inputs, results, name) as a Python literal.

    source: code that defines the function `name`; it runs outside the sandbox.
    takes: kinds of the arguments; see _value().
    Returns None if MAX_CASE_TRIES draws do not give NUM_CASES inputs and two different results.
    """
    space: dict[str, Any] = {}
    exec(source, space)
    inputs: list[object] = []
    results: list[object] = []
    for _ in range(MAX_CASE_TRIES):
        values = tuple(_value(random, kind) for kind in takes)
        try:
            result = space[name](*values)
        except (ValueError, IndexError):  # No element was left to fold.
            continue
        value = values if len(values) > 1 else values[0]
        if value not in inputs:
            inputs.append(value)
            results.append(result)
        if len(inputs) >= NUM_CASES and any(result != results[0] for result in results):
            return repr((inputs, results, name))
    return None


def _value(random: Random, kind: str) -> object:
    ranges = {"number": (-30, 60), "small": (0, 9), "count": (1, 60), "digits": (10, 99999)}
    if kind in ranges:
        return random.randint(*ranges[kind])
    if kind == "numbers":
        return [random.randint(-12, 24) for _ in range(random.randint(3, 9))]
    if kind == "few":
        return [random.randint(0, 5) for _ in range(random.randint(4, 9))]
    if kind == "words":
        return random.choices(SHORT_WORDS, k=random.randint(3, 9))
    if kind in ("word", "mirror"):
        word = random.choice(SHORT_WORDS)
        return random.choice((word, word + word[::-1])) if kind == "mirror" else word
    return " ".join(random.choices(SHORT_WORDS, k=random.randint(1, 4)))
