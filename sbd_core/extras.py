"""The optional parts of this package and the packages that each needs, as in pyproject.toml."""

from importlib.util import find_spec

from sbd_core.errors import MissingExtraError

EXTRAS: dict[str, tuple[str, ...]] = {
    "train": ("accelerate", "filelock", "tqdm"),
    "eval": ("filelock", "tqdm"),
    "fetch": ("filelock", "gguf", "tqdm"),
    "lm-eval": ("lm_eval", "langdetect", "immutabledict", "nltk"),
    "lora": ("peft",),
    "plots": ("plotly",),
    "ui": ("gradio", "plotly"),
}


def require(extra: str) -> None:
    """Raise MissingExtraError unless all that an optional part needs can be imported."""
    for package in EXTRAS[extra]:
        if find_spec(package) is None:
            raise MissingExtraError(extra, package)
