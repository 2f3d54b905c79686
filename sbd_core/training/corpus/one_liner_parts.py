"""Pieces that functions are composed of, with their wordings. Data only.

`{k}` is a number and `{c}` a letter drawn for the piece. Wordings of different pieces differ,
so that the prompt fixes the pieces.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "text"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a composition: how it is said and its Python."""

    key: str
    wordings: tuple[str, ...]
    code: str
    """An expression; where the other pieces go depends on the sort of piece."""
    gives: Kind = "number"
    """For maps, what they turn an element into; for string operations, what they return."""
    low: int = 2
    high: int = 9
    """The inclusive range of {k}."""


NUMBER_FILTERS: tuple[Piece, ...] = (
    Piece("even", ("even numbers",), "n % 2 == 0"),
    Piece("odd", ("odd numbers",), "n % 2 == 1"),
    Piece("positive", ("positive numbers",), "n > 0"),
    Piece("negative", ("negative numbers",), "n < 0"),
    Piece("nonzero", ("nonzero numbers",), "n != 0"),
    Piece("greater", ("numbers greater than {k}", "numbers above {k}"), "n > {k}", high=20),
    Piece("less", ("numbers less than {k}", "numbers below {k}"), "n < {k}", high=20),
    Piece("at_least", ("numbers of at least {k}", "numbers not below {k}"), "n >= {k}", high=20),
    Piece("at_most", ("numbers of at most {k}", "numbers not above {k}"), "n <= {k}", high=20),
    Piece("multiple", ("multiples of {k}", "numbers divisible by {k}"), "n % {k} == 0", low=3),
    Piece("other_multiple", ("numbers not divisible by {k}",), "n % {k} != 0", low=3),
    Piece("except", ("numbers other than {k}", "numbers not equal to {k}"), "n != {k}"),
    Piece("positive_even", ("positive even numbers",), "n > 0 and n % 2 == 0"),
    Piece("positive_odd", ("positive odd numbers",), "n > 0 and n % 2 == 1"),
    Piece(
        "small",
        ("numbers from 0 to {k}", "numbers between 0 and {k}"),
        "0 <= n <= {k}",
        low=5,
        high=20,
    ),
)
NUMBER_MAPS: tuple[Piece, ...] = (
    Piece("double", ("doubled",), "2 * n"),
    Piece("triple", ("tripled",), "3 * n"),
    Piece("square", ("squared",), "n * n"),
    Piece("cube", ("cubed",), "n ** 3"),
    Piece("negate", ("negated", "with its sign flipped"), "-n"),
    Piece("add", ("plus {k}", "increased by {k}"), "n + {k}", low=1),
    Piece("subtract", ("minus {k}", "decreased by {k}"), "n - {k}", low=1),
    Piece("multiply", ("times {k}", "multiplied by {k}"), "{k} * n", low=4, high=12),
    Piece("halve", ("halved and rounded down",), "n // 2"),
    Piece("absolute", ("made positive", "as its absolute value"), "abs(n)"),
    Piece("remainder", ("modulo {k}", "as its remainder by {k}"), "n % {k}"),
    Piece("string", ("as a string", "turned into a string"), "str(n)", "text"),
)
WORD_FILTERS: tuple[Piece, ...] = (
    Piece(
        "starts",
        ('words starting with "{c}"', 'words that start with "{c}"'),
        'w.startswith("{c}")',
    ),
    Piece("ends", ('words ending with "{c}"', 'words that end with "{c}"'), 'w.endswith("{c}")'),
    Piece("contains", ('words containing "{c}"', 'words with "{c}" in them'), '"{c}" in w'),
    Piece("lacks", ('words without "{c}"', 'words not containing "{c}"'), '"{c}" not in w'),
    Piece(
        "longer",
        ("words longer than {k} letters", "words of more than {k} letters"),
        "len(w) > {k}",
        high=5,
    ),
    Piece(
        "shorter",
        ("words shorter than {k} letters", "words of fewer than {k} letters"),
        "len(w) < {k}",
        low=3,
        high=6,
    ),
    Piece(
        "length",
        ("words of exactly {k} letters", "words with {k} letters"),
        "len(w) == {k}",
        low=3,
        high=6,
    ),
    Piece("even_length", ("words of even length",), "len(w) % 2 == 0"),
    Piece("odd_length", ("words of odd length",), "len(w) % 2 == 1"),
    Piece("palindrome", ("palindromes", "words equal to their reverse"), "w == w[::-1]"),
    Piece("vowel", ("words starting with a vowel",), 'w[0] in "aeiou"'),
)
WORD_MAPS: tuple[Piece, ...] = (
    Piece("upper", ("in upper case", "made upper case"), "w.upper()", "text"),
    Piece("capital", ("capitalized", "with a capital letter"), "w.capitalize()", "text"),
    Piece("reversed", ("reversed", "spelled backwards"), "w[::-1]", "text"),
    Piece("first_letter", ("cut to its first letter",), "w[0]", "text"),
    Piece("last_letter", ("cut to its last letter",), "w[-1]", "text"),
    Piece("first_letters", ("cut to its first {k} letters",), "w[:{k}]", "text", high=4),
    Piece("without_first", ("without its first letter",), "w[1:]", "text"),
    Piece("without_last", ("without its last letter",), "w[:-1]", "text"),
    Piece("twice", ("repeated twice", "written twice"), "w * 2", "text"),
    Piece("suffix", ('followed by "{c}"', 'with "{c}" added'), 'w + "{c}"', "text"),
    Piece("removed", ('with every "{c}" removed',), 'w.replace("{c}", "")', "text"),
    Piece("length", ("replaced by its length", "as its length"), "len(w)"),
    Piece("count", ('replaced by its count of "{c}"',), 'w.count("{c}")'),
)

