"""export_hub(): writes a trained model as the folder of a repository on the Hugging Face Hub.

A model loaded from there decodes with transformers alone. Uploads nothing.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from sbd_core.environment import processor_name
from sbd_core.errors import ModelError, shown
from sbd_core.files import PACKAGE, new_folder, replaced_folder
from sbd_core.hf.export_web import export_web
from sbd_core.hf.preparation import read_fit
from sbd_core.hf.vendoring import write_custom_generate
from sbd_core.models.backends.transformers import TransformersBackend
from sbd_core.models.exactness import keeps_bits
from sbd_core.models.model_config import BlockSettings, reach_of
from sbd_core.models.model_folder import folder_of, is_block_adapter
from sbd_core.models.quiet import bars_only_on_a_terminal

CARD_FILE = "README.md"
KEPT = (CARD_FILE, "LICENSE", "recipe.json")
"""Files copied unchanged where the model folder has them."""
CARD = PACKAGE / "hf" / "card.md"
"""Template of the card for a model that has none."""


@dataclass(frozen=True, slots=True)
class HubFolder:
    """The result of export_hub(). has_new_card: whether it had no card and got a short one."""

    model: str
    folder: str
    has_new_card: bool

    def __str__(self) -> str:
        advice = f"add data, licence and limits to its {CARD_FILE}, then " * self.has_new_card
        return f"wrote {self.folder}; {advice}hf upload USER/NAME {self.folder} puts it on the Hub"


def export_hub(model: str | Path | None, out: str | Path, *, has_web: bool = False) -> HubFolder:
    """Write weights, tokenizer, config, card and decoding code to the new folder `out`.

    model: a folder or hub id of a model trained for blocks; None is the bundled one.
    out: a new or empty folder, unchanged if ArgumentError or ModelError is raised.
    has_web: whether to add an export for browsers as the folder `web`; see export_web().
    """
    target = new_folder(out)
    source = folder_of(model)
    name = str(source)
    if is_block_adapter(source):
        rule = "is an adapter beside its base, for which transformers alone has no code"
        raise ModelError(f"model: {shown(source.name)} {rule}: upload its folder as it is")
    loaded, tokenizer = read_fit(name)
    settings = BlockSettings.of(loaded.config, name)
    if not settings.is_trained or settings.block_range is None:
        rule = "is not trained for Set Block Decoding: sbd prepare and sbd train teach it"
        raise ModelError(f"model: {shown(name)} {rule}")
    loaded.config.mask_token_id = tokenizer.mask_token_id
    with bars_only_on_a_terminal(), replaced_folder(target) as fresh:
        loaded.save_pretrained(fresh)
        tokenizer.save_pretrained(fresh)
        write_custom_generate(fresh)
        if has_web:
            export_web(source, fresh / "web")
        for kept in (source / file for file in KEPT):
            if kept.is_file():
                shutil.copy(kept, fresh)
        card = fresh / CARD_FILE
        has_new_card = not card.exists()
        if has_new_card:
            backend = TransformersBackend(loaded)
            is_exact = keeps_bits(backend.new_caches, backend.forward, reach_of(loaded.config))
            text = CARD.read_text("utf-8").format(
                name=target.resolve().name,
                low=settings.block_range[0],
                high=settings.block_range[1],
                exactness="exactly" if is_exact else "up to rounding",
                where=f"PyTorch, {backend.dtype}, {processor_name()}",
            )
            card.write_text(text, encoding="utf-8")
    return HubFolder(model=name, folder=str(target), has_new_card=has_new_card)
