"""The command `serve`: vLLM's OpenAI server, decoding by blocks."""

import argparse
from functools import partial
from typing import Any

from sbd_core.cli import Command
from sbd_core.config import DecodeConfig, config_of, solver_settings
from sbd_core.errors import ArgumentError
from sbd_core.settings import add_flags, given, settings_of
from sbd_core.solvers import SOLVER_PARAMETERS

OWN = ("solver", "block_size", *SOLVER_PARAMETERS)
SETTINGS = [item for item in (*settings_of(DecodeConfig), *solver_settings()) if item.name in OWN]


def _serve_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="FOLDER [FLAGS]", help="see serve --help")


def _own_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sbd serve",
        description="Serve a model folder by vLLM's OpenAI server. All other flags are vLLM's.",
        allow_abbrev=False,
    )
    parser.add_argument("model", metavar="FOLDER", help="prepared or trained model folder")
    parser.add_argument("--strategy", help="sbd, or ntp: the same weights by vLLM's own class")
    add_flags(parser, SETTINGS)
    return parser


@partial(Command, add_flags=_serve_flags, extra="vllm", takes_all_words=True)
def serve(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """Serve a model to many users by vLLM; flags that follow FOLDER are also vLLM's."""
    from sbd_core.vllm.serving import serve

    own, flags = _own_parser().parse_known_args(arguments.words)
    strategy: Any = own.strategy or "sbd"
    if strategy not in ("sbd", "ntp"):
        raise ArgumentError("strategy", "must be sbd or ntp where vLLM decodes", strategy)
    chosen = given(own, SETTINGS)
    if strategy == "ntp" and chosen:
        name = next(iter(chosen))
        raise ArgumentError(name, "needs strategy sbd", chosen[name])
    # vLLM's model checks the block size by what it was trained on.
    size = chosen.pop("block_size", DecodeConfig().block_size)
    solver = config_of(chosen).solver
    serve(own.model, flags, strategy=strategy, solver=solver, block_size=size)
    return None
