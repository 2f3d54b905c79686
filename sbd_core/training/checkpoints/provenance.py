"""What a run is made from beside its recipe, so that resuming from anything else is noticed."""

from pathlib import Path

from sbd_core.errors import TrainingError
from sbd_core.package.files import sha256
from sbd_core.training.recipes.recipe import Recipe

Provenance = dict[str, list[str | None]]

PARTS = {"init": "weights (--init)", "texts": "texts (--data)"}
"""The parts of a provenance, as an error names them."""


def provenance(recipe: Recipe, init: Path | None) -> Provenance:
    """Digests of the weights in `init` and of the recipe's files of texts (None: unreadable).

    Raises TrainingError for an `init` that is no folder.
    """
    if init is not None and not init.is_dir():
        raise TrainingError(f"init: must be a model folder; got {init}")
    weights = sorted(init.glob("*.safetensors")) if init is not None else []
    named = [source.removeprefix("file:") for source in recipe.data if source.startswith("file:")]
    return {
        "init": [_digest(file) for file in weights],
        "texts": [_digest(Path(name)) for name in named],
    }


def _digest(file: Path) -> str | None:
    try:
        return sha256(file)
    except (OSError, ValueError):
        return None
