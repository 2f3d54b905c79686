"""Reads and applies adapters of peft, and writes those that this package trains.

An adapter written here is stored with a digest of its base's weights. Adapters of other tools
are checked only by the names and shapes of their weights.
"""

import json
import os
import re
import warnings
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch

from sbd_core.errors import ModelError, require_extra, shown, shown_name
from sbd_core.models.hf_model import digest_of_weights
from sbd_core.models.model_folder import BlockSettings, block_config, has_weights, object_in

CONFIG_FILE, WEIGHTS_FILE = "adapter_config.json", "adapter_model.safetensors"
ADAPTER_FILE = "sbd_adapter.json"
COPY = re.compile(r"\.(modules_to_save|original_module)\.")
"""Matches further copies of a layer that peft saves, and does not read, beside a resized one."""
OF_WHOLE_TEXTS = ("ADAPTION_PROMPT", "POLY", "SHADOW", "XLORA")
"""Types of peft adapters whose change of one token depends on others; blocks cannot use them."""


def is_adapter(folder: str | Path) -> bool:
    """Whether a folder holds an adapter of peft but not the weights of a model.

    The folder may also hold the base's config, which axolotl adds.
    """
    return os.path.isfile(Path(folder) / CONFIG_FILE) and not has_weights(folder)


def read_adapter_config(source: str, file: str, argument: str) -> dict[str, Any]:
    """Read the config of the peft adapter at `source`. file: path of its adapter_config.json.

    Raises ModelError for what peft would read as something else, or what no block can use; also
    OSError, ValueError, KeyError.
    """
    require_extra("lora")
    from peft import PEFT_TYPE_TO_CONFIG_MAPPING, PromptLearningConfig
    from peft import __version__ as peft_version

    def wrong(why: str) -> ModelError:
        return ModelError(f"{argument}: {shown(source)} {why}")

    if has_weights(source):
        raise wrong("holds a whole model and an adapter_config.json: move one of them away")
    adapter = object_in(Path(file))
    if not isinstance(adapter.get("base_model_name_or_path"), str):
        raise wrong("is an adapter that names no base")
    kind = adapter.get("peft_type")
    config_class: Any = PEFT_TYPE_TO_CONFIG_MAPPING[kind]  # type: ignore[index]
    names = {field.name for field in fields(config_class)}
    for name, value in adapter.items():
        # peft goes on without a field that it does not know, which is right if that is not set.
        if name not in names and (value is True or (value and isinstance(value, (dict, list)))):
            raise wrong(
                f"has {shown_name(name)} set in its adapter_config.json, which peft {peft_version} "
                "does not know: pip install --upgrade peft"
            )
    is_activated = bool(adapter.get("alora_invocation_tokens"))
    if issubclass(config_class, PromptLearningConfig) or kind in OF_WHOLE_TEXTS or is_activated:
        described = "an activated LoRA" if is_activated else kind
        raise wrong(
            f"is {described} of peft, which changes a text as a whole: a block needs an adapter "
            "that changes each token by itself, such as LoRA"
        )
    if os.path.isdir(source) and not (Path(source) / WEIGHTS_FILE).is_file():
        raise wrong(f"lacks {WEIGHTS_FILE}; weights are read from safetensors only")
    return adapter


def write_adapter(
    model: Any, folder: Path, base: str, block_range: tuple[int, int] | None, **options: Any
) -> None:
    """Write the peft adapter of a model to a folder. base: digest of the base's weights.

    block_range: smallest and largest trained block size; None if training had no blocks.
    options: arguments of save_pretrained().
    """
    model.save_pretrained(folder, **options)
    data: dict[str, Any] = {"base": base}
    if block_range is not None:
        strategy = BlockSettings.of(model.config, "model").strategy
        data["set_block_decoding"] = block_config(block_range, strategy)
    (folder / ADAPTER_FILE).write_text(json.dumps(data, indent=2) + "\n")


def apply_adapter(model: Any, source: str, argument: str) -> Any:
    """Apply the peft adapter at `source`, a folder or hub id, to its base; returns a PeftModel.

    An adapter that this package trained also sets the base's config.set_block_decoding. Raises
    ModelError if the adapter belongs to another base, and what peft raises.
    """
    from peft import PeftConfig, PeftModel
    from peft.utils.save_and_load import load_peft_weights

    subject = f"{argument}: {shown(source)}"
    sizes: dict[str, int] | None = None
    own = Path(source) / ADAPTER_FILE
    if own.is_file():
        try:
            data = object_in(own)
            base, sizes = data["base"], data.get("set_block_decoding")
            BlockSettings.read(sizes, source)
        except (OSError, ValueError, KeyError, TypeError) as error:
            rule = f"{shown(str(own))} is damaged: train the adapter again"
            raise ModelError(f"{argument}: {rule}") from error
        # fp16 rounds small numbers differently from bf16.
        if model.dtype != torch.float16 and digest_of_weights(model) != base:
            raise ModelError(
                f"{subject} is an adapter of another base: it was trained beside others"
            )
    # An embedding or output layer of the adapter's own may have more rows.
    layers = (model.get_input_embeddings(), model.get_output_embeddings())
    names = [re.escape(name) for name, module in model.named_modules() if module in layers]
    whole = re.compile(rf"\.({'|'.join(names)})\.(base_layer\.)?weight$")
    weights = load_peft_weights(source, device="cpu")
    rows = {weight.shape[0] for name, weight in weights.items() if whole.search(name)}
    if rows and max(rows) != layers[0].weight.shape[0]:
        model.resize_token_embeddings(max(rows), mean_resizing=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # missing weights are an error below
        adapted = PeftModel(model, PeftConfig.from_pretrained(source))
        loaded = adapted.load_adapter(source, "default", torch_device="cpu")
    others = [name for name in loaded.unexpected_keys if not COPY.search(name)]
    for names, rule in ((loaded.missing_keys, "lacks"), (others, "also has")):
        if names:
            raise ModelError(f"{subject} is an adapter of another base: it {rule} {min(names)}")
    if sizes is not None:
        model.config.set_block_decoding = sizes
    return adapted.eval()
