"""Operations on one number or one text, and conditions of them. Data only.

`{e}` is the expression so far, bracketed when needed; {k} and {c} as in function_parts.
"""

from sbd_core.tasks.code.parts import Piece

NUMBER_OPERATIONS: tuple[Piece, ...] = (
    Piece(
        "add", ("adds {k}", "adds {k} to it", "increases it by {k}"), "{e} + {k}", low=1, high=20
    ),
    Piece(
        "subtract",
        ("subtracts {k}", "takes away {k}", "decreases it by {k}", "subtracts {k} from it"),
        "{e} - {k}",
        low=1,
        high=20,
    ),
    Piece("multiply", ("multiplies it by {k}", "multiplies by {k}"), "{e} * {k}", high=12),
    Piece("divide", ("floor-divides it by {k}", "integer-divides it by {k}"), "{e} // {k}"),
    Piece("remainder", ("takes the remainder by {k}", "takes it modulo {k}"), "{e} % {k}"),
    Piece(
        "square",
        ("squares it", "raises it to the power of 2", "multiplies it by itself"),
        "{e} ** 2",
    ),
    Piece("negate", ("flips its sign", "negates it", "changes its sign"), "-{e}"),
)
TEXT_OPERATIONS: tuple[Piece, ...] = (
    Piece(
        "upper",
        ("makes it upper case", "converts it to upper case", "turns it into capitals"),
        "{e}.upper()",
        "text",
    ),
    Piece(
        "reverse", ("reverses it", "turns it around", "spells it backwards"), "{e}[::-1]", "text"
    ),
    Piece(
        "first",
        ("keeps the first {k} letters", "cuts it to its first {k} letters"),
        "{e}[:{k}]",
        "text",
    ),
    Piece(
        "last",
        ("keeps the last {k} letters", "cuts it to its last {k} letters"),
        "{e}[-{k}:]",
        "text",
    ),
    Piece(
        "drop",
        ("drops the first {k} letters", "removes its first {k} letters"),
        "{e}[{k}:]",
        "text",
        high=4,
    ),
    Piece(
        "remove",
        ('removes every "{c}"', 'deletes every "{c}"', 'drops each "{c}"'),
        '{e}.replace("{c}", "")',
        "text",
    ),
    Piece("star", ('replaces every "{c}" by "*"',), '{e}.replace("{c}", "*")', "text"),
    Piece("repeat", ("repeats it {k} times",), "{e} * {k}", "text", high=4),
    Piece("suffix", ('adds "{c}" at the end',), '{e} + "{c}"', "text"),
    Piece("strip", ("strips spaces from both ends", "trims it"), "{e}.strip()", "text"),
    Piece(
        "capital",
        ("capitalizes it", "makes its first letter a capital"),
        "{e}.capitalize()",
        "text",
    ),
)
TEXT_ENDINGS: tuple[Piece, ...] = (
    Piece("length", ("returns its length", "counts its letters"), "len({e})"),
    Piece("count", ('counts the letter "{c}"',), '{e}.count("{c}")'),
    Piece("words", ("splits it into words",), "{e}.split()", hint="list[str]"),
    Piece("num_words", ("counts its words",), "len({e}.split())"),
    Piece("letters", ("turns it into a list of letters",), "list({e})", hint="list[str]"),
    Piece("is_lower", ("tells whether it is lower case",), "{e}.islower()", hint="bool"),
)

# Of a number or a text {e}: when the first of two things is done to it.
NUMBER_CONDITIONS: tuple[Piece, ...] = (
    Piece("even", ("is even",), "{e} % 2 == 0"),
    Piece("odd", ("is odd",), "{e} % 2 == 1"),
    Piece("positive", ("is positive",), "{e} > 0"),
    Piece("negative", ("is negative", "is below zero"), "{e} < 0"),
    Piece(
        "greater", ("is greater than {k}", "is above {k}", "is more than {k}"), "{e} > {k}", high=20
    ),
    Piece(
        "less", ("is less than {k}", "is below {k}", "is smaller than {k}"), "{e} < {k}", high=20
    ),
    Piece("multiple", ("is divisible by {k}", "is a multiple of {k}"), "{e} % {k} == 0", low=3),
    Piece("at_least", ("is at least {k}",), "{e} >= {k}", high=20),
)
TEXT_CONDITIONS: tuple[Piece, ...] = (
    Piece("starts", ('starts with "{c}"', 'begins with "{c}"'), '{e}.startswith("{c}")'),
    Piece("ends", ('ends with "{c}"',), '{e}.endswith("{c}")'),
    Piece("contains", ('contains "{c}"', 'has a "{c}" in it'), '"{c}" in {e}'),
    Piece(
        "longer",
        ("is longer than {k} letters", "has more than {k} letters"),
        "len({e}) > {k}",
        high=12,
    ),
    Piece(
        "shorter",
        ("is shorter than {k} letters", "has fewer than {k} letters"),
        "len({e}) < {k}",
        low=4,
        high=14,
    ),
    Piece("lower", ("is lower case",), "{e}.islower()"),
    Piece("space", ("contains a space",), '" " in {e}'),
)
