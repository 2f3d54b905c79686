"""The table of what the bundled model was to reach, beside what it reaches."""

from collections.abc import Mapping
from typing import Any

from sbd_core.plots.solver_curves import CurvePoint, curves
from scripts.tables.results_files import results, table

LOW_GAMMA = "SBD gamma 0.1"
NTP_MEAN, NTP_TASK, NTP_COST = 0.95, 0.90, 0.010
VERIFY, HANDWRITTEN, HANDWRITTEN_COST, PRESETS = 6.0, 48, 1, 0.9
SOLVERS = (
    ("entropy-bound", 0.010, 3.5),
    ("entropy-bound", 0.030, 4.5),
    ("entropy-bound-from-left", 0.005, 4.0),
)
"""Solver, how much less accurate than NTP it may be, tokens a forward pass it is to reach there."""


def aims() -> str:
    """Each figure, what was aimed at, what was found and whether that is enough."""
    rows = [*_of_ntp(), *_of_solvers(), *_of_verify(), *_of_prompts()]
    told = [
        [what, aim, found + ("" if is_met else ", missed")] for what, aim, found, is_met in rows
    ]
    return table(["figure", "aim", "found"], told)


Row = tuple[str, str, str, bool]


def _of_ntp() -> list[Row]:
    row = results("evaluation")["rows"]["NTP"]
    mean = row["mean"]["accuracy"]
    least = min(row["families"], key=lambda task: task["accuracy"])
    ntp, sbd = (_by_task(results(f"parity_{who}")["rows"]["ntp"]) for who in ("ntp", "sbd"))
    cost, task = max((ntp[name] - sbd[name], name) for name in ntp)
    return [
        (
            "NTP, mean of the tasks",
            f"{100 * NTP_MEAN:.0f} %",
            f"{100 * mean:.1f} %",
            mean >= NTP_MEAN,
        ),
        (
            "NTP, each task",
            f"{100 * NTP_TASK:.0f} %",
            f"{100 * least['accuracy']:.1f} % ({least['family']})",
            least["accuracy"] >= NTP_TASK,
        ),
        (
            "NTP after training for SBD, against training for NTP, each task",
            f"at most {100 * NTP_COST:.1f} points less",
            f"{100 * cost:.1f} less ({task}), of small models",
            cost <= NTP_COST,
        ),
    ]


def _by_task(row: Mapping[str, Any]) -> dict[str, float]:
    return {task["family"]: task["accuracy"] for task in row["families"]}


def _of_solvers() -> list[Row]:
    data = results("sweep")
    ntp, points = data["rows"]["NTP"]["mean"]["accuracy"], curves(data["rows"])
    return [_of_solver(points[solver], ntp, solver, *aim) for solver, *aim in SOLVERS]


def _of_solver(points: list[CurvePoint], ntp: float, solver: str, cost: float, aim: float) -> Row:
    what = f"`{solver}` within {100 * cost:.1f} points of NTP"
    near = [point.speed for point in points if point.accuracy >= ntp - cost]
    if near:
        return what, f"{aim:.1f}x", f"{max(near):.2f}x", max(near) >= aim
    best = max(point.accuracy for point in points)
    return what, f"{aim:.1f}x", f"at no gamma; {100 * (ntp - best):.1f} points at best", False


def _of_verify() -> list[Row]:
    found = results("evaluation")["rows"]["verify"]["mean"]["tokens_per_forward"]
    return [("`verify`, tokens a forward pass", f"{VERIFY:.1f}x", f"{found:.2f}x", found >= VERIFY)]


def _of_prompts() -> list[Row]:
    evaluation, presets = results("evaluation"), results("presets")["presets"].values()
    own = evaluation["own_wording"]
    ntp, sbd = (
        round(own[name]["accuracy"] * own[name]["num_examples"]) for name in ("NTP", LOW_GAMMA)
    )
    total = sum(kind["num_prompts"] for kind in presets)
    right = sum(kind["right"]["sbd"] for kind in presets)
    sudoku = {name: _by_task(evaluation["rows"][name])["sudoku"] for name in ("NTP", LOW_GAMMA)}
    return [
        ("handwritten prompts, NTP", f"{HANDWRITTEN} of 60", f"{ntp} of 60", ntp >= HANDWRITTEN),
        (
            f"handwritten prompts, {LOW_GAMMA}",
            f"at most {HANDWRITTEN_COST} fewer",
            f"{ntp - sbd} fewer",
            ntp - sbd <= HANDWRITTEN_COST,
        ),
        (
            f"sudoku, {LOW_GAMMA} against NTP",
            "more are right",
            f"{100 * sudoku[LOW_GAMMA]:.1f} % against {100 * sudoku['NTP']:.1f} %",
            sudoku[LOW_GAMMA] > sudoku["NTP"],
        ),
        (
            "presets of the page by its default strategy",
            f"{100 * PRESETS:.0f} %",
            f"{right} of {total}",
            right >= PRESETS * total,
        ),
    ]
