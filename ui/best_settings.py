"""A model's initial settings, chosen from the committed measurements, and why in a sentence.

The choices stand here, their numbers in the files of results; tests/ui/test_best_settings.py holds
the choice for nano to its rule. A setting is accurate if its mean accuracy over the tasks is at
most MAX_LOSS below that of next-token prediction. Verify is the choice where it is accurate, unless
an accurate gamma of Eq. 8 reveals more tokens per forward pass. The gamma is the largest accurate
one or, if none is accurate, the one with the best accuracy.
"""

import json
from collections.abc import Mapping, Sequence
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
ADAPTER_BLOCK_SIZE = 4
ADAPTER_WORDS = "Verify gives the base model’s own answers, whatever the adapter drafts"
PAPER_WORDS = (
    "The paper trains the whole model to fill masks; this base never was, and its adapter learned "
    "to draft for verify. So a mask’s guess is seldom sure, and the paper’s rule keeps few"
)


@dataclass(frozen=True, slots=True)
class Best:
    """Initial settings of the form.

    block_size: None takes the largest that the model was trained on.
    paper: warning to show while the paper's solver is chosen; "" shows none.
    causal_first: (gamma for CausalFirst, sentence on its results); None if it was not measured.
    """

    strategy: StrategyName
    gamma: float
    words: str
    block_size: int | None = None
    paper: str = ""
    causal_first: tuple[float, str] | None = None


def best_for(
    model: str, *, can_draft: bool, is_trained: bool = True, has_adapter: bool = False
) -> Best:
    """Initial settings for a model; without measurements, the strategy is verify or NTP."""
    if not can_draft:
        return Best("ntp", DEFAULT_GAMMA, "This model has no mask token: one token a forward pass.")
    if not is_trained:
        words = "This model is not trained for blocks: next-token prediction shows what it can do."
        return Best("ntp", DEFAULT_GAMMA, words)
    if model == REAL_MODEL and has_adapter:
        return measured_on_requests()
    if has_adapter:
        return Best(
            "verify", DEFAULT_GAMMA, f"{ADAPTER_WORDS}.", ADAPTER_BLOCK_SIZE, f"{PAPER_WORDS}."
        )
    if model == BUNDLED_MODEL:
        return measured()
    words = (
        "Verify keeps next-token prediction’s words with any model; we did not measure this one. "
        f"γ {DEFAULT_GAMMA:g} is the paper’s."
    )
    return Best("verify", DEFAULT_GAMMA, words)


@cache
def measured_on_requests() -> Best:
    """Initial settings for the real model, with its results on open-ended requests.

    The strategy is verify, which gives the base model's own answers. `paper` and `causal_first` say
    how many tokens of two solvers agree with next-token prediction.
    """
    data: dict[str, Any] = json.loads(REQUESTS.read_text(encoding="utf-8"))
    tables = {
        name: {score["row"]: score for score in scores} for name, scores in data["requests"].items()
    }
    name, rows = next(iter(tables.items()))
    verify, plain = rows["verify"], rows[f"SBD, gamma {DEFAULT_GAMMA:g}"]
    firsts = [table[f"SBD causal token first, gamma {FIRST_GAMMA:g}"] for table in tables.values()]
    words = (
        f"{ADAPTER_WORDS}: {verify['tokens_per_forward']:.2f} tokens a forward pass "
        f"({plain['num_answers']} prompts of {name}, blocks of {data['block_size']})."
    )
    paper = (
        f"{PAPER_WORDS}: at γ {DEFAULT_GAMMA:g} {plain['tokens_per_forward']:.2f} tokens a forward "
        f"pass, of which next-token prediction would keep {plain['agreement']:.0%}."
    )
    causal_first = (
        "Ours, not the paper’s. Next-token prediction writes the first token of a forward "
        "pass, guesses follow it from the left: "
        f"{_range_words(firsts, 'tokens_per_forward', '.1f')} tokens a forward pass in blocks "
        f"of {data['block_size']}, of which next-token prediction would keep "
        f"{_range_words(firsts, 'agreement', '.0%')}."
    )
    size = int(data["block_size"])
    return Best("verify", DEFAULT_GAMMA, words, size, paper, (FIRST_GAMMA, causal_first))


def _range_words(rows: Sequence[Mapping[str, Any]], key: str, form: str) -> str:
    """The smallest and the largest value of `key`, such as "1.3 to 1.6"; one if both are alike."""
    values = [row[key] for row in rows]
    return " to ".join(dict.fromkeys(format(value, form) for value in (min(values), max(values))))


@cache
def measured() -> Best:
    """Initial settings for nano, with its results on held-out examples."""
    data: dict[str, Any] = json.loads(EVALUATION.read_text(encoding="utf-8"))
    rows = {name: row["mean"] for name, row in data["rows"].items()}
    plain, verify, paper = rows["NTP"], rows["verify"], rows[f"SBD gamma {DEFAULT_GAMMA:g}"]
    tasks = data["rows"]["NTP"]["families"]
    count = min(task["num_examples"] for task in tasks)
    words = (
        f"Verify is best here: next-token prediction’s own answers, {plain['accuracy']:.1%} right, "
        f"at {verify['tokens_per_forward']:.2f} tokens a forward pass; Eq. 8’s γ {DEFAULT_GAMMA:g} "
        f"gets only {paper['accuracy']:.1%} right at {paper['tokens_per_forward']:.2f} "
        f"({len(tasks)} tasks, {count} examples each, blocks of {data['block_size']})."
    )
    return Best("verify", DEFAULT_GAMMA, words)
