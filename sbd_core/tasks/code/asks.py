"""Ways to ask for a function: a grammar of leads, words for the function, and clauses.

Knows what a function does only as a phrase. Every part has entries that are reserved for test.
"""

import builtins
import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from sbd_core.tasks.base import Pool, Wording, is_reserved, made_up_word

NAME_RATE, PARAMETER_RATE = 0.45, 0.3
CALL_RATE, SHORT_RATE, AFTER_RATE = 0.25, 0.3, 0.35
PARAMETER = re.compile(r"(\w+): (\w+)")
STRING = re.compile(r'("[^"]*")')

# {fn} is the function, {clause} what it does.
LEADS = Pool((
    "Write {fn} {clause}.", "Define {fn} {clause}.", "Create {fn} {clause}.", "Make {fn} {clause}.",
    "I need {fn} {clause}.", "Please write {fn} {clause}.", "Implement {fn} {clause}.",
    "Code {fn} {clause}.", "Give me {fn} {clause}.", "I want {fn} {clause}.", "Build {fn} {clause}.",
    "Can you write {fn} {clause}?", "Could you write {fn} {clause}?", "Show me {fn} {clause}.",
    "I would like {fn} {clause}.", "Help me write {fn} {clause}.", "Please give me {fn} {clause}.",
    "I am looking for {fn} {clause}.", "How would you write {fn} {clause}?", "Produce {fn} {clause}.",
    "Task: write {fn} {clause}.", "Exercise: define {fn} {clause}.", "In Python, write {fn} {clause}.",
    "Using Python, define {fn} {clause}.", "Python: {fn} {clause}", "For my homework I need {fn} {clause}.",
    "write {fn} {clause}", "Please code {fn} {clause}.", "Now write {fn} {clause}.", "{fn} {clause}.",
    "{fn} {clause}", "{fn} {clause}, please.", "We need {fn} {clause}.", "Design {fn} {clause}.",
    "Come up with {fn} {clause}.", "Let us write {fn} {clause}.", "Would you write {fn} {clause}?",
    "What does {fn} {clause} look like?", "How do I write {fn} {clause}?", "Try to write {fn} {clause}.",
    "I have to write {fn} {clause}. Can you help?", "Can you give me {fn} {clause}?",
))  # fmt: skip
FUNCTIONS = Pool((
    "a function", "a Python function", "a short function", "a small Python function", "a simple function",
    "a function in Python", "one function", "a little function", "a helper function", "a tiny function",
    "a short Python function", "some function", "a Python 3 function", "an easy function", "a plain function",
))  # fmt: skip
NAMED = Pool((
    "a function called {name}", "a function named {name}", "a Python function named {name}",
    "a Python function called {name}", "the function {name}", "a function {name}", "{name}, a function",
    "a function with the name {name}", "a short function called {name}", "a function by the name of {name}",
    "a helper named {name}", "a small function {name}", "a Python function {name}",
))  # fmt: skip
CALLS = Pool((
    "{name}({parameters})", "a function {name}({parameters})", "the function {name}({parameters})",
    "a Python function {name}({parameters})", "def {name}({parameters})", "a function called {name}({parameters})",
))  # fmt: skip
CLAUSES = Pool((
    "that {does}", "to {do}", "which {does}", "that can {do}", "that will {do}", "that {does}", "to {do}",
    "that should {do}", "which can {do}", "that helps me {do}", "that is able to {do}", "so that it {does}",
    "whose job is to {do}", "which will {do}", "in order to {do}",
))  # fmt: skip
# Where the function itself is not spoken of.
SHORT = Pool((
    "How do I {do} in Python?", "How can I {do} with Python?", "{do}", "{do}.", "{do} in Python.",
    "Python code to {do}", "Write code to {do}.", "Write Python code that {does}.", "Code to {do}, please.",
    "Python: {do}", "What is the Python code to {do}?", "Please {do}.", "{do} with Python", "I want to {do}.",
    "In Python, {do}.", "Show me how to {do}.", "How would I {do}?", "I need to {do} in Python.",
    "Can Python {do}?", "Give me code that {does}.", "I need code to {do}.", "python {do}",
    "What is a way to {do} in Python?", "Could you {do} in Python?", "It should {do}.",
))  # fmt: skip
NAME_AFTER = Pool((
    "Call it {name}.", "Name it {name}.", "The function should be called {name}.", "Use the name {name}.",
    "Its name is {name}.", "It is called {name}.", "The name should be {name}.", "Name the function {name}.",
    "Please call it {name}.", "Let its name be {name}.", "I want it to be called {name}.",
))  # fmt: skip
ONE_PARAMETER = Pool((
    "The parameter is {parameters}.", "Its argument is called {parameters}.", "It takes {parameters}.",
    "Name the parameter {parameters}.", "The argument should be {parameters}.", "Its parameter is {parameters}.",
    "Use {parameters} as the parameter.", "Call its argument {parameters}.", "The input is {parameters}.",
))  # fmt: skip
MORE_PARAMETERS = Pool((
    "The parameters are {parameters}.", "It takes {parameters}.", "Its arguments are {parameters}.",
    "Name the parameters {parameters}.", "Use the parameters {parameters}.", "The inputs are {parameters}.",
    "Its parameters are {parameters}.", "Call the arguments {parameters}.",
))  # fmt: skip
NOUN_VERBS = Pool((
    "return", "return", "return", "compute", "calculate", "find", "give", "get", "work out", "give back",
    "determine", "produce", "figure out", "provide", "output",
))  # fmt: skip
CLAUSE_VERBS = Pool(("return", "tell", "give", "find out", "report", "work out", "say"))
TEST_VERBS = Pool((
    "check if", "check whether", "tell whether", "test if", "return True if", "find out if", "tell if",
    "say whether", "return whether", "decide whether", "see if", "determine if", "test whether",
    "verify that", "answer whether",
))  # fmt: skip
SLOTS: dict[str, Pool[str]] = {
    "{L}": Pool(("a list", "a list of numbers", "a list of integers", "a given list", "an array",
                 "the list", "an array of numbers", "a Python list", "a list of ints", "my list",
                 "a list of whole numbers", "some list", "a sequence of numbers")),
    "{W}": Pool(("a list of words", "a list of strings", "the words in a list", "the words of a list",
                 "some words", "the strings in a list", "given words")),
    "{T}": Pool(("a text", "a string", "a given string", "a given text", "some text", "the text",
                 "a piece of text", "an input string", "a string of text", "the string")),
    "{X}": Pool(("a number", "an integer", "a whole number", "a given number", "an int", "the number",
                 "some number", "any integer")),
    "{D}": Pool(("a dictionary", "a dict", "a given dictionary", "a Python dictionary", "the dictionary",
                 "some dictionary", "a Python dict")),
}  # fmt: skip
NAME_VERBS = tuple("get find make do calc my check compute run try the new to all".split())
NAME_NOUNS = tuple(
    "result value item list text total output answer data thing stuff number word part job".split()
)
SINGLE_NAMES = tuple(
    "f g h func fn foo bar helper run process transform answer calculate go main_task apply work".split()
)
PARAMETERS: dict[str, tuple[str, ...]] = {
    "list": tuple("values items xs nums data lst array arr elements seq my_list things rows series".split()),
    "dict": tuple("mapping d data lookup_table pairs my_dict info entries stock prices".split()),
    "str": tuple("s string txt message phrase line sentence t content source_text label title".split()),
    "int": tuple("x num value k number m integer amount y z count_of size p q".split()),
}  # fmt: skip


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
    verb = (CLAUSE_VERBS if is_clause else NOUN_VERBS).draw(random, wording)
    if noun.startswith(("True", "a dictionary", "1 for", '"')):
        verb = "return"
    return Phrase.of_command(f"{verb} {noun}")


