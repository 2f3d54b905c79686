"""merge(): a model folder that needs no peft, from an adapter and its base."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from sbd_core.errors import ModelError, shown
from sbd_core.extras import require
from sbd_core.hf.preparation import TOLERANCE, logits, new_folder, probes, written_whole
from sbd_core.hf.vendoring import write_custom_generate
from sbd_core.models.adapters import CONFIG_FILE, is_adapter, settle_adapter
from sbd_core.models.checkpoint_info import is_block_adapter, object_in
from sbd_core.models.loading import read
from sbd_core.models.model_config import is_trained_for_blocks
from sbd_core.models.quiet import bars_only_on_a_terminal


@dataclass(frozen=True, slots=True)
class Merged:
    """What merge() did. largest_change: of a logit, of num_checked positions, before it is stored.

    dtype: of the weights that were written, which is the base's.
    """

    adapter: str
    base: str
    folder: str
    dtype: str
    num_checked: int
    largest_change: float

    def __str__(self) -> str:
        return (
            f"{self.adapter} on {self.base}, merged in fp32: the largest change of a logit at "
            f"{self.num_checked} positions is {self.largest_change:g}\n"
            f"wrote {self.folder} in {self.dtype}"
        )

    def to_data(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def merge(adapter: str | Path, out: str | Path) -> Merged:
    """Write the adapter folder `adapter` with its base as the new model folder `out`.

    Raises ArgumentError, ModelError; `out` is then as it was.
    """
    require("lora")
    if is_block_adapter(adapter):
        rule = "cannot be merged: its causal rows must not read it; it is a model as it is"
        raise ModelError(f"model: {shown(str(adapter))} {rule}")
    if not is_adapter(adapter):
        rule = f"must be the folder of an adapter, with its adapter_config.json; got {adapter}"
        raise ModelError(f"model: {rule}")
    target = new_folder(out)
    tokenizer = read(str(adapter), "auto", is_folder=True)[1]  # refuses another base's adapter
    config = object_in(Path(adapter) / CONFIG_FILE)
    base = str(config["base_model_name_or_path"])
    model, _ = read(base, "auto", is_folder=Path(base).is_dir())
    settle_adapter(model, Path(adapter), config)
    dtype = model.dtype
    texts = probes(int(model.get_input_embeddings().weight.shape[0]), len(tokenizer))
    merged, change = _merged(model, adapter, texts)
    if is_trained_for_blocks(merged.config):
        merged.config.mask_token_id = tokenizer.mask_token_id
    merged.to(dtype)
    merged.config.dtype = dtype
    with bars_only_on_a_terminal(), written_whole(target) as fresh:
        merged.save_pretrained(fresh)
        tokenizer.save_pretrained(fresh)
        write_custom_generate(fresh)
    return Merged(
        adapter=str(adapter),
        base=base,
        folder=str(target),
        dtype=str(dtype).removeprefix("torch."),
        num_checked=texts.numel(),
        largest_change=change,
    )


def _merged(model: Any, adapter: str | Path, texts: Tensor) -> tuple[Any, float]:
    """(the one model in fp32, largest change of a logit over the texts). Raises ModelError."""
    from peft import PeftModel

    adapted = PeftModel.from_pretrained(model.float(), str(adapter)).eval()
    before = logits(adapted, texts)
    merged = adapted.merge_and_unload()
    change = float((before - logits(merged, texts)).abs().max())
    if not change <= TOLERANCE * float(before.abs().max()):
        raise ModelError(f"model: merging changed its logits by {change:g}; nothing was kept")
    return merged, change
