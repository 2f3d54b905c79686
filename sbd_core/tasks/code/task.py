"""Python functions described in a sentence. Knows the pieces only as data.

A function is composed of pieces (`composed`), or a well-known one (`classics`). The composition
that decides the split is the tuple of piece keys, whatever their numbers, letters, wording and
form; a single piece, and a well-known function, is always train, and in the test split only in
words that training never has. Wordings fix the pieces, so a prompt belongs to one split.
"""

import ast
from collections.abc import Callable
from functools import cache
from random import Random

from sbd_core.tasks.base import Example, Split, Task, Wording, draw_wording, is_reserved, split_of
from sbd_core.tasks.code import asks, composed, wordings
from sbd_core.tasks.code.asks import Names, Phrase
from sbd_core.tasks.code.cases import draw_case
from sbd_core.tasks.code.classics import CLASSICS, Classic
from sbd_core.tasks.code.composed import Assignment
from sbd_core.tasks.code.rewording import Rewording, possessive, taking
from sbd_core.tasks.sandbox import Trial, passes

NAME = "code"
Ask = Callable[[Random, Wording, Phrase, Names, str], str]
"""Puts a request into words; the last text is one more sentence."""
DRAWS = ("fold", "chain", "branch", "classic")
DRAW_WEIGHTS = (9, 3, 3, 9)


def generate(random: Random, split: Split) -> Example:
    """A function whose composition or wording belongs to `split`."""
    wording = draw_wording(random, split)
    while True:
        kind = random.choices(DRAWS, DRAW_WEIGHTS)[0]
        drawn = DRAW[kind](random, wording)
        if drawn is None or not is_of(drawn.composition, split, wording):
            continue
        names = draw_names(random, wording, drawn)
        example = asked(random, wording, kind, drawn, names, asks.ask)
        if example is not None:
            return example


def asked(
    random: Random, wording: Wording, kind: str, drawn: Assignment, names: Names, ask: Ask
) -> Example | None:
    """The example of an assignment under `names`, in the words of `ask`.

    None where no inputs tell its results apart.
    """
    source = source_of(drawn, names)
    case = draw_case(random, source, names.function, drawn.takes)
    if case is None:
        return None
    prompt = ask(random, wording, _in_words(random, wording, drawn), names, drawn.after)
    return Example(NAME, prompt, source, case, wording, kind)


def check(example: Example, text: str) -> bool:
    """True when `text`, run in the sandbox, returns what the reference does.

    Never raises for any text; SandboxError where this machine can run no candidate at all.
    """
    return passes(_trial(example, text))


def owner(composition: tuple[str, ...]) -> Split:
    """The split that owns a composition; one with a single piece is always train."""
    num_pieces = sum(part not in ("", "list") for part in composition[1:])
    return split_of(" ".join(composition)) if num_pieces > 1 else "train"


def is_of(composition: tuple[str, ...], split: Split, wording: Wording) -> bool:
    """Whether an example may be of `split`: well-known functions are tested by wording alone."""
    is_tested_by_wording = composition[0] == "classic" and wording == "unseen"
    return is_tested_by_wording or owner(composition) == split


def draw_names(random: Random, wording: Wording, drawn: Assignment) -> Names:
    """Names for the function and its parameters, as a prompt may tell them."""
    is_free = "{0}" in drawn.phrase.do
    return asks.draw_names(
        random, wording, drawn.name, drawn.signature, drawn.code, is_free=is_free
    )


def source_of(drawn: Assignment, names: Names) -> str:
    """The function under its names, with its docstring."""
    own = asks.parameters_of(drawn.signature)
    old, new = [drawn.name, *own], [names.function, *names.parameters]
    summary = asks.fill_parameters(drawn.summary, names.parameters)
    first, _, returned = drawn.signature.partition(") ->")
    told = asks.rename(first, old, new)
    lines = [f'"""{summary}"""', *asks.rename(drawn.code, old, new).split("\n")]
    header = f"def {names.function}({told}) ->{returned}:"
    return "\n".join([header, *(f"    {line}" for line in lines)])


def classic(random: Random, wording: Wording) -> Assignment:
    """A well-known function."""
    item = random.choice(CLASSICS)
    kind, text = random.choice(classic_wordings(item, wording))
    if wording == "seen":
        text = rewording().reword(random, text)
        if kind == "noun":
            text = possessive(random, text)
    match kind:
        case "noun":
            phrase = asks.noun_phrase(random, wording, text)
        case "verb":
            phrase = Phrase.of_command(text)
        case _:
            phrase = asks.test_phrase(random, wording, text)
    if wording == "seen":
        phrase = taking(random, phrase, len(item.takes.split()))
    return Assignment(
        ("classic", item.key), phrase, item.summary, item.signature, item.body,
        tuple(item.takes.split()), name=item.name,
    )  # fmt: skip


@cache
def classic_wordings(item: Classic, wording: Wording) -> tuple[tuple[str, str], ...]:
    """(noun, verb or condition; text): all that `wording` draws from, the docstring's as seen."""
    kinds = (("noun", item.nouns), ("verb", item.verbs), ("condition", item.conditions))
    every = [(kind, text) for kind, texts in kinds if texts for text in texts.split("|")]
    reserved = tuple(one for one in every if is_reserved(one[1]) and one[1] != item.said_first)
    seen = tuple(one for one in every if one not in reserved)
    return reserved if wording == "unseen" and reserved else seen


@cache
def rewording() -> Rewording:
    """Other words for what the well-known functions do, without those kept for test."""
    seen = {text for item in CLASSICS for _, text in classic_wordings(item, "seen")}
    every = {text for item in CLASSICS for text in item.wordings}
    return Rewording(sorted(seen), sorted(every - seen))


def _in_words(random: Random, wording: Wording, drawn: Assignment) -> Phrase:
    """The phrase with {L}, {T} ... filled in, the same in both forms."""
    phrase, do, does = drawn.phrase, drawn.phrase.do, drawn.phrase.does
    for slot, pool in wordings.SLOTS.items():
        if slot in do:
            word = pool.draw(random, wording)
            do, does = do.replace(slot, word), does.replace(slot, word)
    return Phrase(do, does) if do is not phrase.do else phrase


def _trial(example: Example, text: str) -> Trial:
    inputs, expected, *name = ast.literal_eval(example.case)
    return Trial(text, tuple(inputs), tuple(expected), *name)


DRAW = {
    "fold": composed.fold,
    "chain": composed.chain,
    "branch": composed.branch,
    "classic": classic,
}
TASK = Task(NAME, generate, check)
"""Write a Python function."""