def test_phrase(random: Random, wording: Wording, condition: str) -> Phrase:
    """A function that returns whether `condition` holds."""
    return Phrase.of_command(f"{TEST_VERBS.draw(random, wording)} {condition}")


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
    random: Random, wording: Wording, name: str, signature: str, taken: str, is_free: bool
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
        function = _new_name(random, wording, used, _function_name)
        used.add(function)
    if are_parameters_told or (is_free and random.random() < 0.5):
        drawn: list[str] = []
        for _, kind in own:
            one = _new_name(random, wording, used, partial(_parameter, kind))
            drawn.append(one)
            used.add(one)
        parameters = tuple(drawn)
    return Names(function, parameters, is_function_told, are_parameters_told)


def ask(random: Random, wording: Wording, phrase: Phrase, names: Names, after: str = "") -> str:
    """The prompt for a function; after: one more sentence, such as "Use a loop."."""
    listed = _listed(names.parameters)
    name, call = names.function, ", ".join(names.parameters)
    after_name = after_parameters = ""
    function = FUNCTIONS.draw(random, wording)
    lead = LEADS.draw(random, wording)
    if names.is_function_told and names.are_parameters_told and random.random() < CALL_RATE * 2:
        function = CALLS.draw(random, wording)
    else:
        if names.are_parameters_told:
            pool = MORE_PARAMETERS if len(names.parameters) > 1 else ONE_PARAMETER
            after_parameters = pool.draw(random, wording)
        if names.is_function_told:
            if random.random() < AFTER_RATE:
                after_name = NAME_AFTER.draw(random, wording)
            else:
                function = NAMED.draw(random, wording)
    if not (names.is_function_told and not after_name) and random.random() < SHORT_RATE:
        text = SHORT.draw(random, wording)
    else:
        text = lead.replace("{clause}", CLAUSES.draw(random, wording)).replace("{fn}", function)
        if not text.startswith(("{name}", "def ")) and lead[0] == "{":
            text = text[0].upper() + text[1:]
    text = text.replace("{does}", phrase.does)
    text = text.replace("{do}", _sentence(phrase.do) if text.startswith("{do}") else phrase.do)
    extras = " ".join(part for part in (after_name, after_parameters, after) if part)
    if extras and text[-1] not in ".?":
        text += "."
    text = f"{text} {extras}".strip()
    text = text.replace("{name}", name)
    text = text.replace("({parameters})", f"({call})").replace("{parameters}", listed)
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


def _new_name(
    random: Random, wording: Wording, used: set[str], draw: Callable[[Random, Wording], str]
) -> str:
    while True:
        name = draw(random, wording)
        is_fit = is_reserved(name) == (wording == "unseen") and name not in used
        if is_fit and not keyword.iskeyword(name) and not hasattr(builtins, name):
            return name


def _function_name(random: Random, wording: Wording) -> str:
    """Any name a beginner may give: sensible, lazy or made up."""
    kind = random.random()
    if kind < 0.2:
        return random.choice(SINGLE_NAMES)
    if kind < 0.6:
        verb, noun = random.choice(NAME_VERBS), random.choice(NAME_NOUNS)
        return f"{verb}_{noun}" if random.random() < 0.7 else verb + noun.capitalize()
    if kind < 0.8:
        return f"{random.choice(NAME_VERBS)}_{made_up_word(random, 'seen')}"
    return made_up_word(random, wording)


def _parameter(kind: str, random: Random, wording: Wording) -> str:
    if random.random() < 0.25:
        return made_up_word(random, wording)
    return random.choice(PARAMETERS[kind])


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
