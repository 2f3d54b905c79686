"""`lm-eval`: lm-eval's own command, with `--model sbd` for Set Block Decoding."""

import argparse
import sys

HELP = "run lm-eval with this model; all that follows is passed to lm-eval"
# Words that begin with a dash are lm-eval's too, --help among them.
PARSER = {"prefix_chars": "\0", "add_help": False}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Accept whatever lm-eval takes."""
    parser.add_argument("words", nargs="*", metavar="WORDS", help="lm-eval's arguments")


def run(arguments: argparse.Namespace) -> None:
    """Hand over to lm-eval. Raises our errors, SystemExit."""
    import langdetect
    from lm_eval.__main__ import cli_evaluate

    import sbd_core.hf.harness  # noqa: F401 - importing it makes `sbd` a model of lm-eval

    langdetect.DetectorFactory.seed = 0  # or IFEval's verdicts would vary from run to run
    words, before = with_model(arguments.words), sys.argv
    sys.argv = ["sbd lm-eval", *words]
    try:
        cli_evaluate()
    finally:
        sys.argv = before


def with_model(words: list[str]) -> list[str]:
    """The arguments of lm-eval, with our model added where they should name one and do not."""
    names = {word.split("=")[0] for word in words}
    if names & {"ls", "validate", "--model", "-M", "--config", "-C", "-h", "--help"}:
        return words
    return [*words, "--model", "sbd"]
