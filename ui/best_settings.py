"""A model's initial settings, chosen from the committed measurements, and why in a sentence.

The choices and sentences stand in assets/best.json, their numbers in the files of results.
tests/ui/test_best_settings.py holds the choice for nano to its rule: a setting is accurate if its
mean accuracy over the tasks is at most MAX_LOSS below that of next-token prediction. Verify is the
choice where it is accurate, unless an accurate gamma of Eq. 8 reveals more tokens per forward pass.
The gamma is the largest accurate one or, if none is accurate, the one with the best accuracy.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from sbd_core.config import StrategyName
from sbd_core.files import ASSETS
from sbd_core.models.model_folder import REAL_MODEL
from ui.decode.form import DEFAULT_GAMMA
from ui.examples import BUNDLED_MODEL

EVALUATION = ASSETS / "results" / "evaluation.json"
MAX_LOSS = 0.01
"""Acceptable loss of accuracy: one point."""
REQUESTS = ASSETS / "results" / "requests.json"
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
    """Read the settings of a name in best.json, with the numbers in their sentences."""
    row = json.loads((ASSETS / "best.json").read_text("utf-8"))[name]
    facts: dict[str, Any] = {"gamma": DEFAULT_GAMMA}
    if name == BUNDLED_MODEL:
        facts |= _measured()
    elif name == REAL_MODEL:
        facts |= _measured_on_requests()
    texts = {key: text.format_map(facts) for key, text in row.items() if isinstance(text, str)}
    return Best(**{**row, **texts})


def _measured() -> dict[str, Any]:
    """Results of nano on held-out examples: the means of three rows, and how they were measured."""
    data: dict[str, Any] = json.loads(EVALUATION.read_text("utf-8"))
    tasks = data["rows"]["NTP"]["families"]
    rows = {"ntp": "NTP", "verify": "verify", "sbd": f"SBD gamma {DEFAULT_GAMMA:g}"}
    return {
        **{short: data["rows"][name]["mean"] for short, name in rows.items()},
        "num_tasks": len(tasks),
        "num_examples": min(task["num_examples"] for task in tasks),
        "block_size": data["block_size"],
    }


def _measured_on_requests() -> dict[str, Any]:
    """Results of the real model on open-ended requests.

    verify, sbd: rows of the first set of prompts, which `prompts` names. least, most: smallest and
    largest values of CausalFirst over all sets.
    """
    data: dict[str, Any] = json.loads(REQUESTS.read_text("utf-8"))
    tables = [{row["row"]: row for row in rows} for rows in data["requests"].values()]
    firsts = [table[f"SBD causal token first, gamma {FIRST_GAMMA:g}"] for table in tables]
    names = ("tokens_per_forward", "agreement")
    return {
        "verify": tables[0]["verify"],
        "sbd": tables[0][f"SBD, gamma {DEFAULT_GAMMA:g}"],
        "prompts": next(iter(data["requests"])),
        "least": {name: min(row[name] for row in firsts) for name in names},
        "most": {name: max(row[name] for row in firsts) for name in names},
        "block_size": data["block_size"],
    }
