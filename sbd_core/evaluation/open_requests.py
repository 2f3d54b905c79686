"""Measurements on open requests: prompts that mostly have no checker for their answers.

The figures are forward passes, speed, the share of answer tokens that the causal head finds
likeliest, and, on IFEval (Zhou et al. 2023), the share of answers that follow their instructions.
An answer that loops (repeats itself) enters the accuracy only: loops are easy to draft, and would
flatter the other figures. A journal may keep the answers, so that a killed run can be resumed.
"""

import gzip
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import asdict, dataclass, replace
from functools import cache
from io import StringIO
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any
from unittest import mock

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import Prompt, generate_batch
from sbd_core.decoding.repetition import is_loop
from sbd_core.errors import ArgumentError, require_extra
from sbd_core.evaluation.scoring import rounded
from sbd_core.models.protocol import SetBlockModel
from sbd_core.shared_work import Journal
from sbd_core.solvers import CausalFirst, EntropyBound, EntropyBoundFromLeft
from sbd_core.trace import Trace

NTP = "NTP"
GAMMAS = (0.1, 0.35, 1.0, 1.5, 2.0, 3.0)
"""Gammas at which the solvers of SOLVERS_WITH_GAMMA are measured."""
SOLVERS_WITH_GAMMA: dict[str, type[EntropyBound | EntropyBoundFromLeft | CausalFirst]] = {
    "SBD": EntropyBound,
    "SBD from the left": EntropyBoundFromLeft,
    "SBD causal token first": CausalFirst,
}
"""{name of the solver in config names: solver that has a gamma}."""
LEAST_AGREEMENT = 0.9
"""Smallest RequestScore.agreement at which choose_gammas() prefers a gamma."""


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    """The answer to one request, and counts of its decode.

    seconds: time that the engine took.
    num_read: number of the answer's tokens that the causal head has scored.
    num_agreed: number of tokens, among those scored, that the causal head finds likeliest.
    """

    text: str
    token_ids: list[int]
    num_forwards: int
    seconds: float
    num_read: int
    num_agreed: int

    @classmethod
    def of(cls, trace: Trace) -> "RequestAnswer":
        """Make a RequestAnswer from the trace of a finished decode."""
        read = [item for event in trace.events for item in event.hindsight]
        return cls(
            text=trace.text,
            token_ids=list(trace.token_ids),
            num_forwards=trace.num_forwards,
            seconds=round(trace.seconds, 6),
            num_read=len(read),
            num_agreed=sum(item.token_id == item.argmax_id for item in read),
        )


@dataclass(frozen=True, slots=True)
class RequestScore:
    """Score of one DecodeConfig over all requests.

    num_answers: number of answers that do not loop.
    num_loops: number of answers that loop; only accuracy and its differences include them.
    num_tokens, num_forwards: totals over the answers that do not loop.
    tokens_per_forward: num_tokens / num_forwards, prefills included.
    median_tokens_per_forward: median of the answers' tokens per forward pass.
    tokens_per_second: num_tokens divided by the time that the engine took.
    same_as_ntp: share of answers that have the same tokens as NTP's answer.
    agreement: share of the scored tokens that the causal head finds likeliest; see RequestAnswer.
    accuracy: share of answers that follow their request's instructions, by IFEval's strict rule.
    difference: accuracy minus NTP's accuracy on the same requests.
    difference_interval: half the width of the 95 % interval of the difference.
    accuracy, difference and difference_interval are None if no request has a check.
    """

    row: str
    num_answers: int
    num_loops: int
    num_tokens: int
    num_forwards: int
    tokens_per_forward: float
    median_tokens_per_forward: float
    tokens_per_second: float
    same_as_ntp: float
    agreement: float
    accuracy: float | None = None
    difference: float | None = None
    difference_interval: float | None = None


def request_configs(
    base: DecodeConfig, gammas: Mapping[str, Sequence[float]] | None = None
) -> dict[str, DecodeConfig]:
    """Return {config name: config} for NTP, verify, and each solver at each of the solver's gammas.

    base: all settings except strategy and solver.
    gammas: {solver's name in SOLVERS_WITH_GAMMA: gammas}; None means GAMMAS for every solver.
    """
    verify = replace(base, strategy="verify")
    return {
        NTP: replace(base, strategy="ntp"),
        "verify": verify,
        **gamma_configs(
            base, dict.fromkeys(SOLVERS_WITH_GAMMA, GAMMAS) if gammas is None else gammas
        ),
    }


def gamma_configs(
    base: DecodeConfig, gammas: Mapping[str, Sequence[float]]
) -> dict[str, DecodeConfig]:
    """Return {config name: config}, with one config for each gamma of each solver.

    base: all settings except strategy and solver.
    gammas: {solver's name in SOLVERS_WITH_GAMMA: gammas}.
    """
    return {
        _row(rule, gamma): replace(base, strategy="sbd", solver=SOLVERS_WITH_GAMMA[rule](gamma))
        for rule, each in gammas.items()
        for gamma in each
    }


