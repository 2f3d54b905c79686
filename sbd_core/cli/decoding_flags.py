"""The flags that every decoding command shares, and the DecodeConfig that they describe."""

import argparse
import re
from typing import TYPE_CHECKING, Any

from sbd_core.config import DecodeConfig, config_of, solver_settings
from sbd_core.errors import ArgumentError
from sbd_core.settings import add_flags, settings_of
from sbd_core.solvers import SOLVER_PARAMETERS

if TYPE_CHECKING:
    from sbd_core.models.hf_model import HuggingFaceModel

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
    add_flags(parser, (*settings_of(DecodeConfig), *solver_settings()))


def load_model(
    arguments: argparse.Namespace,
    *,
    source: str | None = None,
    device: str | None = None,
    batch_size: int = 1,
) -> "HuggingFaceModel":
    """Load the model that the flags name, and set the number of threads.

    source, device: used in place of --model and --device. Raises SetBlockDecodingError.
    """
    from sbd_core.models.loading import load
    from sbd_core.models.runtime import choose_threads

    where = device or arguments.device
    model = load(source or arguments.model, device=where, dtype=arguments.dtype)
    choose_threads(model.num_parameters, batch_size)
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
    names = [item.name for item in (*settings_of(DecodeConfig), *solver_settings())]
    given = {name: getattr(arguments, name, None) for name in names} | more
    is_of_sbd = any(given[name] is not None for name in ("solver", *SOLVER_PARAMETERS))
    if given["strategy"] is None and (is_of_sbd or given["pinned"]):
        given["strategy"] = "sbd"
    return config_of(given)


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
