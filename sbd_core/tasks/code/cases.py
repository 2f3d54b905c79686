"""Inputs for functions, and what their reference returns for them. Knows no wording."""

from collections.abc import Sequence
from random import Random
from typing import Any

from sbd_core.tasks.words import SHORT_WORDS

NUM_CASES = 5
MAX_CASE_TRIES = 40
LETTERS = "abcdeghilmnoprstu"
TABLE_KEYS = SHORT_WORDS[:9]
INTEGERS: dict[str, tuple[int, int]] = {
    "number": (-30, 60), "range": (3, 30), "small": (0, 9), "small1": (1, 9), "tiny": (0, 4),
    "three": (1, 4), "index": (0, 2), "band": (9, 20), "count": (1, 60), "hundred": (0, 100),
    "digits": (10, 99999),
}  # fmt: skip
CHOICES: dict[str, Sequence[object]] = {
    "letter": LETTERS,
    "word": SHORT_WORDS,
    "table_key": TABLE_KEYS,
    "ending": "eetnr",
    "year": (1900, 1996, 1999, 2000, 2004, 2018, 2023, 2024, 2100, 2400),
    "bits": ("0", "1", "10", "101", "110", "1001", "1111", "10100", "11011"),
    "anagram": ("tea", "eat", "ate", "ant", "tan", "sun", "nus"),
    "letter_word": ("apple", "ant", "art", "bee", "bat", "box", "cat", "cup"),
    "text_case": ("SUN", "TREE HOUSE", "Cat", "moon", "Big Dog", "EYE"),
    "numeral": ("12", "7", "400", "cat", "4 cats", "x1", "2024"),
}  # fmt: skip


def draw_case(random: Random, source: str, name: str, takes: Sequence[str]) -> str | None:
    """NUM_CASES inputs with the reference's results and its name, as a literal.

    None if the results are too alike. `source` is ours: it is run as it is.
    """
    space: dict[str, Any] = {}
    exec(source, space)
    solve = space[name]
    inputs: list[object] = []
    results: list[object] = []
    for _ in range(MAX_CASE_TRIES):
        values = tuple(_value(random, kind) for kind in takes)
        try:
            result = solve(*values)
        except (ValueError, IndexError):  # No element is left to fold.
            continue
        value = values if len(values) > 1 else values[0]
        if value not in inputs:
            inputs.append(value)
            results.append(result)
        if len(inputs) >= NUM_CASES and any(result != results[0] for result in results):
            return repr((inputs, results, name))
    return None


def _value(random: Random, kind: str) -> object:
    """A fresh argument of a kind."""
    if kind in INTEGERS:
        return random.randint(*INTEGERS[kind])
    if kind in CHOICES:
        return random.choice(CHOICES[kind])
    match kind:
        case "numbers":
            return _numbers(random)
        case "sorted":
            numbers = _numbers(random)
            return random.choice((numbers, sorted(numbers), [abs(n) for n in numbers]))
        case "few":
            return [random.randint(0, 5) for _ in range(random.randint(4, 9))]
        case "alike":
            return [random.randint(1, 2)] * random.randint(2, 4) + random.choice(([], [2]))
        case "maybe":
            return random.choice(([], _numbers(random)))
        case "nested":
            return [_numbers(random)[:3] for _ in range(random.randint(2, 4))]
        case "words":
            return random.choices(SHORT_WORDS, k=random.randint(3, 9))
        case "table":
            keys = random.sample(TABLE_KEYS, random.randint(3, 6))
            return dict(zip(keys, random.sample(range(1, 20), len(keys)), strict=True))
        case "sign":
            return random.choice((random.randint(-9, -1), 0, random.randint(1, 9)))
        case "mirror":
            word = random.choice(SHORT_WORDS)
            return random.choice((word, word + word[::-1], (word + word[::-1]).capitalize()))
    text = " ".join(random.choices(SHORT_WORDS, k=random.randint(1, 4)))
    text = random.choice((text, text, text.title()))
    if kind == "letters":
        return text
    return random.choice(("", " ")) + text + random.choice(("", " "))


def _numbers(random: Random) -> list[int]:
    return [random.randint(-12, 24) for _ in range(random.randint(3, 9))]