def _row(rule: str, gamma: float) -> str:
    return f"{rule}, gamma {gamma:g}"


def answer_requests(
    model: SetBlockModel,
    requests: Sequence[Prompt],
    configs: Mapping[str, DecodeConfig],
    *,
    batch_size: int = 1,
    journal: Journal | None = None,
    rank: int = 0,
    advance: Callable[[int], object] = lambda count: None,
) -> dict[str, list[RequestAnswer]]:
    """Answer every request with every config; return {config name: one answer per request}.

    configs: {config name: config}.
    journal: stores each answer as it is made. Answers that are already stored, by this or another
        process, are not made again.
    rank: number of this process, from 0; every process but 0 takes the batches in random order.
    advance: called with the number of answers that were just made or found in the journal.
    Raises ArgumentError.
    """
    if not requests:
        raise ArgumentError("requests", "must hold at least one request", list(requests))
    known: dict[int, RequestAnswer] = {}
    # Rows take turns, so all share the machine's load.
    batches = [
        (range(start, min(start + batch_size, len(requests))), index)
        for start in range(0, len(requests), batch_size)
        for index in range(len(configs))
    ]
    if rank:
        random.Random(rank).shuffle(batches)
    rows = list(configs.values())
    with journal or nullcontext(lambda number, entry: None) as keep:
        for places, index in batches:
            if journal is not None:
                kept = {
                    number: RequestAnswer(**entry) for number, entry in journal.entries().items()
                }
                advance(len(kept.keys() - known.keys()))
                known |= kept
            numbers = [place * len(configs) + index for place in places]
            missing = [number for number in numbers if number not in known]
            asked = [requests[number // len(configs)] for number in missing]
            traces = generate_batch(model, asked, rows[index], batch_size=batch_size)
            for number, trace in zip(missing, traces, strict=True):
                known[number] = RequestAnswer.of(trace)
                keep(number, asdict(known[number]))
            advance(len(missing))
    return {
        row: [known[place * len(configs) + index] for place in range(len(requests))]
        for index, row in enumerate(configs)
    }


def choose_gammas(answers: Mapping[str, Sequence[RequestAnswer]]) -> dict[str, float]:
    """Choose for each solver the gamma that gives the most tokens per forward pass.

    Only a gamma whose agreement is at least LEAST_AGREEMENT is considered; if there is none, the
    smallest gamma is chosen.
    answers: {config name: answers}, with a config for every solver in SOLVERS_WITH_GAMMA at every
        gamma in GAMMAS.
    """
    chosen = {}
    for rule in SOLVERS_WITH_GAMMA:
        scores = [(gamma, _score(rule, answers[_row(rule, gamma)], ())) for gamma in GAMMAS]
        fine = [
            (score.tokens_per_forward, gamma)
            for gamma, score in scores
            if score.agreement >= LEAST_AGREEMENT
        ]
        chosen[rule] = max(fine)[1] if fine else min(GAMMAS)
    return chosen


def score_answers(
    answers: Mapping[str, Sequence[RequestAnswer]],
    checks: Sequence[Callable[[str], bool] | None] = (),
) -> list[RequestScore]:
    """Score each config's answers, in comparison with the answers of the config named NTP.

    answers: {config name: one answer per request}; NTP must be one of the names.
    checks: for each request, a function that tells whether an answer follows the instructions, or
        None for no check. Without any check the accuracies are None.
    Raises ArgumentError.
    """
    if NTP not in answers:
        raise ArgumentError("configs", f"must have the row {NTP}", list(answers))
    wanted = [answer.token_ids for answer in answers[NTP]]
    scores = [_score(row, each, wanted) for row, each in answers.items()]
    if not any(checks):
        return scores
    marks = {
        row: [
            float(check(answer.text))
            for answer, check in zip(each, checks, strict=True)
            if check is not None
        ]
        for row, each in answers.items()
    }
    scored = []
    for score in scores:
        own = marks[score.row]
        paired = [one - other for one, other in zip(own, marks[NTP], strict=True)]
        interval = 1.96 * (stdev(paired) if len(paired) > 1 else 0.0) / math.sqrt(len(paired))
        scored.append(
            replace(
                score,
                accuracy=fmean(own),
                difference=fmean(paired),
                difference_interval=interval,
            )
        )
    return scored


def _score(row: str, answers: Sequence[RequestAnswer], of_ntp: Sequence[list[int]]) -> RequestScore:
    """Score one config without accuracy. of_ntp: NTP's token ids per request; () compares none."""
    is_kept = [not is_loop(answer.text) for answer in answers]
    kept = [answer for answer, keep in zip(answers, is_kept, strict=True) if keep]
    num_tokens = sum(len(answer.token_ids) for answer in kept)
    num_forwards = sum(answer.num_forwards for answer in kept)
    seconds = sum(answer.seconds for answer in kept)
    same = [
        answer.token_ids == ids
        for answer, ids, keep in zip(answers, of_ntp, is_kept, strict=False)
        if keep
    ]
    num_read = sum(answer.num_read for answer in kept)
    speeds = [len(answer.token_ids) / answer.num_forwards for answer in kept]
    return RequestScore(
        row=row,
        num_answers=len(kept),
        num_loops=len(answers) - len(kept),
        num_tokens=num_tokens,
        num_forwards=num_forwards,
        tokens_per_forward=num_tokens / max(1, num_forwards),
        median_tokens_per_forward=median(speeds or [0.0]),
        tokens_per_second=num_tokens / seconds if seconds else 0.0,
        same_as_ntp=sum(same) / max(1, len(same)),
        agreement=sum(answer.num_agreed for answer in kept) / max(1, num_read),
    )


IDS, ARGUMENTS = "instruction_id_list", "kwargs"


def check_of(row: Mapping[str, Any]) -> Callable[[str], bool] | None:
    """Make a strict check (IFEval) of whether an answer follows all instructions of a request.

    row: a request with prompt, instruction_id_list and kwargs, as google/IFEval has them.
    Returns None for a request without instructions. Raises ArgumentError, MissingExtraError.
    """
    if IDS not in row:
        return None
    names, arguments = row[IDS], row.get(ARGUMENTS)
    known = verifiers()
    if (
        not isinstance(names, list)
        or not isinstance(arguments, list)
        or len(arguments) != len(names)
        or any(name not in known for name in names)
        or not all(isinstance(each, dict) for each in arguments)
    ):
        rule = f"{IDS} and {ARGUMENTS} must be IFEval's, one mapping per instruction"
        raise ArgumentError("requests", rule, str(names)[:200])

    def check(answer: str) -> bool:
        return bool(answer.strip()) and all(
            _follows(known[name](name), given, str(row.get("prompt", "")), answer)
            for name, given in zip(names, arguments, strict=True)
        )

    return check


def _follows(verifier: Any, given: Mapping[str, Any], prompt: str, answer: str) -> bool:
    """Whether an answer follows one instruction, according to lm-eval's verifier.

    given: the instruction's arguments; missing arguments are drawn with a fixed seed.
    """
    state = random.getstate()
    random.seed(0)
    try:
        verifier.build_description(**{key: value for key, value in given.items() if value})
        if "prompt" in (verifier.get_instruction_args() or {}):
            verifier.build_description(prompt=prompt)
    finally:
        random.setstate(state)
    if given.get("letter"):
        # lm-eval replaces a "letter" that is not from a to z, such as # or \u00e9, by a random one.
        verifier._letter = given["letter"].strip().lower()
    return bool(verifier.check_following(answer))


@cache
def verifiers() -> Mapping[str, Any]:
    """Return {instruction id: class of lm-eval that verifies this IFEval instruction}.

    lm-eval is kept from downloading nltk's trained sentence splitter. If the trained splitter is
    not installed, an untrained one is used. The language detector gets a fixed seed. Raises
    MissingExtraError.
    """
    require_extra("lm-eval")
    import langdetect
    import nltk
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    with mock.patch.object(nltk, "download", return_value=False), redirect_stdout(StringIO()):
        from lm_eval.tasks.ifeval import instructions_registry, instructions_util
    langdetect.DetectorFactory.seed = 0
    try:
        nltk.data.find("tokenizers/punkt_tab")
    except LookupError:
        splitter = PunktSentenceTokenizer()
        instructions_util._get_sentence_tokenizer = lambda: splitter
        nltk.word_tokenize = NLTKWordTokenizer().tokenize  # of one sentence; has no data files
    registry: Mapping[str, Any] = instructions_registry.INSTRUCTION_DICT
    return registry


@dataclass(frozen=True, slots=True)
class RequestSet:
    """The requests of one file. checks: see score_answers(); empty for no checks."""

    name: str
    requests: Sequence[Prompt]
    checks: Sequence[Callable[[str], bool] | None] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """Result of measure_requests().

    scores: {request set: one score per config}.
    chosen: {solver: chosen gamma}; empty if measure_requests() got no `for_gammas`.
    tried: scores of every solver at every gamma on `for_gammas`; empty if `chosen` is empty.
    answers: {request set: {config name: one answer per request}}.
    """

    scores: Mapping[str, Sequence[RequestScore]]
    chosen: Mapping[str, float]
    tried: Sequence[RequestScore]
    answers: Mapping[str, Mapping[str, Sequence[RequestAnswer]]]

    def packed_answers(self) -> bytes:
        """Return all answers as gzipped JSON Lines, grouped by request set and then by request."""
        lines = [
            json.dumps(
                {"requests": name, "number": number, "row": row, "text": answers[number].text}
            )
            for name, rows in self.answers.items()
            for number in range(len(next(iter(rows.values()))))
            for row, answers in rows.items()
        ]
        return gzip.compress("\n".join(lines).encode(), mtime=0)

    def to_data(self) -> dict[str, Any]:
        """Return scores and chosen gammas as JSON data, with rounded numbers."""
        return {
            "requests": {
                name: [rounded(score, 6) for score in scores]
                for name, scores in self.scores.items()
            },
            "least_agreement": LEAST_AGREEMENT,
            "gammas": dict(self.chosen),
            "gammas_tried": [rounded(score, 6) for score in self.tried],
        }

    def __str__(self) -> str:
        return "\n\n".join(f"{name}\n{_as_text(scores)}" for name, scores in self.scores.items())


def measure_requests(
    model: SetBlockModel,
    sets: Sequence[RequestSet],
    base: DecodeConfig,
    *,
    for_gammas: Sequence[Prompt] = (),
    batch_size: int = 1,
    out: Path | None = None,
    rank: int = 0,
    advance: Callable[[int], object] = lambda count: None,
) -> Measured:
    """Answer every set with every config of request_configs(), and score the answers.

    base: all settings except strategy and solver.
    for_gammas: other requests, on which each solver's gamma is chosen first. If empty, each solver
        is measured at all of GAMMAS.
    out: file to which the caller will write the results. Journals beside this file keep the answers
        until clear_journals() is called; None means no journals.
    rank, advance: see answer_requests(). Every process gets all answers.
    Raises ArgumentError.
    """

    def answers(
        requests: Sequence[Prompt], configs: Mapping[str, DecodeConfig]
    ) -> dict[str, list[RequestAnswer]]:
        work = [model.name, dict(model.weights), list(requests), repr(configs)]
        return answer_requests(
            model,
            requests,
            configs,
            batch_size=batch_size,
            journal=None if out is None else Journal.of(out, work, rank),
            rank=rank,
            advance=advance,
        )

    tried, chosen = dict[str, list[RequestAnswer]](), dict[str, float]()
    if for_gammas:
        tried = answers(for_gammas, gamma_configs(base, dict.fromkeys(SOLVERS_WITH_GAMMA, GAMMAS)))
        chosen = choose_gammas(tried)
    gammas = {rule: (gamma,) for rule, gamma in chosen.items()} or None
    configs = request_configs(base, gammas)
    answered = {each.name: answers(each.requests, configs) for each in sets}
    scores = {each.name: score_answers(answered[each.name], each.checks) for each in sets}
    rows = [_score(row, each, ()) for row, each in tried.items()]
    return Measured(scores, chosen, rows, answered)


def num_answers(sets: Sequence[RequestSet], num_for_gammas: int) -> int:
    """Number of answers that measure_requests() makes.

    num_for_gammas: number of requests in the argument `for_gammas` of measure_requests().
    """
    at_all = len(SOLVERS_WITH_GAMMA) * len(GAMMAS)
    each = 2 + (len(SOLVERS_WITH_GAMMA) if num_for_gammas else at_all)
    return num_for_gammas * at_all + each * sum(len(one.requests) for one in sets)


def clear_journals(out: Path) -> None:
    """Remove all journals of answers beside the file `out`, including those of other runs."""
    for part in out.absolute().parent.glob(f".{out.name}.*.part-*"):
        part.unlink(missing_ok=True)


def _as_text(scores: Sequence[RequestScore]) -> str:
    """Format the scores as a table, with a line for each config."""
    width = max(len(score.row) for score in scores)
    head = f"{'':{width}}  tokens/pass  median  agreement  same as NTP  tokens/s  loops  follows"
    lines = [
        f"{s.row:{width}}  {s.tokens_per_forward:11.2f}  {s.median_tokens_per_forward:6.2f}  "
        f"{100 * s.agreement:8.1f} %  {100 * s.same_as_ntp:9.1f} %  {s.tokens_per_second:8.1f}  "
        f"{s.num_loops:5}  {_told(s)}"
        for s in scores
    ]
    return "\n".join([head, *lines])


def _told(score: RequestScore) -> str:
    if score.accuracy is None:
        return ""
    return (
        f"{100 * score.accuracy:.1f} % ({100 * (score.difference or 0):+.1f} "
        f"+- {100 * (score.difference_interval or 0):.1f})"
    )
