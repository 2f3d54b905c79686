"""Small Python functions described in a sentence, checked by running them.

Some functions are well known. The others apply a filter, a map and a fold to a list; the kind of
list, filter, map and fold decides the split, whatever the numbers, letters and words in the prompt.
A function with only a filter or only a map occurs in training only. Well-known functions occur in
training, and in the test split with held-out phrasings only.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from sbd_core.tasks.base import Example, Phrasings, Split, Task, Wording, draw_wording, split_of
from sbd_core.tasks.sandbox import Trial, passes
from sbd_core.tasks.words import split_words

NAME = "code"
NUM_CASES, MAX_CASE_TRIES = 5, 40
CLASSIC_RATE, NAMED_RATE, NO_PIECE_RATE = 0.5, 0.3, 0.3
LETTERS = "abcdehlmnoprst"
SHORT_WORDS = split_words(
    """apple bee cat dog egg fig goat hat ice jam kite level lamp moon noon nut owl pear queen radar
    rain sun tea tree under van wolf year zebra stone table bread river eye orange cloud"""
)
LEADS = Phrasings(
    (
        "Write a function that {does}.", "Write a Python function that {does}.", "Write a function to {do}.",
        "Define a function that {does}.", "Please write a Python function that {does}.", "I need a function that {does}.",
        "Create a function which {does}.", "Can you write a function that {does}?", "How do I {do} in Python?",
        "Write a short function to {do}.", "In Python, {do}.", "Implement a function that {does}.",
    ),
    ("Write me a function that {does}.", "Show me how to {do}.", "Please define a function that {does}.", "I need code to {do}."),
)  # fmt: skip
NAMED = Phrasings(
    (
        "Call it {name}.",
        "Name it {name}.",
        "The function should be called {name}.",
        "Use the name {name}.",
    ),
    ("Please call it {name}.",),
)
FUNCTION_NAMES = tuple(
    f"{verb}_{noun}" for verb in ("get", "find", "make", "compute") for noun in ("result", "value", "output", "answer")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """A filter, map or fold of a function, in words and as a Python expression.

    In the words and the code, {k} stands for a number and {c} for a letter. In a fold, {core} in
    the words and {items} in the code stand for the elements.
    key: name of the piece. code: the Python expression.
    said: words in the function's docstring and in prompts.
    other: words in prompts of wording "unseen"; "" takes `said`.
    nouns: (map) noun for the results, such as "squares"; "" if there is none.
    gives: (map, fold) type of the result; {t} stands for the type of the elements.
    low, high: smallest and largest number for {k}.
    """

    key: str
    said: str
    code: str
    other: str = ""
    nouns: str = ""
    gives: str = "int"
    low: int = 2
    high: int = 9


@dataclass(frozen=True, slots=True)
class Domain:
    """A kind of list that a function takes.

    name: name of the list in code and prompts.
    variable: name of an element in code.
    type: type of an element.
    filters, maps: the pieces that fit such elements.
    """

    name: str
    variable: str
    type: str
    filters: tuple[Piece, ...]
    maps: tuple[Piece, ...]


NUMBERS = Domain(
    "numbers", "n", "int",
    (
        Piece("even", "even numbers", "n % 2 == 0", "numbers that are even"),
        Piece("odd", "odd numbers", "n % 2 == 1", "numbers that are odd"),
        Piece("positive", "positive numbers", "n > 0", "numbers above zero"),
        Piece("negative", "negative numbers", "n < 0", "numbers below zero"),
        Piece("greater", "numbers greater than {k}", "n > {k}", "numbers above {k}", high=20),
        Piece("less", "numbers less than {k}", "n < {k}", "numbers below {k}", high=20),
        Piece("multiple", "multiples of {k}", "n % {k} == 0", "numbers divisible by {k}", low=3),
    ),
    (
        Piece("double", "doubled", "2 * n", nouns="doubles"),
        Piece("triple", "tripled", "3 * n", nouns="triples"),
        Piece("square", "squared", "n * n", nouns="squares"),
        Piece("cube", "cubed", "n ** 3", nouns="cubes"),
        Piece("add", "plus {k}", "n + {k}", low=1),
        Piece("multiply", "times {k}", "{k} * n", low=4, high=12),
        Piece("absolute", "made positive", "abs(n)", nouns="absolute values"),
    ),
)  # fmt: skip
WORDS = Domain(
    "words", "w", "str",
    (
        Piece("starts", 'words starting with "{c}"', 'w.startswith("{c}")', 'words that start with "{c}"'),
        Piece("ends", 'words ending with "{c}"', 'w.endswith("{c}")', 'words that end with "{c}"'),
        Piece("contains", 'words containing "{c}"', '"{c}" in w', 'words with "{c}" in them'),
        Piece("longer", "words longer than {k} letters", "len(w) > {k}", "words of more than {k} letters", high=5),
        Piece("shorter", "words shorter than {k} letters", "len(w) < {k}", "words of fewer than {k} letters", low=3, high=6),
        Piece("palindrome", "palindromes", "w == w[::-1]", "words equal to their reverse"),
    ),
    (
        Piece("upper", "in upper case", "w.upper()", nouns="upper case forms", gives="str"),
        Piece("capital", "capitalized", "w.capitalize()", gives="str"),
        Piece("reversed", "reversed", "w[::-1]", nouns="reverses", gives="str"),
        Piece("first_letter", "cut to its first letter", "w[0]", nouns="first letters", gives="str"),
        Piece("twice", "repeated twice", "w * 2", gives="str"),
        Piece("length", "replaced by its length", "len(w)", nouns="lengths"),
    ),
)  # fmt: skip
FOLDS = (
    Piece("list", "{core}", "[{items}]", gives="list[{t}]"),
    Piece("ascending", "{core}, sorted", "sorted({items})", "{core}, in ascending order", gives="list[{t}]"),
    Piece("backwards", "{core}, in reverse order", "[{items}][::-1]", "{core}, reversed", gives="list[{t}]"),
    Piece("first", "the first of {core}", "[{items}][0]", gives="{t}"),
    Piece("last", "the last of {core}", "[{items}][-1]", gives="{t}"),
)  # fmt: skip
NUMBER_FOLDS = (
    Piece("sum", "the sum of {core}", "sum({items})", "the total of {core}"),
    Piece("largest", "the largest of {core}", "max({items})", "the biggest of {core}"),
    Piece("smallest", "the smallest of {core}", "min({items})", "the minimum of {core}"),
)
WORD_FOLDS = (
    Piece("longest", "the longest of {core}", "max(({items}), key=len)", gives="str"),
    Piece("shortest", "the shortest of {core}", "min(({items}), key=len)", gives="str"),
    Piece("spaces", "{core}, joined by spaces", '" ".join({items})', "{core}, with spaces between them", gives="str"),
    Piece("commas", "{core}, joined by commas", '",".join({items})', "{core}, with commas between them", gives="str"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Classic:
    """A well-known function.

    signature: parameters and type of the result, without the opening parenthesis.
    takes: kinds of the arguments, separated by spaces; see _value().
    said: docstring of the function, a command such as "return the sum of a list".
    asked: command in prompts of wording "seen".
    other: command in prompts of wording "unseen".
    """

    name: str
    signature: str
    takes: str
    body: str
    said: str
    asked: str
    other: str


CLASSICS = (
    Classic("factorial", "n: int) -> int", "small", "if n <= 1:\n    return 1\nreturn n * factorial(n - 1)",
            "return the factorial of n", "return the factorial of a number", "compute the factorial of n"),
    Classic("is_even", "n: int) -> bool", "number", "return n % 2 == 0",
            "return whether n is even", "check if a number is even", "tell if a number is even"),
    Classic("is_odd", "n: int) -> bool", "number", "return n % 2 == 1",
            "return whether n is odd", "check if a number is odd", "tell if a number is odd"),
    Classic("is_prime", "n: int) -> bool", "count", "return n > 1 and all(n % i != 0 for i in range(2, n))",
            "return whether n is prime", "check if a number is prime", "find out if a number is prime"),
    Classic("digit_sum", "n: int) -> int", "digits", "return sum(int(d) for d in str(n))",
            "return the digit sum of n", "return the digit sum of a number", "add up the digits of a number"),
    Classic("add", "a: int, b: int) -> int", "number number", "return a + b",
            "return the sum of a and b", "add two numbers", "return the sum of two numbers"),
    Classic("multiply", "a: int, b: int) -> int", "number number", "return a * b",
            "return the product of a and b", "multiply two numbers", "return the product of two numbers"),
    Classic("larger", "a: int, b: int) -> int", "number number", "if a > b:\n    return a\nreturn b",
            "return the larger of a and b", "return the larger of two numbers", "find the maximum of two numbers"),
    Classic("square", "n: int) -> int", "number", "return n * n",
            "return the square of n", "return the square of a number", "square a number"),
    Classic("divisors", "n: int) -> list[int]", "count", "return [i for i in range(1, n + 1) if n % i == 0]",
            "return the divisors of n", "return all divisors of a number", "list the divisors of a number"),
    Classic("sum_list", "numbers: list[int]) -> int", "numbers", "return sum(numbers)",
            "return the sum of a list", "return the sum of a list of numbers", "add up all the numbers in a list"),
    Classic("largest", "numbers: list[int]) -> int", "numbers", "return max(numbers)",
            "return the largest number in a list", "find the largest number in a list", "return the maximum of a list"),
    Classic("smallest", "numbers: list[int]) -> int", "numbers", "return min(numbers)",
            "return the smallest number in a list", "find the smallest number in a list", "return the minimum of a list"),
    Classic("average", "numbers: list[int]) -> float", "numbers", "return sum(numbers) / len(numbers)",
            "return the average of a list", "compute the average of a list of numbers", "return the mean of a list"),
    Classic("reverse_list", "numbers: list[int]) -> list[int]", "numbers", "return numbers[::-1]",
            "return a list in reverse", "reverse a list", "turn a list around"),
    Classic("sort_list", "numbers: list[int]) -> list[int]", "numbers", "return sorted(numbers)",
            "return a sorted copy of a list", "sort a list", "put a list in order"),
    Classic("unique", "numbers: list[int]) -> list[int]", "few", "return list(dict.fromkeys(numbers))",
            "return a list without duplicates", "remove duplicates from a list", "return the unique elements of a list"),
    Classic("evens", "numbers: list[int]) -> list[int]", "numbers", "return [n for n in numbers if n % 2 == 0]",
            "return only the even numbers of a list", "return all even numbers in a list", "keep only the even numbers of a list"),
    Classic("squares", "numbers: list[int]) -> list[int]", "numbers", "return [n * n for n in numbers]",
            "return the squares of a list", "square every number in a list", "return a list with every number squared"),
    Classic("length", "numbers: list[int]) -> int", "numbers", "return len(numbers)",
            "return the length of a list", "count the elements of a list", "return the number of elements in a list"),
    Classic("count_vowels", "text: str) -> int", "text", 'return sum(1 for c in text if c in "aeiouAEIOU")',
            "return how many vowels a text has", "count the vowels in a text", "count the vowels of a string"),
    Classic("is_palindrome", "text: str) -> bool", "mirror", "return text == text[::-1]",
            "return whether a text is a palindrome", "check if a word is a palindrome", "check if a text reads the same backwards"),
    Classic("reverse_text", "text: str) -> str", "text", "return text[::-1]",
            "return a text backwards", "reverse a string", "return a string in reverse"),
    Classic("to_upper", "text: str) -> str", "text", "return text.upper()",
            "return a text in upper case", "convert a text to upper case", "make a string upper case"),
    Classic("count_words", "text: str) -> int", "text", "return len(text.split())",
            "return the number of words in a text", "count the words in a text", "count the words of a sentence"),
    Classic("longest_word", "text: str) -> str", "text", "return max(text.split(), key=len)",
            "return the longest word in a text", "return the longest word of a sentence", "find the longest word of a text"),
    Classic("first_letter", "text: str) -> str", "word", "return text[0]",
            "return the first letter of a text", "return the first letter of a string", "return the first character of a text"),
    Classic("remove_spaces", "text: str) -> str", "text", 'return text.replace(" ", "")',
            "return a text without spaces", "remove all spaces from a text", "delete the spaces in a text"),
    Classic("sort_words", "words: list[str]) -> list[str]", "words", "return sorted(words)",
            "return a list of words in alphabetical order", "sort a list of words", "put a list of words in alphabetical order"),
    Classic("word_counts", "words: list[str]) -> dict[str, int]", "words",
            "counts = {}\nfor w in words:\n    counts[w] = counts.get(w, 0) + 1\nreturn counts",
            "return how often each word occurs in a list", "count how often each word occurs in a list", "count each word in a list"),
    Classic("to_fahrenheit", "celsius: int) -> float", "number", "return celsius * 9 / 5 + 32",
            "return a temperature in Fahrenheit given in Celsius", "convert Celsius to Fahrenheit", "turn degrees Celsius into Fahrenheit"),
)  # fmt: skip


def generate(random: Random, split: Split) -> Example:
    """Make an example that asks for a function and belongs to `split`."""
    wording = draw_wording(random, split)
    make = (
        _classic
        if random.random() < CLASSIC_RATE and (split, wording) != ("test", "seen")
        else _fold
    )
    while True:
        example = make(random, split, wording)
        if example is not None:
            return example


def check(example: Example, text: str) -> bool:
    """Whether the function in `text`, run in the sandbox, gives the expected results.

    Never raises because of the text. Raises SandboxError if the sandbox does not work here.
    """
    inputs, expected, *name = ast.literal_eval(example.case)
    return passes(Trial(text, tuple(inputs), tuple(expected), *name))


def _classic(random: Random, _: Split, wording: Wording) -> Example | None:
    item = random.choice(CLASSICS)
    asked = item.asked if wording == "seen" else item.other
    return _example(
        random, wording, asked, item.name, item.signature, item.said, item.body, item.takes.split()
    )


def _fold(random: Random, split: Split, wording: Wording) -> Example | None:
    """Make an example of a function that applies a filter, a map and a fold, all drawn.

    Returns None if neither filter nor map was drawn, or if the function is of the other split.
    """
    domain = random.choice((NUMBERS, WORDS))
    keep = None if random.random() < NO_PIECE_RATE else random.choice(domain.filters)
    change = None if random.random() < NO_PIECE_RATE else random.choice(domain.maps)
    folded = change.gives if change else domain.type
    fold = random.choice(FOLDS + (NUMBER_FOLDS if folded == "int" else WORD_FOLDS))
    pieces = (keep.key if keep else "", change.key if change else "", fold.key)
    num_pieces = sum(piece not in ("", "list") for piece in pieces)
    owner = split_of(" ".join((domain.name, *pieces))) if num_pieces > 1 else "train"
    if owner != split or not (keep or change):
        return None
    number = {
        piece: str(random.randint(piece.low, piece.high)) for piece in (keep, change) if piece
    }
    letter = random.choice(LETTERS)

    def fill(piece: Piece, text: str) -> str:
        return text.replace("{k}", number[piece]).replace("{c}", letter)

    def said(place: str, *, is_other: bool) -> str:
        what = fill(keep, (is_other and keep.other) or keep.said) if keep else domain.name
        core = f"the {what}{place}"
        if change and change.nouns:
            core = f"the {fill(change, change.nouns)} of {core}"
        elif change:
            core = f"{core}, each {fill(change, change.said)}"
        return "return " + ((is_other and fold.other) or fold.said).replace("{core}", core)

    element = fill(change, change.code) if change else domain.variable
    condition = f" if {fill(keep, keep.code)}" if keep else ""
    items = f"{element} for {domain.variable} in {domain.name}{condition}"
    summary, asked = said("", is_other=False), said(" in a list", is_other=wording == "unseen")
    signature = f"{domain.name}: list[{domain.type}]) -> {fold.gives.format(t=folded)}"
    body = f"return {fold.code.replace('{items}', items)}"
    return _example(random, wording, asked, "solve", signature, summary, body, [domain.name])


def _example(
    random: Random, wording: Wording, asked: str, name: str, signature: str, said: str, body: str, takes: Sequence[str]
) -> Example | None:  # fmt: skip
    """Make an example of a function. For the arguments see Classic, for None see draw_case()."""
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
    verb = (
        f"{verb[:-1]}ies"
        if verb[-2:] == "ly"
        else verb + ("es" if verb.endswith(("sh", "ch", "x")) else "s")
    )
    return verb + gap + rest


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
    """Draw an argument of a kind, such as "number", "digits" or "words"."""
    ranges = {"number": (-30, 60), "small": (0, 9), "count": (1, 60), "digits": (10, 99999)}
    if kind in ranges:
        return random.randint(*ranges[kind])
    match kind:
        case "numbers":
            return [random.randint(-12, 24) for _ in range(random.randint(3, 9))]
        case "few":
            return [random.randint(0, 5) for _ in range(random.randint(4, 9))]
        case "words":
            return random.choices(SHORT_WORDS, k=random.randint(3, 9))
        case "word":
            return random.choice(SHORT_WORDS)
        case "mirror":
            word = random.choice(SHORT_WORDS)
            return random.choice((word, word + word[::-1]))
    return " ".join(random.choices(SHORT_WORDS, k=random.randint(1, 4)))


TASK = Task(NAME, generate, check)
"""Write a Python function."""
