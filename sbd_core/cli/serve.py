"""The command `serve`: vLLM's OpenAI server, decoding by blocks."""

import argparse
from typing import Any

from sbd_core.cli import Command
from sbd_core.cli.decoding_flags import SOLVER_FLAGS
from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError
from sbd_core.solvers import SOLVERS, make_solver


def _serve_flags(parser: argparse.ArgumentParser) -> None:
    """Add one positional argument that collects this command's flags and vLLM's."""
    parser.add_argument("words", nargs="*", metavar="FOLDER [FLAGS]", help="see serve --help")


def _own_parser() -> argparse.ArgumentParser:
    """Parser of the flags that are not vLLM's."""
    parser = argparse.ArgumentParser(
        prog="sbd serve",
        description="Serve a model folder by vLLM's OpenAI server. All other flags are vLLM's.",
        allow_abbrev=False,
    )
    parser.add_argument("model", metavar="FOLDER", help="prepared or trained model folder")
    parser.add_argument("--strategy", help="sbd, or ntp: the same weights by vLLM's own class")
    parser.add_argument("--solver", help=f"rule of sbd: {', '.join(SOLVERS)} (entropy-bound)")
    for name, field in SOLVER_FLAGS.items():
        kind = {"reveals": int, "by": str}.get(name, float)
        parser.add_argument(f"--{name}", type=kind, help=f"{field} of the solver")
    parser.add_argument("--block-size", type=int, help="positions of a block (16)")
    return parser


def _serve(arguments: argparse.Namespace) -> dict[str, Any] | None:
    """Become vLLM's server. Raises SetBlockDecodingError."""
    from sbd_core.vllm.serving import serve

    own, flags = _own_parser().parse_known_args(arguments.words)
    strategy = own.strategy or "sbd"
    if strategy not in ("sbd", "ntp"):
        raise ArgumentError("strategy", "must be sbd or ntp where vLLM decodes", strategy)
    given = {
        field: getattr(own, name)
        for name, field in SOLVER_FLAGS.items()
        if getattr(own, name) is not None
    }
    for name, value in {"solver": own.solver, "block_size": own.block_size, **given}.items():
        if strategy == "ntp" and value is not None:
            raise ArgumentError(name, "needs strategy sbd", value)
    serve(
        own.model,
        flags,
        strategy=strategy,
        solver=make_solver(own.solver or "entropy-bound", given),
        block_size=DecodeConfig().block_size if own.block_size is None else own.block_size,
    )
    return None


SERVE = Command(
    "serve a model to many users by vLLM; flags that follow FOLDER are also vLLM's",
    _serve_flags,
    _serve,
    extra="vllm",
    has_own_json=True,
    # Words that begin with a dash are parsed by this module and by vLLM.
    parser_options={"prefix_chars": "\0", "add_help": False},
)
