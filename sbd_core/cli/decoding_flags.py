"""The flags that every decoding command shares, and the DecodeConfig that they describe."""

import argparse
import re
from typing import TYPE_CHECKING, Any

from sbd_core.config import MAX_ROWS, DecodeConfig
from sbd_core.errors import ArgumentError
from sbd_core.solvers import SOLVERS, make_solver

if TYPE_CHECKING:
    from sbd_core.models.hf_model import HuggingFaceModel

# flag of the command line -> field of a solver
SOLVER_FLAGS = {"gamma": "gamma", "tau": "tau", "factor": "factor", "reveals": "k", "by": "by"}

DTYPE_HELP = (
    "float32, bfloat16 or float16; on a CPU also int8; auto: fp32 on "
    "a CPU, the checkpoint's own on a GPU (what the model names for CPUs, else auto)"
)


def add_loading(parser: argparse.ArgumentParser) -> None:
    """Add --device and --dtype."""
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--dtype", help=DTYPE_HELP)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that choose a model and the settings of decoding."""
    parser.add_argument("--model", metavar="M", help="model folder or hub id (the bundled one)")
    add_loading(parser)
    parser.add_argument("--strategy", help="sbd, ntp or verify (what the model's folder names)")
    parser.add_argument("--solver", help=f"rule of sbd: {', '.join(SOLVERS)} (entropy-bound)")
    parser.add_argument("--gamma", type=float, help="bound in nats of the entropy solvers")
    parser.add_argument("--tau", type=float, help="threshold of confidence-threshold")
    parser.add_argument("--factor", type=float, help="factor of the solver of that name")
    parser.add_argument("--reveals", type=int, help="k of solvers that reveal a number of tokens")
    parser.add_argument("--by", help="order of top-k: confidence, entropy or margin")
    parser.add_argument("--block-size", type=int, default=16, help="positions of a block")
    parser.add_argument(
        "--max-rows",
        type=int,
        default=MAX_ROWS,
        help=f"verify: most rows of a forward pass ({MAX_ROWS})",
    )
    parser.add_argument("--max-new-tokens", type=int, default=256, help="longest answer")
    parser.add_argument("--temperature", type=float, default=0.0, help="above 0: sample")
    parser.add_argument(
        "--repetition-penalty",
        type=float,
        help="above 1: make tokens that came before less likely (the model's own; 1 is none)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random")
    parser.add_argument(
        "--any-block-size", action="store_true", help="allow sizes the model was not trained on"
    )


def load_model(arguments: argparse.Namespace, device: str | None = None) -> "HuggingFaceModel":
    """Load the model that the flags name, and set the number of threads.

    device: used in place of --device unless None. Raises SetBlockDecodingError.
    """
    from sbd_core.models.loading import load
    from sbd_core.models.runtime import choose_threads

    model = load(
        arguments.model,
        device=device or arguments.device,
        dtype=arguments.dtype,
    )
    choose_threads(model.num_parameters)
    return model


def refuse_given(arguments: argparse.Namespace, names: tuple[str, ...], rule: str) -> None:
    """Raise ArgumentError with `rule` if any of the flags `names` was given."""
    for name in names:
        if getattr(arguments, name) is not None:
            raise ArgumentError(name, rule, str(getattr(arguments, name)))


def decode_config(arguments: argparse.Namespace, **more: Any) -> DecodeConfig:
    """Make the config that the flags describe. Raises ArgumentError.

    more: further fields of the config, for which there is no flag here.
    Without --strategy, a flag of a solver or a pinned token selects the strategy sbd.
    """
    given = {
        field: getattr(arguments, flag)
        for flag, field in SOLVER_FLAGS.items()
        if getattr(arguments, flag) is not None
    }
    strategy = arguments.strategy
    if strategy is None and (arguments.solver is not None or given or more.get("pinned")):
        strategy = "sbd"
    return DecodeConfig(
        strategy=strategy,
        solver=make_solver(arguments.solver or "entropy-bound", given),
        block_size=arguments.block_size,
        max_rows=arguments.max_rows,
        max_new_tokens=arguments.max_new_tokens,
        temperature=arguments.temperature,
        repetition_penalty=arguments.repetition_penalty,
        seed=arguments.seed,
        allows_untrained_block_size=arguments.any_block_size,
        **more,
    )


def pins(texts: list[str]) -> dict[int, int]:
    """Parse ["OFFSET=TOKEN_ID", ...] into {offset: token id}. Raises ArgumentError."""
    pinned: dict[int, int] = {}
    for text in texts:
        offset, _, token_id = text.partition("=")
        if not all(re.fullmatch("[0-9]{1,15}", number) for number in (offset, token_id)):
            raise ArgumentError("pin", "must be OFFSET=TOKEN_ID, two whole numbers", text)
        if int(offset) in pinned:
            raise ArgumentError("pin", "must name each offset once", text)
        pinned[int(offset)] = int(token_id)
    return pinned
