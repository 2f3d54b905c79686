"""A model's initial settings, chosen from the committed measurements, and why in a sentence.

The choices and sentences stand in assets/best.json. tests/ui/test_best_settings.py holds their
numbers to the files of results, and the choice for nano to its rule: a setting is accurate if its
mean accuracy over the tasks is at most one point below that of next-token prediction. Verify is the
choice where it is accurate, unless an accurate gamma of Eq. 8 reveals more tokens per forward pass.
The gamma is the largest accurate one or, if none is accurate, the one with the best accuracy.
"""

import json
from dataclasses import dataclass
from functools import cache

from sbd_core.config import StrategyName
from sbd_core.files import ASSETS
from sbd_core.models.model_folder import REAL_MODEL
from ui.decode.form import DEFAULT_GAMMA
from ui.examples import BUNDLED_MODEL

FIRST_GAMMA = 2.0
"""Gamma of CausalFirst with the real model."""


@dataclass(frozen=True, slots=True)
class Best:
    """Initial settings of the form. words: the reason for them.

    block_size: None takes the largest that the model was trained on.
    paper: warning to show while the paper's solver is chosen; "" shows none.
    notice: says of a model that is not trained what it is; "" of any other.
    causal_first: sentence on the results of CausalFirst at FIRST_GAMMA; "" if it was not measured.
    """

    strategy: StrategyName
    words: str
    gamma: float = DEFAULT_GAMMA
    block_size: int | None = None
    paper: str = ""
    notice: str = ""
    causal_first: str = ""


def best_for(
    model: str, *, can_draft: bool, is_trained: bool = True, has_adapter: bool = False
) -> Best:
    """Initial settings for a model; without measurements, the strategy is verify or NTP."""
    if not can_draft:
        return _best("no mask token")
    if not is_trained:
        return _best("untrained")
    if has_adapter:
        return _best(REAL_MODEL if model == REAL_MODEL else "adapter")
    return _best(BUNDLED_MODEL if model == BUNDLED_MODEL else "unmeasured")


@cache
def _best(name: str) -> Best:
    """Read the settings of a name in best.json."""
    return Best(**json.loads((ASSETS / "best.json").read_text("utf-8"))[name])
