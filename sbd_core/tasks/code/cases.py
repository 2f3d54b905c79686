"""Inputs for functions, and what their reference returns for them. Knows no wording."""

from random import Random
from typing import Any

from sbd_core.tasks.words import SHORT_WORDS

NUM_CASES = 5
MAX_CASE_TRIES = 40
LETTERS = "abcdeghilmnoprstu"


def draw_case(random: Random, source: str, takes: tuple[str, ...]) -> str | None:
    """NUM_CASES inputs with the reference's results as a literal; None if they are too alike."""
    space: dict[str, Any] = {}
    exec(source, space)
    solve = space["solve"]
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
            return repr((inputs, results))
    return None


def _value(random: Random, kind: str) -> object:
    """A fresh argument for solve."""
    match kind:
        case "numbers":
            return [random.randint(-12, 24) for _ in range(random.randint(3, 9))]
        case "sorted":
            numbers = [random.randint(-12, 24) for _ in range(random.randint(3, 9))]
            return random.choice((numbers, sorted(numbers)))
        case "words":
            return random.choices(SHORT_WORDS, k=random.randint(3, 9))
        case "number":
            return random.randint(-30, 60)
        case "sign":
            return random.choice((random.randint(-9, -1), 0, random.randint(1, 9)))
        case "range":
            return random.randint(3, 30)
        case "small":
            return random.randint(0, 9)
        case "count":
            return random.randint(1, 60)
        case "digits":
            return random.randint(10, 99999)
        case "letter":
            return random.choice(LETTERS)
        case "mirror":
            word = random.choice(SHORT_WORDS)
            return random.choice((word, word + word[::-1]))
    text = " ".join(random.choices(SHORT_WORDS, k=random.randint(1, 4)))
    text = random.choice((text, text, text.title()))
    if kind == "letters":
        return text
    return random.choice(("", " ")) + text + random.choice(("", " "))
