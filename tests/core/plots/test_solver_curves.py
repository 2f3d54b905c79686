"""The sweep as curves: what stands in the chart and in the README."""

from itertools import pairwise

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.plots import solvers
from sbd_core.plots.solver_curves import SYMBOLS, CurvePoint, RunMark, curves, dominated
from sbd_core.rules import SOLVER_TITLES, SOLVERS
from scripts.write_tables import at_speed


def row(accuracy: float, speed: float) -> dict:
    return {"mean": {"accuracy": accuracy, "tokens_per_forward": speed}}


ROWS = {
    "NTP": row(0.9, 1.0),
    "entropy-bound 0.1": row(0.8, 3.0),
    "entropy-bound 0.5": row(0.6, 5.0),
    "entropy-bound 0": row(0.85, 1.0),
    "top-k 2": row(0.5, 2.0),
}


@pytest.mark.parametrize(
    ("speed", "expected"), [(1, 0.85), (2, 0.825), (3, 0.8), (4, 0.7), (5, 0.6), (5.1, None)]
)
def test_accuracy_at_a_speed_lies_between_its_neighbours(speed, expected) -> None:
    found = at_speed(curves(ROWS)["entropy-bound"], speed)
    assert found == (None if expected is None else pytest.approx(expected))
    assert at_speed([CurvePoint("1", 0.5, 1.0)], 1) is None, "one setting is no curve"


def test_the_chart_draws_each_curve_by_speed_and_next_token_prediction() -> None:
    bound, top, ntp = solvers({"rows": ROWS}).data
    assert bound["x"] == (1.0, 3.0, 5.0)
    assert bound["y"] == (85.0, 80.0, 60.0)
    assert bound["text"] == ("0", "0.1", "0.5")
    assert (top["name"], ntp["name"]) == ("Top-k", "Next-token prediction")
    assert ntp["y"] == (90.0,)
    assert len({line["marker"]["symbol"] for line in (bound, top, ntp)}) == 3


def test_a_solver_is_pale_if_another_is_as_right_and_as_quick_at_every_setting() -> None:
    assert dominated(curves(ROWS)) == {"top-k"}
    assert dominated(curves({"a 1": row(0.5, 2.0), "b 1": row(0.5, 2.0)})) == set()
    assert dominated(curves({"a 1": row(0.5, 2.0), "b 1": row(0.6, 1.0)})) == set()
    both = {"a 1": row(0.1, 1.0), "a 9": row(0.1, 9.0), "b 9": row(0.1, 9.0)}
    assert dominated(curves({**both, "c 1": row(0.5, 2.0)})) == {"a"}, "alike at 9, outdone at 1"
    bound, top, _ = solvers({"rows": ROWS}).data
    assert top["opacity"] < bound["opacity"] == 1


def test_every_line_is_named_and_no_name_stands_on_another() -> None:
    rows = {"NTP": row(0.9, 1.0), **{f"{name} 1": row(0.5, 2.0) for name in SOLVERS}}
    labels = solvers({"rows": rows}).layout.annotations
    assert {label.text for label in labels} == {"Next-token prediction", *SOLVER_TITLES.values()}
    heights = sorted(label.ay for label in labels if label.showarrow)
    gaps = [b - a for a, b in pairwise(heights)]
    assert min(gaps) > 0.04 * (90 - 50)


def test_the_readers_runs_are_marked_by_their_speed() -> None:
    runs = [RunMark("<b>x</b>", 4.5, True), RunMark("top-k", 2.0)]
    *lines, own = solvers({"rows": ROWS}, runs=runs).data
    assert own["x"] == (4.5, 2.0)
    assert "&lt;b&gt;" in own["text"][0]
    assert own["text"][0].endswith("right")
    assert own["y"][0] < min(min(line["y"]) for line in lines)
    assert own["marker"]["symbol"] not in SYMBOLS, "no line has the mark of a run"
    assert len(solvers({"rows": ROWS}).data) == len(lines)


def test_verify_has_a_mark_where_the_file_has_its_row() -> None:
    *_, ntp, verify = solvers({"rows": {**ROWS, "verify": row(0.9, 4.0)}}).data
    assert (ntp["name"], verify["name"]) == ("Next-token prediction", "Exact (verify)")
    assert (verify["x"], verify["y"]) == ((4.0,), (90.0,))
    assert ntp["marker"]["symbol"] != verify["marker"]["symbol"]


@pytest.mark.parametrize("wrong", [{}, {"rows": {}}, {"rows": {"SBD": {}}}, [], None])
def test_results_that_are_no_sweep_are_refused(wrong) -> None:
    with pytest.raises(ArgumentError, match="results: must be those of a sweep"):
        solvers(wrong)
