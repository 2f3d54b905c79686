"""Writes model folders for the Hugging Face Hub, whose generate() decodes blocks by this package.

Nothing is uploaded.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from sbd_core.environment import processor_name
from sbd_core.errors import ModelError, shown
from sbd_core.files import replaced_folder, require_new_folder
from sbd_core.models.backends.transformers import TransformersBackend
from sbd_core.models.loading import read_fit
from sbd_core.models.model_folder import BlockSettings, folder_of, is_block_adapter, reach_of
from sbd_core.models.probes import keeps_bits
from sbd_core.models.runtime import bars_only_on_a_terminal

CARD_FILE = "README.md"
KEPT = (CARD_FILE, "LICENSE", "recipe.json")
"""Files copied unchanged where the model folder has them."""
CARD = Path(__file__).with_name("card.md")
"""Template of the card for a model that has none."""


@dataclass(frozen=True, slots=True)
class HubFolder:
    """The result of export_hub().

    model: the folder or hub id that was exported. folder: path of the new folder.
    has_new_card: whether a model card was written because the exported model had none.
    """

    model: str
    folder: str
    has_new_card: bool

    def __str__(self) -> str:
        advice = f"add data, licence and limits to its {CARD_FILE}, then " * self.has_new_card
        return f"wrote {self.folder}; {advice}hf upload USER/NAME {self.folder} puts it on the Hub"


def export_hub(model: str | Path | None, out: str | Path, *, has_web: bool = False) -> HubFolder:
    """Write a model's weights, tokenizer, config, card and decoding code to the folder `out`.

    model: folder or hub id of a model trained to decode blocks; None means the bundled model.
    out: a new or empty folder; it is unchanged if ArgumentError or ModelError is raised.
    has_web: whether to add an export for browsers in the subfolder `web`; see export_web().
    """
    target = require_new_folder(out)
    source = folder_of(model)
    name = str(source)
    if is_block_adapter(source):
        rule = "is an adapter beside its base, which generate() of a folder does not read"
        raise ModelError(f"model: {shown(source.name)} {rule}: upload its folder as it is")
    loaded, tokenizer = read_fit(name)
    settings = BlockSettings.of(loaded.config, name)
    if not settings.is_trained or settings.block_range is None:
        rule = f"is not trained for Set Block Decoding: {settings.how_to_train(name)}"
        raise ModelError(f"model: {shown(name)} {rule}")
    loaded.config.mask_token_id = tokenizer.mask_token_id
    with bars_only_on_a_terminal(), replaced_folder(target) as fresh:
        loaded.save_pretrained(fresh)
        tokenizer.save_pretrained(fresh)
        write_custom_generate(fresh)
        if has_web:
            from sbd_core.models.web_export import export_web

            export_web(source, fresh / "web")
        for kept in (source / file for file in KEPT):
            if kept.is_file():
                shutil.copy(kept, fresh)
        card = fresh / CARD_FILE
        has_new_card = not card.exists()
        if has_new_card:
            backend = TransformersBackend(loaded)
            is_exact = keeps_bits(backend.new_caches, backend.forward, reach_of(loaded.config))
            low, high = settings.block_range
            text = CARD.read_text("utf-8").format(
                name=target.resolve().name,
                low=low,
                high=high,
                exactness="exactly" if is_exact else "up to rounding",
                where=f"PyTorch, {backend.dtype}, {processor_name()}",
            )
            card.write_text(text, encoding="utf-8")
    return HubFolder(name, str(target), has_new_card)


GENERATE = '''"""model.generate() with Set Block Decoding (arXiv 2509.04185)."""

try:
    from sbd_core.hf.generation import folder_generate as generate
except ImportError as error:
    rule = "generate() of this folder needs sbd_core: pip install . in a checkout of its repository"
    raise ImportError(rule) from error

__all__ = ["generate"]
'''


def write_custom_generate(folder: Path) -> Path:
    """Write the folder `folder`/custom_generate anew and return its path. Raises OSError."""
    target = folder / "custom_generate"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    (target / "generate.py").write_text(GENERATE, encoding="utf-8")
    return target
