"""Pieces that functions are composed of, with their wordings. Data only.

`{k}` is a number and `{c}` a letter drawn for the piece. Wordings of different pieces differ,
so that the prompt fixes the pieces. The first wording is the one of the docstring.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "text"]
HINTS: dict[Kind, str] = {"number": "int", "text": "str"}


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
    hint: str = ""
    """For folds, the type returned: {t} is the type of what is folded, {s} of an element."""
    noun: str = ""
    """For maps, what an element becomes: "square"."""
    nouns: str = ""
    """The same of many: "squares"."""


# fmt: off
NUMBER_FILTERS: tuple[Piece, ...] = (
    Piece("even", ("even numbers", "numbers that are even", "numbers divisible by two", "evens"),
          "n % 2 == 0"),
    Piece("odd", ("odd numbers", "numbers that are odd", "numbers not divisible by two", "odds"),
          "n % 2 == 1"),
    Piece("positive", ("positive numbers", "numbers that are positive", "numbers above zero", "numbers over 0"),
          "n > 0"),
    Piece("negative", ("negative numbers", "numbers that are negative", "numbers below zero", "numbers under 0"),
          "n < 0"),
    Piece("nonzero", ("nonzero numbers",), "n != 0"),
    Piece("greater", ("numbers greater than {k}", "numbers above {k}", "numbers larger than {k}", "numbers over {k}", "numbers bigger than {k}"),
          "n > {k}", high=20),
    Piece("less", ("numbers less than {k}", "numbers below {k}", "numbers smaller than {k}", "numbers under {k}"),
          "n < {k}", high=20),
    Piece("at_least", ("numbers of at least {k}", "numbers not below {k}"), "n >= {k}", high=20),
    Piece("at_most", ("numbers of at most {k}", "numbers not above {k}"), "n <= {k}", high=20),
    Piece("multiple", ("multiples of {k}", "numbers divisible by {k}"), "n % {k} == 0", low=3),
    Piece("other_multiple", ("numbers not divisible by {k}",), "n % {k} != 0", low=3),
    Piece("except", ("numbers other than {k}", "numbers not equal to {k}"), "n != {k}"),
    Piece("positive_even", ("positive even numbers",), "n > 0 and n % 2 == 0"),
    Piece("positive_odd", ("positive odd numbers",), "n > 0 and n % 2 == 1"),
    Piece("small", ("numbers from 0 to {k}", "numbers between 0 and {k}"),
          "0 <= n <= {k}", low=5, high=20),
)
NUMBER_MAPS: tuple[Piece, ...] = (
    Piece("double", ("doubled", "times two"), "2 * n", noun="double", nouns="doubles"),
    Piece("triple", ("tripled", "times three"), "3 * n", noun="triple", nouns="triples"),
    Piece("square", ("squared", "raised to the power of 2"),
          "n * n", noun="square", nouns="squares"),
    Piece("cube", ("cubed", "raised to the power of 3"), "n ** 3", noun="cube", nouns="cubes"),
    Piece("negate", ("negated", "with its sign flipped"), "-n"),
    Piece("add", ("plus {k}", "increased by {k}"), "n + {k}", low=1),
    Piece("subtract", ("minus {k}", "decreased by {k}"), "n - {k}", low=1),
    Piece("multiply", ("times {k}", "multiplied by {k}"), "{k} * n", low=4, high=12),
    Piece("halve", ("halved and rounded down",), "n // 2"),
    Piece("absolute", ("made positive", "as its absolute value"),
          "abs(n)", noun="absolute value", nouns="absolute values"),
    Piece("remainder", ("modulo {k}", "as its remainder by {k}"),
          "n % {k}", noun="remainder by {k}", nouns="remainders by {k}"),
    Piece("string", ("as a string", "turned into a string"), "str(n)", "text"),
)
WORD_FILTERS: tuple[Piece, ...] = (
    Piece("starts", ('words starting with "{c}"', 'words that start with "{c}"'),
          'w.startswith("{c}")'),
    Piece("ends", ('words ending with "{c}"', 'words that end with "{c}"'), 'w.endswith("{c}")'),
    Piece("contains", ('words containing "{c}"', 'words with "{c}" in them'), '"{c}" in w'),
    Piece("lacks", ('words without "{c}"', 'words not containing "{c}"'), '"{c}" not in w'),
    Piece("longer", ("words longer than {k} letters", "words of more than {k} letters"),
          "len(w) > {k}", high=5),
    Piece("shorter", ("words shorter than {k} letters", "words of fewer than {k} letters"),
          "len(w) < {k}", low=3, high=6),
    Piece("length", ("words of exactly {k} letters", "words with {k} letters"),
          "len(w) == {k}", low=3, high=6),
    Piece("even_length", ("words of even length",), "len(w) % 2 == 0"),
    Piece("odd_length", ("words of odd length",), "len(w) % 2 == 1"),
    Piece("palindrome", ("palindromes", "words equal to their reverse"), "w == w[::-1]"),
    Piece("vowel", ("words starting with a vowel",), 'w[0] in "aeiou"'),
)
WORD_MAPS: tuple[Piece, ...] = (
    Piece("upper", ("in upper case", "made upper case"),
          "w.upper()", "text", noun="upper case form", nouns="upper case forms"),
    Piece("capital", ("capitalized", "with a capital letter"), "w.capitalize()", "text"),
    Piece("reversed", ("reversed", "spelled backwards"),
          "w[::-1]", "text", noun="reverse", nouns="reverses"),
    Piece("first_letter", ("cut to its first letter",),
          "w[0]", "text", noun="first letter", nouns="first letters"),
    Piece("last_letter", ("cut to its last letter",),
          "w[-1]", "text", noun="last letter", nouns="last letters"),
    Piece("first_letters", ("cut to its first {k} letters",), "w[:{k}]", "text", high=4),
    Piece("without_first", ("without its first letter",), "w[1:]", "text"),
    Piece("without_last", ("without its last letter",), "w[:-1]", "text"),
    Piece("twice", ("repeated twice", "written twice"), "w * 2", "text"),
    Piece("suffix", ('followed by "{c}"', 'with "{c}" added'), 'w + "{c}"', "text"),
    Piece("removed", ('with every "{c}" removed',), 'w.replace("{c}", "")', "text"),
    Piece("length", ("replaced by its length", "as its length"),
          "len(w)", noun="length", nouns="lengths"),
    Piece("count", ('replaced by its count of "{c}"',), 'w.count("{c}")'),
)

LETTER_FILTERS: tuple[Piece, ...] = (
    Piece("vowel", ("vowels", "letters that are vowels"), 'c in "aeiouAEIOU"'),
    Piece("consonant", ("letters that are not vowels", "non-vowels"), 'c not in "aeiouAEIOU"'),
    Piece("space", ("spaces",), 'c == " "'),
    Piece("no_space", ("letters without the spaces",), 'c != " "'),
    Piece("other", ('letters other than "{c}"', 'letters that are not "{c}"'), 'c != "{c}"'),
    Piece("capital", ("capital letters", "upper case letters"), "c.isupper()"),
    Piece("small", ("small letters", "lower case letters"), "c.islower()"),
    Piece("after", ('letters after "{c}"',), 'c > "{c}"'),
)
LETTER_MAPS: tuple[Piece, ...] = (
    Piece("upper", ("in upper case", "made upper case"), "c.upper()", "text"),
    Piece("lower", ("in lower case", "made lower case"), "c.lower()", "text"),
    Piece("twice", ("repeated twice", "written twice"), "c * 2", "text"),
    Piece("star", ("followed by a star",), 'c + "*"', "text"),
    Piece("dash", ("followed by a dash",), 'c + "-"', "text"),
    Piece("code", ("as its character code",), "ord(c)"),
)

# {items} is a comprehension body, {list} the same as a list; no code: only as a loop.
FOLDS: tuple[Piece, ...] = (
    Piece("list", ("{core}", "a list of {core}"), "{list}", hint="list[{t}]"),
    Piece("ascending", ("{core}, sorted", "{core}, in ascending order", "{core}, sorted from low to high"),
          "sorted({items})", hint="list[{t}]"),
    Piece("descending", ("{core}, in descending order", "{core}, sorted from high to low"),
          "sorted({items}, reverse=True)", hint="list[{t}]"),
    Piece("distinct", ("the distinct values of {core}, sorted", "{core}, sorted and without duplicates"),
          "sorted(set({items}))", hint="list[{t}]"),
    Piece("backwards", ("{core}, in reverse order", "{core}, from last to first", "{core}, reversed", "{core}, backwards"),
          "{list}[::-1]", hint="list[{t}]"),
    Piece("first_few", ("the first {k} of {core}",), "{list}[:{k}]", high=5, hint="list[{t}]"),
    Piece("last_few", ("the last {k} of {core}",), "{list}[-{k}:]", high=5, hint="list[{t}]"),
    Piece("first", ("the first of {core}", "the first one of {core}"), "{list}[0]", hint="{t}"),
    Piece("last", ("the last of {core}", "the last one of {core}"), "{list}[-1]", hint="{t}"),
    Piece("num_distinct", ("the number of distinct values of {core}", "how many different values of {core} there are"),
          "len(set({items}))", hint="int"),
    Piece("counts", ("a dictionary of how often each of {core} occurs", "a dictionary counting {core}", "a dictionary with the count of each of {core}"),
          "", hint="dict[{t}, int]"),
)
NUMBER_FOLDS: tuple[Piece, ...] = (
    Piece("sum", ("the sum of {core}", "the total of {core}", "the sum of all {core}", "{core}, added up", "{core}, summed up"),
          "sum({items})", hint="int"),
    Piece("largest", ("the largest of {core}", "the maximum of {core}", "the biggest of {core}", "the highest of {core}", "the max of {core}"),
          "max({items})", hint="int"),
    Piece("smallest", ("the smallest of {core}", "the minimum of {core}", "the lowest of {core}", "the min of {core}"),
          "min({items})", hint="int"),
    Piece("product", ("the product of {core}", "{core}, multiplied together", "the product of all {core}"),
          "", hint="int"),
)
TEXT_FOLDS: tuple[Piece, ...] = (
    Piece("longest", ("the longest of {core}", "the one with most letters of {core}"),
          "max({items}, key=len)", hint="str"),
    Piece("shortest", ("the shortest of {core}", "the one with fewest letters of {core}"),
          "min({items}, key=len)", hint="str"),
    Piece("spaces", ("{core}, joined by spaces", "{core}, with spaces between them"),
          '" ".join({items})', hint="str"),
    Piece("commas", ("{core}, joined by commas", "{core}, with commas between them"),
          '",".join({items})', hint="str"),
    Piece("joined", ("{core}, joined into one string", "{core}, put together as one string"),
          '"".join({items})', hint="str"),
)
# Only with a filter and no map: {condition} is the filter's.
TESTS: tuple[Piece, ...] = (
    Piece("count", ("the number of {core}", "how many {core} there are", "the count of {core}", "how many {core} it finds"),
          "sum(1 for {v} in {source} if {condition})", hint="int"),
    Piece("any", ("whether there are any {core}", "True if there are {core}"),
          "any({condition} for {v} in {source})", hint="bool"),
    Piece("all", ("whether there are only {core}", "True if there are only {core}"),
          "all({condition} for {v} in {source})", hint="bool"),
)
# Only with a map that has a noun: {core} is said without the map.
DICTIONARIES: tuple[Piece, ...] = (
    Piece("dictionary", ("a dictionary from each of {core} to its {noun}", "a dictionary that maps each of {core} to its {noun}"),
          "{{{v}: {e} for {v} in {source}{if}}}", hint="dict[{s}, {t}]"),
    Piece("groups", ("a dictionary of {core}, grouped by {noun}", "{core}, grouped by {noun} in a dictionary"),
          "", hint="dict[{t}, list[{s}]]"),
)
# fmt: on
