"""Measurements on open requests: prompts that mostly have no checker for their answers.

The figures are forward passes, speed, the share of answer tokens that the causal head finds
likeliest, and, on IFEval (Zhou et al. 2023), the share of answers that follow their instructions.
An answer that loops (repeats itself) enters the accuracy only: loops are easy to draft, and would
flatter the other figures.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median, stdev
from typing import Any

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import Prompt
from sbd_core.decoding.repetition import is_loop
from sbd_core.environment import environment
from sbd_core.errors import ArgumentError, require_extra
from sbd_core.evaluation.harness import Answer, Harness
from sbd_core.evaluation.scoring import rounded
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.solvers import CausalFirst, EntropyBound, EntropyBoundFromLeft
from sbd_core.text_table import aligned

NTP = "NTP"
GAMMAS = (0.1, 0.35, 1.0, 1.5, 2.0, 3.0)
SOLVERS_WITH_GAMMA: dict[str, type[EntropyBound | EntropyBoundFromLeft | CausalFirst]] = {
    "SBD": EntropyBound,
    "SBD from the left": EntropyBoundFromLeft,
    "SBD causal token first": CausalFirst,
}
"""{name of the solver in config names: solver that has a gamma}."""
EVERY_GAMMA = dict.fromkeys(SOLVERS_WITH_GAMMA, GAMMAS)
LEAST_AGREEMENT = 0.9
"""Smallest agreement at which choose_gammas() prefers a gamma."""
FOR_GAMMAS = "requests for gammas"

Check = Callable[[str], bool]
"""Tells whether an answer follows the instructions of its request."""

FIGURES = ("accuracy", "difference", "difference_interval")
"""Figures of a score that need checks; without any they are None."""


def request_configs(
    base: DecodeConfig, gammas: Mapping[str, Sequence[float]] = EVERY_GAMMA
) -> dict[str, DecodeConfig]:
    """Return {config name: config} for NTP, verify, and each solver at each of the solver's gammas.

    base: all settings except strategy and solver.
    gammas: {solver's name in SOLVERS_WITH_GAMMA: gammas}.
    """
    return {
        NTP: replace(base, strategy="ntp"),
        "verify": replace(base, strategy="verify"),
        **gamma_configs(base, gammas),
    }


def gamma_configs(
    base: DecodeConfig, gammas: Mapping[str, Sequence[float]] = EVERY_GAMMA
) -> dict[str, DecodeConfig]:
    """Return {config name: config} for each solver at each gamma; see request_configs()."""
    return {
        _row(rule, gamma): replace(base, strategy="sbd", solver=SOLVERS_WITH_GAMMA[rule](gamma))
        for rule, each in gammas.items()
        for gamma in each
    }


def _row(rule: str, gamma: float) -> str:
    return f"{rule}, gamma {gamma:g}"


def choose_gammas(answers: Mapping[str, Sequence[Answer]]) -> dict[str, float]:
    """Choose for each solver the gamma that gives the most tokens per forward pass.

    Only a gamma whose agreement is at least LEAST_AGREEMENT is considered; if there is none, the
    smallest gamma is chosen.
    answers: {config name: answers}, with a config for every solver in SOLVERS_WITH_GAMMA at every
        gamma in GAMMAS.
    """
    chosen = {}
    for rule in SOLVERS_WITH_GAMMA:
        scores = [(gamma, _score(rule, answers[_row(rule, gamma)], ())) for gamma in GAMMAS]
        fine = [(s, gamma) for gamma, s in scores if s["agreement"] >= LEAST_AGREEMENT]
        speeds = [(score["tokens_per_forward"], gamma) for score, gamma in fine]
        chosen[rule] = max(speeds)[1] if speeds else min(GAMMAS)
    return chosen


def score_answers(
    answers: Mapping[str, Sequence[Answer]], checks: Sequence[Check | None] = ()
) -> list[dict[str, Any]]:
    """Score each config's answers, in comparison with the answers of the config named NTP.

    answers: {config name: one answer per request}; NTP must be one of the names.
    checks: a check of each request or None.
    Returns what _score() does, and with a check also
    accuracy: share of answers that follow their request's instructions, by IFEval's strict rule.
    difference: accuracy minus NTP's accuracy on the same requests.
    difference_interval: half the width of the 95 % interval of the difference.
    Raises ArgumentError.
    """
    if NTP not in answers:
        raise ArgumentError("configs", f"must have the row {NTP}", list(answers))
    ntp_ids = [answer.token_ids for answer in answers[NTP]]
    scores = [_score(row, each, ntp_ids) for row, each in answers.items()]
    if not any(checks):
        return scores
    marks = {
        row: [float(c(one.text)) for one, c in zip(each, checks, strict=True) if c is not None]
        for row, each in answers.items()
    }
    of_ntp = marks[NTP]
    for score, own in zip(scores, marks.values(), strict=True):
        paired = [one - other for one, other in zip(own, of_ntp, strict=True)]
        interval = 1.96 * (stdev(paired) if len(paired) > 1 else 0.0) / math.sqrt(len(paired))
        score.update(zip(FIGURES, (fmean(own), fmean(paired), interval), strict=True))
    return scores


def _score(row: str, answers: Sequence[Answer], ntp_ids: Sequence[list[int]]) -> dict[str, Any]:
    """Score one config. ntp_ids: NTP's tokens per request; () compares none. Returns

    num_answers: number of answers that do not loop, of which all figures are.
    num_loops: number of answers that loop; only accuracy and its differences include them.
    tokens_per_forward: num_tokens / num_forwards, prefills included.
    tokens_per_second: num_tokens divided by the time that the engine took.
    same_as_ntp: share of answers that have the same tokens as NTP's answer.
    agreement: share of the scored tokens that the causal head finds likeliest; see Answer.
    """
    is_kept = [not is_loop(answer.text) for answer in answers]
    kept = [answer for answer, keep in zip(answers, is_kept, strict=True) if keep]
    num_tokens = sum(len(answer.token_ids) for answer in kept)
    num_forwards, seconds, num_read, num_agreed = (
        sum(getattr(answer, name) for answer in kept)
        for name in ("num_forwards", "seconds", "num_read", "num_agreed")
    )
    pairs = zip(answers, ntp_ids, is_kept, strict=False)
    same = [answer.token_ids == ids for answer, ids, keep in pairs if keep]
    speeds = [len(answer.token_ids) / answer.num_forwards for answer in kept]
    return {
        "row": row,
        "num_answers": len(kept),
        "num_loops": len(answers) - len(kept),
        "num_tokens": num_tokens,
        "num_forwards": num_forwards,
        "tokens_per_forward": num_tokens / max(1, num_forwards),
        "median_tokens_per_forward": median(speeds or [0.0]),
        "tokens_per_second": num_tokens / seconds if seconds else 0.0,
        "same_as_ntp": sum(same) / max(1, len(same)),
        "agreement": num_agreed / max(1, num_read),
        **dict.fromkeys(FIGURES),
    }


def check_of(row: Mapping[str, Any]) -> Check | None:
    """Make the check of IFEval's strict rule for a request; None for one without instructions.

    row: a request with prompt, instruction_id_list and kwargs, as google/IFEval has them.
    Raises ArgumentError, MissingExtraError.
    """
    names, arguments = row.get("instruction_id_list"), row.get("kwargs")
    if names is None:
        return None
    require_extra("lm-eval")
    from sbd_core.hf.ifeval.verdicts import lm_eval_ifeval, process_results

    known = lm_eval_ifeval().instructions_registry.INSTRUCTION_DICT
    if (
        not isinstance(names, list)
        or not isinstance(arguments, list)
        or len(arguments) != len(names)
        or any(name not in known for name in names)
        or not all(isinstance(each, dict) for each in arguments)
    ):
        rule = "instruction_id_list and kwargs must be IFEval's, one mapping per instruction"
        raise ArgumentError("requests", rule, str(names)[:200])
    return lambda answer: bool(process_results(row, [answer])["prompt_level_strict_acc"])


def measure_requests(
    model: HuggingFaceModel,
    requests: Mapping[str, Sequence[Mapping[str, Any]]],
    base: DecodeConfig,
    harness: Harness,
    for_gammas: Sequence[Prompt] = (),
) -> dict[str, Any]:
    """Answer all requests with every config of request_configs(), and score the answers.

    requests: {name: records of read_prompts()}.
    base: all settings except strategy and solver.
    for_gammas: other requests, on which each solver's gamma is chosen first. If empty, each solver
        is measured at all of GAMMAS.
    Returns JSON data with settings and circumstances, and the keys
    requests: {name: one score per config}, see score_answers().
    gammas: {solver: chosen gamma}; empty without `for_gammas`.
    gammas_tried: scores of every solver at every gamma on `for_gammas`.
    Raises ArgumentError, MissingExtraError.
    """
    checks = {name: [check_of(row) for row in rows] for name, rows in requests.items()}
    prompts = {name: [row["prompt"] for row in rows] for name, rows in requests.items()}
    journal = harness.journal([model], base, [list(for_gammas), prompts])
    tried, chosen = dict[str, list[Answer]](), dict[str, float]()
    if for_gammas:
        settings = {row: (model, one) for row, one in gamma_configs(base).items()}
        tried = harness.answers(settings, {FOR_GAMMAS: for_gammas}, journal)[FOR_GAMMAS]
        chosen = choose_gammas(tried)
    gammas = {rule: (gamma,) for rule, gamma in chosen.items()} or EVERY_GAMMA
    settings = {row: (model, one) for row, one in request_configs(base, gammas).items()}
    answers = harness.answers(settings, prompts, journal)
    scores = {name: score_answers(each, checks[name]) for name, each in answers.items()}
    return {
        "model": model.name,
        "weights": dict(model.weights),
        "runs_on": model.runs_on,
        "block_size": base.block_size,
        "max_new_tokens": base.max_new_tokens,
        "batch_size": harness.batch_size,
        "processes": harness.share.num_processes,
        "requests": {name: [rounded(one, 6) for one in each] for name, each in scores.items()},
        "least_agreement": LEAST_AGREEMENT,
        "gammas": chosen,
        "gammas_tried": [rounded(_score(row, each, ()), 6) for row, each in tried.items()],
        "circumstances": environment(model.folder),
    }


def as_text(requests: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Format measure_requests()["requests"] as tables, with a line for each config."""
    lines = []
    head = ["tokens/pass", "median", "agreement", "same as NTP", "tokens/s", "loops", "follows"]
    for name, scores in requests.items():
        table = [[name, *head]]
        for s in scores:
            follows = ""
            if s["accuracy"] is not None:
                follows = f"{100 * s['accuracy']:.1f} % ({100 * s['difference']:+.1f} "
                follows += f"+- {100 * s['difference_interval']:.1f})"
            shares = [f"{100 * s[key]:.1f} %" for key in ("agreement", "same_as_ntp")]
            speeds = [
                f"{s[key]:.2f}" for key in ("tokens_per_forward", "median_tokens_per_forward")
            ]
            speed = f"{s['tokens_per_second']:.1f}"
            table.append([s["row"], *speeds, *shares, speed, str(s["num_loops"]), follows])
        lines += [*aligned(table), ""]
    return "\n".join(lines[:-1])
