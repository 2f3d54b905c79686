"""Well-known small functions, each as its wordings and its source. Data only.

A wording follows "Write a function that ..."; a body follows the signature and the docstring.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Classic:
    """A function of its own: what it does in words, its signature and its body."""

    key: str
    wordings: tuple[str, ...]
    """The first is the docstring's, with a capital and a full stop."""
    signature: str
    body: str
    takes: tuple[str, ...]
    """The kinds of its arguments, as function_cases draws them."""


CLASSICS: tuple[Classic, ...] = (
    Classic(
        "factorial",
        ("returns the factorial of n", "computes n factorial", "computes the factorial of a number n"),
        "n: int) -> int",
        "if n <= 1:\n    return 1\nreturn n * solve(n - 1)",
        ("small",),
    ),
    Classic(
        "gcd",
        ("returns the greatest common divisor of a and b", "computes the gcd of two numbers",
         "finds the greatest common divisor of two numbers a and b"),
        "a: int, b: int) -> int",
        "if b == 0:\n    return a\nreturn solve(b, a % b)",
        ("count", "count"),
    ),
    Classic(
        "gcd_loop",
        ("returns the greatest common divisor of a and b with a loop",
         "computes the gcd of two numbers with a loop"),
        "a: int, b: int) -> int",
        "while b > 0:\n    a, b = b, a % b\nreturn a",
        ("count", "count"),
    ),
    Classic(
        "power",
        ("returns a to the power of b by recursion", "recursively computes a to the power of b",
         "raises a to the power b recursively"),
        "a: int, b: int) -> int",
        "if b == 0:\n    return 1\nreturn a * solve(a, b - 1)",
        ("small", "small"),
    ),
    Classic(
        "power_loop",
        ("returns a to the power of b with a loop", "computes a to the power of b with a loop"),
        "a: int, b: int) -> int",
        "result = 1\nfor _ in range(b):\n    result *= a\nreturn result",
        ("small", "small"),
    ),
    Classic(
        "fibonacci",
        ("returns the Fibonacci number of n", "computes the n-th Fibonacci number",
         "returns the Fibonacci number n, recursively"),
        "n: int) -> int",
        "if n < 2:\n    return n\nreturn solve(n - 1) + solve(n - 2)",
        ("small",),
    ),
    Classic(
        "fibonacci_loop",
        ("returns the Fibonacci number of n with a loop", "computes the n-th Fibonacci number with a loop"),
        "n: int) -> int",
        "a, b = 0, 1\nfor _ in range(n):\n    a, b = b, a + b\nreturn a",
        ("small",),
    ),
    Classic(
        "prime",
        ("tells whether n is a prime number", "checks if a number is prime", "returns True if n is prime",
         "checks whether a number n is a prime"),
        "n: int) -> bool",
        "return n > 1 and all(n % i != 0 for i in range(2, n))",
        ("count",),
    ),
    Classic(
        "divisors",
        ("returns the divisors of n", "lists all divisors of a number n", "finds the divisors of n"),
        "n: int) -> list[int]",
        "return [i for i in range(1, n + 1) if n % i == 0]",
        ("count",),
    ),
    Classic(
        "palindrome",
        ("tells whether the text is a palindrome", "checks if a text is a palindrome",
         "returns True if a text reads the same backwards"),
        "text: str) -> bool",
        "return text == text[::-1]",
        ("mirror",),
    ),
    Classic(
        "reverse",
        ("returns the text backwards by recursion", "recursively reverses a text", "reverses a string recursively"),
        "text: str) -> str",
        'if text == "":\n    return ""\nreturn solve(text[1:]) + text[0]',
        ("text",),
    ),
    Classic(
        "larger",
        ("returns the larger of a and b", "returns the maximum of two numbers", "finds the larger of two numbers"),
        "a: int, b: int) -> int",
        "if a > b:\n    return a\nreturn b",
        ("number", "number"),
    ),
    Classic(
        "smaller",
        ("returns the smaller of a and b", "returns the minimum of two numbers", "finds the smaller of two numbers"),
        "a: int, b: int) -> int",
        "if a < b:\n    return a\nreturn b",
        ("number", "number"),
    ),
    Classic(
        "sum_two",
        ("returns the sum of a and b", "adds two numbers", "returns the sum of two numbers"),
        "a: int, b: int) -> int",
        "return a + b",
        ("number", "number"),
    ),
    Classic(
        "difference",
        ("returns the distance between a and b", "returns the absolute difference of two numbers"),
        "a: int, b: int) -> int",
        "return abs(a - b)",
        ("number", "number"),
    ),
    Classic(
        "product_two",
        ("returns the product of a and b", "multiplies two numbers", "returns the product of two numbers"),
        "a: int, b: int) -> int",
        "return a * b",
        ("number", "number"),
    ),
    Classic(
        "mean",
        ("returns the mean of the numbers in a list, rounded down", "computes the average of a list, rounded down"),
        "numbers: list[int]) -> int",
        "return sum(numbers) // len(numbers)",
        ("numbers",),
    ),
    Classic(
        "range_of",
        ("returns the difference between the largest and the smallest number in a list",
         "computes the largest minus the smallest number of a list"),
        "numbers: list[int]) -> int",
        "return max(numbers) - min(numbers)",
        ("numbers",),
    ),
    Classic(
        "is_sorted",
        ("tells whether a list is sorted", "checks if a list of numbers is sorted",
         "returns True if a list is in ascending order"),
        "numbers: list[int]) -> bool",
        "return numbers == sorted(numbers)",
        ("sorted",),
    ),
    Classic(
        "duplicates",
        ("tells whether a list has duplicates", "checks if a list contains duplicates",
         "returns True if a number occurs twice in a list"),
        "numbers: list[int]) -> bool",
        "return len(set(numbers)) < len(numbers)",
        ("numbers",),
    ),
    Classic(
        "letter_count",
        ("returns how often a letter occurs in a text", "counts a given letter in a text"),
        "text: str, letter: str) -> int",
        "return text.count(letter)",
        ("text", "letter"),
    ),
    Classic(
        "collatz",
        ("returns the number of Collatz steps from n to 1", "counts the Collatz steps of n"),
        "n: int) -> int",
        "steps = 0\nwhile n > 1:\n    n = n // 2 if n % 2 == 0 else 3 * n + 1\n    steps += 1\nreturn steps",
        ("count",),
    ),
    Classic(
        "halvings",
        ("returns how often n can be halved until it is 1", "counts how many times n can be halved"),
        "n: int) -> int",
        "steps = 0\nwhile n > 1:\n    n //= 2\n    steps += 1\nreturn steps",
        ("count",),
    ),
    Classic(
        "second_largest",
        ("returns the second largest number in a list", "finds the second largest number of a list"),
        "numbers: list[int]) -> int",
        "return sorted(numbers)[-2]",
        ("numbers",),
    ),
    Classic(
        "fizz",
        ('returns "fizz" for multiples of 3 and "buzz" for others', 'gives "fizz" if n is divisible by 3, else "buzz"'),
        "n: int) -> str",
        'if n % 3 == 0:\n    return "fizz"\nreturn "buzz"',
        ("count",),
    ),
    Classic(
        "sign",
        ("returns the sign of n as -1, 0 or 1", "gives 1 for positive, -1 for negative numbers and 0 for zero"),
        "n: int) -> int",
        "if n > 0:\n    return 1\nif n < 0:\n    return -1\nreturn 0",
        ("sign",),
    ),
    Classic(
        "even",
        ("tells whether n is even", "checks if a number is even", "returns True if a number is even"),
        "n: int) -> bool",
        "return n % 2 == 0",
        ("number",),
    ),
    Classic(
        "initials",
        ("returns the initials of the words in a text", "gives the first letters of the words in a text as one string"),
        "text: str) -> str",
        'return "".join(w[0] for w in text.split())',
        ("text",),
    ),
)  # fmt: skip
