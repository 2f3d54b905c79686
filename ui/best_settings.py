"""Chooses a model's initial settings from the committed measurements, and says why in a sentence.

For nano, a setting is accurate if its mean accuracy over the tasks is at most MAX_LOSS below the
accuracy of next-token prediction. The chosen gamma of Eq. 8 is the largest accurate gamma or, if no
gamma is accurate, the gamma with the best accuracy. The strategy is Set Block Decoding if verify is
inaccurate, or if the chosen gamma is accurate and reveals more tokens per forward pass than verify.
Otherwise the strategy is verify.
"""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sbd_core.config import StrategyName
from sbd_core.files import ASSETS
from ui.decode.form import DEFAULT_GAMMA
from ui.examples import BUNDLED_MODEL

EVALUATION = ASSETS / "results" / "evaluation.json"
MAX_LOSS = 0.01
"""Acceptable loss of accuracy: one point."""
REQUESTS = ASSETS / "results" / "requests.json"
ADAPTER_BLOCK_SIZE = 4
ADAPTER_WORDS = "Verify gives the base model’s own answers, whatever the adapter drafts"
PAPER_WORDS = (
    "The paper trains the whole model to fill masks; this base never was, and its adapter learned "
    "to draft for verify. So a mask’s guess is seldom sure, and the paper’s rule keeps few"
)
ROUNDING = 1e-9
SBD_ROW = re.compile(r"SBD gamma ([0-9.]+)")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Best:
    """Initial settings of the form.

    words: one or two sentences that say why these settings were chosen.
    block_size: initial block size; None takes the largest that the model was trained on.
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
    """Initial settings for a model; without measurements, the strategy is verify or NTP.

    can_draft: whether the model has a mask token.
    is_trained: whether the model was trained to decode blocks.
    has_adapter: whether the model has a block adapter, whose long drafts are seldom right.
    """
    if not can_draft:
        return Best("ntp", DEFAULT_GAMMA, "This model has no mask token: one token a forward pass.")
    if not is_trained:
        words = "This model is not trained for blocks: next-token prediction shows what it can do."
        return Best("ntp", DEFAULT_GAMMA, words)
    if has_adapter:
        return measured_on_requests(model) or Best(
            "verify",
            DEFAULT_GAMMA,
            f"{ADAPTER_WORDS}.",
            ADAPTER_BLOCK_SIZE,
            f"{PAPER_WORDS}.",
        )
    evaluation = measured() if model == BUNDLED_MODEL else None
    words = (
        "Verify keeps next-token prediction’s words with any model; we did not measure this one. "
        f"γ {DEFAULT_GAMMA:g} is the paper’s."
    )
    return evaluation or Best("verify", DEFAULT_GAMMA, words)


@cache
def measured_on_requests(model: str) -> Best | None:
    """Initial settings from results on open-ended requests; None if the model has no such results.

    The strategy is verify, which gives the base model's own answers. `paper` and `causal_first` say
    how many tokens of two solvers agree with next-token prediction.
    """
    try:
        data = json.loads(REQUESTS.read_text(encoding="utf-8"))
        if data["model"] != model:
            return None
        tables = {
            name: {score["row"]: score for score in scores}
            for name, scores in data["requests"].items()
        }
        name, rows = next(iter(tables.items()))
        gamma = float(data["gammas"]["SBD"])
        verify, plain = rows["verify"], rows[f"SBD, gamma {gamma:g}"]
        first_gamma = float(data["gammas"]["SBD causal token first"])
        firsts = [
            table[f"SBD causal token first, gamma {first_gamma:g}"] for table in tables.values()
        ]
        words = (
            f"{ADAPTER_WORDS}: {verify['tokens_per_forward']:.2f} tokens a forward pass "
            f"({plain['num_answers']} prompts of {name}, blocks of {data['block_size']})."
        )
        paper = (
            f"{PAPER_WORDS}: at γ {gamma:g} {plain['tokens_per_forward']:.2f} tokens a forward "
            f"pass, of which next-token prediction would keep {plain['agreement']:.0%}."
        )
        causal_first = (
            "Ours, not the paper’s. Next-token prediction writes the first token of a forward "
            "pass, guesses follow it from the left: "
            f"{_range_words(firsts, 'tokens_per_forward', '.1f')} tokens a forward pass in blocks "
            f"of {data['block_size']}, of which next-token prediction would keep "
            f"{_range_words(firsts, 'agreement', '.0%')}."
        )
        return Best(
            "verify",
            gamma,
            words,
            int(data["block_size"]),
            paper,
            (first_gamma, causal_first),
        )
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        logger.warning("no measured settings: %s", error)
        return None


def _range_words(rows: Sequence[Mapping[str, Any]], key: str, form: str) -> str:
    """The smallest and the largest value of `key`, such as "1.3 to 1.6"; one if both are alike."""
    values = [row[key] for row in rows]
    return " to ".join(dict.fromkeys(format(value, form) for value in (min(values), max(values))))


@cache
def measured() -> Best | None:
    """Initial settings for nano; None if evaluation.json is missing or damaged."""
    try:
        return best_of(json.loads(EVALUATION.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        logger.warning("no measured settings: %s", error)
        return None


def best_of(evaluation: Mapping[str, Any]) -> Best | None:
    """Choose settings by the module's rule; None if NTP or every gamma is missing.

    evaluation: {"block_size": k, "rows": {name: {"mean": {"accuracy", "tokens_per_forward"},
        "families": [...]}}}.
    """
    rows = {name: row["mean"] for name, row in evaluation["rows"].items()}
    gammas = {float(match[1]): rows[name] for name in rows if (match := SBD_ROW.fullmatch(name))}
    if "NTP" not in rows or not gammas:
        return None
    least = rows["NTP"]["accuracy"] - MAX_LOSS - ROUNDING
    close = [gamma for gamma, mean in gammas.items() if mean["accuracy"] >= least]
    gamma = max(close) if close else max(gammas, key=lambda each: gammas[each]["accuracy"])
    verify, speed = rows.get("verify"), gammas[gamma]["tokens_per_forward"]
    if verify and (verify["accuracy"] < least or (close and verify["tokens_per_forward"] < speed)):
        verify = None
    name, share = f"Eq. 8’s γ {gamma:g}", f"{gammas[gamma]['accuracy']:.1%} right"
    plain = f"{rows['NTP']['accuracy']:.1%}"
    if verify:
        second = (
            f"{name}, the boldest within a point of that, gets" if close else f"{name} gets only"
        )
        words = (
            f"Verify is best here: next-token prediction’s own answers, {plain} right, at "
            f"{verify['tokens_per_forward']:.2f} tokens a forward pass; {second} {share} at "
            f"{speed:.2f}"
        )
    else:
        goal = f"a point of next-token prediction’s {plain}"
        which = (
            f"{name} is the boldest measured within {goal}"
            if close
            else f"No γ measured comes within {goal}; {name} comes closest"
        )
        words = f"{which}: {share} at {speed:.2f} tokens a forward pass"
    tasks = evaluation["rows"]["NTP"]["families"]
    count = min(task["num_examples"] for task in tasks)
    scope = f"{len(tasks)} tasks, {count} examples each, blocks of {evaluation['block_size']}"
    return Best("verify" if verify else "sbd", gamma, f"{words} ({scope}).")
