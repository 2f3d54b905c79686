"""Folders that a run writes: the finished model or adapter, and the state to resume from."""

import copy
import json
import pickle
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout
from safetensors import SafetensorError
from safetensors.torch import load_file
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from sbd_core.errors import ArgumentError, TrainingError, require_extra
from sbd_core.files import beside, replaced_folder, weights_sha256
from sbd_core.hf.hub import write_custom_generate
from sbd_core.json_node import json_of
from sbd_core.models.hf_model import digest_of_weights
from sbd_core.models.model_folder import BlockSettings, add_end_token, block_config
from sbd_core.models.peft_adapter import WEIGHTS_FILE
from sbd_core.training.recipe import Recipe

RECIPE_FILE = "recipe.json"
"""File by which a model folder that training wrote is recognised."""


Writer = Callable[[Path], object]
"""Writes a part of a model into a folder."""


def export(folder: Path, *writers: Writer) -> None:
    """Have all `writers` write the new content of `folder`, completely or not at all.

    All other files in the folder are kept, except old weights.
    """
    with replaced_folder(folder) as target:
        for write in writers:
            write(target)
        for item in folder.iterdir() if folder.is_dir() else ():
            is_weights = ".safetensors" in item.name
            if item.is_file() and not is_weights and not (target / item.name).exists():
                shutil.copy2(item, target)


def write_model(
    model: Any, tokenizer: PreTrainedTokenizerBase, recipe: Recipe, folder: Path
) -> None:
    """Write a model in bf16, with a config that says how to decode and forbids the mask token."""
    exported = copy.deepcopy(model)
    exported.to(torch.bfloat16)
    if recipe.stage == "sbd":
        strategy = BlockSettings.of(model.config, "init").strategy
        sizes = (recipe.min_block_size, recipe.max_block_size)
        exported.config.set_block_decoding = block_config(sizes, strategy)
        exported.config.mask_token_id = tokenizer.mask_token_id
    add_end_token(exported, tokenizer)
    config = exported.generation_config
    if config.pad_token_id is None:
        config.pad_token_id = tokenizer.pad_token_id
    config.suppress_tokens = sorted({*(config.suppress_tokens or []), tokenizer.mask_token_id})
    if not config.do_sample:
        config.do_sample = False
    # Small models go into repositories that refuse files of 10 MB.
    is_small = exported.num_parameters() <= 100_000_000
    exported.save_pretrained(folder, max_shard_size="9MB" if is_small else "4GB")
    if recipe.stage == "sbd":
        write_custom_generate(folder)


def write_recipe(recipe: Recipe, folder: Path) -> None:
    """Write the file by which a folder is known as one that training wrote."""
    (folder / RECIPE_FILE).write_text(json.dumps(asdict(recipe), indent=2) + "\n")


@contextmanager
def only_writer(folder: Path, mark: str = RECIPE_FILE) -> Iterator[None]:
    """Lock `folder` during the `with` block, so that no other process writes it.

    mark: name of a file that marks a folder as written by training.
    Raises ArgumentError unless `folder` is new, is empty or holds the file `mark`. Raises
    TrainingError if the folder cannot be written or another process holds the lock.
    """
    is_named = folder.name not in ("", "..")
    is_ours = not folder.exists() or (
        folder.is_dir() and ((folder / mark).is_file() or not any(folder.iterdir()))
    )
    if not (is_named and is_ours):
        rule = "must be a new folder, or one that training wrote, which is replaced"
        raise ArgumentError("out", rule, str(folder))
    lock = FileLock(beside(folder, "lock"))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise TrainingError(f"{folder}: another run is writing it; give another --out") from error
    except OSError as error:
        raise TrainingError(f"{folder}: cannot be written: {error.strerror}") from error
    try:
        yield
    finally:
        lock.release()


def add_adapter(model: PreTrainedModel, recipe: Recipe, mask_token_id: int, base: Path) -> str:
    """Add a LoRA adapter to every linear layer but the output layer, and freeze all other weights.

    In stage sbd the embedding of the mask token is trained too. base: the model's folder.
    Returns the digest of the weights without the adapter. Raises MissingExtraError without peft.
    """
    own = digest_of_weights(model)
    require_extra("lora")
    from peft import LoraConfig

    config = LoraConfig(
        r=recipe.lora_rank,
        lora_alpha=recipe.lora_alpha,  # type: ignore[arg-type]
        target_modules="all-linear",
        trainable_token_indices=[mask_token_id] if recipe.stage == "sbd" else None,
        task_type="CAUSAL_LM",
    )
    torch.manual_seed(recipe.seed)
    model.add_adapter(config)
    for weight in model.parameters():
        if weight.requires_grad:  # frozen weights keep their dtype
            weight.data = weight.data.float()
    config.base_model_name_or_path = str(base.resolve())
    return own