# {items} is a comprehension body, {list} the same as a list.
FOLDS: tuple[Piece, ...] = (
    Piece("list", ("{core}", "a list of {core}"), "{list}"),
    Piece("ascending", ("{core}, in ascending order", "{core}, sorted"), "sorted({items})"),
    Piece(
        "descending",
        ("{core}, in descending order", "{core}, sorted from high to low"),
        "sorted({items}, reverse=True)",
    ),
    Piece("distinct", ("the distinct values of {core}, sorted",), "sorted(set({items}))"),
    Piece("backwards", ("{core}, in reverse order", "{core}, from last to first"), "{list}[::-1]"),
    Piece("first_few", ("the first {k} of {core}",), "{list}[:{k}]", high=5),
    Piece("last_few", ("the last {k} of {core}",), "{list}[-{k}:]", high=5),
    Piece("first", ("the first of {core}",), "{list}[0]"),
    Piece("last", ("the last of {core}",), "{list}[-1]"),
    Piece("num_distinct", ("the number of distinct values of {core}",), "len(set({items}))"),
)
NUMBER_FOLDS: tuple[Piece, ...] = (
    Piece("sum", ("the sum of {core}", "the total of {core}"), "sum({items})"),
    Piece("largest", ("the largest of {core}", "the maximum of {core}"), "max({items})"),
    Piece("smallest", ("the smallest of {core}", "the minimum of {core}"), "min({items})"),
)
TEXT_FOLDS: tuple[Piece, ...] = (
    Piece("longest", ("the longest of {core}",), "max({items}, key=len)"),
    Piece("shortest", ("the shortest of {core}",), "min({items}, key=len)"),
    Piece("spaces", ("{core}, joined by spaces",), '" ".join({items})'),
    Piece("commas", ("{core}, joined by commas",), '",".join({items})'),
    Piece("joined", ("{core}, joined into one string",), '"".join({items})'),
)
# Only with a filter and no map: {condition} is the filter's.
TESTS: tuple[Piece, ...] = (
    Piece(
        "count",
        ("the number of {core}", "how many {core} there are"),
        "sum(1 for {v} in {source} if {condition})",
    ),
    Piece(
        "any",
        ("whether there are any {core}", "True if there are {core}"),
        "any({condition} for {v} in {source})",
    ),
    Piece(
        "all",
        ("whether there are only {core}", "True if there are only {core}"),
        "all({condition} for {v} in {source})",
    ),
)

# On one number or one text, {e} being the expression so far, bracketed when needed.
NUMBER_OPERATIONS: tuple[Piece, ...] = (
    Piece("add", ("adds {k}",), "{e} + {k}", low=1, high=20),
    Piece("subtract", ("subtracts {k}",), "{e} - {k}", low=1, high=20),
    Piece("multiply", ("multiplies it by {k}",), "{e} * {k}", high=12),
    Piece("divide", ("floor divides it by {k}",), "{e} // {k}"),
    Piece("remainder", ("takes the remainder by {k}",), "{e} % {k}"),
    Piece("square", ("squares it",), "{e} ** 2"),
    Piece("negate", ("flips its sign",), "-{e}"),
)
TEXT_OPERATIONS: tuple[Piece, ...] = (
    Piece("upper", ("makes it upper case",), "{e}.upper()", "text"),
    Piece("reverse", ("reverses it",), "{e}[::-1]", "text"),
    Piece("first", ("keeps the first {k} letters",), "{e}[:{k}]", "text"),
    Piece("last", ("keeps the last {k} letters",), "{e}[-{k}:]", "text"),
    Piece("drop", ("drops the first {k} letters",), "{e}[{k}:]", "text", high=4),
    Piece("remove", ('removes every "{c}"',), '{e}.replace("{c}", "")', "text"),
    Piece("star", ('replaces every "{c}" by "*"',), '{e}.replace("{c}", "*")', "text"),
    Piece("repeat", ("repeats it {k} times",), "{e} * {k}", "text", high=4),
    Piece("suffix", ('adds "{c}" at the end',), '{e} + "{c}"', "text"),
    Piece("strip", ("strips spaces from both ends",), "{e}.strip()", "text"),
    Piece("capital", ("capitalizes it",), "{e}.capitalize()", "text"),
)
TEXT_ENDINGS: tuple[Piece, ...] = (
    Piece("length", ("returns its length", "counts its letters"), "len({e})"),
    Piece("count", ('counts the letter "{c}"',), '{e}.count("{c}")'),
    Piece("words", ("splits it into words",), "{e}.split()"),
    Piece("num_words", ("counts its words",), "len({e}.split())"),
    Piece("letters", ("turns it into a list of letters",), "list({e})"),
    Piece("is_lower", ("tells whether it is lower case",), "{e}.islower()"),
)
