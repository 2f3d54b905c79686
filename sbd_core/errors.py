"""The errors that this package raises on purpose, and checks that raise them.

Imports no other module of the package.

SetBlockDecodingError
├── ArgumentError        a value given by the caller breaks a rule (also a ValueError)
├── MissingExtraError    a package of an optional part is not installed (also an ImportError)
├── ModelError           a model folder or hub id cannot be used
├── SandboxError         this machine cannot run candidate code under limits
├── TraceError           a text is not a valid trace (also a ValueError)
└── TrainingError        training cannot start or continue: data, state folder, disk
"""

import math
import sys
from importlib.util import find_spec

MAX_SHOWN = 80
MOST_INTEGER = 2**63 - 1
MAX_SHOWN_PATH, MAX_REASON = 400, 300
EXTRAS: dict[str, tuple[str, ...]] = {
    "train": ("accelerate", "filelock", "tqdm"),
    "eval": ("filelock", "tqdm"),
    "fetch": ("filelock", "gguf"),
    "lm-eval": ("accelerate", "lm_eval", "langdetect", "immutabledict", "nltk"),
    "lora": ("peft",),
    "plots": ("plotly",),
    "ui": ("gradio", "markdown_it", "uvicorn"),
    "vllm": ("vllm",),
}
"""Optional parts and the packages that each needs, as in pyproject.toml."""


class SetBlockDecodingError(Exception):
    """Base class of the errors that this package raises on purpose; the message is one line."""


class ArgumentError(SetBlockDecodingError, ValueError):
    """The argument named `argument` breaks `rule`; `value` is the value that was given."""

    def __init__(self, argument: str, rule: str, value: object) -> None:
        super().__init__(argument, rule, value)
        self.argument, self.rule, self.value = argument, rule, value

    def __str__(self) -> str:
        return f"{shown_name(self.argument)}: {self.rule}; got {shown(self.value)}"


class MissingExtraError(SetBlockDecodingError, ImportError):
    """The package `package` is not installed; the optional part `extra` of sbd-core needs it."""

    def __init__(self, extra: str, package: str) -> None:
        super().__init__(extra, package)
        self.extra, self.package = extra, package

    def __str__(self) -> str:
        return f'{self.package} is not installed: pip install "sbd-core[{self.extra}]"'


class ModelError(SetBlockDecodingError):
    """A model folder or hub id is missing, unreadable, or of a kind that is not supported."""


class SandboxError(SetBlockDecodingError):
    """This machine cannot run code under limits, so answers that are code get no score."""


class TraceError(SetBlockDecodingError, ValueError):
    """A text is not a valid trace; the message names the first fault."""


class TrainingError(SetBlockDecodingError):
    """A training run cannot start or continue; its last saved state is untouched."""


def require_number(argument: str, value: object, low: float, high: float = math.inf) -> None:
    """Raise ArgumentError for `argument` unless `value` is a finite int or float in [low, high]."""
    rule = f"must be a finite number >= {low:g}" + ("" if high == math.inf else f" and <= {high:g}")
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # NaN fails every comparison; infinities and huge ints lie beyond the largest float.
    top = min(high, sys.float_info.max)
    if not is_number or not low <= value <= top:  # type: ignore[operator]
        raise ArgumentError(argument, rule, value)


def require_integer(argument: str, value: object, low: int, high: int | None = None) -> None:
    """Raise ArgumentError for `argument` unless `value` is an int (not bool) in [low, high].

    high: None means MOST_INTEGER.
    """
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    most = MOST_INTEGER if high is None else high
    is_named = is_integer and (high is not None or value > most)  # type: ignore[operator]
    rule = f"must be a whole number >= {low}" + f" and <= {most}" * is_named
    if not is_integer or not low <= value <= most:  # type: ignore[operator]
        raise ArgumentError(argument, rule, value)


def require_extra(extra: str) -> None:
    """Raise MissingExtraError unless every package of the optional part `extra` is installed."""
    for package in EXTRAS[extra]:
        if find_spec(package) is None:
            raise MissingExtraError(extra, package)


def shown_name(name: str, most: int = MAX_SHOWN) -> str:
    """Return `name` if it is printable ASCII of at most `most` characters, else shown(name)."""
    return name if name.isascii() and name.isprintable() and len(name) <= most else shown(name)


def shown(value: object) -> str:
    """Format `value` for a message: on one line, shortened, with non-ASCII characters escaped."""
    if isinstance(value, str) and len(value) > MAX_SHOWN:
        return f"{value[:MAX_SHOWN]!a}... ({len(value)} characters)"
    try:
        text = ascii(value)
    except (ValueError, RecursionError):
        # An int of thousands of digits, or lists nested thousands deep.
        return f"{type(value).__name__} too large to show"
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."


def one_line(error: object) -> str:
    """The message of another library's error on one line, cut at MAX_REASON characters."""
    return " ".join(str(error).split())[:MAX_REASON]


ADVICE = (
    "out of memory: ask for a smaller batch size, block size or answer, for dtype bfloat16, or use "
    "a smaller model or another device"
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether `error` says that the machine or the GPU ran out of memory."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or (isinstance(error, RuntimeError) and "can't allocate memory" in str(error))
    )