Inputs = dict[str, str | None]
"""{name in NAMES_OF_INPUTS: digest} of what a run began from."""
NAMES_OF_INPUTS = {
    "base": "base (--base)",
    "data": "texts (--data)",
    "init": "weights (--init)",
}


def digest_of_init(init: Path | None) -> str | None:
    """Digest of the weights in the folder `init`. Raises TrainingError if it is not a folder."""
    if init is not None and not init.is_dir():
        raise TrainingError(f"init: must be a model folder; got {init}")
    try:
        return None if init is None else weights_sha256(init)
    except OSError as error:
        raise TrainingError(f"init: {init} cannot be read: {error.strerror}") from error


# Errors that reading a damaged state folder can raise.
STATE_ERRORS = (
    OSError,
    ValueError,
    RuntimeError,
    EOFError,
    KeyError,
    TypeError,
    pickle.UnpicklingError,
    SafetensorError,
)
METRICS_FILE = "metrics.jsonl"
Metrics = list[dict[str, Any]]
"""One dictionary of metrics per step, such as the loss and the learning rate."""


def state_folder(out: Path) -> Path:
    """Return the folder for the resumable state of a run whose model is written to `out`."""
    return out.with_name(out.name + ".state")


def read_metrics(folder: Path) -> Metrics:
    """Read the metrics in a state folder. Raises one of STATE_ERRORS if they are damaged."""
    text = (folder / METRICS_FILE).read_text(encoding="utf-8")
    if text and not text.endswith("\n"):
        raise ValueError("a line is cut off")
    return [json_of(line) for line in text.splitlines()]


def write_state(
    folder: Path, progress: Mapping[str, Any], metrics: Metrics, tensors: Any, *parts: Writer
) -> None:
    """Replace the state in `folder`.

    progress: step, seconds and recipe, with the inputs.
    tensors: state of the optimizers and what else the kind of run needs, on the CPU.
    parts: write the model and the tokenizer, unless the tensors hold all that is trained.
    """
    with replaced_folder(folder) as target:
        for part in parts:
            part(target / "model")
        torch.save(tensors, target / "tensors.pt")
        lines = "".join(json.dumps(line) + "\n" for line in metrics)
        (target / METRICS_FILE).write_text(lines, encoding="utf-8")
        (target / "progress.json").write_text(json.dumps(progress, indent=2))


def read_state(folder: Path, recipe: Recipe, inputs: Inputs) -> tuple[float, Metrics, Any]:
    """Read the seconds, metrics and tensors of a state, and check that this run may resume it.

    Raises TrainingError if the state is damaged, or was saved with another recipe or other inputs.
    """
    try:
        progress = json_of((folder / "progress.json").read_text())
        seconds = float(progress["seconds"])
        metrics = read_metrics(folder)
        if progress["step"] != (metrics[-1]["step"] if metrics else 0):
            raise ValueError("the metrics are of another step")
        saved = progress["recipe"]
        others = [NAMES_OF_INPUTS[name] for name in inputs if progress[name] != inputs[name]]
        tensors = torch.load(folder / "tensors.pt", map_location="cpu", weights_only=True)
    except STATE_ERRORS as error:
        raise unreadable(folder, error) from error
    try:
        is_same = Recipe(**saved) == recipe
    except (TypeError, ArgumentError):
        is_same = False
    if not is_same or others:
        reason = f"began from other {others[0]}" if is_same else "is of another recipe"
        raise TrainingError(f"state {folder}: {reason}; give another --out, or remove it")
    return seconds, metrics, tensors


def unreadable(folder: Path, error: Exception) -> TrainingError:
    """Make the TrainingError that says that the state in `folder` is damaged."""
    return TrainingError(
        f"state {folder}: cannot be read ({type(error).__name__}); remove it to start anew"
    )


def restore_adapter(model: PreTrainedModel, folder: Path) -> None:
    """Load the adapter in `folder` into the model. Raises one of STATE_ERRORS for damaged files."""
    from peft import set_peft_model_state_dict

    saved = load_file(folder / WEIGHTS_FILE)
    # peft puts its prefix before the name of each weight.
    state = {name.removeprefix("base_model.model."): weight for name, weight in saved.items()}
    loaded: Any = set_peft_model_state_dict(model, state)
    if loaded.unexpected_keys:
        raise ValueError(f"unknown weights {loaded.unexpected_keys[:1]}")
