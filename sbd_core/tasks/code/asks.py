"""Asks for a function: a lead, words for the function, a clause, its names.

Knows what a function does only as a phrase. Every part has entries that are reserved for test.
"""

import builtins
import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from sbd_core.tasks.base import Wording, is_reserved, made_up_word
from sbd_core.tasks.code import wordings

NAME_RATE, PARAMETER_RATE = 0.45, 0.3
CALL_RATE, SHORT_RATE, AFTER_RATE = 0.25, 0.3, 0.35
PARAMETER = re.compile(r"(\w+): (\w+)")
STRING = re.compile(r'("[^"]*")')


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a function does: "return the sum ..." and "returns the sum ...".

    {0}, {1}, {2} are its parameters as they are named.
    """

    do: str
    does: str

    @classmethod
    def of_command(cls, do: str) -> "Phrase":
        """The phrase of a command: "reverse a text"."""
        return cls(do, third_person(do))


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a function and of its parameters, and which of them are told."""

    function: str
    parameters: tuple[str, ...]
    is_function_told: bool
    are_parameters_told: bool


def noun_phrase(random: Random, wording: Wording, noun: str) -> Phrase:
    """A function that returns `noun`."""
    is_clause = noun.startswith(("whether", "how ", "True", "where", "what"))
    verb = (wordings.CLAUSE_VERBS if is_clause else wordings.NOUN_VERBS).draw(random, wording)
    if noun.startswith(("True", "a dictionary", "1 for", '"')):
        verb = "return"
    return Phrase.of_command(f"{verb} {noun}")


def test_phrase(random: Random, wording: Wording, condition: str) -> Phrase:
    """A function that returns whether `condition` holds."""
    return Phrase.of_command(f"{wordings.TEST_VERBS.draw(random, wording)} {condition}")


def third_person(do: str) -> str:
    """ "reverse a text" as "reverses a text"."""
    verb, gap, rest = do.partition(" ")
    if verb.endswith("y") and verb[-2] not in "aeiou":
        verb = f"{verb[:-1]}ies"
    else:
        verb += "es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s"
    return verb + gap + rest


def command(does: str) -> str:
    """ "reverses it" as "reverse it"; the inverse of third_person for verbs of operations."""
    verb, gap, rest = does.partition(" ")
    verb = f"{verb[:-3]}y" if verb.endswith("ies") else verb.removesuffix("s")
    return verb + gap + rest


def parameters_of(signature: str) -> list[str]:
    """The names of the parameters in "a: int, b: int) -> int"."""
    return [name for name, _ in PARAMETER.findall(signature.split(") ->")[0])]


def draw_names(
    random: Random, wording: Wording, name: str, signature: str, taken: str, *, is_free: bool
) -> Names:
    """The names for a function with `signature`, its own or others that the prompt tells.

    taken: the code, whose names are not drawn. is_free: whether the words speak of the
    parameters by their names, so that any may be drawn without telling them apart.
    """
    own = PARAMETER.findall(signature.split(") ->")[0])
    is_function_told = random.random() < NAME_RATE
    are_parameters_told = random.random() < PARAMETER_RATE
    function, parameters = name, tuple(parameter for parameter, _ in own)
    used = set(re.findall(r"\w+", f"{taken} {signature} {name}"))
    if is_function_told:
        function = new_name(random, wording, used, _function_name)
        used.add(function)
    if are_parameters_told or (is_free and random.random() < 0.5):
        drawn: list[str] = []
        for _, kind in own:
            one = new_name(random, wording, used, partial(_parameter, kind))
            drawn.append(one)
            used.add(one)
        parameters = tuple(drawn)
    return Names(function, parameters, is_function_told, are_parameters_told)


def ask(random: Random, wording: Wording, phrase: Phrase, names: Names, after: str = "") -> str:
    """The prompt for a function; after: one more sentence, such as "Use a loop."."""
    parameters = listed(names.parameters)
    name, call = names.function, ", ".join(names.parameters)
    after_name = after_parameters = ""
    function = wordings.FUNCTIONS.draw(random, wording)
    lead = wordings.LEADS.draw(random, wording)
    if names.is_function_told and names.are_parameters_told and random.random() < CALL_RATE * 2:
        function = wordings.CALLS.draw(random, wording)
    else:
        if names.are_parameters_told:
            pool = wordings.MORE_PARAMETERS if len(names.parameters) > 1 else wordings.ONE_PARAMETER
            after_parameters = pool.draw(random, wording)
        if names.is_function_told:
            if random.random() < AFTER_RATE:
                after_name = wordings.NAME_AFTER.draw(random, wording)
            else:
                function = wordings.NAMED.draw(random, wording)
    if not (names.is_function_told and not after_name) and random.random() < SHORT_RATE:
        text = wordings.SHORT.draw(random, wording)
    else:
        text = lead.replace("{clause}", wordings.CLAUSES.draw(random, wording)).replace(
            "{fn}", function
        )
        if not text.startswith(("{name}", "def ")) and lead[0] == "{":
            text = text[0].upper() + text[1:]
    text = text.replace("{does}", phrase.does)
    text = text.replace("{do}", _sentence(phrase.do) if text.startswith("{do}") else phrase.do)
    extras = " ".join(part for part in (after_name, after_parameters, after) if part)
    if extras and text[-1] not in ".?":
        text += "."
    text = f"{text} {extras}".strip()
    text = text.replace("{name}", name)
    text = text.replace("({parameters})", f"({call})").replace("{parameters}", parameters)
    return fill_parameters(text, names.parameters)


def fill_parameters(text: str, parameters: Sequence[str]) -> str:
    """`text` with {0}, {1}, {2} as the names of the parameters."""
    for index, parameter in enumerate(parameters):
        text = text.replace(f"{{{index}}}", parameter)
    return text


def rename(code: str, old: Sequence[str], new: Sequence[str]) -> str:
    """`code` with identifiers `old` as `new`; texts in quotes and attributes stay."""
    renamed = dict(zip(old, new, strict=True))
    if all(before == after for before, after in renamed.items()):
        return code
    names = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, renamed))})\b")
    parts = STRING.split(code)
    parts[::2] = [names.sub(lambda found: renamed[found[0]], part) for part in parts[::2]]
    return "".join(parts)


def new_name(
    random: Random, wording: Wording, used: set[str], draw: Callable[[Random, Wording], str]
) -> str:
    """A name of `draw` that Python lets stand, is none of `used` and fits `wording`."""
    while True:
        name = draw(random, wording)
        is_fit = is_reserved(name) == (wording == "unseen") and name not in used
        if is_fit and not keyword.iskeyword(name) and not hasattr(builtins, name):
            return name


def _function_name(random: Random, wording: Wording) -> str:
    """Any name a beginner may give: sensible, lazy or made up."""
    kind = random.random()
    if kind < 0.2:
        return random.choice(wordings.SINGLE_NAMES)
    if kind < 0.6:
        verb, noun = random.choice(wordings.NAME_VERBS), random.choice(wordings.NAME_NOUNS)
        return f"{verb}_{noun}" if random.random() < 0.7 else verb + noun.capitalize()
    if kind < 0.8:
        return f"{random.choice(wordings.NAME_VERBS)}_{made_up_word(random, 'seen')}"
    return made_up_word(random, wording)


def _parameter(kind: str, random: Random, wording: Wording) -> str:
    if random.random() < 0.25:
        return made_up_word(random, wording)
    return random.choice(wordings.PARAMETERS[kind])


def listed(names: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
